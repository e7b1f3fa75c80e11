"""The part of a file that an experiment runs, and the jobs that run it on the backends."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.drivers import Driver, drivers_of, is_entry
from nonstrict.confirm.examples import example_of
from nonstrict.confirm.import_names import Imported, imported_as
from nonstrict.confirm.slices import loaded, slice_for, statements_of
from nonstrict.facts.execution import is_main_guard
from nonstrict.rules.base import COMPILED
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from nonstrict.confirm.suspects import Suspect

EAGER = "eager"
INDUCTOR = "inductor"
BACKENDS = ("aot_eager", INDUCTOR)
#: Calls of one region that are followed: torch gives up on recompiling after 8.
MAX_CALLS = 12


class Program(NamedTuple):
    """A file as experiments see it.

    `text` is its analysed code, `overlays` are texts of other files not yet saved, `makers` the functions
    (`PATH::NAME`) that make the arguments of functions of this file. `imported` says by which name it is imported, and
    from where it imports. It is `in_cells` if it is a notebook or a page: what one statement raises does not keep the
    next cell from being run.
    """

    path: str
    text: str
    root: str
    tree: ast.Module
    overlays: Mapping[str, str] = {}
    makers: Mapping[str, str] = {}
    imported: Imported = Imported()
    in_cells: bool = False


class Change(NamedTuple):
    """State that is changed before the call number `at`, and back before the call number `until`, if there is one.

    `module` is the name of the module that owns a global, `how` is `rebind`, `in-place`, `mode` or `environment`; see
    `nonstrict_agent.changing`.
    """

    name: str
    path: tuple[str, ...]
    module: str
    how: str
    at: int = 1
    until: int | None = None


class Schedule(NamedTuple):
    """How a program is run.

    The first call is made `repeat` times; between its repetitions the `changes` are made and undone. `alone` names the
    marked function that is compiled by itself, in place of the program's regions. With `logged`, no level of logging is
    switched off. At most `calls` calls of regions are followed, of one region `each`. Unless it is `cached`, nothing is
    taken from the caches of torch. `program` is the file of the driver where that is another one. With `opcheck`, the
    custom operators that regions call are checked. With `follow`, all regions but those, by name and first line, are
    left to eager code. With a `group` there is a default process group from the beginning, whose other ranks are not.
    Where it is `captured`, Inductor makes CUDA graphs if the program asks for some, and results are looked at again.
    """

    driver: Driver
    repeat: int = 1
    changes: tuple[Change, ...] = ()
    alone: str = ""
    logged: bool = False
    calls: int = MAX_CALLS
    each: int = MAX_CALLS
    cached: bool = True
    program: Program | None = None
    opcheck: bool = False
    follow: tuple[tuple[str, int], ...] | None = None
    group: bool = False
    captured: bool = False


def program_of(
    path: str,
    text: str,
    root: str,
    overlays: Mapping[str, str],
    makers: Mapping[str, str] | None = None,
    *,
    in_cells: bool = False,
) -> Program | None:
    """The program of a file; None if its text does not parse."""
    try:
        tree = tree_of(text, path=path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Program(path, text, root, tree, overlays, makers or {}, imported_as(path, text), in_cells)


def drivers_for(program: Program, suspect: Suspect) -> list[Driver]:
    """What sets the marked function of a suspect going, the likeliest first.

    A marked function by itself does not: what it does shows in a region, and only regions are compiled without one.
    """
    targets = targets_of(program, suspect)
    found = drivers_of(example_of(statements_of(program.tree), targets, suspect.marked_line), targets)
    itself = frozenset[str]() if suspect.marker in COMPILED else frozenset({suspect.function})
    return [driver for driver in found if driver.kind != "function" or driver.name not in itself]


def tests_for(program: Program, suspect: Suspect) -> list[Driver]:
    """The tests of its own file that set the marked function of a suspect going, beside those that are drivers."""
    from nonstrict.confirm.testing import Reach, drivers_in_tests

    names, hint = targets_of(program, suspect), suspect.function.rpartition(".")[2]
    plain = {node.name for node in program.tree.body if isinstance(node, ast.FunctionDef) and is_entry(node)}
    reach = Reach(names, lines=frozenset({suspect.marked_line}), hint=hint)
    return drivers_in_tests(program.tree, reach, without=plain)


def targets_of(program: Program, suspect: Suspect) -> frozenset[str]:
    """The top-level names through which a suspect's marked function is reached."""
    names = {suspect.function.split(".", 1)[0]} if suspect.function else set[str]()
    for statement in statements_of(program.tree):
        node = statement.node
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        if first <= suspect.marked_line <= (node.end_lineno or node.lineno):
            names |= statement.binds
    return frozenset(names)


