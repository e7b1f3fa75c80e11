"""What regions return, in its structure and leaf by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import HEAD, numbers

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch


RESULTS: dict[str, tuple[str, list[Any]]] = {
    "tuple": ("(x, x + 1)", [[1], [2]]),
    "list": ("[x, [x + 1, x + 2]]", [[1], [2], [3]]),
    "dict": ("{'b': x, 'a': x + 1}", [[1], [2]]),
    "named tuple": ("Pair(x, x + 1)", [[1], [2]]),
    "None": ("None", []),
    "a tuple with None": ("(None, x)", [[1]]),
    "numbers": ("(x, 3, 2.5, True, 'text')", [[1], "3", "2.5", "True", "'text'"]),
    "dtype and shape": ("(x, x.dtype, x.shape)", [[1], "torch.float32", "1"]),
    "empty": ("x[:0]", [[]]),
    "size of results": ("torch.max(x.view(1, 1), 0)", [[1], [0]]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_and_their_leaves(project: Project, name: str) -> None:
    expression, expected = RESULTS[name]
    text = HEAD + "import collections\nPair = collections.namedtuple('Pair', 'a b')\n"
    text += f"@torch.compile\ndef region(x):\n    return {expression}\n\ndef main():\n    region(torch.ones(1))\n"
    (eager,), (compiled,) = project.calls(text), project.calls(text, "aot_eager")
    leaves = [
        numbers(leaf) if "dtype" in leaf else leaf["repr"]
        for leaf in eager["result"]["leaves"]
        if leaf.get("repr") != "None"
    ]
    assert leaves == expected
    assert eager["result"] == compiled["result"]


def test_structures_that_differ(project: Project) -> None:
    text = HEAD + "@torch.compile\ndef region(x):\n    return {result}\n\ndef main():\n    region(torch.ones(1))\n"
    structures = {
        project.calls(text.replace("{result}", made))[0]["result"]["structure"]
        for made in ("(x, x)", "[x, x]", "{'a': x, 'b': x}", "{'a': x, 'c': x}", "(x, (x,))", "x")
    }
    assert len(structures) == 6


def test_a_dataclass_is_one_leaf_unless_it_is_registered(project: Project) -> None:
    text = HEAD + """\
import dataclasses

@dataclasses.dataclass
class Out:
    value: torch.Tensor

@torch.compile
def region(x):
    return Out(x)

def main():
    region(torch.ones(1))
    torch.utils._pytree.register_dataclass(Out)
    region(torch.ones(1))
"""  # fmt: skip
    first, second = project.calls(text)
    assert first["result"]["leaves"] == [{"type": "Out", "repr": "Out(value=tensor([1.]))"}]
    assert numbers(second["result"]["leaves"][0]) == [1]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_generator_stays_one(project: Project, backend: str) -> None:
    text = HEAD + """\
@torch.compile
def region(x):
    yield x
    yield x + 1

def main():
    assert [part.item() for part in region(torch.ones(1))] == [1.0, 2.0]
"""  # fmt: skip
    (call,) = project.calls(text, backend)
    assert call["result"]["leaves"][0]["type"] in {"generator", "list"}
    assert " at 0x" not in call["result"]["leaves"][0]["repr"]
