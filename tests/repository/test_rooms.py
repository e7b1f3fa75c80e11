"""Inside the engine imports go downwards, those of types among them.

The rooms are its folders, from below. `domain`: values, what they refer to, access paths, effects, and what is
computed of them. `linking`: which file an import means, where names are used. `rehearsal`: a program gone through
with numbers as they are and tensors by their sizes. `state`: the frame of a function that is interpreted, the
machine, and what is asked through them of those above (`contracts_protocol`, `mutations_protocol`). `objects`: what
names, classes, attributes and containers hold. `externals`: calls of what is not the program's, which need the parts
above only through the machine. `interpret`: expressions, statements, calls. `discovery`: where markers are applied,
who calls what, which files concern each other. `mutations`: who changes state. `contracts`: what markers and regions
promise.
"""

from __future__ import annotations

import ast

import pytest

from tests.repository.test_layers import PACKAGE, imported_modules, module_name

#: The rooms, the lowest first: what each knows of the others is what stands before it.
ROOMS = (
    "domain",
    "linking",
    "rehearsal",
    "state",
    "objects",
    "externals",
    "interpret",
    "discovery",
    "mutations",
    "contracts",
    "engine",
)
ENGINE = PACKAGE / "program"
#: So many files lead to one another in a circle: a number that only falls.
CIRCLE = 4


def room_of(name: str) -> str:
    """The room of a file, by its name below the engine: `mutations` of `mutations.placing`."""
    return name.partition(".")[0]


def arrows() -> dict[str, set[str]]:
    """By file of the engine the files of it that it imports."""
    files = {module_name(path).partition("program.")[2]: path for path in sorted(ENGINE.rglob("*.py"))}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        trees = ast.parse(path.read_text(encoding="utf-8"))
        targets = {target.partition("nonstrict.program.")[2] for target in imported_modules(trees)}
        for node in ast.walk(trees):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nonstrict.program"):
                base = (node.module or "").partition("nonstrict.program")[2].lstrip(".")
                targets |= {f"{base}.{alias.name}".lstrip(".") for alias in node.names}
        if name:
            found[name] = {target for target in targets if target in files and target and target != name}
    return found


def upward() -> list[str]:
    """The imports that go up."""
    height = {room: number for number, room in enumerate(ROOMS)}
    return sorted(
        f"{room_of(name)}: {name} -> {room_of(target)}: {target}"
        for name, targets in arrows().items()
        for target in targets
        if height[room_of(target)] > height[room_of(name)]
    )


def largest_circle(graph: dict[str, set[str]]) -> int:
    """How many files the largest set has in which each leads to each."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen, pending = {start}, [start]
        while pending:
            new = graph.get(pending.pop(), set()) - seen
            seen |= new
            pending += new
        reached[start] = seen
    circles = ({other for other in seen if start in reached[other]} for start, seen in reached.items())
    return max(map(len, circles))


def test_imports_of_the_engine_go_downwards():
    assert upward() == [], "turn the import round, or move what is asked for down"


def test_the_circle_does_not_grow():
    assert largest_circle(arrows()) == CIRCLE, "a smaller number is what this is for: write it down"


def test_every_file_is_in_a_room():
    assert {room_of(name) for name in arrows()} == set(ROOMS), "`engine`, which puts them together, is a file"


@pytest.mark.parametrize(
    ("graph", "size"), [({"a": {"b"}, "b": set()}, 1), ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, 3)]
)
def test_a_circle_would_be_seen(graph: dict[str, set[str]], size: int):
    assert largest_circle(graph) == size
