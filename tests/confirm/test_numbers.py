"""Whether two recorded values are the same number, held against the documentation of `torch.testing.assert_close`."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from nonstrict.confirm.numbers import difference, leaf_difference, shown, varies
from tests.confirm.making import number, tensor, value

#: Relative and absolute tolerance, from the table in the documentation of `torch.testing.assert_close`.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
NAN, INF = math.nan, math.inf
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(dtype=st.sampled_from([name for name in TOLERANCES if "complex" not in name]), a=finite, b=finite)
@example(dtype="float32", a=1.0, b=1.0 + 1e-5)
@example(dtype="float32", a=1e6, b=1e6 + 2)
@example(dtype="float16", a=100.0, b=100.05)
@example(dtype="float64", a=0.0, b=1e-7)
def test_numbers_differ_where_assert_close_says_so(dtype: str, a: float, b: float):
    relative, absolute = TOLERANCES[dtype]
    # The definition in that documentation: |actual - expected| <= atol + rtol * |expected|; eager is expected.
    close = abs(b - a) <= absolute + relative * abs(a)
    assume(math.isfinite(abs(b - a)))
    assert (leaf_difference(tensor(a, dtype=dtype), tensor(b, dtype=dtype)) is None) == close


@given(st.lists(st.floats(width=64), max_size=5), st.sampled_from(sorted(TOLERANCES)))
def test_a_tensor_agrees_with_itself(numbers: list[float], dtype: str):
    again = {**tensor(*numbers, dtype=dtype), "hash": "another"}
    assert leaf_difference(tensor(*numbers, dtype=dtype), again) is None


@given(st.lists(finite, min_size=1, max_size=5), st.data())
def test_one_number_far_off_is_found_wherever_it_is(numbers: list[float], data: st.DataObject):
    place = data.draw(st.integers(0, len(numbers) - 1))
    other = [*numbers]
    other[place] = numbers[place] / 2 if abs(numbers[place]) > 1 else numbers[place] + 1
    assert leaf_difference(tensor(*numbers), tensor(*other)) is not None


@pytest.mark.parametrize(
    ("a", "b"), [(NAN, 1.0), (1.0, NAN), (INF, -INF), (INF, 1e308), (1e308, INF), (NAN, INF), (0.0, INF)]
)
def test_not_finite_against_another_number(a: float, b: float):
    gap = leaf_difference(tensor(a), tensor(b))
    assert gap is not None
    assert (gap.largest, gap.relative) == (INF, INF)


@pytest.mark.parametrize(("a", "b"), [(NAN, NAN), (INF, INF), (-INF, -INF), (0.0, -0.0)])
def test_not_finite_against_its_like(a: float, b: float):
    assert leaf_difference({**tensor(a), "hash": "one"}, {**tensor(b), "hash": "two"}) is None


def test_integers_and_truth_values_are_exact():
    assert leaf_difference(tensor(10**15, dtype="int64"), tensor(10**15 + 1, dtype="int64")) is not None
    assert leaf_difference(tensor(0, dtype="bool"), tensor(1, dtype="bool")) is not None
    assert leaf_difference(tensor(2**62, dtype="int64"), tensor(2**62, dtype="int64")) is None


def test_empty_tensors():
    empty = tensor(shape=[0, 3])
    assert leaf_difference(empty, tensor(shape=[0, 3])) is None
    assert leaf_difference(empty, tensor(shape=[0, 4])) is not None


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (tensor(1.0, dtype="float64"), "float64[1]"),
        (tensor(1.0, shape=[1, 1]), "float32[1, 1]"),
        (tensor(1.0, grad=True), "float32[1] that requires a gradient"),
    ],
)
def test_another_kind_of_tensor_differs(other: dict[str, Any], text: str):
    gap = leaf_difference(tensor(1.0), other)
    assert gap is not None
    assert (gap.eager, gap.compiled) == ("float32[1]", text)


def test_a_number_is_no_tensor():
    gap = leaf_difference(tensor(1.0), number(1.0))
    assert gap is not None
    assert (gap.eager, gap.compiled) == ("1", "1.0")


def test_tensors_too_odd_to_be_read_are_not_compared():
    opaque = {key: part for key, part in tensor(1.0).items() if key not in {"data", "hash"}}
    assert leaf_difference(opaque, opaque) is None
    assert shown(opaque) == "float32[1]"


def test_the_class_of_a_tensor_counts():
    masked = {**tensor(1.0), "class": "Masked"}
    gap = leaf_difference(masked, tensor(1.0))
    assert gap is not None
    assert (gap.eager, gap.compiled) == ("a Masked", "a Tensor")
    assert leaf_difference({**masked, "class": "Parameter"}, tensor(1.0)) is None


def test_how_large_a_difference_is():
    far = leaf_difference(tensor(0.5, 40.0), tensor(0.7, 40.0))
    assert far is not None
    assert far.relative == pytest.approx(0.2 / 40)
    gap = leaf_difference(tensor(1.0, 8.0, 3.0), tensor(1.0, 10.0, 3.1))
    assert gap is not None
    assert (gap.largest, gap.relative) == (2.0, 0.2)


def test_what_is_shown_of_a_difference():
    few = leaf_difference(tensor(1.0, 2.0), tensor(1.0, 3.0))
    many = leaf_difference(tensor(*range(9)), tensor(*range(8), 80))
    assert few is not None
    assert many is not None
    assert (few.eager, few.compiled) == ("[1, 2]", "[1, 3]")
    assert (many.eager, many.compiled) == ("8", "80")


def test_python_floats_count_to_the_precision_of_float32():
    assert leaf_difference(number(0.1), number(0.10000000149011612)) is None
    assert leaf_difference(number(0.1), number(0.2)) is not None
    assert leaf_difference(number(NAN), number(NAN)) is None
    assert leaf_difference(number(NAN), number(1.0)) is not None


def test_other_values_of_python_are_exact():
    assert leaf_difference(number(10**9), number(10**9 + 1)) is not None
    assert leaf_difference(number(True), number(1)) is not None
    assert leaf_difference(number("a"), number("b")) is not None
    assert leaf_difference(number(None), number(0)) is not None


def test_structures():
    pair = value(number(1), number(2), structure="(*, *)")
    assert difference(pair, pair) is None
    assert difference(pair, value(number(1), structure="*")) is not None
    assert difference(pair, value(number(1), number(2), structure="[*, *]")) is not None
    gap = difference(pair, value(number(1), number(3), structure="(*, *)"))
    assert gap is not None
    assert (gap.eager, gap.compiled) == ("2", "3")


def test_varies():
    one, other = value(tensor(1.0)), value(tensor(2.0))
    assert not varies([one, one])
    assert varies([one, one, other])


def test_shown():
    assert shown(tensor(2.5)) == "2.5"
    assert shown(tensor(1, 2, 3, 4, 5, dtype="int64")) == "[1, 2, 3, 4, ...]"
    assert shown(number("text")) == "'text'"
