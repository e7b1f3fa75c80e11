"""What docstrings and comments say of the shapes of arguments."""

from __future__ import annotations

from nonstrict_agent.inputs import docstrings, signature
from nonstrict_agent.inputs.search import Found, find_inputs
from tests.agent.inputs import checking


def test_shapes_are_read_from_docstrings_and_comments() -> None:
    assert docstrings.shapes(checking.described) == {
        "frames": "batch time channels height*width",
        "mask": "batch time",
    }
    assert docstrings.shapes(checking.in_fields) == {"query": "B N 64", "key": "B M 64", "index": "N"}
    assert docstrings.shapes(checking.aligned) == {}


def test_the_described_shape_is_tried_first() -> None:
    reading = signature.read(checking.in_fields, vars(checking), lambda _: [])
    assert reading is not None
    first = {each.name: each.guesses[0].spec for each in reading.parameters}
    assert first["query"]["shape"] == [2, 4, 64]
    assert first["key"]["shape"] == [2, 6, 64]
    assert (first["index"]["shape"], first["index"]["dtype"]) == ([4], "int64")


def test_one_try_is_enough_where_all_shapes_are_described() -> None:
    for function in (checking.described, checking.in_fields):
        result = find_inputs(function, namespace=vars(checking), seconds=20.0)
        assert isinstance(result, Found), result
        assert result.tries == 1
