"""`junit`: a test report in which every finding is a failed case, and what could not be checked an error."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from nonstrict.report.style import one_line, shown_position
from nonstrict.report.verdicts import details, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One document; a run without findings is one passed case, as some readers refuse an empty report."""
    return "\n".join(_lines(diagnostics, context)) + "\n"


def _lines(diagnostics: Sequence[Diagnostic], context: Context) -> Iterator[str]:
    count, unread = len(diagnostics), len(context.failures)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="nonstrict" tests="{max(count + unread, 1)}" failures="{count}" errors="{unread}">'
    if not diagnostics and not unread:
        yield '  <testsuite name="nonstrict" tests="1" failures="0" errors="0">'
        yield '    <testcase name="No findings" classname="nonstrict"/>'
        yield "  </testsuite>"
    for path, group in groupby(diagnostics, key=lambda diagnostic: diagnostic.location.path):
        found = list(group)
        name = quoteattr(one_line(context.in_repository(path)))
        yield f'  <testsuite name={name} tests="{len(found)}" failures="{len(found)}" errors="0">'
        for diagnostic in found:
            yield from _case(diagnostic, context)
        yield "  </testsuite>"
    if unread:
        yield f'  <testsuite name="nonstrict" tests="{unread}" failures="0" errors="{unread}">'
        for failure in context.failures:
            message = quoteattr(one_line(failure))
            yield '    <testcase name="nonstrict" classname="nonstrict">'
            yield f'      <error message={message} type="failure">{escape(one_line(failure))}</error>'
            yield "    </testcase>"
        yield "  </testsuite>"
    yield "</testsuites>"


def _case(diagnostic: Diagnostic, context: Context) -> Iterator[str]:
    where = diagnostic.location
    path = one_line(context.in_repository(where.path))
    name = quoteattr(f"nonstrict.{diagnostic.code}")
    at = context.place(where)
    yield f'    <testcase name={name} classname={quoteattr(path)} line="{at.row}" column="{at.column}">'
    message = quoteattr(one_line(diagnostic.message))
    lines = [f"{shown_position(path, where.row, where.column, where.cell)}: {one_line(diagnostic.message)}"]
    if diagnostic.note:
        lines.append(one_line(diagnostic.note))
    lines += context.evidence(diagnostic)
    lines += [one_line(line) for line in (told(diagnostic),) if line]
    if diagnostic.verdict is not None:
        lines += [one_line(line) for line in details(diagnostic.verdict)]
    text = escape("\n".join(lines))
    yield f'      <failure message={message} type="{diagnostic.severity.label}">{text}</failure>'
    yield "    </testcase>"
