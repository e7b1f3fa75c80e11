"""The search finds arguments for functions as users write them, the same each time, and tells what it could not do."""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any

import pytest
import torch

from nonstrict_agent.inputs import docstrings, signature, trying
from nonstrict_agent.inputs.search import SEED, Found, NotFound, find_inputs
from nonstrict_agent.inputs.specification import NONE, Spec, literal, make_call, nodes
from tests.agent.inputs import subjects

NAMESPACE = vars(subjects)
FUNCTIONS = [
    subjects.attention, subjects.uneven_linear, subjects.lookup, subjects.with_config, subjects.with_options,
    subjects.by_mode, subjects.branches, subjects.annotated, subjects.gathers, subjects.keys, subjects.apply,
    subjects.chatty, subjects.logarithm, subjects.shuffles, subjects.Block.forward, subjects.Block.gain,
    subjects.Plain.shift, subjects.Plain(2.0).shift, subjects.Block(6, 2), torch.nn.Conv2d(3, 5, 2),
    torch.nn.functional.conv2d, torch.bmm, lambda x: x.unflatten(1, (2, 5)),
]  # fmt: skip


def found(function: Any, **more: Any) -> Found:
    options: dict[str, Any] = {"seconds": 20.0, **more}
    result = find_inputs(function, namespace=NAMESPACE, **options)
    assert isinstance(result, Found), result
    return result


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: getattr(each, "__qualname__", type(each).__name__))
def test_arguments_are_found_with_which_the_function_runs(function: Any) -> None:
    result = found(function)
    call = json.loads(json.dumps(result.calls[0]))
    args, kwargs = make_call(call, SEED, NAMESPACE)
    torch.manual_seed(SEED)
    assert trying.quality(function(*args, **kwargs)) == trying.GOOD
    assert result.lacks == ""


def test_the_search_is_deterministic() -> None:
    for function in (subjects.with_options, subjects.shuffles, subjects.Block.forward):
        first, second = found(function, variants=3), found(function, variants=3)
        assert first.calls == second.calls
        assert first.tries == second.tries


def test_wrappers_are_looked_through() -> None:
    (x, y), _ = make_call(found(subjects.marked).calls[0], SEED, NAMESPACE)
    assert isinstance(x, torch.Tensor)
    assert isinstance(y, torch.Tensor)
    assert y.numel() == 3 * x.shape[1]


def test_nothing_is_compiled() -> None:
    found(subjects.calls_compiled)
    found(subjects.compiled_helper)
    assert subjects.compilations == []
    subjects.calls_compiled(torch.ones(2))
    assert len(subjects.compilations) == 1


def test_symbolic_sizes_are_the_same_wherever_they_stand() -> None:
    result = found(subjects.annotated)
    x, index, y = (each["shape"] for each in result.calls[0]["args"])
    assert x == [2, y[1], 4]
    assert (index, y[0]) == ([2], 2)
    assert result.tries == 1


def lines_of(function: Any, text: str) -> dict[str, set[int]]:
    lines, start = inspect.getsourcelines(function)
    return {inspect.getsourcefile(function) or "": {start + n for n, line in enumerate(lines) if text in line}}


@pytest.mark.parametrize("text", ["x = x * scale", "x = -x + 1", "x = x.sum(1)", "x = x / 100"])
def test_required_lines_are_reached(text: str) -> None:
    wanted = lines_of(subjects.branches, text)
    result = found(subjects.branches, required_lines=wanted)
    reached: set[int] = set()
    args, kwargs = make_call(result.calls[0], SEED, NAMESPACE)

    def trace(frame: Any, event: str, _argument: object) -> Any:
        if frame.f_code is subjects.branches.__code__:
            reached.add(frame.f_lineno)
            return trace
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        subjects.branches(*args, **kwargs)
    finally:
        sys.settrace(before)
    assert next(iter(wanted.values())) <= reached


def test_lines_that_nothing_reaches_are_told_apart_from_no_arguments() -> None:
    missed = find_inputs(subjects.chatty, namespace=NAMESPACE, required_lines={subjects.__file__: {1}}, tries=300)
    assert isinstance(missed, NotFound)
    assert missed.missed
    failed = find_inputs(subjects.never, namespace=NAMESPACE, tries=300)
    assert isinstance(failed, NotFound)
    assert not failed.missed
    assert "not today" in failed.reason


def test_a_function_that_exits_does_not_end_the_search() -> None:
    assert isinstance(find_inputs(subjects.exits, namespace=NAMESPACE, tries=50), NotFound)


def test_what_the_result_lacks_is_told() -> None:
    result = found(subjects.scalar_only, seconds=2.0)
    assert result.lacks == "no tensor in the result"
    assert result.lacks in result.how


def test_variants_differ_in_shapes_literals_and_values() -> None:
    calls = found(subjects.branches, variants=4).calls
    assert len({json.dumps(each) for each in calls}) == 4
    shapes = {json.dumps(next(node["shape"] for node in nodes(each) if node["kind"] == "tensor")) for each in calls}  # type: ignore[arg-type]
    assert len(shapes) > 1
    for n, call in enumerate(calls):
        args, kwargs = make_call(call, SEED + n, NAMESPACE)
        assert trying.quality(subjects.branches(*args, **kwargs)) == trying.GOOD


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    found(subjects.chatty)
    assert capsys.readouterr().out == ""


def test_time_and_tries_are_kept_to() -> None:
    result = find_inputs(subjects.never, namespace=NAMESPACE, tries=20, seconds=30.0)
    assert result.tries <= 20
    result = find_inputs(subjects.never, namespace=NAMESPACE, seconds=0.0)
    assert result.tries == 0


@pytest.mark.parametrize(
    ("value", "quality"),
    [
        (torch.arange(3.0), trying.GOOD),
        (torch.tensor(0.0), trying.GOOD),
        (torch.ones(3), trying.CONSTANT),
        ({"a": [torch.tensor([1.0, float("nan")])]}, trying.NOT_FINITE),
        (torch.ones(0), trying.NO_TENSOR),
        (3, trying.NO_TENSOR),
        (subjects.Config(1, 0.5, torch.arange(2.0)), trying.GOOD),
    ],
)
def test_quality_of_results(value: object, quality: int) -> None:
    assert trying.quality(value) == quality


def test_examples_of_docstrings() -> None:
    assert docstrings.examples(subjects.documented) == [
        "documented(torch.zeros(3))\n",
        "x = torch.ones(2)\ndocumented(x)\n",
    ]
    assert docstrings.examples(subjects.chatty) == []


def test_keywords_are_guessed_by_their_use_and_stay_texts() -> None:
    def named(x: torch.Tensor, **options: Any) -> torch.Tensor:
        mode, heads = options["mode"], options["num_heads"]
        assert mode in {"nearest", "area"}
        return x.flatten().repeat(heads)

    parameters = signature.read(named, NAMESPACE, lambda _: []).parameters  # type: ignore[union-attr]
    guess = next(one.spec for one in parameters[1].guesses if one.spec["items"])
    assert {key["value"]: value["kind"] for key, value in guess["items"]} == {"mode": "literal", "num_heads": "literal"}
    assert isinstance(found(named).calls[0]["kwargs"]["num_heads"]["value"], int)
    varied: Spec = {"kind": "dict", "items": [[NONE, literal(1)], [literal("mode"), literal("area")]]}
    assert trying.call_of(parameters, {"options": varied})["kwargs"] == {"mode": literal("area")}
