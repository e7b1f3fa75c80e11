"""`--fix`, `--diff` and `--add-ignore`: what `nonstrict check` changes in files, or would change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.fixing import Fixed, fix
from nonstrict.check.writing import write_all
from nonstrict.findings import UNEXPLAINED, Applicability, LocatedFix
from nonstrict.fixes.applying import applicable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nonstrict.check.faults import Losses
    from nonstrict.check.fixing import Examine
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

    #: The findings of a result that are reported: those that the baseline does not hold.
    Reported = Callable[[CheckResult], Sequence[Diagnostic]]


class StandardInput(NamedTuple):
    """The text on standard input, and the name that it goes by."""

    name: str
    data: bytes


def fixed(examine: Examine, reported: Reported, settings: Settings, known: StandardInput | None) -> Fixed:
    """Apply the fixes that the settings allow, in memory."""

    def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        for finding in reported(result):
            found = applicable(finding.fixes, settings.least)
            if found is not None:
                yield finding, found

    return fix(examine, propose, {known.name: known.data} if known is not None else None)


def suppressed(examine: Examine, reported: Reported, reason: str, known: StandardInput | None, losses: Losses) -> Fixed:
    """Suppress all findings with comments, in memory; what nonstrict's own mistakes lose is added to `losses`."""
    from nonstrict.check.selection import codes_by_name
    from nonstrict.fixes.suppressing import suppress_on_line
    from nonstrict.rules.registry import RULES

    codes = codes_by_name(RULES)

    def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        for finding in reported(result):
            source = _source(finding.location.path, result.read)
            if source is None or (RULES[finding.code].examine is None and finding.code != UNEXPLAINED):
                continue  # these are about the comments themselves, or about what no comment can stand in
            edit = None
            with losses.losing(f"a finding of {finding.code} was not suppressed", source.path):
                edit = suppress_on_line(source, finding.location, finding.code, codes, reason)
            if edit is not None:
                yield finding, LocatedFix("Suppress it", Applicability.SAFE, (edit,))

    return fix(examine, propose, {known.name: known.data} if known is not None else None)


def _source(path: str, read: Mapping[str, Source]) -> Source | None:
    from nonstrict.text.source import UnreadableSource, read_source

    try:
        return read.get(path) or read_source(path)
    except UnreadableSource:
        return None


def written(
    done: Fixed, options: argparse.Namespace, known: StandardInput | None, losses: Losses, *, color: bool
) -> None:
    """Write what changes, or show it with `--diff`.

    The text of standard input goes to standard output, changed or not.

    Raises:
        CannotWrite: a file cannot be written.
    """
    for mistake in done.mistakes:
        sys.stderr.write(f"nonstrict: {mistake}\n")
    if options.diff:
        from nonstrict.report.difference import render_difference

        for change in done.changes:
            with losses.losing("the changes of the file are not shown", change.path):
                text = render_difference(change.path, change.before, change.after, color=color)
                _write(text.encode("utf-8", "replace"))
        return
    write_all([change for change in done.changes if known is None or change.path != known.name])
    if known is not None:
        changed = {change.path: change.after for change in done.changes}
        _write(changed.get(known.name, known.data))


def not_done(result: CheckResult, failures: Sequence[str], known: StandardInput | None) -> Fixed:
    """What is said where nothing was changed; the text of standard input is written as it came."""
    if known is not None:
        _write(known.data)
    return Fixed(result._replace(failures=(*failures, *result.failures)), (), (), ())


def _write(data: bytes) -> None:
    """Write bytes as they are: what is decoded on the way loses its line ends on some systems."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def told(done: Fixed, left: Sequence[Diagnostic], settings: Settings, *, would: bool) -> str:
    """The closing line where what is left is not reported: what was fixed, or `would` be."""
    count = len(done.fixed)
    hidden = 0
    if settings.unsafe_fixes is None:
        hidden = sum(applicable(one.fixes, Applicability.UNSAFE) is not None for one in left)
    fixes = "fix" if hidden == 1 else "fixes"
    rest = f" ({hidden:,} additional {fixes} available with `--unsafe-fixes`)" if hidden else ""
    what = f"{count:,} finding" if count == 1 else f"{count:,} findings" if count else "No findings"
    if would:
        return f"Would fix {what}{rest}.\n" if count else f"No findings would be fixed{rest}.\n"
    return f"Fixed {what}{rest}.\n" if count else f"No findings fixed{rest}.\n"
