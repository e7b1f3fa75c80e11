"""Texts of open documents: what differs between two of them, and what their encoding has to do with it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nonstrict.check.live.texts import differing_lines, opened

LINES = st.lists(st.sampled_from(["a", "b", "", "ab", "register(x)"]), max_size=8).map("\n".join)


@given(LINES, LINES)
def test_differing_lines_are_all_that_differs(before: str, after: str) -> None:
    old, new = differing_lines(before, after)
    assert old in before
    assert new in after
    if before == after:
        assert old == new
    elif old == new:
        raise AssertionError((before, after))
    else:
        places = [at for at in range(len(before)) if before.startswith(old, at)] if old else []
        assert not places or any(before[:at] + new + before[at + len(old) :] == after for at in places)


def test_only_whole_lines() -> None:
    assert differing_lines("one\ntwo\nthree", "one\ntoo\nthree") == ("two", "too")
    assert differing_lines("one\ntwo", "one\ntwo\nthree")[1].endswith("three")


def test_a_cookie_says_nothing_about_a_text_that_is_decoded() -> None:
    text = opened("a.py", "# coding: latin-1\nx = 'é'\n", None)
    assert text is not None
    assert text.shown.code == "# coding: latin-1\nx = 'é'\n"
    assert text.shown.problems == ()


def test_a_broken_text_keeps_its_lines() -> None:
    text = opened("a.py", "x = 1\ndef f(:\n    pass\ny = 2\n", None)
    assert text is not None
    assert [problem.span.line for problem in text.shown.problems] == [2]
    assert text.analysed.code.count("\n") == 4
    assert "y = 2" in text.analysed.code


def test_what_no_file_can_hold() -> None:
    text = opened("a.py", "x = '\ud800'\0\n", None)
    assert text is not None
    assert len(text.shown.problems) >= 1