def fields_of(
    program: Program, kept: Collection[int], dropped: Collection[tuple[int, int]] = (), text: str = ""
) -> dict[str, Any]:
    """What a job says of the program that it loads; `text` is what its file holds, if it is not what it held.

    `kept` are the positions of the statements that are executed, `dropped` the places of statements in those that are
    left out.
    """
    return {
        "path": program.path,
        "text": text or program.text,
        "root": program.root,
        "module": program.imported.name,
        "folders": list(program.imported.folders),
        "further": list(program.imported.further),
        "packages": list(map(list, program.imported.packages)),
        "kept": sorted(kept),
        "dropped": sorted(map(list, dropped)),
        "overlays": dict(program.overlays),
    }


def job_of(program: Program, schedule: Schedule, backend: str, *, lines: bool, device: str) -> dict[str, Any]:
    """The job of one arm; see `nonstrict_agent.arm.run_arm`."""
    program = schedule.program or program
    driver = schedule.driver
    job: dict[str, Any] = {
        **fields_of(program, driver.kept, driver.dropped),
        "kind": "arm",
        "backend": backend,
        "driver": {"kind": driver.kind, "name": driver.name, "given": driver.given},
        "calls": schedule.calls,
        "each": schedule.each,
        "gradients": not schedule.captured,
        "lines": lines,
        "device": device,
    }
    if driver.kind == "returned" and backend != EAGER:
        job["driver"]["ahead"] = True
    if driver.plain:
        job["driver"]["plain"] = True
    if schedule.repeat > 1:
        job["repeat"] = schedule.repeat
    if not schedule.cached:
        job["cached"] = False
    if schedule.follow is not None:
        job["follow"] = [list(region) for region in schedule.follow]
    wanted = {"in_cells": program.in_cells, "alone": schedule.alone, "logged": schedule.logged}
    wanted |= {"opcheck": schedule.opcheck, "group": schedule.group, "captured": schedule.captured}
    job |= {name: value for name, value in wanted.items() if value}
    if schedule.changes:
        job["changes"] = [change._asdict() for change in schedule.changes]
    return job


def kept_for_target(program: Program, suspect: Suspect) -> frozenset[int]:
    """The top-level statements that a marked function needs by itself."""
    return slice_for(statements_of(program.tree), targets_of(program, suspect)).kept


def kept_for_expression(program: Program, expression: str) -> frozenset[int]:
    """The top-level statements that an expression needs."""
    try:
        names = frozenset(loaded(tree_of(expression)))
    except SyntaxError:
        return frozenset()
    return slice_for(statements_of(program.tree), names).kept


def widened(program: Program, driver: Driver) -> Driver:
    """A driver with the expression statements at the top level that mention what it keeps."""
    statements = statements_of(program.tree)
    names = {name for index in driver.kept for name in statements[index].binds}
    more = {
        index
        for index, statement in enumerate(statements)
        if isinstance(statement.node, ast.Expr) and statement.loads & names and not _is_text(statement.node)
    }
    return driver._replace(kept=driver.kept | more)


def whole(program: Program, driver: Driver) -> Driver:
    """A driver that executes the whole file first, as importing it would."""
    kept = frozenset(index for index, node in enumerate(program.tree.body) if not is_main_guard(node))
    return driver._replace(kept=kept | driver.kept, dropped=frozenset())


def unabridged(program: Program, schedule: Schedule, places: Collection[tuple[str, int]]) -> Schedule:
    """The schedule with all that its driver does between calls, but for checks, and for what tells away from `places`.

    What becomes of a result there is a matter of CUDA graphs: where it is kept, whether a backward pass runs, and what
    gives up its memory.
    """
    program, driver = schedule.program or program, schedule.driver
    lines = frozenset(line for path, line in places if path == program.path)
    back = [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.stmt)
        and (place := (node.lineno, node.col_offset)) in driver.dropped
        and (place in driver.idle or not lines.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1)))
    ]
    if not back:
        return schedule
    kept = slice_for(statements_of(program.tree), {name for node in back for name in loaded(node)}).kept
    dropped = driver.dropped - {(node.lineno, node.col_offset) for node in back}
    return schedule._replace(driver=driver._replace(kept=driver.kept | kept, dropped=dropped))


def _is_text(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant)
