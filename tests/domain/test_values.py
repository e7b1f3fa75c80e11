"""Abstract values: what two of them join to, what containers of them hold, and where they live."""

from __future__ import annotations

import ast

import pytest

from nonstrict.knowledge.operators import BASE_MODULE
from nonstrict.program.domain.access_paths import FRESH, NOWHERE, VIEW, AccessPath, Root
from nonstrict.program.domain.definitions import Class
from nonstrict.program.domain.modules import Module
from nonstrict.program.domain.references import Alternatives, ExternalMethod
from nonstrict.program.domain.values import (
    BOOL,
    NO_CONSTANT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    container,
    holding,
    join,
    placed,
    relocated,
)
from nonstrict.text.source import Source, SourceKind

X = AccessPath(Root.ARGUMENT, "", "x")
Y = AccessPath(Root.ARGUMENT, "", "y")
W = AccessPath(Root.GLOBAL, "a.py", "W")
V = AccessPath(Root.GLOBAL, "a.py", "V")
ONE, TWO = NUMBER._replace(const=1), NUMBER._replace(const=2)
COUNTED = NUMBER._replace(flags=Flag.WHOLE)


def class_named(name: str) -> Class:
    """A class of the program."""
    text = f"class {name}: ..."
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.ClassDef)
    return Class(
        node, Module("a.py", "a", is_package=False, source=Source("a.py", SourceKind.PYTHON, text, text)), 0, name
    )


def made(cls: Class, **attributes: Value) -> Value:
    """A new object of a class."""
    heap = AbstractObject()
    heap.attributes = attributes
    return Value(Kind.OBJECT, FRESH, cls, heap=heap)


def layer(name: str) -> Value:
    """A new module of torch."""
    return Value(Kind.MODULE, FRESH, f"torch.nn.{name}", heap=AbstractObject())


def joined(*values: Value) -> Value:
    """The join of some values, one after the other."""
    found: Value | None = None
    for value in values:
        found = join(found, value)
    assert found is not None
    return found


def test_what_is_joined_with_nothing_yet_is_itself():
    assert join(None, TENSOR) is TENSOR


def test_what_is_joined_with_itself_is_itself():
    assert join(ONE, NUMBER._replace(const=1)) == ONE


def test_two_constants_are_a_value_of_the_kind():
    assert join(ONE, NUMBER._replace(const=0.5)) == NUMBER


def test_two_whole_numbers_are_a_whole_number():
    assert join(ONE, TWO) == COUNTED
    assert join(ONE, COUNTED) == COUNTED
    assert join(COUNTED, NUMBER) == NUMBER


@pytest.mark.parametrize(
    ("value", "whole"),
    [(ONE, True), (COUNTED, True), (NUMBER, False), (NUMBER._replace(const=1.0), False), (BOOL, False)],
)
def test_whole_numbers(value: Value, whole: bool):
    assert value.is_whole is whole


def test_two_kinds_are_a_union_that_lives_nowhere():
    found = join(ONE, STRING)
    assert (found.kind, found.place) == (Kind.UNION, NOWHERE)
    assert found.alternatives() == (ONE, STRING)


def test_a_union_has_no_unions_in_it_and_nothing_twice():
    left, right = joined(ONE, STRING), joined(STRING, NONE)
    assert join(left, right).alternatives() == (ONE, STRING, NONE)


def test_too_many_alternatives_are_unknown():
    values = [NUMBER, STRING, BOOL, NONE, TENSOR, Value(Kind.SIZE)]
    assert joined(*values[:5]).kind is Kind.UNION
    assert joined(*values) == UNKNOWN


def test_two_arguments_of_a_kind_live_where_the_first_does():
    assert join(TENSOR.at(X), TENSOR.at(Y)).place == X


def test_what_is_captured_keeps_its_place():
    assert join(TENSOR.at(W), TENSOR.at(V)).alternatives() == (TENSOR.at(W), TENSOR.at(V))
    assert join(TENSOR.at(X), TENSOR.at(W)).kind is Kind.UNION


