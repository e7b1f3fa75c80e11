"""Findings in installed packages are told where the files of the run lead to them: nobody mends a package in place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.findings import Related

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.contracts.marked_body import MarkedBody

_THERE = "it is in this package"


def at_calls(body: MarkedBody, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings in a body, those in a package at the call, in a file of the run, that leads there."""
    for finding in findings:
        links = finding.related[: finding.links]
        home = [number for number, one in enumerate(links) if not _is_of_package(body, one.span.path)]
        if not home or not _is_of_package(body, finding.span.path):
            yield finding
            continue
        last = home[-1]
        there = (*links[last + 1 :], Related(finding.span, _THERE), *finding.related[finding.links :])
        yield finding._replace(span=links[last].span, related=(*links[:last], *there), links=last)


def _is_of_package(body: MarkedBody, path: str) -> bool:
    machine = body.machine
    if path in machine.elsewhere.found.own:
        return False
    whole = os.path.abspath(path)
    return any(whole.startswith(folder + os.sep) for folder in machine.project.site_packages)
