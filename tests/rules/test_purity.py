"""Certificates: what the rules say of functions that nobody marked, and what they could not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.check.audit import Question, audit
from nonstrict.events import Event, Unseen
from nonstrict.findings import Severity
from nonstrict.rules.purity import certificate, family
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import default_settings
from tests.rules.bodies import FakeBody, effect

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.report.audit import Audited

PURE = {
    "arithmetic": "def f(x, y):\n    return (x + y) / x.norm()",
    "shapes": "def f(x):\n    batch, *rest = x.shape\n    return x.reshape(batch, -1)",
    "a library that a model describes": (
        "import einops\n\n\ndef f(x):\n    return einops.rearrange(x, 'a b -> b a') * 2"
    ),
    "a helper": "def helper(x):\n    return x * 2\n\n\ndef f(x):\n    return helper(helper(x))",
    "a local list": (
        "def f(x):\n    parts = []\n    for i in range(3):\n        parts.append(x * i)\n    return torch.stack(parts)"
    ),
    "recursion": "def f(x, n: int):\n    return x if n == 0 else f(x * 2, n - 1)",
    "a local function": "def f(x):\n    def twice(y):\n        return y * 2\n\n    return twice(x)",
    "an exception caught": "def f(x):\n    try:\n        return x.view(3)\n    except RuntimeError:\n        return x",
    "no_grad": "@torch.no_grad()\ndef f(x):\n    return x + 1",
    "constants": "EPSILON = 1e-6\nAXES = (0, 1)\n\n\ndef f(x):\n    return x.sum(AXES) + EPSILON",
    "the standard library": (
        "import math\nimport functools\n\n\ndef f(x):\n    return x * math.sqrt(2) + functools.reduce(max, (1, 2))"
    ),
    "an autograd function": (
        "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n\n\n"
        "def f(x):\n    return Double.apply(x)"
    ),
    "a layer": "def f(layer: torch.nn.Linear, x):\n    return layer(x)",
    "questions about types": "def f(x, n):\n    if torch.is_tensor(n):\n        n = n.to(x.device)\n    return x / n",
    "scripting": "def f(x):\n    if not torch.jit.is_scripting():\n        x = x + 1\n    return x",
    "an in-place operator": "def f(x):\n    x.add_(1)\n    return x",
    "a generator": "def parts(x):\n    yield x\n    yield x * 2\n\n\ndef f(x):\n    return sum(parts(x))",
    "synchronisation": "def f(x):\n    torch.cuda.synchronize()\n    return x * 2",
}
OBSTACLES = {
    "NST101": "WEIGHT = torch.ones(3)\n\n\ndef f(x):\n    return x * WEIGHT",
    "NST102": "def f(x, weight=torch.ones(3)):\n    return x * weight",
    "NST103": "LAYER = torch.nn.Linear(3, 3)\n\n\ndef f(x):\n    return LAYER(x)",
    "NST104": "def f(x):\n    return x if torch.is_inference_mode_enabled() else x * 2",
    "NST106": "def f(x):\n    return x if x.grad_fn is None else x.detach()",
    "NST201": "import logging\n\n\ndef f(x):\n    logging.info('called')\n    return x",
    "NST202": "def f(parts: list):\n    return parts.pop()",
    "NST203": "COUNTS = {}\n\n\ndef f(x):\n    COUNTS['calls'] = 1\n    return x",
    "NST204": "WEIGHT = torch.ones(3)\n\n\ndef f(x):\n    WEIGHT.add_(1)\n    return x",
    "NST205": "def f(x):\n    torch.manual_seed(0)\n    return torch.rand(3) + x",
    "NST207": "CACHE = []\n\n\ndef f(x: torch.Tensor):\n    CACHE.append(x * 2)\n    return x",
    "NST208": "def f(x: torch.Tensor):\n    x.data = x * 2\n    return x",
    "NST301": "import time\n\n\ndef f(x):\n    return x * time.time()",
    "NST401": "def f(x):\n    return x + x.data_ptr()",
    "NST402": "def f(x):\n    return x if x.sum() > 0 else -x",
}
UNSEEN = {
    "a callable argument": ("def f(function, x):\n    return function(x)", "`function()`: it is not known"),
    "a package that is not followed": (
        "import kornia\n\n\ndef f(x):\n    return kornia.rotated(x, 90)",
        "`kornia.rotated()` is defined in `kornia`, which is not followed",
    ),
    "a captured value": (
        "import lib\n\nTABLE = lib.load()\n\n\ndef f(x):\n    return x * TABLE",
        "`TABLE` is read from outside the function",
    ),
    "any module": ("def f(layer: torch.nn.Module, x):\n    return layer(x)", "`layer()` calls a module"),
    "a container of modules": (
        "def f(layers: torch.nn.Sequential, x):\n    return layers(x)",
        "`layers()` calls a module",
    ),
    "a method of an unknown object": (
        "def f(config, x):\n    return x * config.factor_for(x)",
        "`config.factor_for()`",
    ),
    "a write to an unknown object": (
        "def f(state, x):\n    state.last = x\n    return x",
        "`state.last = ...` changes",
    ),
}


def answer(directory: Path, text: str, marker: str = "nonstrict_trace") -> Audited:
    file = directory / "main.py"
    file.write_text(f"import torch\n\n\n{text}\n", encoding="utf-8")
    return audit(Question(str(file), "f", marker), [], default_settings(str(directory)))


@pytest.mark.parametrize("text", PURE.values(), ids=PURE)
def test_pure(text: str, tmp_path: Path):
    found = answer(tmp_path, text)
    assert [diagnostic for diagnostic in found.diagnostics if diagnostic.severity > Severity.NOTE] == []
    assert (found.verdict, [unseen.message for unseen in found.unseen]) == ("pure", [])


@pytest.mark.parametrize(("code", "text"), OBSTACLES.items(), ids=OBSTACLES)
def test_obstacles(code: str, text: str, tmp_path: Path):
    found = answer(tmp_path, text)
    assert found.verdict == "obstacles"
    assert code in {diagnostic.code for diagnostic in found.obstacles}


@pytest.mark.parametrize(("text", "message"), UNSEEN.values(), ids=UNSEEN)
def test_unseen(text: str, message: str, tmp_path: Path):
    found = answer(tmp_path, text)
    assert found.verdict == "unknown"
    assert [unseen.message for unseen in found.unseen if message in unseen.message]


def test_what_is_unseen_is_told_for_helpers_too(tmp_path: Path):
    found = answer(
        tmp_path, "def helper(g, x):\n    return g(x)\n\n\ndef f(g, x):\n    return helper(g, x) + helper(g, x)"
    )
    assert [unseen.message for unseen in found.unseen] == ["`g()`: it is not known what this calls"]


def test_calls_of_unknown_things_follow_what_callers_pass(tmp_path: Path):
    text = "def f(function, x):\n    return function(x)\n\n\ndef use(x):\n    return f(torch.relu, x)"
    assert answer(tmp_path, text).verdict == "pure"


def test_a_function_that_reaches_too_many_others(tmp_path: Path):
    helpers = "\n".join(f"def h{number}(x):\n    return x + {number}\n" for number in range(450))
    calls = "".join(f"    x = h{number}(x)\n" for number in range(450))
    found = answer(tmp_path, f"{helpers}\n\ndef f(x):\n{calls}    return x")
    assert found.verdict == "unknown"
    assert all("reaches too many others" in unseen.message for unseen in found.unseen)


def test_notes_are_no_obstacles(tmp_path: Path):
    found = answer(tmp_path, "def f(layer: torch.nn.Dropout, x):\n    return layer(x)")
    assert (found.verdict, [diagnostic.code for diagnostic in found.diagnostics]) == ("pure", ["NST105"])


def test_methods_behind_decorators_of_the_project(tmp_path: Path):
    (tmp_path / "main.py").write_text(
        "import functools\n\nimport torch\n\n\ndef counted(method):\n    @functools.wraps(method)\n"
        "    def wrapper(self, x):\n        self.calls += 1\n        return method(self, x)\n\n    return wrapper\n\n\n"
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.calls = 0\n\n"
        "    @counted\n    def forward(self, x):\n        return x * 2\n",
        encoding="utf-8",
    )
    question = Question(str(tmp_path / "main.py"), "Net.forward")
    found = audit(question, [], default_settings(str(tmp_path)))
    assert "NST202" in {diagnostic.code for diagnostic in found.obstacles}
    assert {diagnostic.function for diagnostic in found.diagnostics} == {"Net.forward"}


def test_a_certificate_leaves_out_the_marker_that_nobody_wrote():
    body = FakeBody([effect(Event.IO, "print(1)", what="prints to standard output", line=7)])
    told = certificate(body.told, [RULES["NST201"]])
    assert told.verdict == "obstacles"
    assert [finding.code for finding in told.obstacles] == ["NST201"]
    assert [(finding.related, finding.links) for finding in told.obstacles] == [((), 0)]


def test_a_call_covers_the_value_that_is_called():
    effects = [
        effect(Event.UNSEEN, "g(1)", how=Unseen.VALUE, line=3),
        effect(Event.UNSEEN, "g(1)", how=Unseen.CALLEE, line=3),
    ]
    told = certificate(FakeBody(effects).told, [RULES["NST201"]])
    assert told.verdict == "unknown"
    assert len(told.unseen) == 1


@pytest.mark.parametrize(
    ("code", "heading"),
    [("NST101", "captures"), ("NST301", "determinism"), ("NST509", "boundary"), ("NST999", "other")],
)
def test_families(code: str, heading: str):
    assert family(code) == heading
