"""What a text says for the whole program: nobody asks for that by name, so that it concerns all files.

That is what it registers, and what it puts on `sys.path`.
"""

from __future__ import annotations

import re

from nonstrict.program.linking.sys_path import changes_path

_REGISTERING = re.compile(r"register|impl|pytree|dataclass")


def may_register(code: str) -> bool:
    """Whether a part of a text may register something."""
    return _REGISTERING.search(code) is not None


def far_reaching(code: str) -> str:
    """The lines of a text that may register something, or the whole text where it may change `sys.path`."""
    if changes_path(code):
        return code
    return "\n".join(line for line in code.split("\n") if may_register(line)) if may_register(code) else ""
