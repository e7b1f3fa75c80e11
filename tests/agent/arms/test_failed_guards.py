"""What arms tell of functions that are compiled anew: which guard failed, of what it asks, and where torch gives up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict_agent.observe.failed_guards import entries_of, failed_guard, in_names, sources_in
from tests.agent.arms.running import Project

if TYPE_CHECKING:
    from tests.warm.process import Warm

PROGRAM = """\
import torch

SCALE = {"of": 1.0}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(2, 2)
        self.count = 0

    def forward(self, x):
        self.count += 1
        return self.body(x) * self.count


@torch.compile
def scaled(x, parts=()):
    return x * SCALE["of"] + len(parts)


def main():
    net = torch.compile(Net())
    for _ in range(10):
        net(torch.ones(1, 2))
    scaled(torch.ones(2))
    SCALE["of"] = 3
    scaled(torch.ones(2))
    scaled(torch.ones(2), [1])
    scaled(torch.ones(3), [1])
    with torch.no_grad():
        scaled(torch.ones(3), [1])
"""


def at(text: str) -> int:
    """The line of the program that contains a text."""
    return next(number for number, line in enumerate(PROGRAM.split("\n"), 1) if text in line)


@pytest.fixture(scope="module")
def again(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[dict[str, Any]]]]:
    """What is compiled anew in the calls of each function."""
    calls = Project(warm, tmp_path_factory.mktemp("project")).calls(PROGRAM, "aot_eager", calls=20)
    found: dict[str, list[list[dict[str, Any]]]] = {}
    for call in calls:
        found.setdefault(call["function"], []).append(call["compiled"]["again"])
    return found


@pytest.mark.torch
def test_a_counter_is_compiled_until_torch_gives_up(again: dict[str, list[list[dict[str, Any]]]]) -> None:
    told = again["Net.forward"]
    assert [len(one) for one in told] == [0, *[1] * 8, 0]
    assert [one[0]["had"] for one in told[1:9]] == list(range(1, 9))
    assert [one[0]["limit"] for one in told[1:9]] == [False] * 7 + [True]
    assert told[8][0]["guard"] == "self.count == 7"
    assert told[8][0]["sources"] == [["self", "count"]]
    assert [line for _, line in told[1][0]["lines"]] == [at("self.count += 1")]


@pytest.mark.torch
def test_what_guards_ask_of(again: dict[str, list[list[dict[str, Any]]]]) -> None:
    first, changed, longer, sized, without = again["scaled"]
    assert not first
    assert changed[0]["sources"] == [["SCALE", "of"]]
    assert longer[0]["sources"] == [["parts"]]
    assert ["x"] in sized[0]["sources"]
    assert without[0]["guard"].startswith("GLOBAL_STATE changed: grad_mode")


@pytest.mark.parametrize(
    ("guard", "sources", "text"),
    [
        ("L['self'].step == 3", [["self", "step"]], "self.step == 3"),
        ("L['self']._modules['a']._modules['b'].n == 1", [["self", "a", "b", "n"]], "self.a.b.n == 1"),
        ("len(L['parts']) == 2", [["parts"]], "len(parts) == 2"),
        ("2 <= L['x'].size()[0]", [["x"]], "2 <= x.size()[0]"),
        ("G['CFG']['a.b'][0] == 1", [["CFG", "a.b", "0"]], "CFG['a.b'][0] == 1"),
        ("G['__import_pkg_dot_config'].K == 1", [["K"]], "K == 1"),
        ("Ne(L['a'].size()[0], L['b'].size()[0])", [["a"], ["b"]], "Ne(a.size()[0], b.size()[0])"),
        ("tensor 'L['x']' size mismatch at index 0", [["x"]], "tensor 'x' size mismatch at index 0"),
        ("not ___dict_contains('k', G['sys'].modules)", [["sys", "modules"]], "not ___dict_contains('k', sys.modules)"),
        ("utils_device.CURRENT_DEVICE == None", [], "utils_device.CURRENT_DEVICE == None"),
    ],
)
def test_guards_in_the_names_of_a_program(guard: str, sources: list[list[str]], text: str) -> None:
    assert sources_in(guard) == sources
    assert in_names(guard) == text


def test_what_a_function_was_compiled_to_is_a_list_or_a_chain() -> None:
    chain = SimpleNamespace(next=SimpleNamespace(next=None))
    assert list(entries_of(chain)) == [chain, chain.next]
    assert list(entries_of([chain.next])) == [chain.next]
    assert list(entries_of(None)) == []


def test_code_for_an_object_that_is_gone_has_no_guard() -> None:
    gone = SimpleNamespace(guard_manager=SimpleNamespace(invalidation_reason="freed"))
    assert failed_guard([gone], None, bool) == ("", [], [])
