"""Which arguments of a function its fake does not take: as the dispatcher passes them, positions first, then keywords.

Measured on torch 2.13: the fake is not passed what has the value of its default.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.domain.values import NO_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.program.discovery.sites import CallSite

_RECEIVERS = frozenset({"self", "cls"})


class Untaken(NamedTuple):
    """What a fake does not take, as the end of a sentence; `happens` says that a call is seen to fail."""

    text: str
    happens: bool


class _Parameters(NamedTuple):
    positional: list[str]
    by_keyword: list[str]
    defaults: Mapping[str, ast.expr]


def untaken(real: ast.arguments, fake: ast.arguments, calls: Callable[[], Sequence[CallSite]]) -> Untaken | None:
    """What the fake of a function does not take, or misses, of what the function is given; None if nothing tells.

    `calls` looks for the calls of the function, which takes time and matters to few.
    """
    if real.vararg is not None or real.kwarg is not None or _is_method(fake) is not _is_method(real):
        return None
    mine, its = _parameters(real), _parameters(fake)
    lacking, missed = _lacking(mine, its, fake), _missed(mine, its)
    if not lacking and not missed:
        return None
    if any(name not in mine.defaults for name in lacking) or any(name not in mine.defaults for name in missed):
        return Untaken(_counted(mine, its, lacking, missed), happens=True)
    sites = [site for site in calls() if not _spreads(site)]
    passed = next((name for name in lacking if any(_passes(site, name, mine) for site in sites)), None)
    if passed is not None:
        return Untaken(f"does not take `{passed}`, which is passed: it fails to compile", happens=True)
    left = next((name for name in missed if any(not _passes(site, name, mine) for site in sites)), None)
    if left is not None:
        return Untaken(f"requires `{left}`, which is left out: it fails to compile", happens=True)
    if lacking:
        return Untaken(f"does not take `{lacking[0]}`: calls that pass it fail to compile", happens=False)
    return None


def _is_method(arguments: ast.arguments) -> bool:
    first = next(iter((*arguments.posonlyargs, *arguments.args)), None)
    return first is not None and first.arg in _RECEIVERS


def _parameters(arguments: ast.arguments) -> _Parameters:
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(positional[::-1], arguments.defaults[::-1], strict=False))
    by_keyword = [one.arg for one in arguments.kwonlyargs]
    told = zip(by_keyword, arguments.kw_defaults, strict=True)
    return _Parameters(positional, by_keyword, defaults | {name: value for name, value in told if value is not None})


def _lacking(mine: _Parameters, its: _Parameters, fake: ast.arguments) -> list[str]:
    """The parameters of the function that the fake has no place for."""
    found = [] if fake.vararg is not None else mine.positional[len(its.positional) :]
    places = {*its.positional[len(mine.positional) :], *its.by_keyword}
    return found if fake.kwarg is not None else [*found, *(name for name in mine.by_keyword if name not in places)]


def _missed(mine: _Parameters, its: _Parameters) -> list[str]:
    """What the fake requires and may not be given: the parameters of the function, by its names for them."""
    shared = len(mine.positional)
    required = [
        mine.positional[at] if at < shared else name
        for at, name in enumerate(its.positional)
        if name not in its.defaults
    ]
    required += [name for name in its.by_keyword if name not in its.defaults]
    given = {name for name in (*mine.positional, *mine.by_keyword) if name not in mine.defaults}
    return [name for name in required if name not in given]


def _counted(mine: _Parameters, its: _Parameters, lacking: list[str], missed: list[str]) -> str:
    if not mine.by_keyword and not its.by_keyword:
        most = len(its.positional)
        several = "s" if most != 1 else ""
        return f"takes {most} argument{several}, the function {len(mine.positional)}: it fails to compile"
    name = next((name for name in lacking if name not in mine.defaults), "")
    if name:
        return f"does not take `{name}`: it fails to compile"
    return f"requires `{missed[0]}`, which the function does not have: it fails to compile"


def _spreads(site: CallSite) -> bool:
    """Whether a call passes what is not told: `*args`, `**options`."""
    call = site.call.node if site.call is not None else None
    if call is None:
        return True
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


def _passes(site: CallSite, name: str, mine: _Parameters) -> bool:
    """Whether a call passes something else than the default."""
    if name not in site.argument_spans:
        return False
    default, value = mine.defaults.get(name), site.arguments.get(name)
    literal = default.value if isinstance(default, ast.Constant) else NO_CONSTANT
    return value is None or value.const is NO_CONSTANT or value.const != literal
