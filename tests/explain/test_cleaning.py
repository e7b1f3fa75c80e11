"""What stands before lines, and around texts, is no part of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.explain.cleaning import NoTextError, cleaned, decoded

TEXT = "Graph break in user code at /job/model.py:5"


@pytest.mark.parametrize(
    "before",
    [
        "V0130 10:00:00.000000 1234 torch/_dynamo/symbolic_convert.py:5124] [0/0] [__graph_breaks] ",
        "[rank3]:V0130 10:00:00.000000 1234 /opt/my venv/torch/x.py:1] [0/0_1] [__graph_breaks] ",
        "[2024-01-30 10:00:00,123] [0/0] torch._dynamo.symbolic_convert.__graph_breaks: [DEBUG] ",
        "E       ",
        "> ",
        "2026-03-04T10:15:01.1234567Z ",
        "build\tRun tests\t2026-03-04T10:15:01.1234567Z ",
        "WARNING:torch._dynamo:",
        "WARNING  torch._dynamo:convert_frame.py:906 ",
        "(TrainWorker pid=4711, ip=10.0.0.3) ",
        "trainer-1  | ",
        "##[error]",
        "\x1b[33m",
        "\ufeff",
    ],
)
def test_what_stands_before_a_line_goes(before: str):
    assert [line.text for line in cleaned(f"{before}{TEXT}\n")] == [TEXT]


def test_who_wrote_a_line():
    text = f"[rank3]:{TEXT}\n(Worker pid=7) {TEXT}\ntrainer-1  | {TEXT}\n{TEXT}"
    lines = cleaned(text)
    assert [line.writer for line in lines] == ["[rank3]:", "(Worker pid=7)", "trainer-1", ""]
    assert {line.text for line in lines} == {TEXT}


@pytest.mark.parametrize("text", ["  File 'a.py', line 3", "    x = y", "Error: no", "x | y", "a.py:3: note"])
def test_what_belongs_to_a_line_stays(text: str):
    assert [line.text for line in cleaned(text)] == [text]


def test_ends_of_lines():
    assert [(line.number, line.text) for line in cleaned("a\r\nb\rc\n\nd\n\n")] == [
        (1, "a"), (2, "b"), (3, "c"), (4, ""), (5, "d"),
    ]  # fmt: skip


def test_quotes_of_word_processors_are_plain():
    assert cleaned("expected \u2018x\u2019 and \u201cy\u201d")[0].text == "expected 'x' and \"y\""


@given(st.text())
def test_no_escape_is_left(text: str):
    told = "".join(line.text for line in cleaned(text))
    assert not [one for one in told if (one < " " and one != "\t") or "\x7f" <= one <= "\x9f"]


def test_bytes():
    assert decoded(TEXT.encode("utf-16")) == TEXT
    assert decoded(b"\xef\xbb\xbfa\xff") == "a\ufffd"
    assert decoded(TEXT.encode("utf-16-le")) == TEXT
    assert decoded(TEXT.encode("utf-16-be")) == TEXT
    assert decoded(f"{TEXT} \u201cx\u201d".encode("utf-16-le")) == f"{TEXT} \u201cx\u201d"
    with pytest.raises(NoTextError, match="binary"):
        decoded(b"\x7fELF\0\0\0")
