"""What several examinations tell of one region: the same, in whatever order they come."""

from __future__ import annotations

from itertools import permutations

from nonstrict.coverage import Looked, Region, merged
from nonstrict.findings import Span

SITE = Span("model.py", 10, 4, 10, 20)
UNKNOWN = Region(SITE, SITE, missed="it is not known what `f` is")
NAMED = Region(SITE, SITE, "f", SITE)
KNOWN = NAMED._replace(graphs=(3, 3))
WIDER = NAMED._replace(graphs=(0, 3))
WASTED = NAMED._replace(graphs=(0, 0), wasted="nothing calls the result of `torch.compile`")


def test_what_knows_most_counts_whichever_comes_first():
    for told, best in (
        ((UNKNOWN, NAMED), NAMED),
        ((UNKNOWN, NAMED, KNOWN), KNOWN),
        ((KNOWN, WIDER), WIDER),
        ((NAMED, KNOWN, WIDER, WASTED), WASTED),
    ):
        for order in permutations(told):
            assert merged([Looked((one,)) for one in order]).regions == (best,)
