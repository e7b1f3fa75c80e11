"""Specifications as Python expressions."""

from __future__ import annotations

import pytest

from nonstrict.confirm.expressions import CannotWriteError, Expressions

TENSOR = {"kind": "tensor", "shape": [2, 3], "dtype": "float32"}


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (TENSOR, "torch.randn((2, 3))"),
        ({**TENSOR, "dtype": "int64", "low": 0, "high": 9}, "torch.randint(0, 10, (2, 3), dtype=torch.int64)"),
        ({**TENSOR, "requires_grad": True}, "torch.randn((2, 3)).requires_grad_()"),
        ({**TENSOR, "strides": [1, 2]}, "torch.randn((6,)).as_strided([2, 3], [1, 2])"),
        ({"kind": "tuple", "items": [{"kind": "literal", "value": 1}]}, "(1,)"),
        ({"kind": "process-group"}, "torch.distributed.group.WORLD"),
        ({"kind": "device-mesh", "names": ["rows", "columns"]}, "device_mesh('rows', 'columns')"),
        ({"kind": "literal", "value": float("inf")}, 'float("inf")'),
        ({"kind": "namedtuple", "class": "m:Pair", "fields": {"a": TENSOR}}, "Pair(a=torch.randn((2, 3)))"),
        ({"kind": "enum", "class": "other:Color", "name": "RED"}, "__import__('other', fromlist=['']).Color['RED']"),
    ],
)
def test_values(spec: dict[str, object], text: str) -> None:
    assert Expressions("m").value(spec) == text


def test_calls_share_modules() -> None:
    writer = Expressions("m")
    net = {"kind": "module", "class": "m:Net", "constructor": {"args": [], "kwargs": {}}, "training": False}
    call = {"args": [net, TENSOR], "kwargs": {}}
    assert [writer.call(call), writer.call(call)] == ["module_1, torch.randn((2, 3))"] * 2
    assert writer.shared == {"module_1": "Net().eval()"}


def test_what_cannot_be_written_is_told() -> None:
    with pytest.raises(CannotWriteError, match="Handle"):
        Expressions("m").value({"kind": "unknown", "class": "m:Handle"})
