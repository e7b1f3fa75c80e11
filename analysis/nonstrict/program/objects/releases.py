"""The releases of torch and Python that a program runs with: versions, their parts, comparisons.

`torch.__version__ >= "2.8"` compares as versions do, not as text (`torch/torch_version.py` of torch 2.13). Only the
first two numbers of the release are known: what a third one decides is left open. Of Python the lowest version is known
that the program is for: what holds for later versions alone is left open too.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.comparing import COMPARISONS
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import BOOL, NO_CONSTANT, STRING, Flag, Kind, Value, container, holding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.state.machine import Machine


class Release(NamedTuple):
    """A version: its leading numbers, and whether these are all there are. `part` says that one of them is meant.

    With `least` it is that version or a later one.
    """

    numbers: tuple[int, ...]
    whole: bool
    part: bool = False
    least: bool = False


#: Where torch keeps its version.
NAMES = frozenset({"torch.__version__", "torch.version.__version__", "torch.torch_version.__version__"})
#: Where Python keeps its own.
OF_PYTHON = "sys.version_info"
#: What makes a version of a text.
_MAKERS = frozenset(
    {
        "packaging.version.parse",
        "packaging.version.Version",
        "pkg_resources.parse_version",
        "pkg_resources.packaging.version.parse",
        "distutils.version.LooseVersion",
        "distutils.version.StrictVersion",
        "torch.torch_version.TorchVersion",
        "looseversion.LooseVersion",
    }
)
_INSTALLED = frozenset({"importlib.metadata.version", "importlib_metadata.version"})
_SAME = frozenset({"base_version", "public"})
_NUMBERED = {"major": 0, "minor": 1}
_LEADING = re.compile(r"\d+(?:\.\d+)*")
_COMPARING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def at_hand(machine: Machine) -> Value:
    """`torch.__version__`."""
    return _version(Release(machine.torch, whole=False))


def of_python(python: tuple[int, int]) -> Value:
    """`sys.version_info` of a program that is for a Python and later ones."""
    return _parts(Release(python, whole=False, least=True))._replace(kind=Kind.TUPLE)


def made(machine: Machine, name: str, positional: Sequence[Value]) -> Value | None:
    """What a call of something outside the program makes a version of; None for other calls."""
    given = positional[0].const if positional else NO_CONSTANT
    if name in _INSTALLED:
        return at_hand(machine) if given == "torch" else None
    if isinstance(given, Release):
        return _version(given) if name in _MAKERS or name == "builtins.str" else None
    found = _LEADING.match(given.removeprefix("v")) if name in _MAKERS and isinstance(given, str) else None
    return _version(Release(_numbers(found[0]), whole=True)) if found is not None else None


def attribute(base: Value, name: str) -> Value | None:
    """An attribute of a version."""
    if not isinstance(base.const, Release):
        return None
    if name == "release":
        return None if base.const.least else _parts(base.const)
    return base if name in _SAME else _part(base.const, _NUMBERED[name]) if name in _NUMBERED else None


def method(base: Value, name: str, positional: Sequence[Value]) -> Value | None:
    """What a method of the text of a version gives; `split(".")` gives its parts."""
    if not isinstance(base.const, Release):
        return None
    given = positional[0].const if positional else NO_CONSTANT
    if name in ("split", "rsplit", "partition") and isinstance(given, str):
        if given == ".":
            return _parts(base.const) if name == "split" else None
        return container(Kind.TUPLE, base, STRING)
    return base if name in ("strip", "lower", "removesuffix") else None


def entry(node: ast.Subscript, base: Value, index: Value) -> Value | None:
    """A part of a version that was taken apart, or the first few of them."""
    release = base.const
    if not isinstance(release, Release) or base.heap is None:
        return None
    if isinstance(index.const, int):
        return _part(release, index.const)
    upper = node.slice.upper if isinstance(node.slice, ast.Slice) and node.slice.lower is None else None
    if isinstance(upper, ast.Constant) and isinstance(upper.value, int) and 0 < upper.value <= len(release.numbers):
        first = Release(release.numbers[: upper.value], whole=True, least=release.least)
        return _parts(first)
    return None


def number(value: Value) -> Value | None:
    """`int()` of a part of a version."""
    if not value.flags & Flag.RELEASE:
        return None
    return value._replace(kind=Kind.NUMBER) if isinstance(value.const, (int, Release)) else None


def compared(comparison: ast.cmpop, left: Value, right: Value) -> Value | None:
    """The truth of a comparison that the release decides; None for all others."""
    one, other = _release_in(left), _release_in(right)
    if (
        not isinstance(comparison, _COMPARING)
        or one is None
        or other is None
        or not (_follows(left) or _follows(right))
    ):
        return None
    shared = min(len(one.numbers), len(other.numbers))
    mine, its = one.numbers[:shared], other.numbers[:shared]
    if (one.least and mine <= its) or (other.least and its <= mine):
        verdict = _of_the_later(comparison, one, other, shared)
        return BOOL._replace(const=verdict, flags=Flag.RELEASE) if verdict is not None else None
    if mine == its:
        verdict = _of_the_rest(comparison, one, other, shared)
        return BOOL._replace(const=verdict, flags=Flag.RELEASE) if verdict is not None else None
    return BOOL._replace(const=COMPARISONS[type(comparison)](mine, its), flags=Flag.RELEASE)


def _of_the_later(comparison: ast.cmpop, one: Release, other: Release, shared: int) -> bool | None:
    """A comparison with a version or later ones, where later ones may be on the other side: these are not before it."""
    if one.numbers[:shared] != other.numbers[:shared] or (one.least and other.least):
        return None
    if any((other if one.least else one).numbers[shared:]):
        return None
    if isinstance(comparison, (ast.GtE, ast.Lt) if one.least else (ast.LtE, ast.Gt)):
        return isinstance(comparison, ast.GtE if one.least else ast.LtE)
    return None


def _of_the_rest(comparison: ast.cmpop, one: Release, other: Release, shared: int) -> bool | None:
    """A comparison of versions that begin alike: what is not known of one is not less than zero."""
    rests = one.numbers[shared:], other.numbers[shared:]
    if one.whole and other.whole:
        padded = [(*rest, *([0] * 4))[:4] for rest in rests]
        return COMPARISONS[type(comparison)](padded[0], padded[1])
    open_left = not one.whole
    if any(rests[1] if open_left else rests[0]):
        return None
    if isinstance(comparison, (ast.GtE, ast.Lt) if open_left else (ast.LtE, ast.Gt)):
        return isinstance(comparison, ast.GtE if open_left else ast.LtE)
    return None


def _release_in(value: Value) -> Release | None:
    """The version that a value is, or that its numbers are."""
    if isinstance(value.const, Release):
        return None if value.const.part else value.const
    if isinstance(value.const, str):
        found = _LEADING.match(value.const)
        return Release(_numbers(found[0]), whole=True) if found is not None else None
    if isinstance(value.const, int):
        return Release((value.const,), whole=True)
    heap = value.heap
    if heap is None or value.kind not in (Kind.TUPLE, Kind.LIST, Kind.ITERATOR) or heap.element is None:
        return None
    if isinstance(heap.element.const, Release) and heap.element.const.part:
        return heap.element.const._replace(part=False)
    numbers = [item.const for item in heap.items.values()]
    plain = [one for one in numbers if isinstance(one, int)]
    return Release(tuple(plain), whole=True) if plain and len(plain) == len(numbers) and not heap.open else None


def _follows(value: Value) -> bool:
    """Whether a value, or a part of it, follows from the release of torch."""
    heap = value.heap
    inside = [*heap.items.values(), *([heap.element] if heap.element is not None else [])] if heap is not None else []
    return any(one.flags & Flag.RELEASE for one in (value, *inside))


def _parts(release: Release) -> Value:
    """The parts of a version, one after the other."""
    inside = _version(release._replace(part=True))
    return holding(Kind.LIST, inside)._replace(const=release, flags=Flag.RELEASE)


def _version(release: Release) -> Value:
    return Value(Kind.STRING, FRESH, const=release, flags=Flag.RELEASE)


def _part(release: Release, index: int) -> Value | None:
    known = 0 <= index < len(release.numbers)
    if known and release.least and index > 0:
        # What stands before it stays the same: there is one Python 3.
        later = Release(release.numbers[index : index + 1], whole=True, least=True)
        return Value(Kind.NUMBER, FRESH, const=later, flags=Flag.RELEASE)
    return Value(Kind.NUMBER, FRESH, const=release.numbers[index], flags=Flag.RELEASE) if known else None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
