"""File patterns of settings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.check.patterns import PathMatcher
from nonstrict.settings.model import Pattern


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("a.py", "/r/x/a.py", True),
        ("a.py", "/r/x/aa.py", False),
        ("*.py", "/r/x/a.py", True),
        ("*.p?", "/r/a.py", True),
        ("{a,b}.py", "/r/b.py", True),
        ("[!a].py", "/r/b.py", True),
        ("x/*", "/r/x/y/a.py", True),
        ("./x/*", "/r/x/a.py", True),
        ("x/*", "/r/z/x/a.py", False),
        ("**/x/*", "/r/z/x/a.py", True),
        ("**/x/*", "/r/x/a.py", True),
        ("/r/x/a.py", "/r/x/a.py", True),
        ("x/", "/r/x", True),
        ("a+b.py", "/r/a+b.py", True),
    ],
)
def test_patterns(glob: str, path: str, expected: bool):
    assert PathMatcher([Pattern(glob, "/r")]).matches(path.rpartition("/")[2], path) is expected


def test_a_directory_above_counts():
    matcher = PathMatcher([Pattern("tests", "/r"), Pattern("docs/*", "/r")])
    assert matcher.matches_any_part("/r/a/tests/x/y.py", "/r")
    assert matcher.matches_any_part("/r/docs/x/y.py", "/r")
    assert not matcher.matches_any_part("/r/a/x.py", "/r")
    assert not matcher.matches_any_part("/tests/a.py", "/r")


@given(st.text(max_size=20))
def test_any_glob_compiles(glob: str):
    PathMatcher([Pattern(glob, "/r")]).matches("a.py", "/r/a.py")
