"""Fakes where the operator has another name than its function, or other parameters than its fake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability
from tests.fixes.programs import check

if TYPE_CHECKING:
    from pathlib import Path


def test_the_fake_of_a_wrapped_operator_is_registered_by_name(tmp_path: Path):
    before = """\
import torch


class Codec:
    @staticmethod
    @torch.library.custom_op("demo::sign", mutates_args=())
    def sign(x: torch.Tensor) -> torch.Tensor:
        return x.exp()
"""
    after = (
        before
        + """
    @torch.library.register_fake("demo::sign")
    def _(x):
        return torch.empty_like(x.exp())
"""
    )
    check(tmp_path, "NST606", before, after, Applicability.SAFE)


def test_a_fake_takes_what_is_passed(tmp_path: Path):
    text = """\
import torch


@torch.library.custom_op("demo::scaled", mutates_args=())
def scaled(x: torch.Tensor, k: float = 1.0, b: float = 0.0) -> torch.Tensor:
    return x * k + b


@scaled.register_fake
def _({}):
    return torch.empty_like({})


@torch.compile(fullgraph=True)
def step(x):
    return scaled(x, 2.0, b=3.0)
"""
    check(tmp_path, "NST608", text.format("x, k=1.0", "x"), text.format("x, k=1.0, b=0.0", "x"), Applicability.SAFE)
    annotated = text.format("x: torch.Tensor, k: float = 1.0, b=0.0", "x")
    check(tmp_path, "NST608", text.format("x: torch.Tensor, k: float = 1.0", "x"), annotated, Applicability.SAFE)
    after = text.format("x, k=1.0, b=0.0", "x * k + b")
    check(tmp_path, "NST608", text.format("y, k=1.0", "y"), after, Applicability.SAFE)


def test_truth_values_and_a_whole_number_give_whole_numbers(tmp_path: Path):
    before = """\
import torch


@torch.library.custom_op("demo::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x.bool() * 2
"""
    after = (
        before
        + """

@doubled.register_fake
def _(x):
    return torch.empty_like(torch.empty_like(x, dtype=torch.bool) * 2)
"""
    )
    check(tmp_path, "NST606", before, after, Applicability.SAFE)
