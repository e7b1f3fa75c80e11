"""What the guards ask of which Dynamo found that they no longer hold: in its own words, and by the names of a program.

A guard is an expression of Python over sources, `L['self'].step == 3` (torch 2.13, `torch/_dynamo/source.py`): `L` are
the arguments and captured variables of the function that was compiled, `G` the globals of its module.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SOURCE = re.compile(
    r"\b[LG]\[(?P<quote>['\"])(?P<name>[^'\"]+)(?P=quote)\]"
    r"(?P<steps>(?:\.[A-Za-z_]\w*(?![\w(])|\[(?:'[^']*'|\"[^\"]*\"|\d+)\])*)"
)
_STEP = re.compile(r"\.(\w+)|\[(?:'([^']*)'|\"([^\"]*)\"|(\d+))\]")
#: By what Dynamo reaches the content of a module or an object, beside what a program writes.
_TABLES = ("_modules", "_parameters", "_buffers", "__dict__")
_ENTRY = re.compile(rf"\.(?:{'|'.join(_TABLES)})\[(['\"])([^'\"]+)\1\]")
#: How Dynamo names another module in the globals of one: `__import_pkg_dot_config`.
_IMPORTED = "__import_"
_MAX_TEXT = 120


class FailedGuard(NamedTuple):
    """A guard of the code that a function was compiled to.

    `sources` are what it asks of, each as its name and the steps from it (`["self", "step"]`), `lines` the user's lines
    for which it was made, as `[path, line]`.
    """

    text: str
    sources: list[list[str]]
    lines: list[list[Any]]


def entries_of(cache: Any) -> Iterator[Any]:
    """What a function was compiled to, the latest first: a list, before torch 2.13 a chain."""
    if isinstance(cache, (list, tuple)):
        yield from cache
        return
    while cache is not None:
        yield cache
        cache = cache.next


def failed_guard(entries: Iterable[Any], frame: Any, is_user: Callable[[str], bool]) -> FailedGuard:
    """The first guard that does not hold in a call of a function, of what it was compiled to: the latest first."""
    for entry in entries:
        if not hasattr(entry.guard_manager, "check_verbose"):
            continue  # of an object that is gone
        told = entry.guard_manager.check_verbose(frame.f_locals)
        parts = [_code_of(part) for part in told.verbose_code_parts]
        if len(parts) > 1:
            # Some of which any may have failed: Dynamo evaluates them again (`get_guard_fail_reason_helper`).
            parts = [part for part in parts if not _holds(part, entry.guard_manager, frame.f_locals)][:1] or parts
        if parts:
            stack = [one for one in told.user_stack or () if is_user(one.filename)]
            lines = [[os.path.abspath(one.filename), one.lineno] for one in stack]
            return FailedGuard(in_names(parts[0])[:_MAX_TEXT], sources_in(parts[0]), lines)
    return FailedGuard("", [], [])


def _holds(part: str, manager: Any, variables: Any) -> bool:
    scope = {"L": variables, "G": manager.global_scope["G"], **manager.closure_vars}
    try:
        return bool(eval(part, dict(manager.global_scope), scope))  # noqa: S307 - Dynamo's own text
    except Exception:  # noqa: BLE001 - a guard that cannot be asked does not hold
        return False


def sources_in(guard: str) -> list[list[str]]:
    """What a guard asks of.

    >>> sources_in("len(L['self']._modules['body'].steps) == 3 and G['CFG']['scale'] == 2")
    [['self', 'body', 'steps'], ['CFG', 'scale']]
    """
    return [_segments(match) for match in _SOURCE.finditer(guard)]


def in_names(guard: str) -> str:
    """A guard as a program would write it.

    >>> in_names("L['self']._modules['body'].size == 3")
    'self.body.size == 3'
    """
    return _SOURCE.sub(_written, guard)


def _segments(source: re.Match[str]) -> list[str]:
    name = source["name"]
    steps = [next(filter(None, one.groups()), "") for one in _STEP.finditer(source["steps"])]
    own = [] if name.startswith(_IMPORTED) else [name]
    return own + [step for step in steps if step not in _TABLES]


def _written(source: re.Match[str]) -> str:
    text = _ENTRY.sub(r".\2", source["steps"])
    if source["name"].startswith(_IMPORTED):
        return text.removeprefix(".")
    return source["name"] + text


def _code_of(part: str) -> str:
    """A guard without the comment in which Dynamo tells for which line it was made."""
    return " ".join(part.split("  #", 1)[0].split())
