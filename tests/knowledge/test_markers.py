"""The table of marker APIs, compared with the installed torch."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

from nonstrict.knowledge.markers import MARKERS, may_mark

KINDS = {"nonstrict", "in-graph", "constant-result", "leaf", "custom-op", "make-fx", "compiled", "disable"}
GONE = {"torch.export.export_for_training"}


def resolve(name) -> Any:
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise ImportError(name)


@pytest.mark.parametrize("name", sorted(MARKERS))
def test_every_spelling_exists_with_its_argument(name):
    pytest.importorskip("torch")
    marker = MARKERS[name]
    assert marker.kind in KINDS
    if name in GONE or marker.since == "2.14":
        with pytest.raises(AttributeError):
            resolve(name)
        return
    parameters = [p for p in inspect.signature(resolve(name)).parameters if p != "self"]
    if marker.argument:
        assert parameters.index(marker.argument) == marker.position


def test_files_that_apply_a_checked_marker_hold_a_needle():
    checked = {"nonstrict", "in-graph", "constant-result", "make-fx", "leaf", "custom-op"}
    for name, marker in MARKERS.items():
        if marker.kind in checked:
            module, _, last = name.rpartition(".")
            spelled = f"from {module} import {last}\n{name}(f)".encode()
            assert may_mark(spelled), name


@pytest.mark.parametrize(
    "text",
    [
        "from torch._dynamo import optimize\n@optimize('eager')\ndef f(x): ...",
        "from torch._dynamo import (\n    explain,\n    optimize,\n)",
        "from torch._dynamo import optimize as opt",
        "import torch._dynamo as td\ntd.optimize()(model)",
        "from torch import _dynamo\nmark = _dynamo.optimize if fast else None",
        "import torch as th\nth.compile(f)",
        "from torch import nn\nmodel.compile()",
        "import torch\nmark = getattr(torch, 'compile', None)",
    ],
)
def test_files_that_compile_are_read(text):
    assert may_mark(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "import re\nre.compile('torch')",
        "# we optimize the model for torch, with dynamo",
        "import torch\noptimizer.step()",
    ],
)
def test_files_that_compile_nothing_are_left_alone(text):
    assert not may_mark(text.encode())


def test_needles_of_export_through_another_import():
    assert may_mark(b"from torch import nn, export\nexport.export(model, args)")
