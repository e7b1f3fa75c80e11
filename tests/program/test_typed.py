"""The value of a class outside the program: one derivation for annotations and for results of models."""

from __future__ import annotations

import pytest

from nonstrict.models.entries import Type
from nonstrict.models.library import SHIPPED
from nonstrict.program.domain.access_paths import FRESH, AccessPath, Root
from nonstrict.program.domain.values import BYTES, NONE, Flag, Kind, Value
from nonstrict.program.objects import typed

HERE = AccessPath(Root.ARGUMENT, "", "x")


@pytest.mark.parametrize(
    ("name", "kind", "ref"),
    [
        ("builtins.int", Kind.NUMBER, None),
        ("builtins.bool", Kind.BOOL, None),
        ("builtins.bytes", Kind.STRING, BYTES),
        ("torch.Tensor", Kind.TENSOR, None),
        ("torch.masked.MaskedTensor", Kind.TENSOR, "torch.masked.MaskedTensor"),
        ("torch.nn.Parameter", Kind.PARAMETER, None),
        ("torch.nn.Linear", Kind.MODULE, "torch.nn.Linear"),
        ("einops.layers.torch.Reduce", Kind.MODULE, "einops.layers.torch.Reduce"),
        ("torch.Size", Kind.SIZE, None),
        ("numpy.ndarray", Kind.NUMPY, None),
        ("numpy.float32", Kind.NUMBER, "numpy.float32"),
        ("collections.OrderedDict", Kind.DICT, None),
        ("typing.Sequence", Kind.LIST, None),
        ("collections.abc.Iterator", Kind.ITERATOR, None),
        ("pathlib.Path", Kind.INSTANCE, "pathlib.Path"),
        ("typing.Any", Kind.UNKNOWN, None),
        ("typing.Protocol", Kind.UNKNOWN, None),
        ("acme.Unknown", Kind.INSTANCE, "acme.Unknown"),
    ],
)
def test_what_an_annotation_promises(name: str, kind: Kind, ref: str | None):
    found = typed.instance(SHIPPED, SHIPPED.canonical(name), HERE)
    assert (found.kind, found.ref, found.place) == (kind, ref, HERE)


def test_containers_that_are_made_hold_what_their_type_says():
    made = typed.result(SHIPPED, Type("builtins.dict", (Type("builtins.str"), Type("torch.Tensor"))))
    assert made.heap is not None
    assert made.heap.element is not None
    assert (made.kind, made.heap.element.kind) == (Kind.DICT, Kind.TENSOR)


def test_tuples_hold_each_of_their_types():
    made = typed.result(SHIPPED, Type("builtins.tuple", (Type("torch.Tensor"), Type("builtins.int"))))
    assert made.heap is not None
    assert [member.kind for member in made.heap.members()] == [Kind.TENSOR, Kind.NUMBER]


def test_containers_of_unknown_elements_hold_those_that_were_given():
    given = typed.result(SHIPPED, Type("builtins.list", (Type("torch.Tensor"),)))
    made = typed.result(SHIPPED, Type("tqdm.tqdm"), [given])
    assert made.heap is not None
    assert made.heap.element is not None
    assert (made.kind, made.ref, made.heap.element.kind) == (Kind.INSTANCE, "tqdm.tqdm", Kind.TENSOR)


def test_a_generator_with_a_seed_draws_the_same_in_every_call():
    seeded = typed.result(SHIPPED, SHIPPED.result("numpy.random.default_rng"), [Value(Kind.NUMBER, FRESH)])
    assert seeded.flags & Flag.LITERAL
    for given in ([], [NONE]):
        assert not typed.result(SHIPPED, SHIPPED.result("random.Random"), given).flags & Flag.LITERAL
