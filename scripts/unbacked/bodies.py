"""Marked functions composed of the grammar: every source with every step, and longer ones drawn at random."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, NamedTuple

from unbacked.grammar import ARGUMENTS, MADE, RETURNS, SOURCES, STEPS, Return, Source, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_GIVEN = ", ".join(ARGUMENTS)
_NAMES = "abcdefg"
#: Where the source, or what follows it, stands.
WRAPPERS = ("direct", "source in a helper", "pair from a helper", "rest in a helper", "method", "module")


class Body(NamedTuple):
    """A marked function as statements, and where they stand."""

    source: str
    rest: str
    wrapper: str = "direct"

    @property
    def key(self) -> str:
        """What tells it from others."""
        return f"{self.wrapper}\n{self.source}\n{self.rest}"

    def program(self) -> str:
        """A file with the marked function, a region that calls it, and the call of the region."""
        return (
            f"{_HEAD}{self.functions()}\n\nif __name__ == '__main__':\n    print(region({', '.join(MADE.values())}))\n"
        )

    def functions(self) -> str:
        """The marked function, its helpers, and the region."""
        before, lines, first, given = _WRAPPED[self.wrapper](self.source, self.rest)
        signature = f"{first}{_GIVEN}"
        marked = f"@torch._dynamo.nonstrict_trace\ndef body({signature}):\n{_indented(lines)}"
        region = f"@torch.compile(fullgraph=True)\ndef region({_GIVEN}):\n    return body({given}{_GIVEN})\n"
        return f"{before}{marked}\n\n{region}"


_HEAD = "import math\n\nimport torch\n\n\n"


def _indented(lines: str, levels: int = 1) -> str:
    return "".join(f"{'    ' * levels}{line}\n" for line in lines.split("\n"))


def _direct(source: str, rest: str) -> tuple[str, str, str, str]:
    return "", f"{source}\n{rest}", "", ""


def _source_in_helper(source: str, rest: str) -> tuple[str, str, str, str]:
    helper = f"def made({_GIVEN}):\n{_indented(source)}    return a\n\n\n"
    return helper, f"a = made({_GIVEN})\n{rest}", "", ""


def _pair(source: str, rest: str) -> tuple[str, str, str, str]:
    helper = f"def made({_GIVEN}):\n{_indented(source)}    return a, x + 1\n\n\n"
    return helper, f"a, x = made({_GIVEN})\n{rest}", "", ""


def _rest_in_helper(source: str, rest: str) -> tuple[str, str, str, str]:
    helper = f"def used(a, {_GIVEN}):\n{_indented(rest)}\n\n"
    return helper, f"{source}\nreturn used(a, {_GIVEN})", "", ""


def _method(source: str, rest: str) -> tuple[str, str, str, str]:
    helper = f"class Part:\n    def made(self, {_GIVEN}):\n{_indented(source, 2)}        return a\n\n\n"
    return helper, f"part = Part()\na = part.made({_GIVEN})\n{rest}", "", ""


def _module(source: str, rest: str) -> tuple[str, str, str, str]:
    helper = (
        f"class Unit(torch.nn.Module):\n    def forward(self, {_GIVEN}):\n{_indented(source, 2)}        return a\n\n\n"
    )
    return f"{helper}unit = Unit()\n\n\n", f"a = unit({_GIVEN})\n{rest}", "unit, ", "unit, "


_WRAPPED: dict[str, Callable[[str, str], tuple[str, str, str, str]]] = dict(
    zip(WRAPPERS, (_direct, _source_in_helper, _pair, _rest_in_helper, _method, _module), strict=True)
)


def _written(code: str, **names: str) -> str:
    return re.sub(r"\b[ABS]\b", lambda match: names[match[0]], code)


def _body(source: Source, steps: list[Step], back: Return, wrapper: str = "direct") -> Body:
    value, lines = "a", list[str]()
    for index, step in enumerate(steps):
        made = _NAMES[index + 1] if step.sort else value
        lines.append(_written(step.code, A=value, B=made))
        value = made
    lines.append(_written(back.code, B=value, S="a"))
    return Body(_written(source.code, A="a"), "\n".join(lines), wrapper)


def systematic() -> Iterator[Body]:
    """Every source with every step, returned as it is."""
    for source in SOURCES:
        for step in STEPS:
            if step.takes == source.sort:
                yield _body(source, [step], RETURNS[0])


def drawn(seed: int, count: int) -> list[Body]:
    """As many bodies with up to three steps, which depend on the seed alone."""
    choice = random.Random(seed)  # noqa: S311 - not for secrets
    bodies = dict[str, Body]()
    while len(bodies) < count:
        source = choice.choice(SOURCES)
        sort, steps = source.sort, list[Step]()
        for _ in range(choice.choice((0, 1, 2, 2, 3))):
            step = choice.choice([one for one in STEPS if one.takes == sort])
            steps.append(step)
            sort = step.sort or sort
        back = choice.choice([one for one in (*RETURNS, *[RETURNS[0]] * 3) if sort in one.sorts])
        body = _body(source, steps, back, choice.choice((*WRAPPERS, *["direct"] * 5)))
        bodies[body.key] = body
    return list(bodies.values())


def sample(seed: int, count: int) -> list[Body]:
    """Half of them systematic, half drawn; each seed has others."""
    every = list(systematic())
    random.Random(seed).shuffle(every)  # noqa: S311 - not for secrets
    bodies = {body.key: body for body in (*every[: count // 2], *drawn(seed, count - count // 2))}
    return list(bodies.values())
