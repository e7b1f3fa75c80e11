"""The ways to mend findings, made when somebody asks for them: nobody does while a user types.

They are made for the texts as they are, those of unsaved documents among them, and hold until any text changes: a fix
may look at, and edit, every file of the folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.check.faults import Faults, log_faults
from nonstrict.check.mending import mended
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nonstrict.check.examination import Examined
    from nonstrict.findings import Diagnostic, Finding
    from nonstrict.program.state.machine import Machine


class Fixing:
    """Findings with their fixes, by the marked file and the function that they come from."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._known: dict[tuple[str, str], tuple[Finding, ...]] = {}

    def forget(self) -> None:
        """Some text changed."""
        self._known.clear()

    def findings(
        self, marked: str, functions: Iterable[str], look: Callable[[frozenset[str]], tuple[Machine, Examined]]
    ) -> list[Finding]:
        """The findings of some functions that are marked in a file, with their fixes; in whatever file they lie.

        `look` has the functions of these names examined, by a machine that may be asked afterwards.
        """
        wanted = frozenset(functions)
        missing = frozenset(name for name in wanted if (marked, name) not in self._known)
        if missing:
            machine, (share, told) = look(missing)
            mendable = {number: one for number, one in enumerate(share.findings) if is_mendable(one.code)}
            faults = Faults()
            found = mended(machine, mendable, told, faults).values()
            log_faults(faults.found)
            for name in missing:
                self._known[marked, name] = tuple(one for one in found if one.function == name)
        return [finding for name in sorted(wanted) for finding in self._known[marked, name]]


def functions_of(diagnostics: Iterable[Diagnostic]) -> dict[str, set[str]]:
    """The marked functions, by the file of their marker, of those diagnostics that there may be fixes for."""
    found: dict[str, set[str]] = {}
    for one in diagnostics:
        if is_mendable(one.code):
            found.setdefault(_marked_in(one), set()).add(one.function)
    return found


def is_mendable(code: str) -> bool:
    """Whether findings of a rule may have fixes."""
    rule = RULES.get(code)
    return rule is not None and rule.fixes is not None


def _marked_in(diagnostic: Diagnostic) -> str:
    """The file of the marker: the chain of calls begins there."""
    has_chain = diagnostic.links and diagnostic.related
    return diagnostic.related[0].location.path if has_chain else diagnostic.location.path
