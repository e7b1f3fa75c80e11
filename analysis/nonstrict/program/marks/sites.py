"""How a marked function is called, and what it takes, as rules ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.findings import Span
    from nonstrict.program.definitions import SeenCall
    from nonstrict.program.values import Value


class CallSite(NamedTuple):
    """A call of a marked function.

    `arguments` maps parameter names to values; `passes_mode` says that the caller reads a `training` flag itself.
    Where the caller passes on what it got itself, `arguments` are what its callers pass; `written` are the arguments as
    the caller has them, `surplus` those that `*args` takes. `call` is the call as it was seen.
    """

    span: Span
    compiled: bool
    arguments: Mapping[str, Value]
    argument_spans: Mapping[str, Span]
    passes_mode: bool = False
    written: Mapping[str, Value] | None = None
    surplus: tuple[tuple[Span, Value], ...] = ()
    call: SeenCall | None = None


class Parameter(NamedTuple):
    """A parameter of a marked function; `annotation` is the canonical dotted name, or ""."""

    name: str
    annotation: str
    has_default: bool
    span: Span
