"""The baseline as `nonstrict check` uses it: what is left out of the report, writing it, having it shrink."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import is_assignment
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.settings.model import DEFAULT_BASELINE

if TYPE_CHECKING:
    import argparse

    from nonstrict.check.baseline import Baseline, Divided
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings

#: The rule that only experiments tell of.
_STRANGE = "NST900"


class Known:
    """The baseline of a run, if there is one."""

    def __init__(self, settings: Settings, options: argparse.Namespace) -> None:
        """Read it.

        Raises:
            ConfigurationError: it was named and is not there, or is no baseline.
        """
        self._settings = settings
        self._options = options
        self._baseline: Baseline | None = None
        path = settings.baseline_path
        if options.write_baseline is None and path is not None and (settings.baseline or os.path.isfile(path)):
            from nonstrict.check.baseline import read_baseline

            self._baseline = read_baseline(path)

    def new(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics that the baseline does not hold."""
        return result.diagnostics if self._baseline is None else self._divided(self._baseline, result).new

    def without_strange(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics without those that an experiment added and the baseline holds."""
        added = tuple(diagnostic for diagnostic in result.diagnostics if diagnostic.code == _STRANGE)
        new = self.new(result._replace(diagnostics=added))
        return tuple(
            diagnostic for diagnostic in result.diagnostics if diagnostic.code != _STRANGE or diagnostic in new
        )

    def shrink(self, result: CheckResult) -> None:
        """Take out of the file what nothing matches any more; in CI, say so instead."""
        options = self._options
        # Other findings are found for another torch, or with other settings than the project's.
        others = options.torch_version or options.python or options.isolated or any(map(is_assignment, options.config))
        if self._baseline is None or result.failures or others:
            return
        stale = self._baseline.stale(
            self._divided(self._baseline, result).matched, result.checked, self._settings, without=_STRANGE
        )
        if not stale:
            return
        path = os.path.relpath(self._baseline.path)
        if _in_ci():
            what = f"1 entry of {path} matches" if len(stale) == 1 else f"{len(stale):,} entries of {path} match"
            text = f"{what} nothing any more; `nonstrict check` outside of CI takes out what is stale."
        else:
            self._baseline.without(stale).write()
            findings = "1 known finding" if len(stale) == 1 else f"{len(stale):,} known findings"
            text = f"{findings} gone, and taken out of {path}."
        if not options.silent and not options.quiet:
            sys.stderr.write(f"nonstrict: {text}\n")

    def write(self, result: CheckResult) -> ExitStatus:
        """Write a baseline of all findings; it keeps what it knows of files that this run did not check."""
        from nonstrict.check.baseline import Baseline, read_baseline
        from nonstrict.report.context import Lines
        from nonstrict.report.summary import plural

        named, default = self._options.write_baseline, os.path.join(self._settings.root, DEFAULT_BASELINE)
        path = os.path.abspath(named) if named else self._settings.baseline_path or default
        before = read_baseline(path) if os.path.exists(path) else Baseline(path)
        made = before.replaced(result.diagnostics, result.checked, Lines(result.read))
        made.write()
        if not self._options.silent and not self._options.quiet:
            sys.stdout.write(f"Wrote {plural(len(made.entries), 'finding')} to {os.path.relpath(path)}.\n")
        for failure in result.failures:
            report_failure(failure)
        return ExitStatus.FAILURE if result.failures else ExitStatus.CLEAN

    def _divided(self, baseline: Baseline, result: CheckResult) -> Divided:
        from nonstrict.report.context import Lines

        return baseline.divided(result.diagnostics, Lines(result.read))


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}
