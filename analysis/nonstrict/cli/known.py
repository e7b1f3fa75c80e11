"""Baselines as `nonstrict check` uses them: what is left out of the report, writing them, having them shrink."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.ci import in_ci
from nonstrict.cli.configuration import is_assignment
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.findings import UNEXPLAINED
from nonstrict.settings.projects import Projects

if TYPE_CHECKING:
    import argparse

    from nonstrict.check.baselines import Baselines, Held
    from nonstrict.check.faults import Losses
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings


class Known:
    """The baselines of a run, if there are any."""

    def __init__(self, settings: Settings, options: argparse.Namespace, losses: Losses) -> None:
        """Read that of the settings; what nonstrict's own mistakes lose is added to `losses`.

        Raises:
            ConfigurationError: it was named and is not there, or is not a baseline.
        """
        self._settings = settings
        self._options = options
        self._baselines: Baselines | None = None
        self._losses = losses
        if options.write_baseline is None and settings.baseline_path is not None:
            from nonstrict.check.baselines import Baselines

            with self._losses.losing("the baseline was not read", settings.baseline_path):
                self._baselines = Baselines(settings)

    def new(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics that no baseline holds.

        Raises:
            ConfigurationError: a baseline of a sub-project was named and is not there, or is not a baseline.
        """
        known = {diagnostic for held in self._held(result) for diagnostic in held.divided.known}
        return tuple(diagnostic for diagnostic in result.diagnostics if diagnostic not in known)

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
        if result.failures or others:
            return result
        for held in self._held(result):
            path = held.baseline.path
            try:
                with self._losses.losing("the baseline was not compared with what is left", path):
                    self._without_stale(held, result)
            except OSError as error:
                failure = f"{os.path.relpath(path)} cannot be written: {error.strerror or error}"
                result = result._replace(failures=(*result.failures, failure))
        return result

    def _without_stale(self, held: Held, result: CheckResult) -> None:
        options, baseline, divided = self._options, held.baseline, held.divided
        projects = Projects(self._settings, result.nested)
        stale = baseline.stale(divided.matched, result.checked, projects, without=UNEXPLAINED)
        if divided.moved and not in_ci():
            baseline = baseline.with_moved(divided.moved)
            baseline.write()
        if not stale:
            return
        path = os.path.relpath(baseline.path)
        if in_ci():
            what = f"1 entry of {path} matches" if len(stale) == 1 else f"{len(stale):,} entries of {path} match"
            text = f"{what} nothing any more; `nonstrict check` outside of CI takes out what is stale."
        else:
            baseline.without(stale).write()
            findings = "1 known finding" if len(stale) == 1 else f"{len(stale):,} known findings"
            text = f"{findings} gone, and taken out of {path}."
        if not options.silent and not options.quiet:
            sys.stderr.write(f"nonstrict: {text}\n")

    def write(self, result: CheckResult) -> ExitStatus | None:
        """Write baselines of all findings; they keep what they know of files that this run did not check.

        None if that fails for a mistake of nonstrict: the findings are to be reported then.
        """
        from nonstrict.check.baselines import rewritten
        from nonstrict.report.context import Lines
        from nonstrict.report.summary import plural

        named, settings = self._options.write_baseline, self._settings
        projects = Projects(settings, result.nested)
        if named:
            projects = Projects(settings._replace(baseline=os.path.abspath(named)))
        place = projects.main.baseline_path or settings.root
        with self._losses.losing("the baseline was not written", place):
            for made in rewritten(projects, result.diagnostics, result.checked, Lines(result.read)):
                made.write()
                if not self._options.silent and not self._options.quiet:
                    written = plural(len(made.entries), "finding")
                    sys.stdout.write(f"Wrote {written} to {os.path.relpath(made.path)}.\n")
            for failure in result.failures:
                report_failure(failure)
            return ExitStatus.FAILURE if result.failures else ExitStatus.CLEAN
        return None

    def _held(self, result: CheckResult) -> tuple[Held, ...]:
        """The findings as the baselines divide them."""
        from nonstrict.report.context import Lines

        if self._baselines is None:
            return ()
        place = self._settings.baseline_path or os.curdir
        with self._losses.losing("the findings were not compared with the baseline", place):
            return tuple(
                self._baselines.held(result.diagnostics, Projects(self._settings, result.nested), Lines(result.read))
            )
        return ()


def _is_added(diagnostic: Diagnostic) -> bool:
    """Whether only an experiment tells of a finding."""
    return diagnostic.code == UNEXPLAINED or diagnostic.observed
