"""One finding of several: the program in which the others are mended, left out or replaced."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.experiments import suspects_of
from nonstrict.check.run import check
from nonstrict.confirm.neutralising import neutral
from nonstrict.confirm.programs import program_of
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.confirm.neutralising import Neutral

TEXT = """
import torch

TABLE = torch.arange(4.0)
SEEN = []


@torch._dynamo.nonstrict_trace
def scaled(x):
    print("scaling")
    SEEN.append(
        x.sum(),
    )
    if x.sum() > 0:
        x = x + 1
    return x * TABLE


@torch.compile(fullgraph=True)
def step(x):
    return scaled(x)
"""


def programs(folder: Path, text: str, code: str) -> list[Neutral]:
    """The programs that are tried for the finding of a rule."""
    path = folder / "model.py"
    path.write_text(dedent(text))
    result = check([str(path)], default_settings(str(folder)))
    suspects = suspects_of(result.diagnostics, result.read)
    program = program_of(str(path), path.read_text(), str(folder), {})
    assert program is not None
    suspect = next(one for one in suspects if one.code == code)
    return list(neutral(program, suspect, suspects))


def test_what_stands_in_the_way_is_mended_first(tmp_path: Path) -> None:
    first = programs(tmp_path, TEXT, "NST207")[0]
    assert "print(" not in first.program.text
    assert "torch.where(" in first.program.text
    assert "scaled(x, TABLE)" in first.program.text
    assert {one.partition(" ")[0] for one in first.done} == {"NST201", "NST402", "NST101"}
    assert not first.others


def test_the_finding_moves_with_its_text(tmp_path: Path) -> None:
    for code in ("NST101", "NST207", "NST402"):
        for one in programs(tmp_path, TEXT, code):
            lines = one.program.text.split("\n")
            shown = "\n".join(lines[line - 1] for line in sorted(one.suspect.lines))
            assert {"NST101": "TABLE", "NST207": "SEEN.append(", "NST402": "x.sum() > 0"}[code] in shown
            assert "nonstrict_trace" in lines[one.suspect.marked_line - 1]


def test_what_is_left_out_leaves_the_lines_where_they_are(tmp_path: Path) -> None:
    one = programs(tmp_path, TEXT, "NST101")[1]
    assert one.program.text.split("\n")[9:14] == ["    pass", "    pass", "", "", "    if True:"]
    assert one.suspect.lines == {16}


def test_conditions_hold_and_do_not(tmp_path: Path) -> None:
    texts = [one.program.text for one in programs(tmp_path, TEXT, "NST101")]
    assert any("if True:" in text for text in texts)
    assert any("if False:" in text for text in texts)


TWO = """
import torch


@torch._dynamo.nonstrict_trace
def told(x):
    print("once")
    return x


@torch._dynamo.nonstrict_trace
def drawn(x):
    return x * float(torch.rand(()))


@torch.compile
def step(x):
    return told(x) + drawn(x)
"""


def test_other_functions_are_touched_last(tmp_path: Path) -> None:
    found = programs(tmp_path, TWO, "NST201")
    assert found
    assert all("print(" in one.program.text for one in found)
    assert not programs(tmp_path, TWO.replace("float(torch.rand(()))", "2"), "NST201")


@pytest.mark.parametrize("code", ["NST201", "NST101"])
def test_the_expression_itself_is_never_touched(tmp_path: Path, code: str) -> None:
    text = """
    import torch

    TABLE = torch.arange(4.0)

    @torch._dynamo.nonstrict_trace
    def told(x):
        print("table", x * TABLE)
        return x

    @torch.compile
    def step(x):
        return told(x)
    """
    for one in programs(tmp_path, text, code):
        line = one.program.text.split("\n")[min(one.suspect.lines) - 1]
        assert ("TABLE" if code == "NST101" else "print(") in line, one.done


def test_what_a_fake_returns_is_mended_or_stays(tmp_path: Path) -> None:
    text = """
    import torch

    @torch.library.custom_op("made::total", mutates_args=())
    def total(x: torch.Tensor) -> torch.Tensor:
        print("total")
        x.add_(1)
        return x.sum(-1)

    @total.register_fake
    def _(x):
        return x.new_empty(x.shape)
    """
    found = programs(tmp_path, text, "NST607")
    for one in found:
        assert "return x.new_empty(x.shape)" in one.program.text or "NST608 (fix applied" in " ".join(one.done)


CACHED = """
import functools

