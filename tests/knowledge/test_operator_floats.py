"""What becomes of Python numbers in graphs, as `nonstrict.knowledge.operators` answers it, and what Inductor does."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from nonstrict.knowledge.operators import tensor_method, torch_function
from nonstrict.knowledge.store import data_file

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
VALUES = (0.5, 0.8, 1.1, 1.6, 2.2)


@pytest.mark.parametrize(
    ("name", "at", "kind"),
    [
        ("torch.Tensor.__mul__", 1, "tensorified"),
        ("torch.Tensor.__rtruediv__", 1, "tensorified"),
        ("torch.Tensor.__mod__", 1, "specialized"),
        ("torch.Tensor.clamp", "max", "specialized"),
        ("torch.Tensor.clamp", 1, "specialized"),
        ("torch.clamp", 2, "specialized"),
        ("torch.add", "alpha", "specialized"),
        ("torch.nn.functional.leaky_relu", "negative_slope", "tensorified"),
        ("torch.nn.functional.layer_norm", "eps", "known"),
        ("torch.nn.functional.rms_norm", 3, "known"),
        ("torch.nn.functional.huber_loss", "delta", "known"),
        ("torch.nn.functional.scaled_dot_product_attention", "scale", "known"),
        ("torch.nn.functional.cross_entropy", "label_smoothing", "known"),
        ("torch.clamp", "input", ""),
        ("torch.clamp", 7, ""),
    ],
)
def test_what_becomes_of_a_number(name: str, at: int | str, kind: str):
    operator = torch_function(name)
    assert operator is not None
    assert operator.lowers(at) == kind


def test_what_needs_no_number():
    relu = tensor_method("relu")
    assert relu is not None
    assert not relu.floats


#: Programs, and whether they are stale.
PROGRAMS = {
    "(x * s).clamp(max=s * 0.5)": True,
    "(x * s) % (s + 1)": True,
    "F.layer_norm(x * s, (4,), eps=s + 0.1)": True,
    "F.layer_norm(x * s, (4,), eps=s)": False,
    "x.clamp(max=s)": False,
}


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_cheap_measurement_is_what_inductor_does(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    if data_file("operators.json")["torch"] != torch.__version__.split("+")[0]:
        pytest.skip("the table was measured with another version of torch")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(SCRIPTS))
    measuring: Any = importlib.import_module("operator_floats")
    program = eval(f"lambda x, s: {text}", {"torch": torch, "F": torch.nn.functional})  # noqa: S307 - from above
    x = torch.linspace(-2, 3, 12).reshape(3, 4)
    assert measuring.is_stale(program, lambda: (x.clone(),), VALUES[:3]) == PROGRAMS[text]
    torch._dynamo.reset()
    compiled = torch.compile(program)
    differs = [not torch.allclose(program(x, value), compiled(x, value), atol=1e-3) for value in VALUES]
    assert differs == [False, False, *[PROGRAMS[text]] * 3]
