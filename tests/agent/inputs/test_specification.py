"""Specifications of inputs: what is described is made again, equal for equal seeds, and nothing is guessed silently."""

from __future__ import annotations

import collections
import dataclasses
import enum
import json
import math
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nonstrict_agent.inputs import specification
from nonstrict_agent.inputs.specification import UnmakeableError, describe, make, make_call

AGENT = Path(__file__).resolve().parents[3] / "analysis"
FLOATS = ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool"]
COMPLEX = ["complex64", "complex128"]


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


class Point(NamedTuple):
    x: object
    y: int = 0


@dataclasses.dataclass(frozen=True)
class Settings:
    scale: float
    weight: object
    twice: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2)


class Slotted:
    __slots__ = ("left",)

    def __init__(self, left: object) -> None:
        self.left = left


class Scaled(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(size, size, bias=False)
        self.register_buffer("bias", torch.ones(size))
        self.register_parameter("absent", None)
        self.factor = 2.5

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.factor + self.bias


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


NAMESPACE = {"__name__": __name__, **globals()}
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.binary(max_size=5),
    st.complex_numbers(allow_nan=False, allow_infinity=False), st.sampled_from(list(Color)),
    st.sampled_from([torch.float32, torch.bool, torch.device("cpu"), torch.Size([2, 3]), slice(1, None, 2), range(3)]),
    st.sampled_from([torch.contiguous_format, torch.strided, doubled, torch.relu, math.sqrt, len, Point]),
)  # fmt: skip
hashables = st.one_of(st.integers(), st.text(max_size=3), st.tuples(st.integers(), st.booleans()))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), st.sets(hashables, max_size=3),
        st.frozensets(hashables, max_size=3), st.dictionaries(hashables, inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3).map(collections.OrderedDict),
        st.builds(Point, inner, st.integers()), st.builds(Settings, st.floats(allow_nan=False), inner),
        st.builds(types.SimpleNamespace, a=inner, b=inner),
    ),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(values)
def test_values_without_tensors_come_back_equal(value: object) -> None:
    spec = json.loads(json.dumps(describe(value, 12)))
    made = make(spec, 0, NAMESPACE)
    assert made == value
    assert type(made) is type(value)


@settings(max_examples=50, deadline=None)
@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    dtype=st.sampled_from(FLOATS + INTEGERS + COMPLEX),
    transposed=st.booleans(),
    gradient=st.booleans(),
    parameter=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_tensors_keep_their_layout_dtype_and_range(
    shape: list[int], dtype: str, transposed: bool, gradient: bool, parameter: bool, seed: int
) -> None:
    value = torch.zeros(shape).to(getattr(torch, dtype))
    if transposed and len(shape) > 1:
        value = value.transpose(0, -1)
    differentiable = value.dtype.is_floating_point or value.dtype.is_complex
    if parameter:
        value = torch.nn.Parameter(value, requires_grad=gradient and differentiable)
    elif gradient and differentiable:
        value.requires_grad_()
    spec = json.loads(json.dumps(describe(value)))
    made = make(spec, seed, {})
    assert isinstance(made, torch.Tensor)
    assert (made.shape, made.dtype, made.requires_grad) == (value.shape, value.dtype, value.requires_grad)
    assert made.is_contiguous() == value.is_contiguous()
    if value.numel():
        assert made.stride() == value.stride() or value.is_contiguous()
    assert isinstance(made, torch.nn.Parameter) == parameter
    if dtype in INTEGERS:
        assert not made.to(torch.int64).any()  # the only value seen was 0
    assert json.loads(json.dumps(describe(made))).keys() >= spec.keys() - {"low", "high"}


@settings(max_examples=50, deadline=None)
@given(low=st.integers(-50, 50), span=st.integers(0, 50), seed=st.integers(0, 99))
def test_integers_stay_in_the_range_that_was_seen(low: int, span: int, seed: int) -> None:
    spec = describe(torch.tensor([low, low + span]))
    made = make({**spec, "shape": [200]}, seed, {})
    assert isinstance(made, torch.Tensor)
    assert low <= int(made.min()) <= int(made.max()) <= low + span


def test_overlapping_strides_and_views() -> None:
    value = torch.zeros(4).expand(3, 4)
    made = make(describe(value), 0, {})
    assert isinstance(made, torch.Tensor)
    assert made.stride() == (0, 1)
    assert torch.equal(made[0], made[2])


def test_non_negative_floats_stay_so_and_equal_ones_do_not_stay_equal() -> None:
    made = make(describe(torch.full((50,), 2.0)), 0, {})
    assert isinstance(made, torch.Tensor)
    assert float(made.min()) >= 1.0
    assert made.unique().numel() > 1


def test_two_tensors_of_a_call_differ_and_seeds_decide() -> None:
    spec = describe(torch.randn(3, 3))
    call: specification.CallSpec = {"args": [spec], "kwargs": {"other": spec}}
    (first,), named = make_call(call, 7, {})
    again = make_call(call, 7, {})
    assert isinstance(first, torch.Tensor)
    assert isinstance(named["other"], torch.Tensor)
    assert not torch.equal(first, named["other"])
    assert torch.equal(first, again[0][0])
    assert not torch.equal(first, make_call(call, 8, {})[0][0])


