"""What `secrets` does: the documentation of Python 3.14."""

from random import SystemRandom as SystemRandom

from nonstrict.models import does

draws = does.random("draws random bytes")

@draws
def choice(seq): ...
@draws
def randbelow(exclusive_upper_bound) -> int: ...

randbits = randbelow

@draws
def token_bytes(nbytes) -> bytes: ...
@draws
def token_hex(nbytes) -> str: ...

token_urlsafe = token_hex

def compare_digest(a, b) -> bool: ...
