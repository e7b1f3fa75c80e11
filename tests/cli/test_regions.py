"""`nonstrict regions`: what is listed, and that nothing that compiles is left out in silence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

PROGRAM = """\
import torch
from somewhere import load


def noisy(x: torch.Tensor):
    x = x + 1
    print("here")
    return x * 2


@torch.compile
def nested(x: torch.Tensor):
    return noisy(x.sin()).cos()


@torch.compile
def given_up(x: torch.Tensor):
    for _ in range(3):
        x = noisy(x)
    return x.cos()


@torch.compile(fullgraph=True)
def whole(x: torch.Tensor):
    return x.sin().cos()


def run(model):
    return torch.compile(model)(torch.ones(3))


unknown = torch.compile(load())
nested(torch.ones(3))
"""


VARYING = """\
import torch

scale = 1


@torch.compile
def scaled(x):
    return x * scale


for n in range(2, 20):
    scale = n
    scaled(torch.ones(n))
"""


def test_each_region_is_listed(nonstrict: Command, tmp_path: Path):
    (tmp_path / "regions.py").write_text(PROGRAM)
    run = nonstrict("regions", "regions.py", "--isolated", "--output-format", "json")
    regions = {region["function"]: region for region in json.loads(run.out) if region["analyzed"]}
    # As torch 2.13 compiles them, counted by a backend.
    assert {name: region["graphs"] for name, region in regions.items()} == {
        "nested": {"least": 4, "most": 4},
        "given_up": {"least": 2, "most": 2},
        "whole": {"least": 1, "most": 1},
    }
    assert [one["stops"] for one in regions["given_up"]["breaks"]] == ["a loop"]
    assert [part["kind"] for part in regions["nested"]["parts"]] == [
        *("graph", "break", "graph", "break", "graph", "graph")
    ]
    assert [one["message"] for one in regions["nested"]["callers"]] == ["`regions`"]


def test_what_was_not_looked_at_is_told(nonstrict: Command, tmp_path: Path):
    (tmp_path / "regions.py").write_text(PROGRAM)
    run = nonstrict("regions", "regions.py", "--isolated")
    assert run.status == 0
    assert "3 regions analyzed, 2 regions not.\n" in run.out
    assert "not analyzed: `model` is what callers of `run` give it" in run.out
    assert nonstrict("regions", "regions.py", "--isolated", "--strict-coverage").status == 1


HANDED_ON = """\
import torch


class Mixin(torch.nn.Module):
    def compile_blocks(self, *args, **kwargs):
        for block in self.modules():
            block.compile(*args, **kwargs)


def prepared(model: torch.nn.Module):
    return torch.compile(model)
"""


def test_modules_that_may_be_any_are_not_looked_at(nonstrict: Command, tmp_path: Path):
    (tmp_path / "handed.py").write_text(HANDED_ON)
    run = nonstrict("regions", "handed.py", "--isolated")
    assert "handed.py:7:13: not analyzed: it is not known what `block` is" in run.out
    assert "handed.py:11:12: not analyzed: `model` is what callers of `prepared` give it" in run.out
    assert run.out.endswith("0 regions analyzed, 2 regions not.\n")


def test_check_says_how_much_it_looked_at(nonstrict: Command, tmp_path: Path):
    (tmp_path / "regions.py").write_text(PROGRAM)
    options = ("check", "regions.py", "--isolated", "--exit-zero")
    first, again = nonstrict(*options), nonstrict(*options)
    assert first.out.endswith("3 regions analyzed, 2 regions not (`nonstrict regions` says why).\n")
    assert again.out == first.out  # from the cache
    (tmp_path / "clean.py").write_text(PROGRAM.replace("print", "str"))
    assert nonstrict("check", "clean.py", "--isolated").status == 0
    assert nonstrict("check", "clean.py", "--isolated", "--strict-coverage").status == 1


OPTIONS = """\
import argparse

import torch

ARGUMENTS = argparse.ArgumentParser().parse_args()


def double(x):
    return x * 2


def compiled(function, mode="default"):
    return torch.compile(function, mode=mode)


