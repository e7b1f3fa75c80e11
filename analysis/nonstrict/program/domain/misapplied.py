"""What is wrong with an application of `torch.compile`: it compiles nothing, or its result is taken for the module."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nonstrict.findings import Span


#: What is wrong with an application stands beside the region that it makes.
INEFFECTIVE = "ineffective"
WRAPPED = "wrapped"
#: Kinds of marks that stand for an application of `torch.compile`, and for no marked function.
OF_APPLICATIONS = frozenset({"compiled", INEFFECTIVE, WRAPPED})


class Wasted(NamedTuple):
    """Why nothing is compiled.

    `how` is `dropped`, `rebound` (a parameter), `unused`, `member` (only methods of it are called), `in-place` (only
    `forward` of the module is), or `of-torch` (a module of torch is compiled in place). `name` holds what was returned,
    `given` is what was compiled. `past` are the calls of methods, with their names.
    """

    how: str
    given: str
    name: str = ""
    past: tuple[tuple[str, Span], ...] = ()
    known: bool = False


class Misuse(NamedTuple):
    """One place where the wrapper is taken for the module.

    `how` is `saved`, `isinstance`, `plain-into-wrapper` or `wrapper-into-plain`; `text` is the class that is asked for,
    and `strict` whether the names must agree. `other` is where the state comes from.
    """

    how: str
    span: Span
    text: str = ""
    strict: bool = True
    other: Span | None = None
