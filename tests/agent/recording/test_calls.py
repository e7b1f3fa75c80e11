"""Which calls are looked at and kept, and that looking leaves no trace."""

from __future__ import annotations

import inspect
import json
import random
import sys
import traceback
import types
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from nonstrict_agent.recording.calls import Recorder, Watch, recording, target_of
from nonstrict_agent.recording.imports import when_imported
from nonstrict_agent.recording.results import outcome
from nonstrict_agent.recording.signatures import LONGEST_TEXT, signature, structure, trimmed
from nonstrict_agent.recording.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 4
SOURCE = """\
from __future__ import annotations

import torch


def scale(x: torch.Tensor, factor: float = 2.0, *, mode: str | None = None) -> torch.Tensor:
    '''Scales.'''
    if factor < 0:
        raise ValueError(factor)
    return x * factor


def fill(values: list) -> list:
    values.append(1)
    return values


SIZES = []


def draw(x: torch.Tensor) -> torch.Tensor:
    return x.new_ones(SIZES[-1])


anonymous = lambda x: x


class Net(torch.nn.Module):
    def forward(self, x):
        return x
"""


class Bench:
    """A module of a project, and what was recorded of it."""

    def __init__(self, directory: Path) -> None:
        path = directory / "code.py"
        path.write_text(SOURCE)
        self.module: Any = types.ModuleType("code_under_record")
        exec(compile(SOURCE, str(path), "exec"), self.module.__dict__)  # noqa: S102 - our own text
        (directory / "spool").mkdir()
        self._spool = directory / "spool"
        self.recorder = Recorder(str(directory.resolve()), Spool(str(self._spool)), LIMIT, eager=True)

    def watched(self, name: str) -> Callable[..., Any]:
        return self.recorder.watched(getattr(self.module, name))

    def calls(self) -> list[Any]:
        lines = [json.loads(line) for path in self._spool.iterdir() for line in path.read_text().splitlines()]
        return [line["call"] for line in lines if line["event"] == "call"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_recorded_function_looks_like_the_function(bench: Bench):
    original, scale = bench.module.scale, bench.watched("scale")
    assert (scale.__name__, scale.__qualname__, scale.__module__, scale.__doc__) == (
        original.__name__,
        original.__qualname__,
        original.__module__,
        original.__doc__,
    )
    assert inspect.signature(scale) == inspect.signature(original)
    assert get_type_hints(scale)["x"] is torch.Tensor
    assert scale.__globals__ is bench.module.__dict__
    assert torch.equal(scale(torch.ones(2)), torch.full((2,), 2.0))


def test_other_functions_are_left_alone(bench: Bench):
    for other in (json.dumps, torch.relu, len, print, bench.module.anonymous, torch.nn.Linear, 3, staticmethod(len)):
        assert bench.recorder.watched(other) is other


def test_signatures_are_bounded_and_then_calls_are_not_looked_at(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    looks: list[object] = []
    look = Watch.look
    monkeypatch.setattr(Watch, "look", lambda self, *rest: looks.append(rest) or look(self, *rest))
    scale = bench.watched("scale")
    for mode in ("a", "b"):
        for size in range(1, 30):
            scale(torch.ones([1] * size), mode=mode)
    assert len(bench.calls()) == LIMIT
    assert len(looks) < 2 * LIMIT


def test_calls_that_are_all_alike_are_looked_at_less_and_less(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    looks: list[object] = []
    look = Watch.look
    monkeypatch.setattr(Watch, "look", lambda self, *rest: looks.append(rest) or look(self, *rest))
    scale, x = bench.watched("scale"), torch.ones(2)
    for _ in range(2000):
        scale(x)
    assert len(bench.calls()) == 1
    assert 10 < len(looks) < 70
    # A new signature is still found.
    for _ in range(500):
        scale(x, mode="other")
    assert len(bench.calls()) == 2


def test_looking_that_is_slow_is_rationed(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    for clock in ("monotonic", "thread_time"):
        monkeypatch.setattr(f"nonstrict_agent.recording.calls.time.{clock}", lambda: now[0])
    looks: list[float] = []

    def slow(*_: object) -> None:
        looks.append(now[0])
        now[0] += 0.3

    monkeypatch.setattr("nonstrict_agent.recording.reality.described", slow)
    fill = bench.watched("fill")
    for _ in range(1000):
        fill([])
        now[0] += 0.1
    assert looks[:3] == pytest.approx([0, 0.4, 0.8])
    assert 4 <= len(looks) < 15


def test_batches_of_many_lengths_leave_room_for_others(bench: Bench):
    scale = bench.watched("scale")
    for size in range(1, 20):
        scale(torch.ones(size))
    assert len(bench.calls()) == LIMIT - 1
    for _ in range(20):
        scale(torch.ones(2, dtype=torch.float64))
    assert len(bench.calls()) == LIMIT


def test_arguments_are_described_as_they_came(bench: Bench):
    values: list[int] = []
    assert bench.watched("fill")(values) is values
    (call,) = bench.calls()
    assert (call["args"], call["kwargs"]) == ([{"kind": "list", "items": []}], {})


def test_results_are_described_without_their_values(bench: Bench):
    scale = bench.watched("scale")
    scale(torch.ones(2, 3).T, mode="secret")
    assert bench.calls()[0]["result"] == {
        "kind": "tensor",
        "shape": [3, 2],
        "dtype": "float32",
        "device": "cpu",
        "strides": [1, 3],
    }
    unknown = {"kind": "unknown", "class": "builtins:int"}
    assert outcome((torch.ones(1, dtype=torch.int64), [None, 3])) == {
        "kind": "tuple",
        "items": [
            {"kind": "tensor", "shape": [1], "dtype": "int64", "device": "cpu"},
            {"kind": "list", "items": [{"kind": "none"}, unknown]},
        ],
    }
    assert outcome("a long secret") == {"kind": "unknown", "class": "builtins:str"}
    assert outcome(torch.ones(2).to_sparse()) == {"kind": "unknown", "class": "torch:Tensor"}
    assert outcome([[[[1]]]])["items"][0]["items"][0]["items"][0]["kind"] == "unknown"


def test_another_result_of_the_same_arguments_is_kept(bench: Bench):
    draw = bench.watched("draw")
    for size in (2, 3, 3):
        bench.module.SIZES.append(size)
        draw(torch.ones(1))
    assert [call["result"]["shape"] for call in bench.calls()] == [[2], [3]]


def test_calls_that_raise_are_not_kept_and_traces_show_nothing_of_ours(bench: Bench):
    scale = bench.watched("scale")
    with pytest.raises(ValueError, match="-1") as caught:
        scale(torch.ones(1), -1)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    hidden = sys.version_info >= (3, 11)
    assert names == [
        test_calls_that_raise_are_not_kept_and_traces_show_nothing_of_ours.__name__,
        *["call"] * (not hidden),
        "scale",
    ]
    assert bench.calls() == []
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        scale()


def test_values_of_tracing_are_not_kept(bench: Bench):
    scale = bench.watched("scale")
    scale(FakeTensorMode().from_tensor(torch.ones(2)))
    for kind in ("real", "fake", "symbolic"):
        make_fx(lambda x: scale(x).sum(), tracing_mode=kind)(torch.ones(2))
    torch.compile(scale, backend="aot_eager")(torch.ones(2))
    torch._dynamo.reset()
    assert bench.calls() == []
    scale(torch.ones(2))
    assert len(bench.calls()) == 1


class Operations(TorchDispatchMode):
    """Notes what is computed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_looking_leaves_no_operations_behind(bench: Bench):
    scale, indices = bench.watched("scale"), torch.arange(3)
    graph = make_fx(lambda x: scale(x, mode="real"), tracing_mode="real")(indices).graph
    assert [str(node.target) for node in graph.nodes if node.op == "call_function"] == ["aten.mul.Tensor"]
    traced: Any = torch.jit.trace(scale, (indices,))
    assert "min" not in str(traced.graph)
    with Operations() as mode:
        scale(indices)
    assert mode.seen == ["aten.mul.Tensor"]
    torch.manual_seed(3)
    random.seed(3)
    before = torch.get_rng_state(), random.getstate()
    x = torch.zeros(3, requires_grad=True)
    result = scale(x)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()
    assert type(result.grad_fn).__name__ == "MulBackward0"
    assert x._version == 0
    assert (bench.calls()[0]["args"][0]["low"], bench.calls()[0]["args"][0]["high"]) == (0, 2)


def test_what_a_call_runs_is_found(bench: Bench):
    net = bench.module.Net()
    assert target_of(net) == (bench.module.Net.forward, (net,))
    assert target_of(net._call_impl) == (bench.module.Net.forward, (net,))
    assert target_of(net.forward) == (bench.module.Net.forward, (net,))
    assert target_of(bench.module.scale) == (bench.module.scale, ())
    assert target_of(len) == (None, ())
    forward = bench.recorder.watched(net.forward)
    forward(torch.ones(1))
    assert [spec["kind"] for spec in bench.calls()[0]["args"]] == ["module", "tensor"]


def test_a_value_that_describes_itself_badly_does_no_harm(bench: Bench):
    class Bad:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    fill = bench.recorder.watched(bench.module.fill)
    watch = bench.recorder.watch(bench.module.fill)
    assert watch is not None
    wrapped = recording(lambda value: 3, watch)
    assert wrapped(Bad()) == 3
    assert fill([]) == [1]


def test_a_spool_that_is_gone_does_no_harm(bench: Bench, tmp_path: Path):
    (tmp_path / "spool").rename(tmp_path / "gone")
    assert bench.watched("fill")([]) == [1]


def test_calls_that_are_too_large_are_told(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("nonstrict_agent.recording.calls._MOST", 100)
    bench.watched("fill")([0] * 50)
    assert bench.calls() == []
    assert '"event":"large"' in "".join(path.read_text() for path in (tmp_path / "spool").iterdir())


def tensor(**more: object) -> dict[str, Any]:
    return {"kind": "tensor", "shape": [2, 3], "dtype": "int64", "device": "cpu", **more}


def test_what_tells_calls_apart():
    def of(measure: Callable[[Any], str], *specs: dict[str, Any]) -> int:
        return len({measure({"args": [spec], "kwargs": {}}) for spec in specs})

    assert of(signature, tensor(low=0, high=2), tensor(low=1, high=9), tensor()) == 1
    assert of(signature, tensor(), tensor(shape=[3, 2]), tensor(dtype="int32")) == 3
    assert of(structure, tensor(), tensor(shape=[3, 2])) == 1
    assert of(structure, tensor(), tensor(shape=[6]), tensor(dtype="int32")) == 3
    numbers = [{"kind": "literal", "value": value} for value in (1, 2, True, False, "a", "b", 1.5)]
    assert of(signature, *numbers) == 7
    assert of(structure, *numbers) == 5


def test_data_is_left_out():
    long = "x" * (LONGEST_TEXT + 1)
    spec = {"kind": "list", "items": [{"kind": "literal", "value": long}, {"kind": "bytes", "base64": long}, tensor()]}
    assert trimmed(spec) == {
        "kind": "list",
        "items": [
            {"kind": "unknown", "class": "builtins:str"},
            {"kind": "unknown", "class": "builtins:bytes"},
            tensor(),
        ],
    }


def test_a_module_is_followed_to_its_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "followed_module.py").write_text("value = __loader__.get_filename(__name__)\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen: list[object] = []
    when_imported("followed_module", lambda module: seen.append(module.value))
    assert "followed_module" not in sys.modules
    import followed_module  # pyright: ignore[reportMissingImports]

    assert seen == [followed_module.value]
    assert "exec_module" not in vars(followed_module.__loader__)
    when_imported("followed_module", lambda module: seen.append("at once"))
    assert seen[1:] == ["at once"]
    del sys.modules["followed_module"]
    import followed_module  # pyright: ignore[reportMissingImports]

    assert len(seen) == 2
