"""Findings as experiments see them: absolute paths, lines of the analysed code, the chain and the writers."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.suspects import code_line, column_of, suspect_of
from nonstrict.findings import Diagnostic, Location, RelatedLocation, Severity, Subject
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES
from nonstrict.text.source import read_source

if TYPE_CHECKING:
    from pathlib import Path

HERE = Location("model.py", 8, 5, 9, 1)
MARKER = RelatedLocation(Location("model.py", 5, 1, 5, 10), "marked here")
CALL = RelatedLocation(Location("model.py", 7, 1, 7, 10), "called here")
WRITER = RelatedLocation(Location("other.py", 30, 1, 30, 10), "rebound here")
DIAGNOSTIC = Diagnostic(
    code="NST101",
    name="global-tensor-capture",
    severity=Severity.ERROR,
    location=HERE,
    message="message",
    function="Model.scaled",
    related=(MARKER, CALL, WRITER),
    links=2,
    subject=Subject("global", "SCALE"),
)


def test_a_finding():
    suspect = suspect_of(7, DIAGNOSTIC, RULES, {})
    assert suspect is not None
    path = os.path.abspath("model.py")
    assert (suspect.number, suspect.code, suspect.experiment) == (7, "NST101", RULES["NST101"].experiment)
    assert (suspect.path, suspect.lines) == (path, {8, 9})
    assert suspect.places == {(path, 8), (path, 9)}
    assert (suspect.file, suspect.marked_line, suspect.function) == (path, 5, "Model.scaled")
    assert suspect.chain == {(path, 5), (path, 7)}
    assert suspect.writers == {(os.path.abspath("other.py"), 30)}
    assert suspect.subject == Subject("global", "SCALE")


def test_a_finding_at_the_marker_itself():
    suspect = suspect_of(0, DIAGNOSTIC._replace(related=(WRITER,), links=0), RULES, {})
    assert suspect is not None
    assert (suspect.file, suspect.marked_line) == (suspect.path, 8)
    assert suspect.chain == frozenset()
    assert suspect.writers == {(os.path.abspath("other.py"), 30)}


def test_the_function_may_be_in_another_file():
    elsewhere = DIAGNOSTIC._replace(location=HERE._replace(path="helpers.py"))
    suspect = suspect_of(0, elsewhere, RULES, {})
    assert suspect is not None
    assert os.path.basename(suspect.path) == "helpers.py"
    assert os.path.basename(suspect.file) == "model.py"


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.experiment is Experiment.NONE])
def test_rules_of_which_no_run_can_tell(code: str):
    assert suspect_of(0, DIAGNOSTIC._replace(code=code), RULES, {}) is None


def test_unknown_rules():
    assert suspect_of(0, DIAGNOSTIC._replace(code="XYZ1"), RULES, {}) is None


def test_a_question():
    suspect = suspect_of(0, DIAGNOSTIC._replace(code="NST900"), RULES, {})
    assert suspect is not None
    assert suspect.is_probe


def test_lines_of_a_notebook_are_those_of_its_cells_joined(tmp_path: Path):
    cells = ["import torch\n%matplotlib inline", "# text", "x = 1\ny = 2"]
    kinds = ["code", "markdown", "code"]
    document = {
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": text, "outputs": [], "execution_count": None}
            for kind, text in zip(kinds, cells, strict=True)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(document))
    source = read_source(str(path))
    line = code_line(Location(str(path), 2, 1, 2, 2, cell=3), {str(path): source})
    assert source.code.split("\n")[line - 1] == "y = 2"
    assert code_line(Location(str(path), 1, 1, 1, 2, cell=1), {str(path): source}) == 1
    first, second = (column_of(Location(str(path), 1, at, 1, at + 1, cell=3), {str(path): source}) for at in (1, 5))
    assert (first, second) == (0, 4)
    assert code_line(Location("unknown.py", 4, 1, 4, 2), {str(path): source}) == 4


def test_a_row_of_a_page_can_hold_several_lines_of_code(tmp_path: Path):
    path = tmp_path / "page.txt"
    path.write_text("Write ```python import torch @torch.compile def f(x): y = x + 1 return y f(1) ``` and go on.\n")
    source = read_source(str(path))
    column = path.read_text().index("return") + 1
    line = code_line(Location(str(path), 1, column, 1, column + 5), {str(path): source})
    assert source.code.split("\n")[line - 1].strip() == "return y"
