"""The ways in which functions are marked and regions compiled, with the compiler replaced by a quick one."""

from __future__ import annotations

import copy
import functools
import json
import os
import pickle
import types
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch._dynamo.decorators import leaf_function

from nonstrict_agent.recording.calls import Recorder
from nonstrict_agent.recording.marks import HOOKS, _compiler, _marker
from nonstrict_agent.recording.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Seen:
    """Everything in this file is the project."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.recorder = Recorder(os.path.dirname(os.path.realpath(__file__)), Spool(str(directory)), 8, eager=True)

    def calls(self) -> dict[str, list[list[str]]]:
        """The kinds of arguments of each call, by function."""
        found: dict[str, list[list[str]]] = {}
        for path in self._directory.iterdir():
            for line in map(json.loads, path.read_text().splitlines()):
                if line["event"] == "call":
                    kinds = [spec["kind"] for spec in line["call"]["args"]]
                    found.setdefault(line["function"].rpartition(".")[2], []).append(kinds)
        return found


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


@pytest.fixture
def quick(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    compiler = functools.partial(torch.compile, backend="eager")
    monkeypatch.setattr(torch, "compile", _compiler(compiler, seen.recorder, "model"))
    yield
    torch._dynamo.reset()


def plain(x: Any) -> Any:
    return x + 1


class Net(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 2


X = torch.ones(2)


def test_markers_are_called_in_many_ways(seen: Seen):
    def nonstrict_trace(traceable_fn: Any) -> Any:
        @functools.wraps(traceable_fn)
        def wrapped(*args: Any) -> Any:
            return traceable_fn(*args)

        return wrapped

    def allow_in_graph(fn: Any) -> Any:
        return [namespace.allow_in_graph(each) for each in fn] if isinstance(fn, list) else fn

    decorators = types.SimpleNamespace(nonstrict_trace=nonstrict_trace, allow_in_graph=allow_in_graph)
    stances: list[str] = []
    namespace = types.SimpleNamespace(decorators=decorators, set_stance=stances.append, **vars(decorators))
    HOOKS["torch._dynamo"](namespace, seen.recorder)
    assert stances == ["force_eager"]
    assert decorators.nonstrict_trace is namespace.nonstrict_trace is not nonstrict_trace
    assert decorators.nonstrict_trace.__name__ == "nonstrict_trace"
    namespace.nonstrict_trace(plain)(X)
    namespace.nonstrict_trace(traceable_fn=plain)(X.double())
    first, second = namespace.allow_in_graph([plain, Net().forward])
    first(X.int())
    second(X)
    assert namespace.allow_in_graph(len) is len
    assert seen.calls() == {"plain": [["tensor"]] * 3, "forward": [["module", "tensor"]]}


def test_leaf_functions(seen: Seen):
    leaf = _marker(leaf_function, seen.recorder)
    for marked, x in ((leaf(plain), X), (leaf(mutates_args=set())(plain), X.double())):
        marked.register_fake(torch.empty_like)
        assert torch.equal(marked(x), x + 1)
    assert seen.calls() == {"plain": [["tensor"]] * 2}


def test_compiled_functions_and_methods(seen: Seen, quick: None):
    @torch.compile
    def region(x: Any) -> Any:
        return x - 1

    class Model:
        @torch.compile
        def method(self, x: Any) -> Any:
            return x - 2

    assert torch.equal(region(X), X - 1)
    assert torch.equal(torch.compile(model=plain)(X), X + 1)
    assert torch.equal(Model().method(X), X - 2)
    assert torch.compile(plain, disable=True)(X) is not None
    assert seen.calls() == {"region": [["tensor"]], "plain": [["tensor"]], "method": [["object", "tensor"]]}


def test_compiled_modules_stay_modules(seen: Seen, quick: None):
    model = torch.compile(Net())
    assert type(model).__name__ == "OptimizedModule"
    assert torch.equal(model(X), X * 2)
    assert torch.equal(copy.deepcopy(model)(X), X * 2)
    assert torch.equal(pickle.loads(pickle.dumps(model))(X), X * 2)  # noqa: S301 - our own
    inplace = Net()
    inplace.compile()
    assert torch.equal(inplace(X.double()), X.double() * 2)
    assert seen.calls()["forward"][:2] == [["module", "tensor"]] * 2


def test_a_region_in_a_region_is_one_graph(seen: Seen, quick: None):
    inner = torch.compile(plain)

    def outer(x: Any) -> Any:
        return inner(x) * 3

    compiled = torch.compile(outer, fullgraph=True)
    assert torch.equal(compiled(X), (X + 1) * 3)
    assert seen.calls() == {"outer": [["tensor"]]}
