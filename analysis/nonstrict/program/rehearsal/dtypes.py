"""Which dtype something names: `torch.float16`, `float`, `torch.long`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.dtypes import DTYPES, SPELLINGS, named_dtype
from nonstrict.program.rehearsal.things import External

if TYPE_CHECKING:
    from nonstrict.program.rehearsal.things import Thing


def dtype_of(thing: Thing) -> str:
    """The dtype that something names; "" if none."""
    dotted = thing.dotted if isinstance(thing, External) else ""
    return named_dtype(dotted)


def dtype_named(name: str) -> str:
    """The dtype that a method such as `float` converts to; "" for others."""
    told = SPELLINGS.get(name, name)
    return told if told in DTYPES else ""
