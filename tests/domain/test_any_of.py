"""Any of several values: lists and tuples as one of which less is known, other values as their join."""

from __future__ import annotations

from nonstrict.program.domain.any_of import any_of
from nonstrict.program.domain.values import NUMBER, STRING, TENSOR, UNKNOWN, Kind, container, join


def test_lists_of_several_lengths_are_one_list():
    found = any_of([container(Kind.LIST, TENSOR, NUMBER), container(Kind.LIST, TENSOR)])
    assert found is not None
    assert found.heap is not None
    assert found.kind is Kind.LIST
    assert found.heap.items == {0: TENSOR}
    assert found.heap.unsure
    assert found.heap.element == join(TENSOR, NUMBER)


def test_lists_of_one_length_keep_their_entries():
    found = any_of([container(Kind.LIST, TENSOR, NUMBER), container(Kind.LIST, TENSOR, NUMBER)])
    assert found is not None
    assert found.heap is not None
    assert found.heap.items == {0: TENSOR, 1: NUMBER}
    assert not found.heap.unsure


def test_a_list_and_a_tuple_are_either():
    given = [container(Kind.LIST, TENSOR), container(Kind.TUPLE, TENSOR)]
    found = any_of(given)
    assert found == join(*given)


def test_lists_of_which_nothing_is_known_are_either():
    given = [container(Kind.LIST), container(Kind.LIST, TENSOR)]
    assert any_of(given) == join(*given)


def test_other_values_are_joined():
    assert any_of([NUMBER, STRING]) == join(NUMBER, STRING)
    assert any_of([UNKNOWN]) == UNKNOWN
    assert any_of([]) is None
