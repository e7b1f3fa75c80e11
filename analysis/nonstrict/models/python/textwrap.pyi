"""What `textwrap` does: the documentation of Python 3.14."""

def dedent(text) -> str: ...

fill = indent = shorten = dedent

def wrap(text, width) -> list: ...
