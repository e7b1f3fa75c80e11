"""The ways in which programs are written again, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.metamorphic.variants import noise, order, renaming, script, spelling
from tests.metamorphic.variants.program import Program
from tests.suites.cases import Case

if TYPE_CHECKING:
    from collections.abc import Callable

#: Rewrites one file of a case.
_FILES: dict[str, Callable[[Program], str | None]] = {
    "torch_as_th": spelling.torch_as_th,
    "from_torch": spelling.from_torch,
    "locals_renamed": renaming.locals_renamed,
    "receivers_renamed": renaming.receivers_renamed,
    "comments": noise.comments,
    "unrelated_function": noise.unrelated_function,
    "helpers_first": order.helpers_first,
}
#: The same, where the names of the module must not be those of other files.
_SCRIPTS: dict[str, Callable[[Program], str | None]] = {
    "driver_in_main": script.driver_in_main,
    "all_in_main": script.all_in_main,
    "chained": script.chained,
    "by_factory": script.by_factory,
    "through_constructor": script.through_constructor,
}
WAYS = (*_FILES, *_SCRIPTS, "split_in_two", "unrelated_file")
#: Rules that say the same of a variant as of the program, by way: what a global was is a variable of a function.
ALIKE = {way: {"NST102": "NST101"} for way in ("driver_in_main", "all_in_main")}
_BEHIND_A_GUARD = "a function that stood behind a statement which ends the import stands before it"
_NOT_COLLECTED = "pytest collects no test inside a function"
_SUPPRESSED = "the suppressions name the rule for globals"
_NO_GLOBAL = "a variable of a function is not a global, whose guards are dropped"
_SYMBOLIC = "of a number in a variable of a function torch makes a symbol, of one in a global it does not (guards.json)"
#: Differences that are right, as (way, group, title), with the reason.
MEANT = {
    ("helpers_first", "nst605", "A module that is only for a torch that has it"): _BEHIND_A_GUARD,
    ("split_in_two", "nst605", "A module that is only for a torch that has it"): _BEHIND_A_GUARD,
    ("all_in_main", "objects", "A fixture makes what a test compiles"): _NOT_COLLECTED,
    ("all_in_main", "nst902", "Used"): _SUPPRESSED,
    ("all_in_main", "nst902", "For the whole file"): _SUPPRESSED,
    ("all_in_main", "nst902", "A directive that does not exist"): _SUPPRESSED,
    ("all_in_main", "nst902", "A name that no rule has"): _SUPPRESSED,
    ("all_in_main", "nst203", "State written by the region and by callers"): _SYMBOLIC,
    ("all_in_main", "nst803", "A counter in a global object, in a method"): _SYMBOLIC,
    ("all_in_main", "nst803", "A global that a loop sets in each round"): _SYMBOLIC,
    ("all_in_main", "nst803", "One of several that a loop sets"): _SYMBOLIC,
    ("all_in_main", "nst803", "A counter in a loop over what a function is given"): _SYMBOLIC,
    ("all_in_main", "nst803", "A helper whose cache Dynamo ignores"): _SYMBOLIC,
    ("all_in_main", "nst803", "Numbers under the keys of dictionaries"): _SYMBOLIC,
    ("all_in_main", "nst806", "Guards of globals"): _NO_GLOBAL,
    ("all_in_main", "nst806", "Beside a guard that is kept"): _SYMBOLIC,
}


def rewritten(way: str, case: Case) -> Case | None:
    """A case in another way; None where it cannot be written so, or where nothing would change."""
    programs = {name: Program.of(text) for name, text in case.files.items() if name.endswith(".py")}
    if not programs or any(program is None for program in programs.values()):
        return None
    known = {name: program for name, program in programs.items() if program is not None}
    if way in _FILES:
        changed = {name: _FILES[way](program) for name, program in known.items()}
    elif len(case.files) != 1:
        return None
    elif way in _SCRIPTS:
        changed = {name: _SCRIPTS[way](program) for name, program in known.items()}
    elif way == "unrelated_file":
        changed = {"unrelated_sibling.py": noise.SIBLING}
    else:
        name, program = next(iter(known.items()))
        changed = order.split_in_two(name, program) or {}
    kept = {name: text for name, text in changed.items() if text is not None}
    if not kept:
        return None
    for name, text in kept.items():
        assert Program.of(text), f"{way} wrote {name} so that it does not parse:\n{text}"
    return Case(case.title, case.line, {**case.files, **kept})
