"""Exceptions: under which names handlers catch what is raised."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.domain.values import Value

_MAX_BASES = 40


def catchable(name: str, raised: Value) -> frozenset[str]:
    """The names under which an exception can be caught, "" standing for a bare `except:`.

    `raised` is its class or an object of that, as far as it is known.
    """
    found = {"", name, *_lineage(name)}
    pending, steps = [raised], 0
    while pending and steps < _MAX_BASES:
        current, steps = pending.pop(), steps + 1
        if current.of_class is not None:
            found.add(current.of_class.name)
            pending += [base for value in current.of_class.bases for base in value.alternatives()]
        elif current.kind is Kind.EXTERNAL:
            found |= {current.dotted.rpartition(".")[2], *_lineage(current.dotted.removeprefix("builtins."))}
    return frozenset(found if "BaseException" in found else found | {"Exception", "BaseException"})


def handles(caught: Iterable[str], name: str, raised: Value) -> bool:
    """Whether handlers for the named exceptions catch another."""
    names = frozenset(caught)
    return bool(names) and not names.isdisjoint(catchable(name, raised))


def _lineage(name: str) -> set[str]:
    exception: object = getattr(builtins, name, None)
    if isinstance(exception, type) and issubclass(exception, BaseException):
        return {base.__name__ for base in exception.__mro__} - {"object"}
    return set()
