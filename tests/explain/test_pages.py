"""The pages of graph breaks: one for each id that torch knows, with a way out that is ours."""

from __future__ import annotations

import pytest

from nonstrict.explain.pages import break_ids, break_page, page_of
from nonstrict.knowledge.graph_breaks import constructs_by_reason
from nonstrict.knowledge.releases import BASE, measured, table
from nonstrict.rules.break_families import family_of
from nonstrict.rules.break_reasons import REASONS, reason_of

#: Torch's own advice that is the same for hundreds of breaks.
BOILERPLATE = ("It may be possible to write Dynamo tracing rules", "Please report an issue", "Avoid calling")


def test_there_is_a_page_for_every_id():
    assert len(break_ids()) > 500
    assert list(break_ids()) == sorted(break_ids())
    for identifier in break_ids():
        lines = break_page(identifier).splitlines()
        assert lines[0].startswith(f"# {identifier}: ")
        headings = [line for line in lines if line.startswith("## ")]
        assert headings[:3] == ["## What torch says", "## What it means", "## What to do"]


def test_every_measured_reason_has_a_way_out_of_its_own():
    wanted = {reason for reason in constructs_by_reason(BASE) if family_of(reason) == family_of("")}
    assert wanted <= REASONS.keys()


@pytest.mark.parametrize("release", measured("graph_breaks"), ids=str)
def test_no_advice_is_torchs_boilerplate(release):
    for identifier, kind, *_ in table("graph_breaks", release)["reasons"].values():
        reason = reason_of(identifier or kind)
        assert reason.way
        assert reason.meaning.endswith(".")
        assert not reason.way.endswith(".")
        assert not any(text in reason.way for text in BOILERPLATE)


def test_every_reason_is_one_of_torchs():
    assert {reason for reason in REASONS if reason.startswith("GB")} <= set(break_ids())


def test_a_page_names_what_breaks_and_who_reports_it():
    page = page_of("GB0059")
    assert page.title == "Failed to trace builtin operator"
    assert any("`print`" in hint for hint in page.hints)
    assert page.rules == ("NST701",)
    messages = next(names for way, names in page.ways if way.startswith("print outside the region"))
    assert "print(x)" in messages


def test_an_unknown_id_has_no_page():
    with pytest.raises(KeyError):
        break_page("GB9999")
