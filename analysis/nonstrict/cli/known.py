"""The baseline as `nonstrict check` uses it: what is left out of the report, writing it, having it shrink."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import is_assignment
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.findings import UNEXPLAINED
from nonstrict.settings.model import DEFAULT_BASELINE

if TYPE_CHECKING:
    import argparse

    from nonstrict.check.baseline import Baseline, Divided
    from nonstrict.check.faults import Losses
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings


class Known:
    """The baseline of a run, if there is one."""

    def __init__(self, settings: Settings, options: argparse.Namespace, losses: Losses) -> None:
        """Read it; what nonstrict's own mistakes lose is added to `losses`.

        Raises:
            ConfigurationError: it was named and is not there, or is no baseline.
        """
        self._settings = settings
        self._options = options
        self._baseline: Baseline | None = None
        self._losses = losses
        path = settings.baseline_path
        if options.write_baseline is None and path is not None and (settings.baseline or os.path.isfile(path)):
            from nonstrict.check.baseline import read_baseline

            with self._losses.losing("the baseline was not read", path):
                self._baseline = read_baseline(path)

    def new(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics that the baseline does not hold."""
        divided = self._divided(result)
        return divided.new if divided is not None else result.diagnostics

    def without_strange(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics without those that an experiment added and the baseline holds."""
        added = tuple(diagnostic for diagnostic in result.diagnostics if _is_added(diagnostic))
        new = self.new(result._replace(diagnostics=added))
        return tuple(diagnostic for diagnostic in result.diagnostics if not _is_added(diagnostic) or diagnostic in new)

    def shrink(self, result: CheckResult) -> CheckResult:
        """Take out of the file what nothing matches any more; in CI, say so instead.

        The result, with a sentence if the file cannot be written.
        """
        options = self._options
        # Other findings are found for another torch, or with other settings than the project's.
        others = options.torch_version or options.target_python or options.python or options.isolated
        others = others or options.ignore_suppressions or any(map(is_assignment, options.config))
        if self._baseline is None or result.failures or others:
            return result
        path = self._baseline.path
        try:
            with self._losses.losing("the baseline was not compared with what is left", path):
                self._without_stale(self._baseline, result)
        except OSError as error:
            failure = f"{os.path.relpath(path)} cannot be written: {error.strerror or error}"
            return result._replace(failures=(*result.failures, failure))
        return result

    def _without_stale(self, baseline: Baseline, result: CheckResult) -> None:
        options, divided = self._options, self._divided(result)
        if divided is None:
            return
        stale = baseline.stale(divided.matched, result.checked, self._settings, without=UNEXPLAINED)
        if divided.moved and not _in_ci():
            baseline = baseline.with_moved(divided.moved)
            baseline.write()
        if not stale:
            return
        path = os.path.relpath(baseline.path)
        if _in_ci():
            what = f"1 entry of {path} matches" if len(stale) == 1 else f"{len(stale):,} entries of {path} match"
            text = f"{what} nothing any more; `nonstrict check` outside of CI takes out what is stale."
        else:
            baseline.without(stale).write()
            findings = "1 known finding" if len(stale) == 1 else f"{len(stale):,} known findings"
            text = f"{findings} gone, and taken out of {path}."
        if not options.silent and not options.quiet:
            sys.stderr.write(f"nonstrict: {text}\n")

    def write(self, result: CheckResult) -> ExitStatus | None:
        """Write a baseline of all findings; it keeps what it knows of files that this run did not check.

        None if that fails for a mistake of nonstrict: the findings are to be reported then.
        """
        from nonstrict.report.summary import plural

        named, default = self._options.write_baseline, os.path.join(self._settings.root, DEFAULT_BASELINE)
        path = os.path.abspath(named) if named else self._settings.baseline_path or default
        with self._losses.losing("the baseline was not written", path):
            made = _rewritten(path, result)
            if not self._options.silent and not self._options.quiet:
                sys.stdout.write(f"Wrote {plural(len(made.entries), 'finding')} to {os.path.relpath(path)}.\n")
            for failure in result.failures:
                report_failure(failure)
            return ExitStatus.FAILURE if result.failures else ExitStatus.CLEAN
        return None

    def _divided(self, result: CheckResult) -> Divided | None:
        """The findings as the baseline divides them; None if there is none."""
        from nonstrict.report.context import Lines

        if self._baseline is None:
            return None
        with self._losses.losing("the findings were not compared with the baseline", self._baseline.path):
            return self._baseline.divided(result.diagnostics, Lines(result.read))
        return None


def _is_added(diagnostic: Diagnostic) -> bool:
    """Whether only an experiment tells of a finding."""
    return diagnostic.code == UNEXPLAINED or diagnostic.observed


def _rewritten(path: str, result: CheckResult) -> Baseline:
    """The baseline that a file holds, once it knows all findings of a result."""
    from nonstrict.check.baseline import Baseline, read_baseline
    from nonstrict.report.context import Lines

    before = read_baseline(path) if os.path.exists(path) else Baseline(path)
    made = before.replaced(result.diagnostics, result.checked, Lines(result.read))
    made.write()
    return made


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}
