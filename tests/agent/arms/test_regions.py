"""What counts as a region, on every backend, and what is recorded of its arguments and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.arms.running import HEAD, cause, effects, numbers, result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

MODEL = """\
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1, bias=False)
        torch.nn.init.ones_(self.linear.weight)
        self.calls = 0

    def forward(self, x, *, scale=1.0):
        return self.linear(x) * scale

    def other(self, x):
        return x + 1
"""
SIMPLE = "def triple(x):\n    return x * 3\n"
FUNCTION = "def double(x, scale=2.0):\n    return x * scale\n"
ONES = "torch.ones(2)"
#: What makes `region`, the name that it is recorded under, and what it returns for two ones.
REGIONS = {
    "decorator": ("@torch.compile\n" + FUNCTION + "region = double", "double", [2, 2]),
    "decorator with options": ("@torch.compile(fullgraph=True, dynamic=True)\n" + FUNCTION + "region = double",
                               "double", [2, 2]),
    "backend": ("@torch.compile(backend='eager')\n" + FUNCTION + "region = double", "double", [2, 2]),
    "mode": (FUNCTION + "region = torch.compile(double, mode='max-autotune')", "double", [2, 2]),
    "options": (FUNCTION + "region = torch.compile(double, options={'triton.cudagraphs': True})", "double", [2, 2]),
    "imported": ("from torch import compile as c\n" + FUNCTION + "region = c(double)", "double", [2, 2]),
    "keyword": (FUNCTION + "region = torch.compile(model=double)", "double", [2, 2]),
    "compiler": (FUNCTION + "region = torch.compiler.compile(double)", "double", [2, 2]),
    "partial": ("import functools\njit = functools.partial(torch.compile, fullgraph=True)\n@jit\n" + FUNCTION
                + "region = double", "double", [2, 2]),
    "of a partial": ("import functools\n" + FUNCTION + "region = torch.compile(functools.partial(double, scale=3.0))",
                     "partial", [3, 3]),
    "lambda": ("region = torch.compile(lambda x: x * 4)", "<lambda>", [4, 4]),
    "module": (MODEL + "region = torch.compile(Model())", "Model", [2]),
    "in place": (MODEL + "region = Model()\nregion.compile(fullgraph=True)", "Model", [2]),
    "forward": (MODEL + "region = Model()\nregion.forward = torch.compile(region.forward)", "Model.forward", [2]),
    "bound method": (MODEL + "region = torch.compile(Model().other)", "Model.other", [2, 2]),
    "method": (MODEL.replace("    def other", "    @torch.compile\n    def other") + "region = Model().other",
               "Model.other", [2, 2]),
    "twice": (FUNCTION + "region = torch.compile(torch.compile(double))", "double", [2, 2]),
    "built-in": ("region = torch.compile(torch.neg)", "_VariableFunctionsClass.neg", [-1, -1]),
    "make_fx": ("from torch.fx.experimental.proxy_tensor import make_fx\n" + SIMPLE
                + f"region = make_fx(triple)({ONES})", "triple", [3, 3]),
    "make_fx with fake tensors": ("from torch.fx.experimental import proxy_tensor\n" + SIMPLE
                                  + f"region = proxy_tensor.make_fx(triple, tracing_mode='fake')({ONES})",
                                  "triple", [3, 3]),
    "make_fx of functorch": ("from functorch import make_fx\n" + SIMPLE + f"region = make_fx(triple)({ONES})",
                             "triple", [3, 3]),
    "export": (MODEL + f"region = torch.export.export(Model(), ({ONES},)).module()", "Model", [2]),
    "export, not strict": (MODEL + "from torch.export import export\n"
                           f"region = export(Model(), ({ONES},), strict=False).module()", "Model", [2]),
}  # fmt: skip
DRIVE = f"\n\ndef main():\n    region({ONES})\n    region({ONES})\n"


@pytest.mark.parametrize("name", REGIONS)
def test_regions_however_they_are_made(project: Project, name: str) -> None:
    text, region, expected = REGIONS[name]
    for backend in ("eager", "aot_eager"):
        calls = project.calls(HEAD + text + DRIVE, backend)
        assert [(call["region"], result(call)) for call in calls] == [(region, expected)] * 2, backend


def test_graphs_traced_ahead_are_told_by_what_they_were_traced_from(project: Project) -> None:
    text = HEAD + REGIONS["make_fx"][0] + DRIVE
    eager, traced = (project.calls(text, backend) for backend in ("eager", "aot_eager"))
    assert [(call["line"], call["inputs"]) for call in eager] == [(call["line"], call["inputs"]) for call in traced]
    assert list(eager[0]["inputs"]) == ["x"]


def test_what_only_graphs_have_leads_nowhere_where_nothing_is_traced(project: Project) -> None:
    asked = "    region.print_readable()\n    print(region.code, [node.op for node in region.graph.nodes])\n"
    text = HEAD + REGIONS["make_fx"][0] + DRIVE.replace("    region(", asked + "    region(", 1)
    assert [result(call) for call in project.calls(text)] == [[3, 3]] * 2
    assert [result(call) for call in project.calls(text, "aot_eager")] == [[3, 3]] * 2


@pytest.mark.parametrize(
    "name", ["decorator", "decorator with options", "module", "in place", "method", "of a partial"]
)
def test_regions_that_are_only_traced(project: Project, name: str) -> None:
    text, region, expected = REGIONS[name]
    calls = project.calls(HEAD + text + DRIVE, "fake")
    assert [(call["region"], result(call)) for call in calls] == [(region, expected)] * 2


def test_inductor(project: Project) -> None:
    text = HEAD + "@torch.compile(backend='eager')\ndef region(x):\n    return torch.rand(2), x * 2\n" + DRIVE
    eager, compiled = (project.calls(text, backend) for backend in ("eager", "inductor"))
    # Both draw the same random numbers.
    assert [call["result"]["leaves"] for call in eager] == [call["result"]["leaves"] for call in compiled]
    assert numbers(eager[0]["result"]["leaves"][1]) == [2, 2]


def test_an_operator_is_compiled_as_it_is_declared_now(project: Project) -> None:
    text = """
        import torch

        @torch.library.custom_op("shop::bump_{name}", mutates_args={mutates})
        def bump(x: torch.Tensor) -> None:
            x.add_(1)

        @bump.register_fake
        def _(x):
            pass

        @torch.compile(fullgraph=True)
        def region(x):
            bump(x)
            return x * 2

        def main():
            region(torch.ones(2))
    """
    for mutates, expected in (("()", [2, 2]), ('("x",)', [4, 4])):
        (call,) = project.calls(text.format(name=project.directory.name[-8:], mutates=mutates), "inductor")
        assert result(call) == expected


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "fake"])
def test_a_disabled_region_is_none(project: Project, backend: str) -> None:
    text = HEAD + "@torch.compile(disable=True)\ndef region(x):\n    return x\n" + DRIVE
    assert project.calls(text, backend) == []


def test_other_functions_are_not_recorded(project: Project) -> None:
    text = HEAD + "@nonstrict_trace\ndef region(x):\n    return x\n" + DRIVE
    assert project.calls(text) == []


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_region_within_a_region_is_part_of_it(project: Project, backend: str) -> None:
    text = """\
    import torch

    @torch.compile
    def inner(x):
        return x + 1

    @torch.compile
    def outer(x):
        return inner(x) * 2

    @torch.compiler.disable
    def between(x):
        return inner(x)

    @torch.compile
    def breaking(x):
        return between(x) * 3

    def main():
        outer(torch.ones(1))
        breaking(torch.ones(1))
        inner(torch.ones(1))
    """
    calls = project.calls(text, backend)
    assert [(call["region"], result(call)) for call in calls] == [("outer", [4]), ("breaking", [6]), ("inner", [2])]


def test_a_compiled_module_stays_a_module(project: Project) -> None:
    text = HEAD + MODEL + """\
