"""What `html` does: the documentation of Python 3.14."""

def escape(s, quote) -> str: ...

unescape = escape
