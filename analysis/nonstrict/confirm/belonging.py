"""What a call of a region, or an error of a driver, has to do with a finding, as far as the text of the file tells.

Several functions share one driver: what happens in the region of one, or ends the driver before another is called, says
nothing about that other.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.drivers import DIRECT
from nonstrict.confirm.programs import targets_of
from nonstrict.confirm.reaching import function_around, functions_at, may_run, statement_at
from nonstrict.confirm.traces import cause_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.confirm.drivers import Driver
    from nonstrict.confirm.judging import Judgement
    from nonstrict.confirm.programs import Program, Schedule
    from nonstrict.confirm.suspects import Suspect


#: Reasons that an error of eager code gives, which may be that of another function.
_BY_ERROR = frozenset({"eager-raises", "needs", "sandbox", "needs-cuda", "gpu-memory"})


def foreign_calls(
    program: Program, schedule: Schedule, suspects: Sequence[Suspect], eager: Mapping[str, Any]
) -> dict[int, frozenset[int]]:
    """By number of call, the numbers of the suspects whose functions its region cannot run."""
    if schedule.program is not None or schedule.alone or schedule.driver.kind in DIRECT:
        return {}
    known: dict[tuple[str, int], frozenset[int]] = {}
    found: dict[int, frozenset[int]] = {}
    for index, call in enumerate(eager["calls"]):
        key = str(call.get("region")), int(call.get("line", 0))
        if key not in known:
            roots = _functions_of(program, *key)
            known[key] = frozenset(s.number for s in suspects if roots and not _may_reach(program, s, roots))
        if known[key]:
            found[index] = known[key]
    return found


def region_of(call: Mapping[str, Any]) -> tuple[str, int]:
    """The region of a call, by name and first line."""
    return str(call.get("region")), int(call.get("line", 0))


def own_regions(control: Mapping[str, Any], places: frozenset[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """The regions whose calls execute one of some lines, in the order of their first calls."""
    pairs = zip(control["calls"], control.get("ran", ()), strict=False)
    found = (region_of(call) for call, ran in pairs if any(line in ran.get(path, ()) for path, line in places))
    return tuple(dict.fromkeys(found))


def _functions_of(program: Program, region: str, line: int) -> list[ast.AST]:
    """The functions of the file that may be a region: of an object that is called, nobody knows its file."""
    name = region.rpartition(".")[2]
    found = functions_at(program.tree, line)
    return found if all(getattr(node, "name", "<lambda>") == name for node in found) else []


def _may_reach(program: Program, suspect: Suspect, roots: Sequence[ast.AST]) -> bool:
    if suspect.implements or suspect.is_probe or program.path not in {suspect.file, suspect.path}:
        return True
    names = targets_of(program, suspect) | {suspect.function.rpartition(".")[2]}
    lines = {suspect.marked_line} if suspect.file == program.path else set[int]()
    lines |= suspect.lines if suspect.path == program.path else frozenset()
    return may_run(program.tree, roots, names, lines)


def is_anothers(program: Program, driver: Driver, suspect: Suspect, error: Mapping[str, Any]) -> bool:
    """Whether an error that ended a driver was raised where nothing runs a suspect's function."""
    if driver.kind in DIRECT:
        return False
    failing = failing_statement(program, error)
    return failing is not None and not _may_reach(program, suspect, [failing])


def by_own(
    program: Program, schedule: Schedule, suspect: Suspect, judgement: Judgement, eager: Mapping[str, Any]
) -> Judgement:
    """The judgement, unless it says of a function what happened elsewhere, before it was called."""
    stop: Mapping[str, Any] = eager.get("stop") or {}
    early = judgement.reason in _BY_ERROR | {"line-not-reached"} and stop.get("kind") == "raised"
    if not early or not is_anothers(schedule.program or program, schedule.driver, suspect, stop["error"]):
        return judgement
    return judgement._replace(reason="line-not-reached", evidence=ended_early(stop["error"]))


def failing_statement(program: Program, error: Mapping[str, Any]) -> ast.stmt | None:
    """The statement of the driver that an error came out of; None where the text does not tell."""
    frames = error["links"][0]["frames"] or error["links"][error["cause"]]["frames"]
    path, line = frames[0] if frames else ("", 0)
    return statement_at(program.tree, line) if path == program.path else None


def ended_early(error: Mapping[str, Any]) -> str:
    """What ended a driver before a function was called, as a sentence."""
    cause = cause_of(error)
    line = f" on line {cause.lines[-1][1]}" if cause.lines else ""
    return f"the program ends before, with {cause.type}: {cause.message}{line}"


def without_failing(
    program: Program, driver: Driver, suspects: Sequence[Suspect], error: Mapping[str, Any]
) -> Driver | None:
    """The driver without the statement that ended it, if others need nothing of it; None if it cannot be left out."""
    failing = failing_statement(program, error)
    if driver.kind in {*DIRECT, "block"} or failing is None or function_around(program.tree, failing.lineno) is None:
        return None
    if not isinstance(failing, (ast.Expr, ast.Assign)) or not isinstance(failing.value, ast.Call):
        return None
    around = function_around(program.tree, failing.lineno)
    bound = {node.id for node in ast.walk(failing) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    read = {part.id for part in ast.walk(around or program.tree) if isinstance(part, ast.Name) and _is_read(part)}
    place = failing.lineno, failing.col_offset
    if bound & read or place in driver.dropped or not any(not _may_reach(program, s, [failing]) for s in suspects):
        return None
    return driver._replace(dropped=driver.dropped | {place})


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
