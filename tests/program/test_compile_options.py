"""The options that regions are compiled with, by every way to say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.discovery import roots
from nonstrict.program.domain.definitions import CompileOptions, Told
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.program.domain.definitions import Region

_PREAMBLE = """
import argparse
import functools
import torch
import torch._dynamo as td
from torch._dynamo import optimize, optimize_assert
from torch import nn

args = argparse.ArgumentParser().parse_args()
WHOLE = True
KNOWN = {"mode": "reduce-overhead", "fullgraph": WHOLE}

class Settings:
    whole = True

def mine(graph, inputs):
    return graph

def f(x):
    return x

def built(function, whole=False, **options):
    return torch.compile(function, fullgraph=whole, **options)

class Net(nn.Module):
    def forward(self, x):
        return x
"""
_UNKNOWN = CompileOptions(*[Told.NOT_KNOWN] * len(CompileOptions._fields))


def _compiled(folder: Path, code: str) -> list[Region]:
    """What a program compiles."""
    path = folder / "main.py"
    path.write_text(_PREAMBLE + code)
    project = Project(())
    machine = engine.machine(project, [str(path)])
    module = project.module(str(path))
    assert module is not None
    roots.discover(machine, module, roots.words_in(module.source.code))
    return list(machine.regions.values())


def _regions(folder: Path, code: str) -> dict[str, CompileOptions]:
    """By their names, the options of the functions that a program compiles."""
    return {region.function.qualname: region.options for region in _compiled(folder, code)}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("torch.compile(f)", CompileOptions()),
        ("torch.compile(f, fullgraph=WHOLE)", CompileOptions(fullgraph=True)),
        ("torch.compile(f, fullgraph=Settings.whole, dynamic=None)", CompileOptions(fullgraph=True, dynamic=None)),
        ("torch.compile(f, fullgraph=1)", CompileOptions(fullgraph=True)),
        ("torch.compile(f, fullgraph=not args.debug)", CompileOptions(fullgraph=Told.NOT_KNOWN)),
        ("torch.compile(f, fullgraph=True if args.x else False)", CompileOptions(fullgraph=Told.NOT_KNOWN)),
        ("torch.compile(f, **KNOWN)", CompileOptions(fullgraph=True, mode="reduce-overhead")),
        (
            "torch.compile(f, **{**KNOWN, 'fullgraph': False})",
            CompileOptions(fullgraph=False, mode="reduce-overhead"),
        ),
        ("torch.compile(f, **vars(args))", _UNKNOWN),
        ("torch.compile(f, mode='default', **vars(args))", _UNKNOWN._replace(mode="default")),
        ("torch.compile(f, backend=mine)", CompileOptions(backend=Told.NOT_KNOWN)),
        (
            "torch.compile(f, options={'max_autotune': WHOLE, 'depth': args.depth})",
            CompileOptions(options=(("max_autotune", True), ("depth", Told.NOT_KNOWN))),
        ),
        ("torch.compile(f, options={args.name: True})", CompileOptions(options=Told.NOT_KNOWN)),
        ("functools.partial(torch.compile, fullgraph=True)(f)", CompileOptions(fullgraph=True)),
        ("functools.partial(torch.compile, **vars(args))(f)", _UNKNOWN),
        ("torch.compile(backend='eager')(f)", CompileOptions(backend="eager")),
        ("torch.compile(model=f, disable=args.eager)", CompileOptions(disable=Told.NOT_KNOWN)),
        ("torch.compile(f, recompile_limit=4)", CompileOptions(recompile_limit=4)),
        ("torch.compile(f, isolate_recompiles=WHOLE)", CompileOptions(isolate_recompiles=True)),
        ("built(f)", CompileOptions(fullgraph=False)),
        ("built(f, True, backend='eager')", CompileOptions(fullgraph=True, backend="eager")),
        ("built(f, **vars(args))", _UNKNOWN),
        ("torch._dynamo.optimize('eager', nopython=True)(f)", CompileOptions(fullgraph=True, backend="eager")),
        ("td.optimize()(f)", CompileOptions()),
        ("td.optimize(mine)(f)", CompileOptions(backend=Told.NOT_KNOWN)),
        ("optimize(backend='eager', dynamic=True)(f)", CompileOptions(dynamic=True, backend="eager")),
        ("optimize_assert(mine)(f)", CompileOptions(fullgraph=True, backend=Told.NOT_KNOWN)),
    ],
)
def test_options_of_a_function(tmp_path: Path, code: str, expected: CompileOptions) -> None:
    assert _regions(tmp_path, code) == {"f": expected}


@pytest.mark.parametrize("code", ["Net().compile(mode='default')", "torch.compile(Net(), mode='default')"])
def test_options_of_a_module(tmp_path: Path, code: str) -> None:
    assert _regions(tmp_path, code) == {"Net.forward": CompileOptions(mode="default")}


@pytest.mark.parametrize("code", ["@td.optimize('eager')", "@optimize('eager')", "@torch.compile(backend='eager')"])
def test_options_of_a_decorated_function(tmp_path: Path, code: str) -> None:
    assert _regions(tmp_path, f"{code}\ndef g(x):\n    return x\n") == {"g": CompileOptions(backend="eager")}


@pytest.mark.parametrize(
    "code",
    [
        "torch.compile(f, disable=True)",
        "torch.compile(disable=WHOLE)(f)",
        "td.optimize(disable=True)(f)",
        "torch.compile(Net(), disable=True)",
        "Net().compile(disable=True)",
    ],
)
def test_what_is_switched_off_is_no_region(tmp_path: Path, code: str) -> None:
    assert _regions(tmp_path, code) == {}


@pytest.mark.parametrize(
    ("given", "expected"),
    [("", "inductor"), (", backend=None", "inductor"), (", backend='eager'", "eager"), (", backend=mine", "")],
)
def test_the_backend_is_the_default_one_where_none_is_given(tmp_path: Path, given: str, expected: str) -> None:
    assert [region.backend for region in _compiled(tmp_path, f"torch.compile(f{given})")] == [expected]
