"""What an exception in nonstrict itself costs: one body, rule or fix, which is reported as NST904.

The boundaries are here, so that whatever else was found is reported too.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nonstrict.findings import INTERNAL_FAULT, Diagnostic, Finding, Location, Severity, Span
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from contextlib import AbstractContextManager

    from nonstrict.check.run import CheckResult
    from nonstrict.program.contracts.marked_body import MarkedBody

_log = logging.getLogger(__name__)
TRACEBACK = "NONSTRICT_TRACEBACK"
_REPORT = f"This is a bug of nonstrict: please report it with the output under {TRACEBACK}=1."
_TOO_DEEP = "Split the expression or the chain of calls."
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: How many rules a message names.
_NAMED = 3


class Faults:
    """The faults of one examination, as findings."""

    def __init__(self) -> None:
        """Begin with none."""
        self.found: list[Finding] = []

    @contextmanager
    def losing(self, lost: str, subject: str, *spans: Span, function: str = "", marker: str = "") -> Generator[None]:
        """Do something of which an exception loses one thing: a clause on the `subject` that says what is `lost`."""
        try:
            yield
        except ConfigurationError:
            raise  # a mistake of the user
        except Exception as error:  # noqa: BLE001 - the boundary of one body or fix; reported as NST904
            self.lose(error, lost, subject, spans, function, marker)

    def lose(
        self, error: Exception, lost: str, subject: str, spans: Iterable[Span], function: str = "", marker: str = ""
    ) -> None:
        """Take in what an exception lost: a clause on the `subject` that says what is `lost`."""
        _print(error)
        self.found += [_fault(f"{subject} {lost}", subject, span, error, function, marker) for span in spans]

    def losing_files(self, lost: str, paths: Iterable[str]) -> AbstractContextManager[None]:
        """Do something of which an exception loses what files say as a whole."""
        return self.losing(lost, "the file", *map(beginning, paths))

    def losing_body(self, body: MarkedBody) -> AbstractContextManager[None]:
        """Do something of which an exception loses a body."""
        return self.losing(
            "was not analysed", f"`{body.function}`", body.marked_at, function=body.function, marker=body.marker
        )


def beginning(path: str) -> Span:
    """The place of what is said of a file as a whole."""
    return Span(path, 1, 0, 1, 0)


def examined_by(body: MarkedBody, rules: Iterable[tuple[str, Iterable[Finding]]]) -> list[Finding]:
    """What rules find in a body, by their codes; those that fail alike are reported together."""
    subject = f"`{body.function}`"
    findings: list[Finding] = []
    failed: dict[tuple[str, str], tuple[Exception, list[str]]] = {}
    for code, found in rules:
        try:
            findings.extend(found)
        except RecursionError as error:
            # The other rules would ask the same of the same code.
            failed["", ""] = (error, [code])
            break
        except Exception as error:  # noqa: BLE001 - the boundary of one rule; reported below as NST904
            failed.setdefault((type(error).__name__, origin_of(error)), (error, []))[1].append(code)
    for error, codes in failed.values():
        _print(error)
        lost = f"{subject} was not checked for {_listed(codes)}"
        findings.append(_fault(lost, subject, body.marked_at, error, body.function, body.marker))
    return findings


def _listed(codes: Sequence[str]) -> str:
    others = len(codes) - _NAMED
    return ", ".join(codes[:_NAMED]) + (f" and {others} more rules" if others > 0 else "")


def _print(error: Exception) -> None:
    """Write the traceback to standard error for those who ask for it."""
    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exception(error, file=sys.stderr)


def _fault(lost: str, subject: str, span: Span, error: Exception, function: str, marker: str) -> Finding:
    if isinstance(error, RecursionError):
        message, advice = f"{subject} is nested too deeply to be analyzed", _TOO_DEEP
    else:
        message, advice = f"{lost}: {_cause(error)}", _REPORT
    return Finding(INTERNAL_FAULT, Severity.ERROR, span, message, help=advice, function=function, marker=marker)


def origin_of(error: BaseException) -> str:
    """The innermost line of nonstrict that an exception passed through: `edits.py:132`; of anything, if of none."""
    inside = anywhere = ""
    frame = error.__traceback__
    while frame is not None:
        path = frame.tb_frame.f_code.co_filename
        anywhere = f"{os.path.basename(path)}:{frame.tb_lineno}"
        if path.startswith(_PACKAGE):
            inside = anywhere
        frame = frame.tb_next
    return inside or anywhere


def is_faulty(findings: Iterable[Finding]) -> bool:
    """Whether something was lost."""
    return any(one.code == INTERNAL_FAULT for one in findings)


def log_faults(findings: Iterable[Finding]) -> None:
    """Tell the log of what was lost."""
    for one in findings:
        if one.code == INTERNAL_FAULT:
            _log.error("%s:%d: %s. %s", one.span.path, one.span.line, one.message, one.help)


def told_of(error: Exception, lost: str, location: Location) -> Diagnostic:
    """NST904 for what is lost once findings are diagnostics: a clause that says what that is, at its place."""
    _print(error)
    message = f"{lost}: {_cause(error)}"
    return Diagnostic(INTERNAL_FAULT, "internal-fault", Severity.ERROR, location, message, _REPORT)


class Losses:
    """The faults of what is done with diagnostics, each told once: what was lost, at a path."""

    def __init__(self) -> None:
        """Begin with none."""
        self._told: dict[tuple[str, str], Diagnostic] = {}

    @contextmanager
    def losing(self, lost: str, path: str) -> Generator[None]:
        """Do something of which an exception loses one thing; what the user or the disk is to blame for goes on."""
        try:
            yield
        except (ConfigurationError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - the boundary of one thing; told as NST904
            self._told.setdefault((lost, path), told_of(error, lost, Location(path, 1, 1, 1, 1)))

    def take(self, faults: Iterable[Diagnostic]) -> None:
        """Take in what others lost."""
        self._told.update({(one.message, one.location.path): one for one in faults})

    def added_to(self, result: CheckResult) -> CheckResult:
        """A result, with what was lost."""
        faults = tuple(self._told.values())
        if not faults:
            return result
        failures = (*result.failures, *sentences(faults))
        return result._replace(diagnostics=(*result.diagnostics, *faults), failures=failures, faulty=True)


def lost_to(error: Exception, lost: str) -> str:
    """A sentence on what an exception lost, where no place stands for it."""
    _print(error)
    return f"{lost}: {_cause(error)}. {_REPORT}"


def _cause(error: Exception) -> str:
    return f"{type(error).__name__} at {origin_of(error)}"


def sentences(diagnostics: Iterable[Diagnostic]) -> tuple[str, ...]:
    """The faults among some diagnostics, one line each."""
    return tuple(
        f"{one.location.path}:{one.location.row}: {one.message}. {one.help}"
        for one in diagnostics
        if one.code == INTERNAL_FAULT
    )
