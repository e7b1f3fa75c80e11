"""Tensors and gradients as the agent writes them down."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import HEAD, cause, numbers

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch


def leaf(project: Project, expression: str, backend: str = "eager", setup: str = "") -> dict[str, Any]:
    """The only leaf of what a region returns for `x`, four floating-point numbers from 0 to 3."""
    text = f"{HEAD}{setup}\n@torch.compile\ndef region(x):\n    return {expression}\n\n"
    text += "def main():\n    region(torch.arange(4.0))\n"
    (call,) = project.calls(text, backend)
    (only,) = call["result"]["leaves"]
    return only


FLOATS = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_numbers_of_every_dtype(project: Project, dtype: str) -> None:
    found = leaf(project, f"x.to(torch.{dtype}).view(2, 2)")
    assert (found["dtype"], found["shape"], found["class"]) == (dtype, [2, 2], "Tensor")
    assert numbers(found) == [0, 1, 2, 3]
    assert found["grad"] is False


def test_booleans_and_complex_numbers(project: Project) -> None:
    assert numbers(leaf(project, "x > 1")) == [0, 0, 1, 1]
    assert numbers(leaf(project, "torch.complex(x[:2], x[2:])")) == [0, 2, 1, 3]
    assert numbers(leaf(project, "torch.complex(x[:2], x[2:]).conj()")) == [0, -2, 1, -3]


def test_special_numbers_are_exact(project: Project) -> None:
    found = numbers(leaf(project, "torch.tensor([0.0, -0.0, float('nan'), float('inf'), -float('inf'), 0.1])"))
    assert [math.copysign(1, number) for number in found[:2]] == [1, -1]
    assert math.isnan(found[2])
    assert found[3:5] == [math.inf, -math.inf]
    assert found[5] == pytest.approx(0.1, rel=1e-7)
    assert leaf(project, "torch.tensor(0.0)")["hash"] != leaf(project, "torch.tensor(-0.0)")["hash"]
    assert leaf(project, "x / 0 - x / 0")["hash"] == leaf(project, "x / 0 - x / 0")["hash"]


def test_the_order_of_elements_does_not_depend_on_strides(project: Project) -> None:
    plain, turned = leaf(project, "x.view(2, 2).T.contiguous()"), leaf(project, "x.view(2, 2).T")
    assert numbers(plain) == numbers(turned) == [0, 2, 1, 3]
    assert plain["hash"] == turned["hash"]
    assert numbers(leaf(project, "x[:1].expand(3)")) == [0, 0, 0]


@pytest.mark.parametrize("conversion", ["to_sparse()", "to_sparse_csr()", "to_mkldnn()"])
def test_layouts_that_are_not_strided(project: Project, conversion: str) -> None:
    found = leaf(project, f"x.view(2, 2).{conversion}")
    assert (found["shape"], numbers(found)) == ([2, 2], [0, 1, 2, 3])


def test_large_tensors_are_sampled_but_hashed(project: Project) -> None:
    setup = "def large(index):\n    t = torch.arange(10_000)\n    t[index] = -1\n    return t\n"
    one, other = (leaf(project, f"large({index})", setup=setup) for index in (5000, 5001))
    assert one["shape"] == [10_000]
    assert len(numbers(one)) <= 4096
    assert numbers(one)[:3] == [0, 3, 6]
    assert one["hash"] != other["hash"]


def test_tensors_that_cannot_be_read_say_why(project: Project) -> None:
    found = leaf(project, "torch.empty(2, device='meta')")
    assert "data" not in found
    assert found["opaque"].startswith("NotImplementedError")


def test_whether_a_gradient_is_required(project: Project) -> None:
    assert leaf(project, "x.requires_grad_() * 2")["grad"] is True
    assert leaf(project, "x.requires_grad_().detach()")["grad"] is False


WRAPPER = """\
from torch.utils._pytree import tree_map

class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        bare = lambda value: value.inner if isinstance(value, Wrapper) else value
        made = function(*tree_map(bare, arguments), **tree_map(bare, keywords or {}))
        return tree_map(lambda value: Wrapper(value) if isinstance(value, torch.Tensor) else value, made)
"""
FLAT = """
    def __tensor_flatten__(self):
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(inner, _, size, stride):
        return Wrapper(inner["inner"])
"""


@pytest.mark.parametrize("setup", [WRAPPER, WRAPPER + FLAT], ids=["opaque", "traceable"])
def test_a_subclass_that_wraps_another_tensor(project: Project, setup: str) -> None:
    found = leaf(project, "Wrapper(x.repeat(30))", setup=setup)
    assert (found["class"], found["shape"]) == ("Wrapper", [120])
    assert numbers(found) == [0, 1, 2, 3] * 30


def test_a_wrapper_that_the_program_keeps(project: Project) -> None:
    text = HEAD + WRAPPER + """\
KEPT = Wrapper(torch.zeros(100))

@torch.compile
def region(x):
    KEPT.inner.add_(1)
    return x

