"""The findings do not depend on how many processes there are, nor on which of them examines what."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.check import analysis
from nonstrict.check.analysis import AnalysisOptions, analyse, marked_files
from nonstrict.check.examination import examine, prepared, texts_of
from nonstrict.check.faults import Faults
from nonstrict.check.shares import merged
from nonstrict.check.workers import can_fork
from nonstrict.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: Reached from several marked functions that are equally far away; a global that two functions of others change.
SHARED = """
import torch
from torch._dynamo import nonstrict_trace

SEEN = []


def helper(x):
    print("helper")
    SEEN.append(x)
    return x + 1
"""

#: The region is known only to those who interpret `build`, and it does not say that it must not break.
LATE = """
import warnings

import torch
from torch._dynamo import nonstrict_trace


@nonstrict_trace
def own(x):
    return x + 1


def build(x):
    if x.shape[0] > 3:
        return torch.compile(build)(x)
    warnings.warn("slow")
    return x
"""

USER = """
import torch
from torch._dynamo import nonstrict_trace

import {imported}


@nonstrict_trace
def traced_{name}(x):
    return {call}(x)
"""


#: Told apart by constants, for more of them than one region may ask about.
MANY = """
def helper(x, tag):
    if tag < 0:
        print("negative")
    return x * tag
"""

ONE_OF_MANY = """
import torch

import many


@torch.compile(fullgraph=True)
def region_{number}(x):
    return many.helper(x, {number})
"""


@pytest.fixture
def project(tmp_path: Path) -> list[str]:
    texts = {
        "late": LATE,
        "shared": SHARED,
        "third": USER.format(name="third", imported="shared", call="shared.helper"),
        "second": USER.format(name="second", imported="shared", call="shared.helper"),
        "user": USER.format(name="user", imported="late", call="late.build"),
    }
    return written(tmp_path, texts)


def written(folder: Path, texts: dict[str, str]) -> list[str]:
    """The files of a program, by the names of its modules."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return sorted(str(path) for path in folder.iterdir())


def distributions(parts: int) -> Iterator[tuple[Sequence[int], ...]]:
    """The parts in every order, all in one process and divided between two."""
    for order in itertools.permutations(range(parts)):
        yield (order,)
        yield order[:2], order[2:]


def test_any_distribution_of_parts_finds_the_same(project: list[str]) -> None:
    options = AnalysisOptions()
    marked, _ = marked_files(project, options, [], Faults())
    parts = [(file.path,) for file in marked]

    def told(groups: tuple[Sequence[int], ...]) -> list[str]:
        ready = (prepared(texts_of(project, marked, options), marked, options) for _ in groups)
        found = [
            examine(one, [parts[number] for number in group], options) for one, group in zip(ready, groups, strict=True)
        ]
        return sorted(map(repr, merged([portion.share for portions in found for portion in portions]).findings))

    expected = told((range(len(parts)),))
    assert any("NST201" in finding for finding in expected)
    assert any("NST701" in finding for finding in expected)
    for groups in distributions(len(parts)):
        assert told(groups) == expected, groups


def test_a_region_that_another_part_reveals_is_examined(project: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {(finding.code, finding.span) for finding in analyse(project, AnalysisOptions()).findings}
    monkeypatch.setattr(analysis, "_PART_BYTES", 100)
    assert {(finding.code, finding.span) for finding in analyse(project, AnalysisOptions()).findings} == whole
    assert "NST701" in {code for code, _ in whole}


def test_what_one_region_asks_takes_nothing_from_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    regions = {f"region_{number:02}": ONE_OF_MANY.format(number=number) for number in range(20)}
    files = written(tmp_path, {"many": MANY, **regions})
    assert analyse(files, AnalysisOptions()).findings == []
    monkeypatch.setattr(analysis, "_PART_BYTES", 100)
    assert analyse(files, AnalysisOptions()).findings == []


@pytest.mark.skipif(not can_fork(), reason="processes cannot be forked here")
def test_the_command_tells_the_same_with_any_number_of_processes(
    project: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(analysis, "_PART_BYTES", 100)
    told: set[str] = set()
    for jobs in ("1", "2", "3"):
        arguments = ["--isolated", "--no-cache", "--exit-zero", "--output-format", "json", "-j", jobs]
        assert main(["check", *arguments, os.path.dirname(project[0])]) == 0
        output = capfd.readouterr().out
        assert "NST701" in output
        told.add(output)
    assert len(told) == 1
