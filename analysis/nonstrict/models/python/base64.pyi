"""What `base64` does: the documentation of Python 3.14."""

def b64decode(s, altchars, validate) -> bytes: ...

b64encode = urlsafe_b64encode = b64decode