def main():
    region(torch.ones(1))
    region(torch.ones(1))
"""  # fmt: skip
    calls = project.calls(text)
    changes = [call["state"]["KEPT"] for call in calls]
    assert changes[0][1] == changes[1][0]
    assert len({changes[0][0], changes[0][1], changes[1][1]}) == 3


def test_subclasses_with_functions_of_their_own(project: Project) -> None:
    setup = """\
class Picky(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        if getattr(function, "__name__", "") in {"detach", "cpu", "reshape"}:
            raise KeyError(function.__name__)
        return super().__torch_function__(function, types, arguments, keywords or {})
"""
    found = leaf(project, "x.as_subclass(Picky)", setup=setup)
    assert (found["class"], numbers(found)) == ("Picky", [0, 1, 2, 3])


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors(project: Project, layout: str) -> None:
    setup = f"def nested(*parts):\n    return torch.nested.nested_tensor(list(parts), layout=torch.{layout})\n"
    found = leaf(project, "nested(x[:1], x[1:])", setup=setup)
    assert found["shape"] == [2]
    assert numbers(found) == [1, 3, 0, 1, 2, 3]
    assert leaf(project, "nested(x[:2], x[2:])", setup=setup)["hash"] != found["hash"]


def test_objects_are_told_without_their_address(project: Project) -> None:
    assert leaf(project, "object()") == {"type": "object", "repr": "<object object>"}
    setup = "class Odd:\n    def __repr__(self):\n        raise ValueError\n"
    assert leaf(project, "Odd()", setup=setup) == {"type": "Odd", "repr": "<repr raised ValueError>"}


GRADIENTS = HEAD + """\
WEIGHT = torch.full((2,), 3.0, requires_grad=True)
MODEL = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(MODEL.weight)

@nonstrict_trace
def captured(x):
    return x * WEIGHT

@torch.compile
def step(x):
    return {result}

def main():
    step(torch.tensor([1.0, 2.0], requires_grad=True))
"""  # fmt: skip


def gradients(project: Project, result: str, backend: str = "eager") -> Any:
    return project.arm(GRADIENTS.replace("{result}", result), backend, gradients=True)["gradients"]


def of(found: Any) -> dict[str, Any]:
    return {name: part and numbers(part["leaves"][0]) for name, part in found["of"].items()}


def test_gradients_of_arguments_globals_and_modules(project: Project) -> None:
    found = of(gradients(project, "captured(x), MODEL(x)"))
    assert found == {"WEIGHT": [1, 2], "MODEL.weight": [1, 2], "argument 1": [4, 4]}


def test_a_gradient_that_does_not_arrive_is_none(project: Project) -> None:
    assert of(gradients(project, "x * x"))["WEIGHT"] is None
    assert of(gradients(project, "torch.complex(x, x)"))["argument 1"] == [2, 2]


def test_results_without_a_gradient(project: Project) -> None:
    assert gradients(project, "x.detach()") == {"error": "no result requires a gradient"}


def test_a_backward_pass_that_fails(project: Project) -> None:
    text = GRADIENTS.replace("{result}", "Broken.apply(x)").replace("@torch.compile", """\
class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("backward")

@torch.compile""")  # fmt: skip
    error = project.arm(text, gradients=True)["gradients"]["error"]
    assert cause(error)["message"] == "backward"
    assert cause(error)["frames"] == [[str(project.directory / "model.py"), 19]]


def test_the_compiled_arm_differentiates_too(project: Project) -> None:
    eager, compiled = (gradients(project, "MODEL(x) * 2", backend) for backend in ("eager", "aot_eager"))
    assert of(eager) == of(compiled) == {"WEIGHT": None, "MODEL.weight": [2, 4], "argument 1": [2, 2]}


def test_without_being_asked_there_are_no_gradients(project: Project) -> None:
    assert "gradients" not in project.arm(GRADIENTS.replace("{result}", "x"))


def test_numbers_are_kept_of_the_tensors_that_calls_are_given_and_leave(project: Project) -> None:
    text = f"""{HEAD}
class Average:
    def __init__(self):
        self.mean, self.large, self.count = torch.zeros(2), torch.zeros(99), torch.zeros(2, dtype=torch.int64)

    @torch.compile
    def update(self, x):
        self.mean += x
        self.count += 1

average = Average()
weight = torch.full((2,), 3.0)

def main():
    for number in (1.0, 2.0):
        average.update(torch.full((2,), number))
        weight.mul_(2)
"""
    trace = project.arm(text)
    assert sorted(numbers(leaf)[0] for leaf in trace["numbers"].values()) == [0, 1, 2, 3, 6]
    first, second = trace["calls"]
    assert [numbers(trace["numbers"][one["arguments"]["self.mean"]]) for one in (first, second)] == [[1, 1], [3, 3]]
    assert first["inputs"]["self.large"] not in trace["numbers"]
    assert second["between"]["weight"][1] in trace["numbers"]
