"""Three-valued truth of conditions whose parts are T (true), F (false) or O (open)."""

from __future__ import annotations

import ast

import pytest

from nonstrict.truth import negated, of_condition

VERDICTS = {"T": True, "F": False, "O": None}


def told(text: str, *, reached_only: bool = False) -> tuple[bool | None, str]:
    """The verdict on a condition, and the parts that were asked for it."""
    asked: list[str] = []

    def judge(part: ast.expr) -> bool | None:
        asked.append(ast.unparse(part))
        return VERDICTS[asked[-1]]

    test = ast.parse(text, mode="eval").body
    return of_condition(test, judge, reached_only=reached_only), "".join(asked)


@pytest.mark.parametrize(
    ("text", "verdict", "asked"),
    [
        ("T", True, "T"),
        ("not T", False, "T"),
        ("not O", None, "O"),
        ("not not F", False, "F"),
        ("T and F", False, "TF"),
        ("F and T", False, "F"),
        ("O and F", False, "OF"),
        ("O and T", None, "OT"),
        ("T and T", True, "TT"),
        ("O or T", True, "OT"),
        ("T or O", True, "T"),
        ("F or O", None, "FO"),
        ("F or F", False, "FF"),
        ("not (O or T)", False, "OT"),
        ("(F or T) and not (O and F)", True, "FTOF"),
    ],
)
def test_conditions(text: str, verdict: bool | None, asked: str):
    assert told(text) == (verdict, asked)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("O or T", None),
        ("T or O", True),
        ("O and F", None),
        ("F and O", False),
        ("not (O or T)", None),
        ("F or T", True),
    ],
)
def test_where_a_part_may_not_be_asked_it_decides_nothing(text: str, verdict: bool | None):
    assert told(text, reached_only=True)[0] is verdict


def test_the_opposite():
    assert [negated(one) for one in (True, False, None)] == [False, True, None]
