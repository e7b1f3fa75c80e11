"""Where a text of torch stands in what people paste."""

from __future__ import annotations

import pytest

from nonstrict.explain.templates import Template, matches, squeezed, words_of

FAKE = "Please convert all Tensors to FakeTensors first. Found in {...}"


def found(templates: list[str], *lines: str) -> list[str]:
    return [templates[one.number] for one in matches([Template(text) for text in templates], squeezed(lines))]


@pytest.mark.parametrize(
    "lines",
    [
        ("AssertionError: Please convert all Tensors to FakeTensors first. Found in aten.add",),
        ("Please convert all Ten", "sors to FakeTensors first.", "  Found in aten.add"),
        ("please convert all tensors to faketensors first.   found in",),
        ("before", "Please convert all Tensors to FakeTensors first. Found in x", "behind"),
    ],
    ids=["behind an exception", "wrapped", "in lower case", "between lines"],
)
def test_white_space_and_case_do_not_count(lines: tuple[str, ...]):
    assert found([FAKE], *lines) == [FAKE]


def test_a_place_matches_anything_but_not_everything():
    text = "backend={...} raised: an error of the backend"
    assert found([text], "backend='inductor' raised: an error of the backend") == [text]
    assert found([text], f"backend={'x' * 5000} raised: an error of the backend") == []


def test_parts_stand_in_their_order():
    text = "the first part {...} the second part {...} the third"
    assert found([text], "the first part A the second part B the third") == [text]
    assert found([text], "the second part B the first part A the third") == []


def test_the_most_literal_text_wins():
    long = "Found in {...}(Parameter containing: a tensor of the module"
    short = "Found in {...} a tensor of the module"
    assert found([short, long], "Found in aten.mm(Parameter containing: a tensor of the module") == [long]
    assert found([short, long], "Found in aten.mm a tensor of the module") == [short]


def test_a_short_text_is_a_line_by_itself():
    assert found(["functools.wraps"], "functools.wraps") == ["functools.wraps"]
    assert found(["functools.wraps"], "Unsupported: functools.wraps") == ["functools.wraps"]
    assert found(["functools.wraps"], "we use functools.wraps for this") == []
    assert found(["limit ({...})"], "torch hit the limit (8)") == []


def test_a_short_name_of_a_break_needs_words_of_torch():
    name = Template("Import failure", of_break=True)
    assert list(name.found(squeezed(["error: Import failure"]))) == []
    assert list(name.found(squeezed(["Unsupported: Import failure"]))) == [(12, 25)]
    assert list(name.found(squeezed(["x: Import failure", "Explanation: y"]))) == [(2, 15)]
    assert not Template("Unsupported context manager", of_break=True).contains("unsupportedcontextmanager")
    assert Template("Unsupported context manager").contains("unsupportedcontextmanager")


def test_a_name_of_a_break_with_a_place_is_all_of_its_line():
    name = Template("{...} is not traced by {...}", of_break=True)
    assert len(list(name.found(squeezed(["Explanation: it is not traced by us"])))) == 1


def test_messages_are_found_in_the_order_of_the_text():
    first, second = "this is the first message of torch", "this is the second message of torch"
    assert found([first, second], second, first, second) == [second, first, second]


def test_a_large_text_is_told_by_its_words():
    lines = [f"loss of step {number}" for number in range(20_000)]
    where = squeezed(lines)
    words = words_of(lines, len(where.text))
    assert words is not None
    assert {"loss", "step"} <= words
    template = Template("Please convert all Tensors to FakeTensors first")
    assert not template.words <= words
    assert matches([template], where, words) == []
    assert words_of(lines[:3], 30) is None
