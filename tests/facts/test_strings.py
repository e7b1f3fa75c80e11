"""Positions in a text are told apart: code, comments, strings."""

from __future__ import annotations

import pytest

from nonstrict.facts.outline import Outline
from nonstrict.facts.strings import is_code, long_strings

CODE = '''"""mark is told of here,
and mark(f) too."""
first = mark(f)  # don't mark(g)
second = "mark(h)", mark(i)
third = f"{mark(j)}"
fourth = f"""
{mark(k)} and "{mark(l)}"
"""
fifth = """
mark(m)""", mark(n)
sixth = 'a \\
mark(o)', mark(p)
'''


@pytest.mark.parametrize("name", "fijklnp")
def test_code(name: str):
    strings, closed = long_strings(CODE)
    assert closed
    position = CODE.rindex(f"mark({name})")
    assert is_code(CODE, strings, position)


@pytest.mark.parametrize("name", "ghmo")
def test_comments_and_strings(name: str):
    strings, _ = long_strings(CODE)
    assert not is_code(CODE, strings, CODE.index(f"mark({name})"))


def test_a_formatted_string_holds_code():
    assert [CODE[string.start] + str(string.formatted) for string in long_strings(CODE)[0]] == [
        '"False',
        '"True',
        '"False',
        "'False",
    ]


def test_places_leave_out_comments_and_long_strings():
    found = [CODE[end : end + 3] for _, end in Outline(CODE).places(["mark"])]
    assert found == ["(f)", "(h)", "(i)", "(j)", "(k)", "(l)", "(n)", "(p)"]


def test_where_a_string_is_not_closed_every_place_counts():
    code = 'def f():\n    """never closed\n\n\ndef g():\n    """closed"""\n    mark(g)\n    """again"""\n'
    assert not long_strings(code)[1]
    assert len(list(Outline(code).places(["mark"]))) == 1
