"""Functions that become operators, with fakes generated from their text, and what operators declare of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.findings import Applicability
from tests.fixes.programs import check, unmended
from tests.fixes.projects import mended

if TYPE_CHECKING:
    from pathlib import Path

# -- functions that become operators ----------------------------------------------------------------------------------

ALIGNED = """\
import torch


@torch._dynamo.nonstrict_trace
def doubled(x, times=2):
    aligned = x.data_ptr() % 16 == 0
    return x * times if aligned else x.clone() * times


@torch.compile(fullgraph=True)
def step(x):
    return doubled(x, 3)
"""
OPERATOR = """\
import torch


@torch.library.custom_op("model::doubled", mutates_args=())
def doubled(x: torch.Tensor, times: int = 2) -> torch.Tensor:
    aligned = x.data_ptr() % 16 == 0
    return x * times if aligned else x.clone() * times


@doubled.register_fake
def _(x, times=2):
    return torch.empty_like(x)


@torch.compile(fullgraph=True)
def step(x):
    return doubled(x, 3)
"""


def test_a_marked_function_becomes_an_operator(tmp_path: Path):
    assert check(tmp_path, "NST401", ALIGNED, OPERATOR) == ["Turn `doubled` into a custom operator with a fake"]


def test_the_smallest_helper_that_returns_tensors_becomes_the_operator(tmp_path: Path):
    before = """\
import torch


def is_aligned(x):
    return x.data_ptr() % 16 == 0


def shifted(x: torch.Tensor):
    return x + 1 if is_aligned(x) else x + 2


def marked(x):
    return shifted(x) * 2


step = torch._dynamo.nonstrict_trace(marked)


@torch.compile(fullgraph=True)
def region(x):
    return step(x)
"""
    after = """\
import torch


def is_aligned(x):
    return x.data_ptr() % 16 == 0


