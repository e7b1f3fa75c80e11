"""`agent`: patches that programs apply, and blocks that nothing a program says can break."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nonstrict.findings import (
    Applicability,
    Diagnostic,
    LocatedEdit,
    LocatedFix,
    Location,
    RelatedLocation,
    Severity,
    Status,
    Verdict,
)
from nonstrict.fixes.applying import applied
from nonstrict.report.context import Context, Lines, renderer
from tests.report.samples import NOTEBOOK, edit, fix

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SAFE = Applicability.SAFE
TOOLS = [
    pytest.param(["git", "apply", "-"], id="git"),
    pytest.param(
        ["patch", "-p1", "--quiet"], id="patch", marks=pytest.mark.skipif(not shutil.which("patch"), reason="no patch")
    ),
]
TEXT = "".join(f"line {number}\n" for number in range(1, 41))


def finding(path: str, *fixes: LocatedFix, code: str = "NST101", row: int = 1) -> Diagnostic:
    return Diagnostic(code, "name", Severity.ERROR, Location(path, row, 1, row, 2), "what", fixes=fixes)


def told(folder: Path, *found: Diagnostic) -> str:
    return renderer("agent")(found, Context(Lines({}), 1, directory=str(folder)))


def edited(folder: Path, name: str, data: bytes, *edits: LocatedEdit) -> Diagnostic:
    """A finding in a new file, with a fix."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    placed = (one._replace(location=one.location._replace(path=str(path))) for one in edits)
    return finding(str(path), fix("Change it", SAFE, *placed))


def apply(tool: Sequence[str], folder: Path, text: str) -> None:
    run = subprocess.run(tool, cwd=folder, input=text.encode("utf-8"), capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode() + text


CHANGES = (edit("", (3, 1), (3, 5), "LINE"), edit("", (20, 1), (22, 1), ""), edit("", (38, 1), (38, 1), "new\nlines\n"))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.rstrip("\n").encode(),
        TEXT.replace("\n", "\r\n").rstrip("\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.replace("line 5\n", "line\f5 \u65e5 \x1b\n").encode(),
    ],
    ids=["lf", "crlf", "no end", "crlf, no end", "mark", "odd"],
)
def test_patches_do_what_fixes_do(tmp_path: Path, tool: list[str], data: bytes):
    found = edited(tmp_path, "src/model.py", data, *CHANGES, edit("", (40, 1), (40, 5), "LAST"))
    expected = applied("model.py", data, found.fixes[0].edits)
    assert expected != data
    apply(tool, tmp_path, told(tmp_path, found))
    assert (tmp_path / "src" / "model.py").read_bytes() == expected


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", ["a b.py", "日本.py", 'a"\\b.py', "a\tb\n.py", "-x.py", "a/b c/d.py", "x'$(y).py"])
def test_names_of_files(tmp_path: Path, tool: list[str], name: str):
    found = edited(tmp_path, name, b"a\nb\n", edit("", (1, 1), (1, 2), "c"))
    apply(tool, tmp_path, told(tmp_path, found))
    assert (tmp_path / name).read_bytes() == b"c\nb\n"


@pytest.mark.parametrize("tool", TOOLS)
def test_a_fix_changes_several_files(tmp_path: Path, tool: list[str]):
    one = edited(tmp_path, "a.py", TEXT.encode(), *CHANGES)
    two = edited(tmp_path, "b/c.py", TEXT.encode(), *CHANGES)
    both = finding(str(tmp_path / "a.py"), fix("Both", SAFE, *one.fixes[0].edits, *two.fixes[0].edits))
    apply(tool, tmp_path, told(tmp_path, both))
    assert (tmp_path / "a.py").read_bytes() == (tmp_path / "b" / "c.py").read_bytes() != TEXT.encode()


def test_paths_are_those_of_the_directory_of_the_run(tmp_path: Path):
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    found = edited(tmp_path / "part", "a.py", b"a\nb\n", edit("", (1, 1), (1, 2), "c"))
    apply(["git", "apply", "-"], tmp_path / "part", told(tmp_path / "part", found))
    assert (tmp_path / "part" / "a.py").read_bytes() == b"c\nb\n"


