"""Which findings are there now and were not before, by what they say: lines that others moved are the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import INTERNAL_FAULT, UNEXPLAINED
from nonstrict.report.context import Lines
from nonstrict.report.fingerprints import identified

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic


class Before(NamedTuple):
    """The findings of an earlier state.

    `top` is the absolute folder of the repository now, `changed` are the paths below it, with `/`, of files that
    differ.
    """

    identities: frozenset[str]
    top: str
    changed: frozenset[str] = frozenset()

    def caused(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics of the present state that the earlier one did not have.

        What only experiments tell was not asked of the earlier state: of that, what lies in files that changed. A fault
        of ours is told whenever it happens.
        """
        found = identities(result, self.top, {})
        return tuple(
            diagnostic
            for diagnostic, identity in zip(result.diagnostics, found, strict=True)
            if diagnostic.code == INTERNAL_FAULT
            or (self._is_changed(diagnostic) if _is_observed(diagnostic) else identity not in self.identities)
        )

    def _is_changed(self, diagnostic: Diagnostic) -> bool:
        return _below(self.top, diagnostic.location.path) in self.changed


def identities(result: CheckResult, top: str, renamed: Mapping[str, str]) -> list[str]:
    """What identifies each diagnostic of a state in the folder `top`, with the names that its files have later."""

    def relative(path: str) -> str:
        known = _below(top, path)
        return renamed.get(known, known)

    return identified(result.diagnostics, Lines(result.read), relative)


def _is_observed(diagnostic: Diagnostic) -> bool:
    return diagnostic.observed or diagnostic.code == UNEXPLAINED


def _below(top: str, path: str) -> str:
    """The path of a file from the top, whichever way leads there; a file that is a link has its own."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.relpath(os.path.join(os.path.realpath(folder), name), top).replace(os.sep, "/")
