"""Sources: encodings, line ends, what cannot be read, and the way back to positions of the file."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.findings import Span
from nonstrict.text import source as source_module
from nonstrict.text.source import (
    Source,
    SourceKind,
    UnreadableSource,
    byte_column,
    code_points,
    read_source,
    repaired,
    source_from_bytes,
    source_kind,
)

if TYPE_CHECKING:
    from pathlib import Path


def span(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span("a.py", line, column, end_line, end_column)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"x = 1\n", "x = 1\n"),
        (b"", ""),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"x = 1\r\ny = 2\rz = 3", "x = 1\ny = 2\nz = 3"),
        (b"x = '''a\r\nb'''\n", "x = '''a\nb'''\n"),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", None),
        (b"\x0cx = 1\n\tif_ = 2\n", "\x0cx = 1\n\tif_ = 2\n"),
        (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "# coding: utf-8\nx = 1\n"),
    ],
)
def test_code_is_decoded_as_python_does(data: bytes, code: str | None) -> None:
    source = source_from_bytes("a.py", data)
    assert source.problems == ()
    if code is not None:
        assert source.code == code
    else:
        assert "€" in source.code


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"a = 1\nx = '\xe9'\n", 2, "UTF-8"),
        (b"# coding: nonsense\nx = 1\n", 1, "unknown encoding"),
        (b"# coding: utf-16\nx = 1\n", 1, "cannot be the encoding"),
        (b"# coding: hex\nx = 1\n", 1, "encoding"),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", 1, "remove one"),
        (b"a = 1\nb = '\0'\nc = 3\n", 2, "NUL"),
        (b"# coding: ascii\r\nx = '\xe9'\r\n", 2, "ASCII"),
    ],
)
def test_wrong_bytes_are_a_problem_at_their_line_and_the_rest_is_read(data: bytes, line: int, words: str) -> None:
    source = source_from_bytes("a.py", data)
    assert [problem.span.line for problem in source.problems] == [line]
    assert words in source.problems[0].message
    fixed = repaired(source)
    assert ast.parse(fixed.code).body
    assert fixed.code.count("\n") == source.code.count("\n")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("x = 1\n".encode("utf-16"), "UTF-16"),
        ("x = 1\n".encode("utf-32"), "UTF-32"),
        (b"\x7fELF\x02\x01\x01" + bytes(300), "not a text file"),
        (bytes(range(128, 256)) * 8, "not a text file"),
    ],
)
def test_binary_data_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableSource, match=reason):
        source_from_bytes("a.py", data)


def test_missing_directory_and_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableSource) as missing:
        read_source(str(tmp_path / "none.py"))
    assert missing.value.reason == "no such file"
    assert str(missing.value).endswith("none.py: no such file")
    with pytest.raises(UnreadableSource, match="is a directory"):
        read_source(str(tmp_path))
    with pytest.raises(UnreadableSource, match="not a file name"):
        read_source("a\0b.py")
    large = tmp_path / "large.py"
    large.write_bytes(b"#" * 2000)
    monkeypatch.setattr(source_module, "MAX_BYTES", 1000)
    with pytest.raises(UnreadableSource, match="too large"):
        read_source(str(large))
    with pytest.raises(UnreadableSource, match="too large"):
        source_from_bytes("a.py", b"#" * 2000)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(UnreadableSource, match="not a regular file"):
        read_source(str(tmp_path / "pipe.py"))


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret.py"
    path.write_text("x = 1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(UnreadableSource, match="permission denied"):
        read_source(str(path))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.py", SourceKind.PYTHON),
        ("a.pyi", SourceKind.PYTHON),
        ("script", SourceKind.PYTHON),
        ("A.IPYNB", SourceKind.NOTEBOOK),
        ("README.md", SourceKind.PAGE),
        ("notes.txt", SourceKind.PAGE),
        ("index.rst", SourceKind.PAGE),
    ],
)
def test_the_name_tells_the_kind(path: str, kind: SourceKind) -> None:
    assert source_kind(path) is kind


def test_positions_count_code_points_from_one() -> None:
    source = source_from_bytes("a.py", "x = 'é😀' + y\r\nz\r\n".encode())
    place = source.locate(span(1, 15, 1, 16))
    assert (place.row, place.column, place.end_row, place.end_column, place.cell) == (1, 12, 1, 13, None)
    assert source.line_text(1)[place.column - 1 : place.end_column - 1] == "y"
    assert source.line_text(2) == "z"
    assert source.line_text(0) == source.line_text(99) == ""


def test_spans_outside_the_file_are_brought_inside() -> None:
    source = source_from_bytes("a.py", b"x = 1\n")
    place = source.locate(span(50, 7, 60, 90))
    assert (place.row, place.column) == (2, 1)
    backwards = source.locate(span(1, 4, 1, 2))
    assert (backwards.end_row, backwards.end_column) >= (backwards.row, backwards.column)


def test_columns_convert_both_ways() -> None:
    line = "aé😀b"
    for points in range(len(line) + 1):
        assert code_points(line, byte_column(line, points)) == points
    assert code_points(line, 99) == len(line)
    assert code_points(line, -1) == 0


def test_a_source_that_parses_is_returned_as_it_is() -> None:
    source = source_from_bytes("a.py", b"def f():\n    return 1\n")
    assert repaired(source) is source
    assert isinstance(source, Source)