@pytest.mark.parametrize("tool", TOOLS)
def test_the_whole_output_is_a_patch_too(tmp_path: Path, tool: list[str]):
    found = [edited(tmp_path, "a.py", TEXT.encode(), change) for change in CHANGES]
    expected = applied(
        "a.py", TEXT.encode(), [one._replace(location=one.location._replace(path="a.py")) for one in CHANGES]
    )
    apply(tool, tmp_path, told(tmp_path, *found))
    assert (tmp_path / "a.py").read_bytes() == expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0\x1a\ufeff"), max_size=4), min_size=1
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    ended=st.booleans(),
    place=st.integers(0, 30),
    text=st.sampled_from(["", "x", "x\n", "\n", "a\nb\nc"]),
)
def test_any_patch_applies(tmp_path: Path, lines: list[str], end: str, ended: bool, place: int, text: str):
    data = (end.join(lines) + end * ended).encode()
    row = place % len(lines) + 1
    found = edited(tmp_path, "a.py", data, edit("", (row, 1), (row, len(lines[row - 1]) + 1), text))
    expected = applied("a.py", data, found.fixes[0].edits)
    output = told(tmp_path, found)
    assert ("@@" in output) == (expected != data)
    if expected != data:
        apply(["git", "apply", "--whitespace=nowarn", "-"], tmp_path, output)
        assert (tmp_path / "a.py").read_bytes() == expected


def test_what_is_no_patch_says_why(tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    change = edit("", (1, 1), (1, 2), "c")
    notebook = edited(folder, "book.ipynb", NOTEBOOK.encode(), change)
    latin = edited(folder, "latin.py", "# coding: latin-1\n# é\na\n".encode("latin-1"), edit("", (3, 1), (3, 2), "c"))
    outside = edited(tmp_path, "outside.py", b"a\n", change)
    gone = edited(folder, "gone.py", b"a\n", change)
    (folder / "gone.py").unlink()
    beyond = edited(folder, "short.py", b"a\n", edit("", (9, 1), (9, 2), "c"))
    text = told(folder, notebook, latin, outside, gone, beyond)
    assert "@@" not in text
    reasons = [line for line in text.splitlines() if line.startswith("no patch: ")]
    assert reasons[0] == "no patch: book.ipynb is a notebook"
    assert reasons[1] == "no patch: latin.py is not encoded in UTF-8"
    assert reasons[2].endswith("outside.py is outside of this directory")
    assert reasons[3] == "no patch: gone.py cannot be read: no such file"
    assert len(reasons) == 5


def test_a_file_that_was_changed_meanwhile_has_no_patch(tmp_path: Path):
    found = edited(tmp_path, "a.py", b"a\nb\n", edit("", (1, 1), (1, 2), "c"))
    lines = Lines({})
    assert lines.text(found.location.path) == "a\nb\n"
    (tmp_path / "a.py").write_bytes(b"other\n")
    text = renderer("agent")([found], Context(lines, 1, directory=str(tmp_path)))
    assert "no patch: a.py is not what was checked" in text


def test_the_next_command():
    def following(found: Diagnostic) -> str:
        lines = renderer("agent")([found], Context(Lines({}), 1, directory="/project")).splitlines()
        return next(line for line in lines if line.startswith("next: "))

    change = edit("a.py", (1, 1), (1, 2), "c")
    fixable = finding("a.py", fix("Change it", Applicability.UNSAFE, change))
    assert following(fixable) == "next: nonstrict check --confirm a.py"
    confirmed = fixable._replace(verdict=Verdict(Status.CONFIRMED))
    assert following(confirmed) == "next: nonstrict check --fix --unsafe-fixes --select NST101 a.py"
    assert following(fixable._replace(verdict=Verdict(Status.REFUTED))) == "next: nonstrict rule NST101"
    assert following(finding("-x $y.py")) == "next: nonstrict check --confirm './-x $y.py'"
    assert following(finding("a.py", code="NST901")) == "next: nonstrict rule NST901"
    assert following(finding("-")) == "next: nonstrict rule NST101"
    marker = RelatedLocation(Location("train.py", 1, 1, 1, 2), "marked here")
    reached = finding("a.py")._replace(related=(marker, marker._replace(message="rebound here")), links=1)
    assert following(reached) == "next: nonstrict check --confirm train.py a.py"


@given(st.text(max_size=30), st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=20))
def test_no_text_breaks_a_block(text: str, path: str):
    where = Location(path, 1, 1, 1, 2)
    found = Diagnostic(
        "NST101",
        "name",
        Severity.NOTE,
        where,
        text or "x",
        text,
        text,
        related=(RelatedLocation(where, text), RelatedLocation(where, text)),
        links=1,
        verdict=Verdict(Status.CONFIRMED, evidence=text),
        fixes=(fix(text, SAFE),),
    )
    output = renderer("agent")([found], Context(Lines({}), 1, (text,), color=True, directory="/project"))
    names = [line.partition(":")[0] for line in output.split("\n")]
    expected = ["message", *(["note", "help"] if text else []), "chain", "see", "verdict", "fix", "next", "", "failure"]
    assert names[1:-2] == expected
    assert "\x1b" not in output