@pytest.mark.parametrize("order", [1, -1])
def test_an_argument_tensor_or_one_made_here_may_be_the_argument(order: int):
    found = join(*[TENSOR.at(X), TENSOR][::order])
    assert found.place == X
    assert found.flags & Flag.MAYBE


def test_a_number_that_may_be_the_argument_needs_no_flag():
    assert join(NUMBER.at(X), NUMBER) == NUMBER.at(X)


def test_flags_hold_for_both_but_those_that_hold_for_either():
    left, right = (
        TENSOR._replace(flags=Flag.BOOLEAN | Flag.LITERAL | Flag.ATTACHED),
        TENSOR._replace(flags=Flag.BOOLEAN),
    )
    assert join(left, right).flags == Flag.BOOLEAN | Flag.ATTACHED


def test_what_is_pending_of_either_is_pending():
    left, right = NUMBER.with_taint(frozenset({"a"})), NUMBER.with_taint(frozenset({"b"}))
    assert join(left, right).taint == {"a", "b"}
    assert join(left, STRING).taint == {"a"}
    assert joined(left, STRING, BOOL, NONE, TENSOR, Value(Kind.SIZE)) == UNKNOWN.with_taint(frozenset({"a"}))


def test_containers_are_told_apart_by_what_they_hold_and_not_by_how_it_looks():
    one, other = container(Kind.LIST, TENSOR), container(Kind.LIST, TENSOR)
    assert join(one, other).alternatives() == (one, other)
    assert join(one, one._replace(flags=Flag.CLASS_ATTRIBUTE)) == one


def test_references_are_compared_by_what_they_say():
    method = Value(Kind.EXTERNAL_METHOD, FRESH, ExternalMethod(TENSOR, "sum"))
    assert join(method, Value(Kind.EXTERNAL_METHOD, FRESH, ExternalMethod(TENSOR, "sum"))) == method
    assert join(method, Value(Kind.EXTERNAL_METHOD, FRESH, ExternalMethod(TENSOR, "mean"))).kind is Kind.UNION


def test_modules_of_torch_are_alike_until_something_is_put_into_them():
    plain, hooked = layer("ReLU"), layer("ReLU")
    assert join(plain, layer("ReLU")) == plain
    assert hooked.heap is not None
    hooked.heap.hooks.append(UNKNOWN)
    assert join(plain, hooked).kind is Kind.UNION
    assert join(plain, layer("Tanh")).kind is Kind.UNION


def test_many_modules_of_torch_are_one_of_which_nothing_is_known():
    names = ("ReLU", "Tanh", "GELU", "SiLU", "ELU", "Sigmoid")
    assert joined(*map(layer, names)) == Value(Kind.MODULE, FRESH, BASE_MODULE)


def test_many_modules_leave_those_of_the_program():
    own = made(class_named("Block"))._replace(kind=Kind.MODULE)
    found = joined(own, *map(layer, ("ReLU", "Tanh", "GELU", "SiLU", "ELU")))
    # What is left is no object of a class of the program alone: it stays as it is.
    assert found.alternatives() == (own, Value(Kind.MODULE, FRESH, BASE_MODULE))


def test_many_objects_of_a_class_are_one_that_holds_what_any_of_them_does():
    cls = class_named("Config")
    found = joined(*(made(cls, scale=TENSOR, size=STRING._replace(const=str(number))) for number in range(6)))
    assert (found.kind, found.of_class) == (Kind.OBJECT, cls)
    assert found.heap is not None
    assert found.heap.attributes == {"scale": TENSOR, "size": STRING}


def test_what_only_some_of_many_objects_hold_may_not_be_there():
    cls = class_named("Config")
    found = joined(made(cls, scale=TENSOR), *(made(cls) for _ in range(5)))
    assert found.heap is not None
    assert found.heap.attributes["scale"] == UNKNOWN


def test_many_objects_of_two_classes_are_one_of_each():
    one, other = class_named("One"), class_named("Other")
    found = joined(*(made(cls) for cls in (one, other, one, other, one, other)))
    assert [value.of_class for value in found.alternatives()] == [one, other]


