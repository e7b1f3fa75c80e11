"""Fix and confirm: a function is confirmed again after a fix, and told is what became of the finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.check.live.verdicts import marker_of
from nonstrict_server.protocol import RequestFailedError
from nonstrict_server.regions import reached_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict_server.server import Server

CONFIRM_FIXED = "nonstrict.confirmFixed"


def arguments_for(ls: Server, finding: Diagnostic) -> list[str]:
    """What the command has to know of a finding before it is fixed."""
    return [ls.documents.uri_of(marker_of(finding).path), finding.function, finding.code, _cause(finding)]


async def confirm_fixed(ls: Server, arguments: list[Any]) -> str:
    """Confirm a function of which a confirmed finding was fixed; says what became of the finding.

    Raises:
        RequestFailedError: experiments are not allowed, or the file does not parse after the fix.
    """
    uri, function, code, cause = (*map(str, arguments), "", "", "", "")[:4]
    path = ls.documents.place_of(uri).path
    hindrance = await ls.scheduler.ask(lambda: ls.confirmers.hindrance(path))
    if hindrance:
        raise RequestFailedError(hindrance)
    source = await ls.scheduler.ask(lambda: ls.engine.source(path))
    if source is None or source.problems:
        raise RequestFailedError("nothing was confirmed: after the fix the file cannot be read as Python")
    found = await ls.scheduler.ask(lambda: reached_from(ls.engine, path, function))
    if found:
        await ls.confirmers.confirm(path, function)
        await ls.confirmers.settled(path)
        found = await ls.scheduler.ask(lambda: reached_from(ls.engine, path, function))
    left = [one for one in found if (one.code, one.function, _cause(one)) == (code, function, cause)]
    others = [one for one in found if one not in left]
    told = f"{code} in `{function}`: confirmed → {_verdicts(left) or 'no finding left'}"
    if others:
        told += f"; other findings: {_verdicts(others)}"
    ls.inform(told)
    return told


def _verdicts(findings: Sequence[Diagnostic]) -> str:
    return ", ".join(one.verdict.status.value if one.verdict is not None else "undecided" for one in findings)


def _cause(finding: Diagnostic) -> str:
    return finding.subject.text if finding.subject is not None else finding.message