@torch.library.custom_op("model::shifted", mutates_args=())
def shifted(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if is_aligned(x) else x + 2


@shifted.register_fake
def _(x):
    return torch.empty_like(x)


def marked(x):
    return shifted(x) * 2


step = torch._dynamo.nonstrict_trace(marked)


@torch.compile(fullgraph=True)
def region(x):
    return step(x)
"""
    check(tmp_path, "NST401", before, after)


def test_a_call_of_the_marker_goes(tmp_path: Path):
    before = ALIGNED.replace("@torch._dynamo.nonstrict_trace\ndef doubled", "def _doubled")
    before = before.replace(
        "\n\n@torch.compile", "\n\ndoubled = torch._dynamo.nonstrict_trace(_doubled)\n\n\n@torch.compile"
    )
    after = OPERATOR.replace("def doubled", "def _doubled").replace("::doubled", "::_doubled")
    after = after.replace("@doubled.", "@_doubled.").replace(
        "\n\n@torch.compile", "\n\ndoubled = _doubled\n\n\n@torch.compile"
    )
    check(tmp_path, "NST401", before, after)


def test_what_may_be_written_through_an_address_is_declared(tmp_path: Path):
    before = ALIGNED.replace("aligned = x.data_ptr() % 16 == 0", "aligned = write(x.data_ptr())")
    before = before.replace("\n\n\n@torch._dynamo", "\nfrom native import write\n\n\n@torch._dynamo", 1)
    result = mended(tmp_path, {"model.py": before}, {"NST401"})
    assert '@torch.library.custom_op("model::doubled", mutates_args=("x",))' in result.files["model.py"]
    assert result.after == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def doubled(x, times=2)", "def doubled(x, times=2, *rest)"),
        ("def doubled(x, times=2)", "def doubled(x, times: object = 2)"),
        ("doubled(x, 3)", "doubled(x, x.ndim)"),
        ("@torch._dynamo.nonstrict_trace\n", "@torch._dynamo.nonstrict_trace\n@torch.no_grad()\n"),
        ("return x * times if", "return x if"),
    ],
)
def test_functions_that_cannot_be_operators(tmp_path: Path, old: str, new: str):
    unmended(tmp_path, "NST401", ALIGNED.replace(old, new))


def test_a_method_is_no_operator(tmp_path: Path):
    unmended(
        tmp_path,
        "NST401",
        "import torch\n\n\nclass Model(torch.nn.Module):\n    @torch._dynamo.nonstrict_trace\n"
        "    def forward(self, x):\n        return x * (x.data_ptr() % 16)\n",
    )


NATIVE = """\
import torch
from torch.utils.cpp_extension import load_inline

native = load_inline(name="native", cpp_sources="", functions=["square"])
"""


def test_the_fake_of_native_code_is_left_to_a_person(tmp_path: Path):
    text = f"{NATIVE}\n\n@torch._dynamo.nonstrict_trace\ndef squared(x):\n    return native.square(x)\n"
    text += "\n\n@torch.compile(fullgraph=True)\ndef step(x):\n    return squared(x)\n\n\nstep(torch.ones(3))\n"
    assert mended(tmp_path, {"model.py": text}, {"NST403"}).titles == []
    after = text.replace(
        "@torch._dynamo.nonstrict_trace", '@torch.library.custom_op("model::squared", mutates_args=("x",))'
    )
    after = after.replace("squared(x):", "squared(x: torch.Tensor) -> torch.Tensor:").replace(
        "native.square(x)\n",
        "native.square(x)\n\n\n@squared.register_fake\ndef _(x):\n"
        "    return torch.empty_like(x)  # TODO: the shape and dtype of the result\n",
    )
    check(tmp_path, "NST403", text, after, Applicability.DISPLAY)


def test_a_native_call_of_a_region_becomes_an_operator(tmp_path: Path):
    region = "@torch.compile(fullgraph=True)\ndef step(x):\n    return {}(x) + 1\n"
    operator = """\
@torch.library.custom_op("model::square", mutates_args="unknown")
def square(x: torch.Tensor) -> torch.Tensor:
    return native.square(x)


@square.register_fake
def _(x):
    return torch.empty_like(x)  # TODO: the shape and dtype of the result


"""
    before = f"{NATIVE}\n\n{region.format('native.square')}"
    check(tmp_path, "NST702", before, f"{NATIVE}\n\n{operator}{region.format('square')}", Applicability.DISPLAY)


def test_a_leaf_function_becomes_an_operator(tmp_path: Path):
    before = """\
import torch
from torch._dynamo.decorators import leaf_function


@leaf_function
def doubled(x):
    print(x)
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile(fullgraph=True)
def step(x):
    return doubled(x)


step(torch.ones(3))
"""
    after = before.replace("from torch._dynamo.decorators import leaf_function\n", "").replace(
        "@leaf_function\ndef doubled(x):",
        '@torch.library.custom_op("model::doubled", mutates_args=())\ndef doubled(x: torch.Tensor) -> torch.Tensor:',
    )
    check(tmp_path, "NST605", before, after)
    unmended(tmp_path, "NST605", before.replace("return doubled(x)", "doubled(x)\n    return x"))


# -- fakes ------------------------------------------------------------------------------------------------------------

FAKELESS = """\
import torch
import numpy as np
import torch.nn.functional as F

WIDTH = 4


@torch.library.custom_op("demo::made", mutates_args=())
def made(x: torch.Tensor, n: int) -> {}:
    {}


@torch.compile(fullgraph=True)
def step(x):
    return made(x, 2)
"""


@pytest.mark.parametrize(
    ("body", "fake"),
    [
        ("return x * 2", "torch.empty_like(x)"),
        ("return -x.clone()", "torch.empty_like(x)"),
        ("return x / 2", "torch.empty_like(x / 2)"),
        ("return torch.sin(x) * 0.5", "torch.empty_like(x.sin() * 0.5)"),
        ("return x.to(torch.int64)", "torch.empty_like(x, dtype=torch.int64)"),
        ("return x > 0", "torch.empty_like(x, dtype=torch.bool)"),
        ("return x.sum(dim=1)", "torch.empty_like(x.sum(dim=1))"),
        ("return F.pad(x, (0, n))", "torch.empty_like(F.pad(x, (0, n)))"),
        ("return x[:, :n].T", "torch.empty_like(x[:, :n].T)"),
        ("return torch.cat([x, x + 1])", "torch.empty_like(torch.cat([x, x]))"),
        ("return x.new_zeros(n, x.shape[0])", "x.new_zeros(n, x.shape[0])"),
        ("return x.mean() * x.numel()", "torch.empty_like(x.mean())"),
        ("b, w = x.shape\n    return torch.zeros(b * n, w)", "torch.zeros(x.shape[0] * n, x.shape[1])"),
        ("return torch.ones(WIDTH, dtype=x.dtype)", "torch.ones(WIDTH, dtype=x.dtype)"),
        ("y = torch.empty_like(x)\n    y.copy_(x)\n    y += 1\n    return y", "torch.empty_like(x)"),
        ("if x.sum() > 0:\n        return x + 1\n    return x - 1", "torch.empty_like(x)"),
        ("return x.contiguous() * 2", "torch.empty_like(x.contiguous())"),
        ("y = x.contiguous()\n    return y * 2", "torch.empty_like(x.contiguous())"),
        (
            "return x.clone(memory_format=torch.contiguous_format)",
            "torch.empty_like(x.clone(memory_format=torch.contiguous_format))",
        ),
        (
            "return torch.where(x > 0, x, torch.zeros_like(x))",
            "torch.empty_like(torch.where(torch.empty_like(x, dtype=torch.bool), x, x))",
        ),
        (
            "return torch.where(x > 0, 1.0, x)",
            "torch.empty_like(torch.where(torch.empty_like(x, dtype=torch.bool), 1.0, x))",
        ),
        ("return torch.polygamma(n, x)", "torch.empty_like(torch.polygamma(n, x))"),
    ],
)
def test_a_fake_returns_what_the_text_tells(tmp_path: Path, body: str, fake: str):
    before = FAKELESS.format("torch.Tensor", body)
    register = f"\n\n@made.register_fake\ndef _(x, n):\n    return {fake}\n"
    check(
        tmp_path,
        "NST606",
        before,
        before.replace("\n\n\n@torch.compile", f"\n{register}\n\n@torch.compile"),
        Applicability.SAFE,
    )


def test_a_fake_of_several_results(tmp_path: Path):
    before = FAKELESS.format("tuple[torch.Tensor, torch.Tensor]", "return x + 1, x.sum()")
    register = "\n\n@made.register_fake\ndef _(x, n):\n    return torch.empty_like(x), torch.empty_like(x.sum())\n"
    check(tmp_path, "NST606", before, before.replace("\n\n\n@torch.compile", f"\n{register}\n\n@torch.compile"))


def test_numpy_is_not_quite_sure(tmp_path: Path):
    text = FAKELESS.format("torch.Tensor", "return torch.from_numpy(np.sin(x.numpy()))")
    assert mended(tmp_path, {"model.py": text}, {"NST606"}, Applicability.SAFE).titles == []
    assert mended(tmp_path, {"model.py": text}, {"NST606"}).after == []


@pytest.mark.parametrize(
    "body",
    [
        "return torch.zeros(int(x.sum()))",
        "return x[x > 0]",
        "return x.nonzero()",
        "return torch.where(x > 0)[0]",
        "y = x * 1\n    y.unsqueeze_(0)\n    return y",
        "for part in x:\n        y = part\n    return y",
        "return x + 1 if n else x.sum()",
        "y = x + 1\n    y = y.sum()\n    return y",
    ],
)
def test_a_fake_that_a_person_completes(tmp_path: Path, body: str):
    text = FAKELESS.format("torch.Tensor", body)
    assert mended(tmp_path, {"model.py": text}, {"NST606"}).titles == []
    result = mended(tmp_path, {"model.py": text}, {"NST606"}, Applicability.DISPLAY)
    assert result.titles == ["Register a fake for `made` to fill in"]
    assert "    return torch.empty_like(x)  # TODO" in result.files["model.py"]


def test_an_operator_that_is_made_by_a_call(tmp_path: Path):
    before = """\
import torch


def _made(x: torch.Tensor) -> torch.Tensor:
    return x.exp()


made = torch.library.custom_op("demo::made", _made, mutates_args=())
"""
    after = before + "\n\n@made.register_fake\ndef _(x):\n    return torch.empty_like(x.exp())\n"
    check(tmp_path, "NST606", before, after, Applicability.SAFE)


FAKED = """\
import torch


@torch.library.custom_op("demo::made", mutates_args=())
def made(x: torch.Tensor, n: int) -> torch.Tensor:
    return {}


@made.register_fake
def fake({}):
    return {}
"""


@pytest.mark.parametrize(
    ("real", "parameters", "fake", "then", "mended_fake"),
    [
        ("x.to(torch.int64)", "y, n", "torch.empty_like(y)", "y, n", "torch.empty_like(y, dtype=torch.int64)"),
        ("x * 2", "x, n", "x", "x, n", "torch.empty_like(x)"),
        ("x * 2", "x", "torch.empty_like(x)", "x, n", "torch.empty_like(x)"),
        ("torch.zeros(n, 3)", "x, n", "torch.zeros((n,))", "x, n", "torch.zeros(n, 3)"),
    ],
)
def test_a_fake_is_made_like_its_function(
    tmp_path: Path, real: str, parameters: str, fake: str, then: str, mended_fake: str
):
    before, after = FAKED.format(real, parameters, fake), FAKED.format(real, then, mended_fake)
    check(tmp_path, "NST608", before, after, Applicability.SAFE)


# -- declarations -----------------------------------------------------------------------------------------------------

BUMP = """\
import torch


@torch.library.custom_op("demo::bump", mutates_args={})
def bump(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return {}


@bump.register_fake
def _(x, y):
    return torch.empty_like(x)
"""


@pytest.mark.parametrize(
    ("declared", "then"),
    [
        ("()", '("x",)'),
        ("[]", '["x"]'),
        ("set()", '{"x"}'),
        ('("y",)', '("y", "x")'),
        ('{"y"}', '{"y", "x"}'),
        ('{"buf"}', '{"x"}'),
    ],
)
def test_a_changed_argument_is_declared(tmp_path: Path, declared: str, then: str):
    check(tmp_path, "NST607", BUMP.format(declared, "x * 2"), BUMP.format(then, "x * 2"), Applicability.SAFE)


def test_a_changed_argument_is_declared_by_a_leaf_function(tmp_path: Path):
    text = "import torch\nfrom torch._dynamo.decorators import leaf_function\n\n\n@leaf_function{}\ndef bump(x):\n"
    text += "    x.add_(1)\n    return x * 2\n\n\n@bump.register_fake\ndef _(x):\n    return torch.empty_like(x)\n"
    check(tmp_path, "NST607", text.format(""), text.format('(mutates_args={"x"})'), Applicability.SAFE)


def test_a_changed_argument_is_declared_in_a_schema(tmp_path: Path):
    before = BUMP.format('(), schema="(Tensor x, Tensor y) -> Tensor"', "x * 2")
    after = BUMP.format('("x",), schema="(Tensor(a!) x, Tensor y) -> Tensor"', "x * 2")
    check(tmp_path, "NST607", before, after, Applicability.SAFE)


def test_a_schema_and_computed_names_cannot_both_be_changed(tmp_path: Path):
    text = BUMP.format('tuple(NAMES), schema="(Tensor x, Tensor y) -> Tensor"', "x * 2")
    assert mended(tmp_path, {"model.py": text}, {"NST607"}, Applicability.SAFE).titles == []


@pytest.mark.parametrize(
    ("returned", "then"),
    [
        ("y", "y.clone()"),
        ("y[0]", "y[0].clone()"),
        ("y.view(-1)", "y.view(-1).clone()"),
        ("list(y.chunk(2))", "[part.clone() for part in y.chunk(2)]"),
        ("[row for row in y.unbind(0)]", "[row.clone() for row in y.unbind(0)]"),
    ],
)
def test_a_returned_argument_is_cloned(tmp_path: Path, returned: str, then: str):
    check(tmp_path, "NST607", BUMP.format('("x",)', returned), BUMP.format('("x",)', then), Applicability.SAFE)


def test_an_operator_that_only_has_an_effect_declares_an_argument(tmp_path: Path):
    text = """\
import torch


@torch.library.custom_op("demo::log", mutates_args={})
def log(x: torch.Tensor) -> None:
    print(x)


@log.register_fake
def _(x):
    return None


@torch.compile(fullgraph=True)
def step(x):
    log(x)
    return x * 2
"""
    check(tmp_path, "NST610", text.format("()"), text.format('("x",)'))


LATE = """\
def scale(x):
    return float(x.sum().item()) * x


def install():
    import torch
    from torch._dynamo import allow_in_graph

    allow_in_graph(scale)
"""


def test_a_file_that_imports_torch_within_a_function_stays_importable_without_it(tmp_path: Path):
    made = mended(tmp_path, {"model.py": LATE}, {"NST402"})
    assert made.titles == []
    assert "NST402" in made.after
    assert "NST904" not in made.after
