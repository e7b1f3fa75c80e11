"""Fakes of operators whose text does not tell the result: told by recorded calls, or by annotations of shapes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.run import RunOptions
from nonstrict.check.run import check as checked
from nonstrict.confirm.recorded import function_hashes
from nonstrict.findings import Applicability
from nonstrict.settings.model import Settings
from tests.fixes.programs import check, unmended
from tests.fixes.projects import mended

if TYPE_CHECKING:
    from pathlib import Path

OPERATOR = """\
import native
import torch


@torch.library.custom_op("lib::mix", mutates_args=())
def mix({parameters}) -> {returns}:
    return native.mix({names})
{fake}

@torch.compile(fullgraph=True)
def step(x, y):
    return mix({names})
"""


def operator(
    parameters: str = "x: torch.Tensor, y: torch.Tensor", returns: str = "torch.Tensor", fake: str = ""
) -> str:
    names = ", ".join(part.partition(":")[0].strip() for part in parameters.split(","))
    added = f"\n\n@mix.register_fake\ndef _({names}):\n{fake}\n" if fake else ""
    return OPERATOR.format(parameters=parameters, names=names, returns=returns, fake=added)


def tensor(*shape: int, dtype: str = "float32", **more: object) -> dict[str, Any]:
    return {"kind": "tensor", "shape": list(shape), "dtype": dtype, "device": "cpu", **more}


def several(kind: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "items": list(items)}


def literal(value: object) -> dict[str, Any]:
    return {"kind": "literal", "value": value}


def call(result: dict[str, Any] | None, *args: dict[str, Any], **kwargs: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"args": list(args), "kwargs": kwargs}
    return found if result is None else {**found, "result": result}


def record(folder: Path, text: str, *calls: dict[str, Any], function: str = "mix") -> None:
    """Leave what `nonstrict record` leaves of calls of a function of `model.py`."""
    target = folder / ".nonstrict" / "inputs" / "model.py.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    entry = {"source": function_hashes(text)[function], "calls": list(calls)}
    target.write_text(json.dumps({"format": 1, "file": "model.py", "functions": {function: entry}}))


TOLD = [
    # an argument's shape, its dtype or another one
    (
        "    return torch.empty_like(x)",
        [call(tensor(2, 3), tensor(2, 3), tensor(3)), call(tensor(4, 5), tensor(4, 5), tensor(5))],
    ),
    (
        "    return torch.empty_like(y, dtype=torch.int64)",
        [
            call(tensor(2, 3, dtype="int64"), tensor(7), tensor(2, 3)),
            call(tensor(4, 5, dtype="int64"), tensor(8), tensor(4, 5)),
        ],
    ),
    # sizes of several arguments
    (
        "    return x.new_empty((x.shape[0], y.shape[1]))",
        [call(tensor(2, 5), tensor(2, 3), tensor(3, 5)), call(tensor(4, 7), tensor(4, 6), tensor(6, 7))],
    ),
    # the transposed one
    (
        "    return x.new_empty((x.shape[1], x.shape[0]))",
        [call(tensor(3, 2), tensor(2, 3), tensor(1)), call(tensor(5, 4), tensor(4, 5), tensor(9))],
    ),
    # a constant, where everything that was given varied
    (
        "    return x.new_empty((x.shape[0], 10))",
        [call(tensor(2, 10), tensor(2, 3), tensor(3)), call(tensor(4, 10), tensor(4, 5), tensor(6))],
    ),
    ("    return x.new_empty(())", [call(tensor(), tensor(2, 3), tensor(3)), call(tensor(), tensor(4, 5), tensor(6))]),
    # products and sums
    (
        "    return x.new_empty((x.shape[0] * x.shape[1],))",
        [call(tensor(6), tensor(2, 3), tensor(3)), call(tensor(20), tensor(4, 5), tensor(6))],
    ),
    (
        "    return x.new_empty((x.shape[0] + y.shape[0],))",
        [call(tensor(5), tensor(2), tensor(3)), call(tensor(11), tensor(4), tensor(7))],
    ),
]


@pytest.mark.parametrize(("fake", "calls"), TOLD)
def test_sizes_that_varied_are_told(tmp_path: Path, fake: str, calls: list[dict[str, Any]]):
    text = operator()
    record(tmp_path, text, *calls)
    titles = check(tmp_path, "NST606", text, operator(fake=fake))
    assert titles == ["Register a fake for `mix`, as recorded calls tell"]


def test_tuples_and_numbers_that_are_passed(tmp_path: Path):
    parameters, returns = "x: torch.Tensor, width: int", "tuple[torch.Tensor, torch.Tensor]"
    text = operator(parameters, returns)
    record(
        tmp_path,
        text,
        call(several("tuple", tensor(2, 3), tensor(2)), tensor(2, 9), literal(3)),
        call(several("tuple", tensor(4, 6), tensor(4)), tensor(4, 8), width=literal(6)),
    )
    fake = "    return x.new_empty((x.shape[0], width)), x.new_empty((x.shape[0],))"
    check(tmp_path, "NST606", text, operator(parameters, returns, fake))


TO_DO = "  # TODO: the shape and dtype of the result"
DOUBTFUL = [
    # one size only
    (
        "    # e.g. x float32 (2, 3), y float32 (3,) -> float32 (2, 3)\n    return torch.empty_like(x)",
        [call(tensor(2, 3), tensor(2, 3), tensor(3))],
    ),
    # squares: which side is it?
    (
        (
            "    # e.g. x float32 (2, 2), y float32 (1,) -> float32 (2, 2)\n"
            "    # e.g. x float32 (3, 3), y float32 (1,) -> float32 (3, 3)\n    return torch.empty_like(x)"
        ),
        [call(tensor(2, 2), tensor(2, 2), tensor(1)), call(tensor(3, 3), tensor(3, 3), tensor(1))],
    ),
    # a size that never varied: is it that of `x` or of `y`?
    (
        (
            "    # e.g. x float32 (2, 9), y float32 (9, 9) -> float32 (2, 9)\n"
            "    # e.g. x float32 (4, 9), y float32 (9, 9) -> float32 (4, 9)\n    return torch.empty_like(x)"
        ),
        [call(tensor(2, 9), tensor(2, 9), tensor(9, 9)), call(tensor(4, 9), tensor(4, 9), tensor(9, 9))],
    ),
    # the same arguments, another result: its data decide
    (
        (
            "    # e.g. x float32 (4,), y float32 (1,) -> float32 (2,)\n"
            "    # e.g. x float32 (4,), y float32 (1,) -> float32 (3,)\n    return torch.empty_like(x)"
        ),
        [call(tensor(2), tensor(4), tensor(1)), call(tensor(3), tensor(4), tensor(1))],
    ),
    # another layout
    (
        (
            "    # e.g. x float32 (2, 3), y float32 (1,) -> float32 (2, 3)\n"
            "    # e.g. x float32 (4, 5), y float32 (1,) -> float32 (4, 5)\n    return x.new_empty(x.shape)"
        ),
        [
            call(tensor(2, 3, strides=[1, 2]), tensor(2, 3), tensor(1)),
            call(tensor(4, 5, strides=[1, 4]), tensor(4, 5), tensor(1)),
        ],
    ),
    # no results in the record
    (
        "    # e.g. x float32 (2, 3), y float32 (3,)\n    return torch.empty_like(x)",
        [call(None, tensor(2, 3), tensor(3))],
    ),
]


@pytest.mark.parametrize(("fake", "calls"), DOUBTFUL)
def test_what_calls_do_not_tell_is_for_a_person(tmp_path: Path, fake: str, calls: list[dict[str, Any]]):
    text = operator()
    record(tmp_path, text, *calls)
    unmended(tmp_path, "NST606", text, Applicability.UNSAFE)
    titles = check(tmp_path, "NST606", text, operator(fake=fake + TO_DO), Applicability.DISPLAY)
    assert titles == ["Register a fake for `mix` to fill in"]


@pytest.mark.parametrize(
    "entry",
    [
        "[]",
        '{"format": 1, "functions": {"mix": {"source": "", "calls": 3}}}',
        '{"format": 1, "functions": {"mix": {"source": "SOURCE", "calls": [{"args": [1, {}], "kwargs": {"x": 2}}]}}}',
        (
            '{"format": 1, "functions": {"mix": {"source": "SOURCE", "calls": [{"args": [{"kind": "tensor", "shape": '
            '["0); evil(", 1], "dtype": "x"}], "kwargs": {"z": 1}, "result": {"kind": "tuple", "items": 7}}]}}}'
        ),
    ],
)
def test_records_that_make_no_sense_are_none(tmp_path: Path, entry: str):
    text = operator()
    target = tmp_path / ".nonstrict" / "inputs" / "model.py.json"
    target.parent.mkdir(parents=True)
    target.write_text(entry.replace("SOURCE", function_hashes(text)["mix"]))
    fake = "    return torch.empty_like(x)" + TO_DO
    check(tmp_path, "NST606", text, operator(fake=fake), Applicability.DISPLAY)


def test_calls_of_the_text_before_an_edit_do_not_count(tmp_path: Path):
    text = operator()
    record(tmp_path, text.replace("native.mix", "native.other"), *TOLD[0][1])
    unmended(tmp_path, "NST606", text, Applicability.UNSAFE)


STATED = """\
import native
import torch


