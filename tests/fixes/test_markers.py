"""Markers by another name, between other decorators, and outside of regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.findings import Applicability
from tests.fixes.programs import check, unmended
from tests.fixes.projects import mended

if TYPE_CHECKING:
    from pathlib import Path

REGION = """

@torch.compile(fullgraph=True)
def step(x):
    return double(x) + 1
"""


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\n\n\n@torch.compiler.allow_in_graph\n", "import torch\n\n\n@torch._dynamo.nonstrict_trace\n"),
        (
            "import torch\nfrom torch._dynamo import allow_in_graph\n\n\n@allow_in_graph\n",
            "import torch\nfrom torch._dynamo import nonstrict_trace\n\n\n@nonstrict_trace\n",
        ),
        (
            "import torch\nfrom torch._dynamo import allow_in_graph as mark, is_compiling\n\n\n@mark\n",
            "import torch\nfrom torch._dynamo import nonstrict_trace as mark, is_compiling\n\n\n@mark\n",
        ),
        (
            "import torch\nfrom torch.compiler import allow_in_graph, is_compiling\n\n\n@allow_in_graph\n",
            "import torch\nfrom torch.compiler import is_compiling\n\n\n@torch._dynamo.nonstrict_trace\n",
        ),
        (
            "import torch\nimport torch._dynamo as dynamo\n\n\n@dynamo.allow_in_graph\n",
            "import torch\nimport torch._dynamo as dynamo\n\n\n@dynamo.nonstrict_trace\n",
        ),
    ],
)
def test_the_successor_of_a_deprecated_marker(tmp_path: Path, before: str, after: str):
    function = "def double(x: torch.Tensor):\n    return x * 2\n"
    check(tmp_path, "NST604", before + function + REGION, after + function + REGION, Applicability.SAFE)


def test_a_marker_called_for_its_effect_is_bound(tmp_path: Path):
    before = "import torch\n\n\ndef double(x: torch.Tensor):\n    return x * 2\n\n\n"
    before += "torch.compiler.allow_in_graph(fn=double)\n"
    after = before.replace(
        "torch.compiler.allow_in_graph(fn=double)", "double = torch._dynamo.nonstrict_trace(traceable_fn=double)"
    )
    check(tmp_path, "NST604", before + REGION, after + REGION, Applicability.SAFE)


def test_a_deprecated_marker_on_what_is_not_quite_known(tmp_path: Path):
    """What nobody is seen to pass may be something that `nonstrict_trace` refuses; Dynamo traced methods before."""
    text = "import torch\n\n\n@torch.compiler.allow_in_graph\ndef double(x):\n    return x * 2\n" + REGION
    assert mended(tmp_path, {"model.py": text}, {"NST604"}, Applicability.SAFE).titles == []
    check(tmp_path, "NST604", text, text.replace("compiler.allow_in_graph", "_dynamo.nonstrict_trace"))


@pytest.mark.parametrize(
    "text",
    [
        # None is a result that only `allow_in_graph` takes.
        "@torch.compiler.allow_in_graph\ndef double(x):\n    return x * 2, None\n",
        "class Scale:\n    @torch.compiler.allow_in_graph\n    def double(self, x):\n        return x * 2\n",
        "def mark(f):\n    return torch.compiler.allow_in_graph(f)\n\n\n@mark\ndef double(x):\n    return x * 2\n",
    ],
)
def test_a_deprecated_marker_that_has_to_stay(tmp_path: Path, text: str):
    unmended(tmp_path, "NST604", f"import torch\n\n\n{text}{REGION}")


def test_a_name_that_torch_does_not_have_yet(tmp_path: Path):
    text = "import torch\nfrom torch.compiler import nonstrict_trace\n\n\n@nonstrict_trace\n"
    text += "def double(x):\n    return x * 2\n"
    after = text.replace("torch.compiler import", "torch._dynamo import")
    check(tmp_path, "NST605", text + REGION, after + REGION, Applicability.SAFE)


# -- decorators -------------------------------------------------------------------------------------------------------


def test_a_marker_goes_above_disable(tmp_path: Path):
    before = """\
import torch


@torch._dynamo.disable  # not traced
@torch._dynamo.nonstrict_trace
def double(x):
    return x * 2
