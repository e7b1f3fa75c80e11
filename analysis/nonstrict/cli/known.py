"""The baseline as `nonstrict check` uses it: what is left out of the report, writing it, having it shrink."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import is_assignment
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.model import DEFAULT_BASELINE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

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
        #: by the clause that says what was lost
        self._faults: dict[str, Diagnostic] = {}
        path = settings.baseline_path
        if options.write_baseline is None and path is not None and (settings.baseline or os.path.isfile(path)):
            from nonstrict.check.baseline import read_baseline

            with self._losing("the baseline was not read", path):
                self._baseline = read_baseline(path)

    def new(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics that the baseline does not hold."""
        divided = self._divided(result)
        return divided.new if divided is not None else result.diagnostics

    def with_faults(self, result: CheckResult) -> CheckResult:
        """The result, with what was lost of the baseline."""
        from nonstrict.check.faults import sentences

        faults = tuple(self._faults.values())
        told = (*result.failures, *sentences(faults))
        return result._replace(diagnostics=(*result.diagnostics, *faults), failures=told) if faults else result

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
        with self._losing("the baseline was not compared with what is left", self._baseline.path):
            self._without_stale(self._baseline, result)

    def _without_stale(self, baseline: Baseline, result: CheckResult) -> None:
        options, divided = self._options, self._divided(result)
        if divided is None:
            return
        stale = baseline.stale(divided.matched, result.checked, self._settings, without=_STRANGE)
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

    def _divided(self, result: CheckResult) -> Divided | None:
        """The findings as the baseline divides them; None if there is none."""
        from nonstrict.report.context import Lines

        if self._baseline is None:
            return None
        with self._losing("the findings were not compared with the baseline", self._baseline.path):
            return self._baseline.divided(result.diagnostics, Lines(result.read))
        return None

    @contextmanager
    def _losing(self, lost: str, path: str) -> Generator[None]:
        """Do something of which an exception loses what the baseline is for: all findings are reported then."""
        try:
            yield
        except (ConfigurationError, OSError):
            raise  # not a mistake of nonstrict
        except Exception as error:  # noqa: BLE001 - the boundary of the baseline; told as NST904
            from nonstrict.check.faults import told_of
            from nonstrict.findings import Location

            self._faults[lost] = told_of(error, lost, Location(path, 1, 1, 1, 1))


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}
