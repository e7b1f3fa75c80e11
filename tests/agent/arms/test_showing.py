"""Graphs and code of small programs, in the words of the people who wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import HEAD

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

MODEL = HEAD + """\
OFFSET = torch.ones(2)
TABLE = {"w": [torch.ones(2)]}

@nonstrict_trace
def attend(x):
    return torch.sin(x) + OFFSET

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x):
        return attend(self.linear(x))

model = torch.compile(Model())

def main():
    model(torch.ones(1, 2))
"""  # fmt: skip


def shown(project: Project, text: str, show: str = "graph", **fields: Any) -> dict[str, Any]:
    project.write("model.py", text)
    return project.perform({**project.job(text, **fields), "kind": "show", "show": show})


def test_inputs_constants_and_operators_are_named_as_the_user_does(project: Project) -> None:
    answer = shown(project, MODEL)
    forward = next(one for one in answer["shown"] if one["part"] == "forward")
    assert forward["region"] == "Model"
    for wanted in ("self.linear.weight: f32[2, 2]", "x: f32[1, 2]", "OFFSET", "# captured constant"):
        assert wanted in forward["text"], forward["text"]
    row = next(line for line in forward["text"].splitlines() if "aten.sin" in line)
    assert row.endswith("# model.py:9  torch.sin(x)")
    path = str(project.directory / "model.py")
    assert [path, 9] in forward["places"]
    assert (answer["calls"], answer["error"], answer["stop"]) == (1, None, {"kind": "end"})


def test_the_backward_graph_is_shown_though_nothing_goes_backward(project: Project) -> None:
    (backward,) = (one for one in shown(project, MODEL)["shown"] if one["part"] == "backward")
    assert "# gradient of a result" in backward["text"]
    assert "aten.cos" in backward["text"]
    assert "torch.sin(x)" in next(line for line in backward["text"].splitlines() if "aten.cos" in line)


def test_each_graph_has_its_key_and_why_it_ended(project: Project) -> None:
    text = HEAD + """\
@torch.compile
def region(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2

def main():
    region(torch.ones(2))
"""  # fmt: skip
    first, second = shown(project, text)["shown"]
    assert first["break_"] != second["break_"] == ""
    assert ("aten.add" in first["text"], "aten.mul" in second["text"]) == (True, True)
    assert first["key"] != second["key"]
    assert {first["region"], second["region"]} == {"region"}


@pytest.mark.parametrize("how", ["make_fx(f)(X)", "torch.export.export(M(), (X,)).module()"])
def test_graphs_that_are_traced_ahead_of_time(project: Project, how: str) -> None:
    text = HEAD + f"""\
from torch.fx.experimental.proxy_tensor import make_fx

def f(x):
    return torch.cos(x)

class M(torch.nn.Module):
    def forward(self, x):
        return f(x)

X = torch.ones(3)

def main():
    traced = {how}
    traced(X)
"""  # fmt: skip
    (one,) = shown(project, text)["shown"]
    assert one["part"] == ""
    assert "aten.cos" in one["text"]
    assert [str(project.directory / "model.py"), 7] in one["places"]


def test_the_code_of_inductor(project: Project) -> None:
    answer = shown(project, MODEL.replace("OFFSET\n\nclass", "1.0\n\nclass"), "code")
    forward = next(one for one in answer["shown"] if one["part"] == "forward")
    assert "input `self.linear.weight`" in forward["text"]
    assert "model.py:9  torch.sin(x)" in forward["text"]
    assert "async_compile" in forward["text"]


def test_given_arguments_have_the_names_of_parameters(project: Project) -> None:
    driver = {"kind": "calls", "name": "attend", "given": '[{"expression": "inputs(torch.ones(2))"}]'}
    (forward,) = shown(project, MODEL, driver=driver)["shown"]
    assert "x: f32[2]" in forward["text"]


def test_why_there_is_no_graph(project: Project) -> None:
    text = MODEL.replace("torch.sin(x)", "torch.from_numpy(x.numpy())")
    answer = shown(project, text.replace("compile(Model()", "compile(Model(), fullgraph=True"))
    assert answer["error"]["links"][answer["error"]["cause"]]["frames"][-1][1] == 9
    assert answer["stop"]["kind"] == "raised"
    answer = shown(project, "import torch\nraise ValueError('no')\n")
    assert (answer["failure"], answer["shown"]) == ("line 2: ValueError: no", [])


def test_inputs_are_searched(project: Project) -> None:
    text = (
        HEAD
        + '''\
def scaled(x):
    """Scale.

    >>> scaled(torch.zeros(3))
    """
    return x.view(2, -1) * 2
'''
    )
    project.write("model.py", text)
    job = {**project.job(text), "kind": "inputs", "name": "scaled", "search_seconds": 20.0}
    answer = project.perform(job)
    assert answer["examples"] == ["scaled(torch.zeros(3))\n"]
    assert answer["calls"][0]["args"][0]["kind"] == "tensor"
    assert "failure" not in answer
    answer = project.perform({**job, "name": "absent"})
    assert (answer["stage"], answer["calls"]) == ("load", [])
    assert answer["failure"] == "`absent` cannot be reached from the top of its file"