fast = torch.compile(
    double, fullgraph=True, mode=ARGUMENTS.mode, dynamic=None, options={"max_autotune": True, "depth": ARGUMENTS.depth}
)
wrapped = compiled(double, "max-autotune")
plain = torch.compile(double)
off = torch.compile(double, disable=True)
"""


def test_options_are_told_as_far_as_they_are_known(nonstrict: Command, tmp_path: Path):
    (tmp_path / "options.py").write_text(OPTIONS)
    shown = nonstrict("regions", "options.py", "--isolated").out
    assert 'fullgraph=True, dynamic=None, mode=?, options={"max_autotune": True, "depth": ?}\n' in shown
    regions = json.loads(nonstrict("regions", "options.py", "--isolated", "--output-format", "json").out)
    assert [(region["options"], region["options_not_known"]) for region in regions] == [
        ({"fullgraph": True, "dynamic": None, "options": {"max_autotune": True}}, ["mode", "options.depth"]),
        ({"mode": "max-autotune"}, []),
        ({}, []),
        ({"disable": True}, []),
    ]
    assert [region["reason"] for region in regions] == [None, None, None, "`disable=True`"]


HOLDERS = """\
import torch
from torch.distributed.fsdp import FullyShardedDataParallel


class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1


sharded = torch.compile(FullyShardedDataParallel(Net()))
parallel = torch.compile(torch.nn.DataParallel(Net()))
layer = torch.compile(torch.nn.Linear(2, 2))
layers = torch.compile(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))


def build(model, blocks):
    distributed = torch.compile(torch.nn.parallel.DistributedDataParallel(module=model))
    stacked = torch.compile(torch.nn.Sequential(*blocks))
    encoder = torch.compile(torch.nn.TransformerEncoder(model, 6))
    return distributed(stacked(encoder(1)))
"""


def test_of_modules_of_torch_those_that_call_one_of_the_program_are_not_looked_at(nonstrict: Command, tmp_path: Path):
    (tmp_path / "holders.py").write_text(HOLDERS)
    regions = json.loads(nonstrict("regions", "holders.py", "--isolated", "--output-format", "json").out)
    assert [region["reason"] for region in regions] == [
        "what `FullyShardedDataParallel(Net())` calls is not analyzed",
        "what `torch.nn.DataParallel(Net())` calls is not analyzed",
        None,
        None,
        "what `torch.nn.parallel.DistributedDataParallel(module=model)` calls is not analyzed",
        "what `torch.nn.Sequential(*blocks)` calls is not analyzed",
        "what `torch.nn.TransformerEncoder(model, 6)` calls is not analyzed",
    ]
    assert [region["function"] for region in regions if not region["reason"]] == ["Linear", "Sequential"]


INHERITED = """\
import torch
from lightning_like import Trainer


class Fit(Trainer):
    def setup(self):
        self.model.compile()
        self.parts.encoder.compile(dynamic=True)

    def others(self):
        self.graph = self.builder.compile()
        self.model.compile(loss="mse")
"""


def test_what_a_base_elsewhere_may_bind_is_not_looked_at_where_it_compiles(nonstrict: Command, tmp_path: Path):
    (tmp_path / "fit.py").write_text(INHERITED)
    regions = json.loads(nonstrict("regions", "fit.py", "--isolated", "--output-format", "json").out)
    assert [(region["location"]["row"], region["reason"]) for region in regions] == [
        (7, "it is not known what `self.model` is"),
        (8, "it is not known what `self.parts.encoder` is"),
    ]


def test_what_a_region_is_compiled_again_for_is_listed(nonstrict: Command, tmp_path: Path):
    (tmp_path / "main.py").write_text(VARYING)
    listed = [line.strip() for line in nonstrict("regions", "main.py").out.splitlines()]
    heading = listed.index("compiled again for:")
    assert listed[heading + 1 : heading + 3] == [
        "main.py:8:12: `x` varies from call to call: compiled twice",
        "main.py:8:12: `scale` varies from call to call: compiled each time, until torch gives up",
    ]
    (region,) = json.loads(nonstrict("regions", "main.py", "--output-format", "json").out)
    assert [one["location"]["column"] for one in region["recompilations"]] == [12, 12]
