"""Which modules are of the standard library of which Python."""

from __future__ import annotations

import sys

#: The versions of Python that may be asked for.
OLDEST_PYTHON, NEWEST_PYTHON = (3, 8), (3, 14)
#: With the first version that has them.
ADDED = {
    "graphlib": (3, 9),
    "zoneinfo": (3, 9),
    "tomllib": (3, 11),
    "annotationlib": (3, 14),
    "compression": (3, 14),
}
#: With the first version that lacks them.
REMOVED = {
    "dummy_threading": (3, 9),
    **dict.fromkeys(("formatter", "parser", "symbol"), (3, 10)),
    "binhex": (3, 11),
    **dict.fromkeys(("asynchat", "asyncore", "distutils", "imp", "smtpd"), (3, 12)),
    **dict.fromkeys(("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap"), (3, 13)),
    **dict.fromkeys(("msilib", "nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau"), (3, 13)),
    **dict.fromkeys(("telnetlib", "uu", "xdrlib"), (3, 13)),
}
#: Modules that some version has.
EVER = sys.stdlib_module_names | frozenset(ADDED) | frozenset(REMOVED)


def is_standard(name: str, python: tuple[int, int] | None) -> bool:
    """Whether a top-level module is of the standard library of a Python; None is the one that runs this."""
    if python is None:
        return name in sys.stdlib_module_names
    return name in EVER and ADDED.get(name, python) <= python < REMOVED.get(name, (*python, 1))
