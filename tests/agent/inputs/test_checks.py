"""Which conditions an error stands under, read where it was raised, and what is tried because of them."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import torch

from nonstrict_agent.inputs.checks import failed_checks
from nonstrict_agent.inputs.search import Found, NotFound, find_inputs
from tests.agent.inputs import checking


def asked(function: Any, *arguments: Any) -> list[str]:
    """The relations that a call asked for in vain."""
    with pytest.raises(Exception) as raised:  # noqa: PT011 - whichever the function chose
        function(*arguments)
    symbols = {"Eq": "==", "NotEq": "!=", "GtE": ">=", "Gt": ">", "LtE": "<=", "Lt": "<", "In": "in", "Is": "is"}
    return [
        f"{ast.unparse(one.left)} {symbols[one.relation.__name__]} {ast.unparse(one.right)}"
        for one in failed_checks(raised.value)
    ]


@pytest.mark.parametrize(
    ("function", "arguments", "relations"),
    [
        (checking.asserts, (torch.ones(4),), ["x.ndim == 2"]),
        (checking.raises, (torch.ones(4, 5),), ["cols % 2 == 0"]),
        (checking.either, (torch.ones(4), 3), ["x.dim() == 2", "n > 4"]),
        (checking.chained, ("slow",), ["mode == 'exact'", "mode == 'fast'"]),
        (checking.guarded, (3,), ["n > 8"]),
        (checking.between, (0,), ["1 <= n"]),
        (checking.helped, (torch.ones(3),), ["x.shape[0] >= 4"]),
        (checking.by_torch, (torch.ones(3),), ["x.shape[0] > 3"]),
        (checking.by_predicate, (torch.ones(3, 4),), ["tensor.stride(-2) == 1"]),
        (checking.negated, (torch.ones(2, 3),), ["x.requires_grad is True"]),
        (checking.unrelated, (), []),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_the_conditions_of_an_error(function: Any, arguments: tuple[Any, ...], relations: list[str]) -> None:
    assert asked(function, *arguments) == relations


@pytest.mark.parametrize(
    "function",
    [
        checking.aligned, checking.typed, checking.grouped, checking.column_major, checking.alike, checking.kinds,
        checking.evaluated, checking.scaled, checking.offsets,
    ],
    ids=lambda each: each.__name__,
)  # fmt: skip
def test_arguments_pass_checks_after_few_tries(function: Any) -> None:
    result = find_inputs(function, namespace=vars(checking), seconds=20.0, tries=100)
    assert isinstance(result, Found), result


@pytest.mark.parametrize(
    ("function", "on_gpu"),
    [(checking.by_tensor, True), (checking.by_device, True), (checking.by_machine, True), (checking.never, False)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_search_tells_that_a_gpu_was_asked_for(function: Any, *, on_gpu: bool) -> None:
    result = find_inputs(function, namespace=vars(checking), seconds=20.0, tries=60)
    assert isinstance(result, NotFound), result
    assert result.on_gpu is on_gpu
