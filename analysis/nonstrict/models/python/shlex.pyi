"""What `shlex` does: the documentation of Python 3.14."""

def join(split_command) -> str: ...

quote = join

def split(s, comments, posix) -> list: ...
