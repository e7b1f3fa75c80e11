"""Our reader of `.gitignore` says what `pathspec` says, and what git says where pathspec differs."""

from __future__ import annotations

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.check.gitignore import compile_patterns

NAMES = st.sampled_from(["a", "b", "ab", "a.py", "b.py", ".x", "a b", "[a]"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PIECES = st.sampled_from(["a", "b", "ab", "*", "**", "?", "a*", "*.py", "[ab]", "[!a]", "a?", "\\*", ".x"])
PATTERNS = st.builds(
    lambda bang, slash, pieces, end: f"{bang}{slash}{'/'.join(pieces)}{end}",
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(PIECES, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)


def ignored(lines: list[str], path: str) -> bool:
    """Whether a file is ignored: it, or a directory above it, as a walk from the top would see it."""
    ignore = compile_patterns(lines, "/root")
    if ignore is None:
        return False
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        here = "/root/" + "/".join(parts[:depth])
        if ignore.verdict(parts[depth - 1], here, depth < len(parts)):
            return True
    return False


@given(st.lists(PATTERNS, max_size=3), PATHS)
def test_same_as_pathspec(lines: list[str], path: str):
    negated = [line for line in lines if line.startswith("!")]
    if negated:
        # pathspec lets `!` take back a file within an ignored directory; git, and a walk, never look there.
        lines = [line for line in lines if not line.startswith("!")]
    spec = pathspec.GitIgnoreSpec.from_lines(lines)
    assert ignored(lines, path) == spec.match_file(path)


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
        (["a["], "a[", True),
        (["foo/"], "foo", False),
    ],
)
def test_documented_cases(lines: list[str], path: str, expected: bool):
    assert ignored(lines, path) is expected


@given(st.lists(st.text(max_size=12), max_size=4), st.text(min_size=1, max_size=8))
def test_any_text_compiles(lines: list[str], name: str):
    ignored(lines, name)