def test_another_process_makes_the_same_values() -> None:
    spec = {"kind": "module", "class": "torch.nn.modules.linear:Linear", "training": False,
            "constructor": {"args": [specification.literal(3), specification.literal(2)], "kwargs": {}}}  # fmt: skip
    call = {"args": [specification.tensor([2, 3]), spec], "kwargs": {}}
    program = (
        "import json, sys; from nonstrict_agent.inputs.specification import make_call\n"
        "(x, m), _ = make_call(json.loads(sys.argv[1]), 5, {})\n"
        "print(json.dumps([x.tolist(), m.weight.tolist()]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, json.dumps(call)], capture_output=True, text=True, check=True, cwd=AGENT
    )
    (x, module), _ = make_call(call, 5, {})  # type: ignore[arg-type]
    assert json.loads(run.stdout) == [x.tolist(), module.weight.tolist()]  # type: ignore[attr-defined]


def test_modules_are_rebuilt_without_their_constructor() -> None:
    value = Scaled(3).eval()
    spec = json.loads(json.dumps(describe(value)))
    made = make(spec, 0, NAMESPACE)
    assert isinstance(made, Scaled)
    assert not made.training
    assert not made.linear.training
    assert made.absent is None
    assert [name for name, _ in made.named_parameters()] == ["linear.weight"]
    assert list(made.state_dict()) == list(value.state_dict())
    assert made(torch.ones(2, 3)).shape == (2, 3)


def test_making_a_module_leaves_the_random_state_alone() -> None:
    spec = {"kind": "module", "class": "torch.nn.modules.linear:Linear", "training": True,
            "constructor": {"args": [specification.literal(3), specification.literal(2)], "kwargs": {}}}  # fmt: skip
    before = torch.random.get_rng_state()
    make(spec, 3, {})
    assert torch.equal(before, torch.random.get_rng_state())


def test_objects_with_slots() -> None:
    made = make(describe(Slotted(torch.ones(2))), 0, NAMESPACE)
    assert isinstance(made, Slotted)
    assert isinstance(made.left, torch.Tensor)


def test_numpy_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    made = make(describe(numpy.arange(6, dtype="int32").reshape(2, 3)), 0, {})
    assert isinstance(made, numpy.ndarray)
    assert (made.shape, str(made.dtype)) == ((2, 3), "int32")
    assert int(made.max()) <= 5
    assert isinstance(make(describe(numpy.float64(2.0)), 0, {}), numpy.float64)


def test_expressions_see_the_namespace() -> None:
    assert make({"kind": "expression", "source": "SIZE * 2"}, 0, {"SIZE": 3}) == 6
    assert math.isnan(make(describe(float("nan")), 0, {}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ({"kind": "unknown", "class": "threading:Lock"}, "threading:Lock"),
        ({"kind": "enum", "class": "nowhere.at.all:Color", "name": "RED"}, "nowhere.at.all"),
        ({"kind": "enum", "class": f"{__name__}:Color", "name": "GREEN"}, "GREEN"),
        ({"kind": "function", "name": "math:no_such"}, "math:no_such"),
        ({"kind": "tensor", "shape": [2], "dtype": "float7"}, "float7"),
        ({"kind": "expression", "source": "1 / 0"}, "ZeroDivisionError"),
        ({"kind": "no such kind"}, "no such kind"),
    ],
)
def test_what_cannot_be_made_is_named(spec: specification.Spec, word: str) -> None:
    with pytest.raises(UnmakeableError, match=word):
        make(spec, 0, NAMESPACE)


@pytest.mark.parametrize("value", [object(), iter([]), lambda: 1, torch.ones(2).to_sparse(), list(range(1000))])
def test_what_cannot_be_described_is_unknown(value: object) -> None:
    assert describe(value)["kind"] == "unknown"


def test_a_missing_device_becomes_the_cpu_and_is_told() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    spec = {**specification.tensor([2]), "device": "cuda:0"}
    made = make(spec, 0, {})
    assert isinstance(made, torch.Tensor)
    assert made.device.type == "cpu"
    assert specification.notes({"args": [spec], "kwargs": {}}) == ["made on cpu instead of cuda:0"]
    assert specification.notes({"args": [specification.tensor([2])], "kwargs": {}}) == []


def test_process_groups_and_meshes_are_described_as_such() -> None:
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=1, world_size=4, store=FakeStore())
    try:
        told = [describe(one) for one in (dist.group.WORLD, init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b")))]
        assert told == [{"kind": "process-group"}, {"kind": "device-mesh", "names": ["a", "b"]}]
        assert describe(init_device_mesh("cpu", (4,))) == {"kind": "device-mesh", "names": []}
        assert make(told[0], 0, {}) is dist.group.WORLD
    finally:
        dist.destroy_process_group()
