"""Writes findings in an output format; one that the format cannot show costs itself alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context, Renderer


class Rendered(NamedTuple):
    """The text, and sentences about findings that it does not show."""

    text: str
    failures: tuple[str, ...] = ()


def rendered(render: Renderer, diagnostics: Sequence[Diagnostic], context: Context) -> Rendered:
    """The findings in a format; NST904 stands for each that makes it fail.

    Where the format fails whatever it is given there is no text, and the findings are among the sentences.
    """
    try:
        return Rendered(render(diagnostics, context))
    except Exception:  # noqa: BLE001 - which finding it is, shows when each is written alone
        return _without_failing(render, diagnostics, context)


def _without_failing(render: Renderer, diagnostics: Sequence[Diagnostic], context: Context) -> Rendered:
    from nonstrict.check.faults import sentences, told_of
    from nonstrict.findings import INTERNAL_FAULT

    shown: list[Diagnostic] = []
    lost: list[Diagnostic] = []
    for diagnostic in diagnostics:
        error = _error(render, [diagnostic], context)
        if error is None:
            shown.append(diagnostic)
            continue
        is_fault = diagnostic.code == INTERNAL_FAULT
        said = diagnostic.message if is_fault else f"a finding of {diagnostic.code} is not shown"
        fault = told_of(error, said, diagnostic.location)
        lost.append(fault)
        if _error(render, [fault], context) is None:
            shown.append(fault)
    failures = sentences(lost)
    context = context._replace(failures=(*context.failures, *failures))
    error = _error(render, shown, context)
    return Rendered(render(shown, context), failures) if error is None else _without_format(error, diagnostics)


def _without_format(error: Exception, diagnostics: Sequence[Diagnostic]) -> Rendered:
    """The findings as sentences, where a format fails."""
    from nonstrict.check.faults import lost_to

    return Rendered("", (lost_to(error, "the output format failed"), *_plain(diagnostics)))


def _plain(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    for one in diagnostics:
        yield f"{one.location.path}:{one.location.row}: {one.code} {one.message}"


def _error(render: Renderer, diagnostics: Sequence[Diagnostic], context: Context) -> Exception | None:
    try:
        render(diagnostics, context)
    except Exception as error:  # noqa: BLE001 - the boundary of one finding in a format
        return error
    return None
