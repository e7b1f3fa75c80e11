"""Inside the engine imports go downwards too, those of types among them, but for the ones that are listed.

`upward_imports.txt` is what is left to be turned round: it only becomes shorter.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.repository.test_layers import PACKAGE, imported_modules, module_name

#: The rooms, the lowest first: what each knows of the others is what stands before it.
ROOMS = ("domain", "linking", "models", "interpret", "mutations", "contracts")
#: By folder, and of the files that stand in none by name; all others are the interpreter's.
FOLDERS = {"writers": "mutations", "marks": "contracts", "boundary": "contracts", "regions": "contracts"}
FILES = {
    "domain": "constant_folding definitions effects exceptions marker_words misapplied observer places references "
    "refinements symbols values write",
    "linking": "fixtures imports installed linked_projects modules naming project project_tables schemas "
    "requested_fixtures search_path setup_script source_folders subclasses sys_path together",
    "models": "annotations arranged arrays autograd_functions bound_callables builtin_calls constants contents "
    "container_methods context_variables copies custom_operators differentiation dtypes enumerations externals "
    "functional_calls gradients held_modules hooks iteration methods missing module_contents module_state named_tuples "
    "releases storages strict_switch strings symbolic_sizes symbolic_slices torch_calls typed unbound_methods",
    "contracts": "body engine no_region",
}
ENGINE = PACKAGE / "program"
ALLOWED = Path(__file__).with_name("upward_imports.txt")
#: So many files lead to one another in a circle: a number that only falls.
CIRCLE = 90


def room_of(name: str) -> str:
    """The room of a file, by its name below the engine: `writers.placing`."""
    folder, _, _ = name.partition(".")
    if folder in FOLDERS:
        return FOLDERS[folder]
    return next((room for room, names in FILES.items() if name in names.split()), "interpret")


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
    """The imports that go up, as they are listed."""
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
    listed = ALLOWED.read_text(encoding="utf-8").splitlines()
    found = upward()
    assert [one for one in found if one not in listed] == [], "turn the import round: the list only becomes shorter"
    assert [one for one in listed if one not in found] == [], "these are gone: take them out of upward_imports.txt"


def test_the_circle_does_not_grow():
    assert largest_circle(arrows()) == CIRCLE, "a smaller number is what this is for: write it down"


def test_the_rooms_name_files_that_are_there():
    files = arrows()
    assert [name for names in FILES.values() for name in names.split() if name not in files] == []


@pytest.mark.parametrize(
    ("graph", "size"), [({"a": {"b"}, "b": set()}, 1), ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, 3)]
)
def test_a_circle_would_be_seen(graph: dict[str, set[str]], size: int):
    assert largest_circle(graph) == size
