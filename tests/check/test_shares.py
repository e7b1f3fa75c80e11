"""How what several marked functions find at one place becomes one finding, which tells who comes there."""

from __future__ import annotations

from itertools import permutations

from nonstrict.check.shares import Share, merged
from nonstrict.findings import Finding, Related, Severity, Span

PLACE = Span("helpers.py", 3, 4, 3, 9)


def found(function: str, line: int, links: int = 2, severity: Severity = Severity.ERROR) -> Finding:
    """A finding at the place, by way of the marker of a function."""
    marker = Span("model.py", line, 1, line, 20)
    chain = (Related(marker, "is marked here"), *[Related(PLACE, "is called here")] * (links - 1))
    told = Finding("NST301", severity, PLACE, "draws", function=function, marker="nonstrict")
    return told._replace(related=chain, links=links)


def marker_of(finding: Finding) -> tuple[str, Span]:
    return finding.function, finding.related[0].span


def test_the_nearest_finding_tells_who_else_comes_to_its_place():
    near, far, mild = found("near", 1), found("far", 5, links=3), found("mild", 9, severity=Severity.NOTE)
    for order in permutations([near, far, mild]):
        together = merged([Share(list(order), frozenset())]).findings
        apart = merged([Share([one], frozenset()) for one in order]).findings
        assert together == apart == [near._replace(others=(marker_of(far), marker_of(mild)))]


def test_what_is_found_twice_by_one_function_has_no_others():
    one = found("near", 1)
    assert merged([Share([one, one._replace(message="draws again")], frozenset())]).findings == [one]


def test_merging_what_was_merged_changes_nothing():
    once = merged([Share([found("near", 1), found("far", 5, links=3)], frozenset())])
    again = merged([once, once, Share([found("far", 5, links=3)], frozenset())])
    assert again.findings == once.findings