# nonstrict: inputs(torch.randn(2, 3), torch.zeros((3, 4), dtype=torch.int64), gain=2.5, model=Model())
@torch._dynamo.nonstrict_trace
def mix(x, y, gain{more}):
    return native.mix(x.data_ptr(), y, gain)


@torch.compile(fullgraph=True)
def step(x, y, gain):
    return mix(x, y, gain)
"""


def test_a_directive_tells_what_arguments_are(tmp_path: Path):
    result = mended(tmp_path, {"model.py": STATED.format(more=", model=None")}, {"NST401"}, Applicability.DISPLAY)
    assert result.titles == []  # an operator cannot take a model
    text = STATED.format(more="").replace(", model=Model()", "")
    result = mended(tmp_path, {"model.py": text}, {"NST401"}, Applicability.DISPLAY)
    assert result.titles == ["Turn `mix` into a custom operator with a fake to fill in"]
    assert "def mix(x: torch.Tensor, y: torch.Tensor, gain: float) -> torch.Tensor:" in result.files["model.py"]
    assert "    # e.g. x float32 (2, 3), y int64 (3, 4)\n" in result.files["model.py"]


MARKED = """\
import native
import torch


@torch._dynamo.nonstrict_trace
def mix(x, y, gain):
    return native.mix(x.data_ptr(), y, gain)