import torch

TABLES = {}
SLOPES = torch.arange(4.0)
LOGGED = []


def distances(length):
    if length not in TABLES:
        TABLES[length] = torch.arange(length).float()
    return TABLES[length]


@functools.lru_cache
def rates(length):
    return torch.arange(length).float()


@torch._dynamo.nonstrict_trace
def scored(x):
    print("scored")
    far = distances(x.shape[-1]) + rates(x.shape[-1])
    LOGGED.append(int(x.sum()))
    return x + far + SLOPES[None, :]


@torch.compile(fullgraph=True)
def step(x):
    return scored(x)
"""


def test_what_a_callee_caches_is_computed_in_each_call(tmp_path: Path) -> None:
    first = programs(tmp_path, CACHED, "NST201")[0]
    assert '    nonstrict_kept_13 = __import__("copy").copy(TABLES)\n    if length not in nonstrict_kept_13:' in (
        first.program.text
    )
    assert "    return nonstrict_kept_13[length]" in first.program.text
    assert "NST207 (kept for the call alone, line 13)" in first.done
    left_out = programs(tmp_path, CACHED, "NST201")[1]
    assert "lru_cache\n" not in left_out.program.text
    assert "    return torch.arange(length).float()\n" in left_out.program.text
    assert "NST207 (left out, line 17)" in left_out.done


def test_a_captured_tensor_is_made_anew_in_each_call(tmp_path: Path) -> None:
    second = programs(tmp_path, CACHED, "NST201")[1]
    assert '    return x + far + __import__("torch").tensor(SLOPES.tolist(), dtype=SLOPES.dtype)[None, :]' in (
        second.program.text
    )
    assert "NST101 (created again from its numbers, line 27)" in second.done


def test_a_part_of_the_findings_own_expression_is_replaced_and_agreement_then_says_nothing(tmp_path: Path) -> None:
    first = programs(tmp_path, CACHED, "NST203")[0]
    line = first.program.text.split("\n")[min(first.suspect.lines) - 1]
    assert line == "    LOGGED.append(1)"
    assert first.suspect.span is not None
    assert line[first.suspect.span.column : first.suspect.span.end_column] == "LOGGED.append(1)"
    assert first.shows_only


def test_a_variable_that_is_read_is_not_left_without_a_value(tmp_path: Path) -> None:
    text = """
    import random

    import torch

    @torch._dynamo.nonstrict_trace
    def drawn(x):
        print("drawn")
        share = random.random()
        return x * share

    @torch.compile
    def step(x):
        return drawn(x)
    """
    for one in programs(tmp_path, text, "NST201"):
        assert "share = " in one.program.text, one.done


def test_what_is_stored_in_a_cell_of_a_notebook_is_taken_out(tmp_path: Path) -> None:
    cell = """
    import torch

    SLOPES = torch.arange(4.0)

    @torch._dynamo.nonstrict_trace
    def told(x):
        print("told")
        return x * SLOPES

    @torch.compile
    def step(x):
        return told(x)
    """
    path = tmp_path / "model.ipynb"
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**code, "source": "import math\n"}, {**code, "source": dedent(cell).strip()}]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    result = check([str(path)], default_settings(str(tmp_path)))
    suspects = suspects_of(result.diagnostics, result.read)
    text = next(iter(result.read.values())).code
    program = program_of(str(path), text, str(tmp_path), {}, in_cells=True)
    assert program is not None
    suspect = next(one for one in suspects if one.code == "NST201")
    first = next(neutral(program, suspect, suspects))
    assert first.done == ("NST101 (created again from its numbers, line 9)",)
    assert 'return x * __import__("torch").tensor(SLOPES.tolist(), dtype=SLOPES.dtype)' in first.program.text