model = torch.compile(Model())

def main():
    assert isinstance(model, torch.nn.Module)
    assert list(dict(model.named_parameters())) == ["_orig_mod.linear.weight"]
    model.eval()
    model(torch.ones(2), scale=3.0)
    assert model.other(1) == 2
    assert model.calls == 0
"""  # fmt: skip
    for backend in ("eager", "aot_eager"):
        (call,) = project.calls(text, backend)
        assert result(call) == [6]


def test_arguments_by_the_names_of_the_regions_parameters(project: Project) -> None:
    text = """\
    import torch

    @torch.compile
    def region(x, y=None, *rest, flag=True, **more):
        return x

    compiled = torch.compile(lambda *args: args[0])

    def main():
        x = torch.ones(1)
        region(x)
        region(x, y=[x, {"k": 2.5}])
        region(x, None, 7, 8, flag=False, extra="e")
        compiled(x, 3)
    """
    first, second, third, fourth = project.calls(text)
    assert list(first["inputs"]) == ["x"]
    assert second["inputs"] | {"x": ""} == {
        "x": "", "y": "list[2]", "y[0]": second["inputs"]["x"], "y[1]": "dict[1]", "y[1]['k']": "float 2.5",
    }  # fmt: skip
    told = {name: value for name, value in third["inputs"].items() if name != "x"}
    assert told == {
        "y": "NoneType None", "rest": "tuple[2]", "rest[0]": "int 7", "rest[1]": "int 8", "flag": "bool False",
        "more": "dict[1]", "more['extra']": "str 'e'",
    }  # fmt: skip
    assert list(fourth["inputs"]) == ["argument 1", "argument 2"]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_arguments_that_a_call_changes(project: Project, backend: str) -> None:
    text = """\
    import torch

    @torch.compile
    def region(x, table):
        x.add_(1)
        table["seen"] = True
        return x * 2

    def main():
        region(torch.zeros(1), {})
    """
    (call,) = project.calls(text, backend)
    assert call["inputs"]["x"] != call["arguments"]["x"]
    assert call["inputs"]["table"] == "dict[0]"
    assert call["arguments"]["table['seen']"] == "bool True"
    assert result(call) == [2]


def test_what_a_tracer_leaves_behind_is_found(project: Project) -> None:
    text = HEAD + """\
