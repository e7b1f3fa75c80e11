"""What a test expects to be compiled, and how that is told when it is not what was seen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, cast

from nonstrict.settings.budget import covers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict_pytest.seen import Seen

#: What is counted, and how one of it is called.
COUNTED = {"graphs": "graph", "breaks": "graph break", "recompilations": "recompilation"}


class Between(NamedTuple):
    """At least and at most so many."""

    least: int
    most: float

    @property
    def told(self) -> str:
        """`1`, `at least 1`, `0 to 2`."""
        if self.least == self.most:
            return str(self.least)
        return f"at least {self.least}" if self.most == math.inf else f"{self.least} to {self.most}"


class Expected(NamedTuple):
    """Numbers that are asked for, of all regions or of those that are named; what is not asked for may be anything."""

    numbers: Mapping[str, Between]
    only: tuple[str, ...] = ()

    def unmet(self, seen: Seen) -> Iterator[str]:
        """The names of numbers that are others."""
        for name, wanted in self.numbers.items():
            if not wanted.least <= seen.number(name) <= wanted.most:
                yield name


#: What a mark without numbers asks for.
WHOLE = {"graphs": Between(1, math.inf), "breaks": Between(0, 0), "recompilations": Between(0, 0)}


def expected_of(positional: Sequence[Any], named: Mapping[str, Any]) -> Expected:
    """What the arguments of a mark or of a block ask for.

    Raises:
        TypeError: they are none that it takes.
    """
    wrong = next((name for name in named if name not in COUNTED and name != "only"), None)
    if positional or wrong is not None:
        what = f"`{wrong}`" if wrong is not None else f"`{positional[0]!r}` without a name"
        raise TypeError(f"`compiles` takes graphs=, recompilations=, breaks= and only=, not {what}")
    numbers = {name: _between(name, named[name]) for name in COUNTED if named.get(name) is not None}
    return Expected(numbers, _names(named.get("only")))


def _between(name: str, value: object) -> Between:
    if _is_count(value):
        return Between(value, value)
    if isinstance(value, (tuple, list)):
        pair = tuple(cast("Sequence[object]", value))
        if len(pair) == 2:
            least, most = pair
            if _is_count(least) and _is_count(most) and least <= most:
                return Between(least, most)
            if _is_count(least) and most is None:
                return Between(least, math.inf)
    raise TypeError(f"`compiles({name}=...)` takes a number or a pair (at least, at most), not {value!r}")


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _names(value: object) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if names is None:
        return ()
    if isinstance(names, (list, tuple)) and all(isinstance(one, str) for one in cast("Sequence[object]", names)):
        return tuple(cast("Sequence[str]", names))
    raise TypeError(f"`compiles(only=...)` takes the name of a region or several, not {value!r}")


def is_named(text: str, path: str, function: str, root: str) -> bool:
    """Whether a text names a function of a file below the root: `FILE::NAME`, `pkg.module.NAME`, or the end of that."""
    place, separator, name = text.partition("::")
    if separator:
        return covers(place, name, path, function, root)
    module = path.removesuffix(".py").replace("\\", "/").replace("/", ".")
    whole = f"{module}.{function}"
    return any(whole.endswith(f".{meant}") for meant in (text, f"{text}.forward"))