"""
    after = before.replace("disable", "?").replace("nonstrict_trace", "disable").replace("?", "nonstrict_trace")
    check(tmp_path, "NST602", before + REGION, after + REGION, Applicability.SAFE)


def test_calls_change_places_too(tmp_path: Path):
    text = "import torch\n\n\ndef plain(x):\n    return x * 2\n\n\ndouble = {}\n"
    before = text.format("torch._dynamo.disable(torch._dynamo.nonstrict_trace(plain))")
    after = text.format("torch._dynamo.nonstrict_trace(torch._dynamo.disable(plain))")
    check(tmp_path, "NST602", before + REGION, after + REGION, Applicability.SAFE)


def test_disable_stays_above_where_there_is_something_to_hide(tmp_path: Path):
    text = "import torch\n\n\n@torch._dynamo.disable\n@torch._dynamo.nonstrict_trace\n"
    unmended(tmp_path, "NST602", text + "def double(x):\n    print(x)\n    return x * 2\n" + REGION)


def test_one_of_two_markers_is_dropped(tmp_path: Path):
    before = """\
import torch
from torch._dynamo.decorators import leaf_function, nonstrict_trace


@leaf_function
@nonstrict_trace
def double(x):
    return x * 2
"""
    after = before.replace("leaf_function, ", "").replace("@leaf_function\n", "")
    check(tmp_path, "NST602", before + REGION, after + REGION)


def test_a_class_method_that_reads_numbers_becomes_static(tmp_path: Path):
    before = """\
import torch


class Scale:
    factor = 2

    @classmethod
    @torch._dynamo.nonstrict_trace
    def double(cls, x):
        return x * cls.factor


@torch.compile(fullgraph=True)
def step(x):
    return Scale.double(x) + 1
"""
    after = before.replace("classmethod", "staticmethod").replace("cls, x", "x").replace("cls.factor", "Scale.factor")
    check(tmp_path, "NST602", before, after)
    unmended(tmp_path, "NST602", before.replace("x * cls.factor", "cls.other(x)"))


# -- markers in regions -----------------------------------------------------------------------------------------------


def test_a_definition_moves_out_of_the_region(tmp_path: Path):
    before = """\
import torch


@torch.compile(fullgraph=True)
def step(x):
    @torch._dynamo.nonstrict_trace
    def double(t):
        # twice
        return t * 2

    return double(x) + 1
"""
    after = """\
import torch


@torch._dynamo.nonstrict_trace
def double(t):
    # twice
    return t * 2


@torch.compile(fullgraph=True)
def step(x):
    return double(x) + 1
"""
    assert check(tmp_path, "NST601", before, after, Applicability.SAFE) == ["Move `double` out of the region"]
    unmended(tmp_path, "NST601", before.replace("t * 2", "t * x"))
    unmended(tmp_path, "NST601", before.replace("import torch\n", "import torch\n\ndouble = None\n"))


@pytest.mark.parametrize(
    ("expression", "name", "text"),
    [
        ("lambda t: t * 2", "marked", "lambda t: t * 2"),
        ("torch.sin", "marked_sin", "torch.sin"),
        ("functools.partial(multiply, factor=2)", "marked_multiply", "functools.partial(multiply, factor=2)"),
    ],
)
def test_what_is_marked_inline_is_marked_outside(tmp_path: Path, expression: str, name: str, text: str):
    head = "import functools\n\nimport torch\n\n\ndef multiply(x, factor):\n    return x * factor\n\n\n"
    region = "@torch.compile(fullgraph=True)\ndef step(x):\n    return {}(x) + 1\n"
    before = head + region.format(f"torch._dynamo.nonstrict_trace({expression})")
    after = f"{head}{name} = torch._dynamo.nonstrict_trace({text})\n\n\n{region.format(name)}"
    check(tmp_path, "NST601", before, after, Applicability.SAFE)


def test_a_variable_of_the_region_moves_with_the_marker(tmp_path: Path):
    before = """\
import functools

import torch


def multiply(x, factor):
    return x * factor


@torch.compile(fullgraph=True)
def step(x):
    double = functools.partial(multiply, factor=2)
    marked = torch._dynamo.nonstrict_trace(double)
    return marked(x) + 1
"""
    after = """\
import functools

import torch


def multiply(x, factor):
    return x * factor


marked = torch._dynamo.nonstrict_trace(functools.partial(multiply, factor=2))


@torch.compile(fullgraph=True)
def step(x):
    return marked(x) + 1
"""
    check(tmp_path, "NST601", before, after, Applicability.SAFE)


def test_a_marked_function_is_not_marked_again(tmp_path: Path):
    text = "import torch\n\n\n@torch._dynamo.nonstrict_trace\ndef double(x):\n    return x * 2\n"
    before = REGION.replace("double(x)", "torch._dynamo.nonstrict_trace(double)(x)")
    check(tmp_path, "NST601", text + before, text + REGION, Applicability.SAFE)