KEPT = []

@nonstrict_trace
def marked(x):
    KEPT.append(x + 1)
    return x * 2

@torch.compile
def region(x):
    return marked(x)

def main():
    region(torch.ones(1))
"""  # fmt: skip
    (eager,), (compiled,) = project.calls(text), project.calls(text, "aot_eager")
    assert eager["leaks"] == []
    assert "KEPT[0]" in compiled["leaks"]
    assert compiled["state"]["KEPT[0]"][1] in {"FakeTensor", "FunctionalTensor", "ProxyTensor"}


def test_a_refusal_to_trace_ahead_of_time_is_a_call_that_failed(project: Project) -> None:
    text = HEAD + """\
class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x

def main():
    torch.export.export(Model(), (torch.ones(2),))
"""  # fmt: skip
    trace = project.arm(text, "aot_eager")
    assert trace["stop"]["kind"] == "raised"
    (call,) = trace["calls"]
    assert (call["region"], call["traced"]) == ("Model", True)
    assert [str(project.directory / "model.py"), 6] in cause(call["error"])["frames"]
    assert project.calls(text) == []


def test_a_refusal_by_a_trace_with_fake_tensors(project: Project) -> None:
    text = HEAD + "@torch.compile(fullgraph=True)\ndef region(x):\n    return x if x.sum() > 0 else -x\n" + DRIVE
    (call,) = project.arm(text, "fake")["calls"]
    assert cause(call["error"])["frames"][-1] == [str(project.directory / "model.py"), 6]
    assert [result(call) for call in project.calls(text)] == [[1, 1], [1, 1]]
    # A graph may break there.
    assert len(project.calls(text.replace("(fullgraph=True)", ""), "fake")) == 2


def test_what_a_region_captures_is_traced(project: Project) -> None:
    text = (
        HEAD + "W = torch.full((2,), 3.0)\n@torch.compile(fullgraph=True)\ndef region(x):\n    return x * W\n" + DRIVE
    )
    assert [result(call) for call in project.calls(text, "fake")] == [[3, 3], [3, 3]]


def test_every_call_starts_from_the_same_random_state(project: Project) -> None:
    text = HEAD + """\
import random

@torch.compile
def region(x):
    return x * random.random(), torch.rand(1)

def main():
    region(torch.ones(1))
    random.random(), torch.rand(7)
    region(torch.ones(1))
"""  # fmt: skip
    project.write("other.py", text)
    one, again = project.calls(text), project.calls(text.replace("random.random(), torch.rand(7)", "pass"))
    assert [call["result"] for call in one] == [call["result"] for call in again]
    assert one[0]["result"] != one[1]["result"]
    assert set(one[0]["state"]) == {"<random state>"}
    assert effects(one[0]) == {}
