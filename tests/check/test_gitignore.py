"""`.gitignore` patterns mean what git documents, as a walk from the top applies them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.check.gitignore import compile_patterns


def ignored(lines: list[str], path: str) -> bool:
    """Whether a file is ignored: it, or a directory above it, as a walk from the top would see it."""
    ignore = compile_patterns(lines, "/project")
    if ignore is None:
        return False
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        here = "/project/" + "/".join(parts[:depth])
        if ignore.verdict(here, depth < len(parts)):
            return True
    return False


@pytest.mark.parametrize(
    ("lines", "path", "expected"),
    [
        (["*.py", "!a.py"], "x/a.py", False),
        (["*.py", "!a.py"], "x/b.py", True),
        (["!a.py", "*.py"], "a.py", True),
        (["build/", "!build/a.py"], "build/a.py", True),
        (["build/*", "!build/a.py"], "build/a.py", False),
        (["/a"], "b/a", False),
        (["b/a"], "c/b/a", False),
        (["**/b/a"], "c/b/a", True),
        (["a/**"], "a/b/c", True),
        (["a/**/c"], "a/c", True),
        (["a/**/c"], "a/b/d/c", True),
        (["name "], "name", True),
        (["name\\ "], "name ", True),
        (["# a"], "# a", False),
        (["\\#a"], "#a", True),
        (["\\!a"], "!a", True),
        (["", "  "], "a", False),
        (["a[0-9]"], "a7", True),
        (["a[!0-9]"], "a7", False),
        (["foo/"], "foo", False),
    ],
)
def test_documented_cases(lines: list[str], path: str, expected: bool):
    assert ignored(lines, path) is expected


@given(st.lists(st.text(max_size=12), max_size=4), st.text(min_size=1, max_size=8))
def test_any_text_compiles(lines: list[str], name: str):
    ignored(lines, name)