def test_a_container_holds_what_any_element_is():
    found = container(Kind.TUPLE, ONE, TENSOR)
    assert found.heap is not None
    assert found.heap.items == {0: ONE, 1: TENSOR}
    assert found.heap.element == join(ONE, TENSOR)
    assert found.heap.load(0) == ONE
    assert found.heap.load(-1) == TENSOR
    assert found.heap.load(NO_CONSTANT) == join(ONE, TENSOR)


def test_a_set_has_no_keys():
    found = container(Kind.SET, ONE)
    assert found.heap is not None
    assert (found.heap.items, found.heap.loose) == ({}, ONE)
    assert found.heap.load(0) == ONE


def test_of_what_is_only_held_any_key_gives_it():
    found = holding(Kind.LIST, TENSOR)
    assert found.heap is not None
    assert (found.heap.load(3), found.heap.members()) == (TENSOR, [TENSOR])


def test_a_heap_loads_what_was_stored():
    heap = AbstractObject()
    assert (heap.load("a"), heap.members()) == (None, [])
    heap.store("a", ONE)
    assert (heap.load("a"), heap.members()) == (ONE, [ONE])
    assert heap.load("b") is None  # another name than those that are known


def test_a_key_that_is_not_known_may_be_any():
    heap = AbstractObject()
    heap.store("a", ONE)
    heap.store(NO_CONSTANT, STRING)
    assert heap.load("a") == join(ONE, STRING)
    assert heap.load("b") == STRING


def test_what_is_stored_twice_may_be_either_and_is_not_sure():
    heap = AbstractObject()
    heap.store("a", ONE)
    heap.store("a", STRING)
    assert heap.load("a") == join(ONE, STRING)
    assert heap.members() == [joined(ONE, STRING, UNKNOWN)]


def test_what_is_taken_away_may_be_there_still():
    heap = AbstractObject()
    heap.store("a", ONE)
    heap.forget("a")
    heap.forget("b")
    assert heap.load("a") == join(ONE, UNKNOWN)


@pytest.mark.parametrize(
    ("step", "found"), [(".scale", TENSOR), (".other", None), ("['a']", ONE), ("[]", join(ONE, NONE))]
)
def test_a_step_leads_to_an_attribute_or_to_an_entry(step: str, found: Value | None):
    heap = AbstractObject()
    heap.attributes["scale"] = TENSOR
    heap.store("a", ONE)
    heap.store("b", NONE)
    assert heap.step(step) == found


@pytest.mark.parametrize(
    ("place", "step", "text"),
    [
        (X, ".scale", "x.scale"),
        (W, "[]", "W[...]"),
        (X.step(VIEW), VIEW, "x"),
        (AccessPath(Root.ARGUMENT, "", "x", (".a",) * 5), ".b", "x.a.a.a.a.a"),
        (FRESH, ".scale", ""),
        (NOWHERE, ".scale", ""),
    ],
)
def test_a_place_is_reached_by_steps(place: AccessPath, step: str, text: str):
    assert place.step(step).text == text


def test_what_is_read_through_a_place_lives_there_but_definitions():
    assert relocated(TENSOR, W) == TENSOR.at(W)
    assert relocated(UNKNOWN, W) == UNKNOWN.at(W)
    math = Value(Kind.PYTHON_MODULE, FRESH, "math")
    assert relocated(math, W) == math
    assert relocated(math.at(V), W) == math.at(W)
    assert relocated(join(TENSOR, math), W).alternatives() == (TENSOR.at(W), math)


def test_a_class_is_placed_where_something_is_put_in_its_place():
    cls = Value(Kind.CLASS, FRESH, class_named("A"))
    assert relocated(cls, W) == cls
    assert placed(cls, W) == cls.at(W)
    assert placed(join(cls, NONE), W).alternatives() == (cls.at(W), NONE.at(W))


def test_a_union_is_changed_as_a_whole():
    union = join(ONE, STRING)
    changed = union.with_alternatives((TENSOR, NONE))
    assert (changed.kind, changed.ref) == (Kind.UNION, Alternatives((TENSOR, NONE)))