@torch.compile(fullgraph=True)
def step(x, y, gain):
    return mix(x, y, gain)
"""


def test_a_function_becomes_an_operator_of_the_types_that_were_recorded(tmp_path: Path):
    sizes = ((2, 3, 5), (4, 6, 7))
    calls = [call(tensor(a, c), tensor(a, b), tensor(b, c), literal(0.5)) for a, b, c in sizes]
    assert mended(tmp_path, {"model.py": MARKED}, {"NST401"}).titles == []
    record(tmp_path, MARKED, *calls)
    result = mended(tmp_path, {"model.py": MARKED}, {"NST401"})
    assert result.titles == ["Turn `mix` into a custom operator with a fake, as recorded calls tell"]
    assert "def mix(x: torch.Tensor, y: torch.Tensor, gain: float) -> torch.Tensor:" in result.files["model.py"]
    assert "    return x.new_empty((x.shape[0], y.shape[1]))\n" in result.files["model.py"]


def test_a_cached_answer_does_not_outlive_a_record(tmp_path: Path):
    text = operator()
    (tmp_path / "model.py").write_text(text)

    def fixes() -> list[str]:
        settings = Settings(str(tmp_path), cache_dir=str(tmp_path / "cache"))
        found = checked([str(tmp_path / "model.py")], settings, RunOptions(jobs=1, cache=True)).diagnostics
        return [fix.title for diagnostic in found for fix in diagnostic.fixes]

    assert fixes() == fixes() == ["Register a fake for `mix` to fill in"]
    record(tmp_path, text, *TOLD[0][1])
    assert fixes() == fixes() == ["Register a fake for `mix`, as recorded calls tell"]


# -- annotations ------------------------------------------------------------------------------------------------------

TYPED = """\
import native
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch._dynamo.decorators import leaf_function


@leaf_function
def mix({parameters}) -> {returns}:
    return native.mix({names})
{fake}

@torch.compile(fullgraph=True, backend="aot_eager")
def step(x, y):
    return mix({names})
"""


@pytest.mark.parametrize(
    ("parameters", "returns", "fake"),
    [
        (
            'x: Float[Tensor, "b n"], y: Float[Tensor, "n k"]',
            'Float[Tensor, "b k"]',
            "x.new_empty((x.shape[0], y.shape[1]))",
        ),
        ('x: Float[Tensor, "*b n"], y: Float[Tensor, "k"]', 'Float[Tensor, "*b n"]', "torch.empty_like(x)"),
        (
            'x: Float[Tensor, "... n"], y: Float[Tensor, "k"]',
            'Float[Tensor, "n 2*k 3"]',
            "x.new_empty((x.shape[-1], 2 * y.shape[0], 3))",
        ),
        (
            'x: Float[Tensor, "b n"], y: Float[Tensor, "n"]',
            'tuple[Float[Tensor, "b"], Int64[Tensor, "b n"]]',
            "x.new_empty((x.shape[0],)), torch.empty_like(x, dtype=torch.int64)",
        ),
    ],
)
def test_annotations_of_shapes_are_believed(tmp_path: Path, parameters: str, returns: str, fake: str):
    text = TYPED.format(parameters=parameters, returns=returns, names="x, y", fake="")
    added = f"\n\n@mix.register_fake\ndef _(x, y):\n    return {fake}\n"
    after = TYPED.format(parameters=parameters, returns=returns, names="x, y", fake=added)
    check(tmp_path, "NST606", text, after)


@pytest.mark.parametrize("returns", ['Float[Tensor, "b other"]', 'Int[Tensor, "b"]', 'Float[Tensor, "_ n"]', "Tensor"])
def test_annotations_that_leave_something_open(tmp_path: Path, returns: str):
    parameters = 'x: Float[Tensor, "b n"], y: Float[Tensor, "n"]'
    text = TYPED.format(parameters=parameters, returns=returns, names="x, y", fake="")
    unmended(tmp_path, "NST606", text, Applicability.UNSAFE)
