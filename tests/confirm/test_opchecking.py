"""Findings about custom operators have two judges: compiled code, and `torch.library.opcheck`."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.judging import Judgement, judge
from nonstrict.confirm.opchecking import seconded
from nonstrict.findings import Status
from tests.confirm.making import FILE, LINE, MARKER, arms, call, error, failing, suspect

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

MISSING = suspect("NST606", marker="custom-op")
CALLED = 18
CONFIRMED = judge([MISSING], arms([call(2.0)], [failing(error("Unsupported", "no fake", CALLED))]))[0]
REFUTED = judge([MISSING], arms([call(2.0)], [call(2.0)]))[0]


def checked(*failed: str, line: int = MARKER, called: int = CALLED, calls: int = 1) -> dict[str, Any]:
    """What an arm tells of one operator that is registered on a line, and called on another."""
    told = dict.fromkeys(failed, "it says so")
    operator = {"name": "made::one", "places": [[FILE, line]], "called": [[FILE, called]], "checked": calls}
    return {"operators": [{**operator, "failed": told}]}


def answer(judgement: Judgement, trace: dict[str, Any]) -> tuple[Status, str]:
    told = seconded(MISSING, judgement, trace)
    return told.status, told.reason


def test_both_judges_say_the_same() -> None:
    told = seconded(MISSING, CONFIRMED, checked("test_faketensor"))
    assert told.status is Status.CONFIRMED
    assert told.evidence.endswith("torch.library.opcheck, test_faketensor: it says so")
    told = seconded(MISSING, REFUTED, checked("test_schema"))
    assert told.status is Status.REFUTED
    assert told.evidence.endswith("torch.library.opcheck, test_faketensor: passes")


def test_judges_that_disagree_leave_it_open_and_are_both_told() -> None:
    for judgement, trace in ((CONFIRMED, checked()), (REFUTED, checked("test_faketensor"))):
        told = seconded(MISSING, judgement, trace)
        assert (told.status, told.reason) == (Status.INCONCLUSIVE, "opcheck")
        assert told.evidence.startswith(judgement.evidence)
        assert "; but torch.library.opcheck, test_faketensor: " in told.evidence


def test_an_operator_that_could_not_be_checked_has_one_judge() -> None:
    assert seconded(MISSING, REFUTED, checked(calls=0)) == REFUTED
    assert seconded(MISSING, REFUTED, {}) == REFUTED


def test_no_verdict_about_an_operator_that_no_region_calls() -> None:
    other = checked("test_faketensor", line=LINE + 20)
    assert answer(REFUTED, other) == (Status.INCONCLUSIVE, "not-compiled")
    assert answer(CONFIRMED, other) == (Status.INCONCLUSIVE, "not-compiled")
    assert seconded(MISSING, CONFIRMED._replace(proofs=()), other).status is Status.CONFIRMED


def test_no_verdict_by_an_error_of_another_operator() -> None:
    told = seconded(MISSING, CONFIRMED, checked("test_faketensor", called=28))
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "blocked")
    assert f"(line {CALLED})" in told.evidence


OPERATORS = """
    import torch

    lib = torch.library.Library("made", "DEF")
    lib.define("halve(Tensor x) -> Tensor")
    lib.define("scaled(Tensor x, Tensor scale) -> Tensor")

    def halve(x):
        return x / 2

    def scaled(x, scale):
        scale.mul_(0.5)
        return x * scale

    lib.impl("halve", halve, "CPU")
    lib.impl("scaled", scaled, "CPU")
    torch.library.register_fake("made::scaled", lambda x, scale: torch.empty_like(x), lib=lib)
"""
USE = """
    import torch as th

    import operators

    @th.compile(fullgraph=True)
    def halved(x):
        return th.ops.made.halve(x) + 1

    @th.compile(fullgraph=True)
    def both(x, scale):
        before = scale * 2
        return th.ops.made.scaled.default(x, scale) + scale + before

    def main():
        halved(th.ones(3))
        both(th.ones(3), th.ones(3))
"""


@pytest.mark.torch
def test_regions_of_other_files_call_operators(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "operators.py").write_text(dedent(OPERATORS))
    (tmp_path / "use.py").write_text(dedent(USE))
    done = nonstrict("check", "--confirm", "--output-format", "json", "operators.py")
    verdicts = {one["code"]: one["verdict"] for one in json.loads(done.stdout)}
    assert {code: one["status"] for code, one in verdicts.items()} == {"NST606": "confirmed", "NST607": "confirmed"}
    assert "(line 8); torch.library.opcheck, test_faketensor: " in verdicts["NST606"]["evidence"]
    assert "eager 3, compiled 2; torch.library.opcheck, test_schema: " in verdicts["NST607"]["evidence"]


def test_where_no_region_shows_anything_opcheck_is_enough() -> None:
    silent = REFUTED._replace(status=Status.INCONCLUSIVE, reason="insensitive", evidence="")
    told = seconded(MISSING, silent, checked("test_faketensor"))
    assert told.status is Status.CONFIRMED
    assert told.evidence == "torch.library.opcheck, test_faketensor: it says so"
    assert seconded(MISSING, silent, checked("test_schema")) == silent
    stopped = silent._replace(reason="blocked")
    assert seconded(MISSING, stopped, checked("test_faketensor")) == stopped


SCHEMAS = """
    import torch

    lib = torch.library.Library("made", "DEF")
    lib.define("few(Tensor x, Tensor? y=None) -> Tensor")

    @torch.library.impl("made::few", "CUDA")
    def few(x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        raise RuntimeError("no arguments are good enough")

    @torch.library.impl("made::few", "Meta")
    def few_of_meta(x):
        return torch.empty_like(x)

    lib.define("own(Tensor x) -> Tensor")

    @torch.library.impl("made::own", "CUDA")
    def own(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
        raise RuntimeError("no arguments are good enough")

    @torch.library.register_fake("made::own")
    def own_fake(x):
        return torch.empty_like(x)

    @torch.library.custom_op("made::kind", mutates_args=())
    def kind(x: torch.Tensor) -> torch.Tensor:
        if x.numel() != 12345:
            raise RuntimeError("no arguments are good enough")
        return torch.zeros(3, dtype=torch.int64)

    @kind.register_fake
    def kind_fake(x):
        return torch.zeros(3, dtype=torch.float64)
"""


@pytest.mark.torch
def test_where_no_arguments_are_found_schemas_tell_of_parameters(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(dedent(SCHEMAS))
    done = nonstrict("check", "--confirm", "--select", "NST608", "--output-format", "json", "model.py")
    assert done.returncode in {0, 1}, done.stderr
    told = {one["function"]: one["verdict"] for one in json.loads(done.stdout)}
    assert {name: one["status"] for name, one in told.items()} == {
        "few": "confirmed",
        "own": "refuted",
        "kind": "inconclusive",
    }
    assert told["few"]["evidence"] == (
        "the schema of `made::few` was asked, no call was made: the fake does not take a call with all 2 arguments: "
        "TypeError: few_of_meta() takes 1 positional argument but 2 were given"
    )
    assert told["few"]["inputs"] == []
    assert told["own"]["evidence"].endswith("no call was made: the fake takes every call that it allows")
