"""Answers to error messages by other sizes, ranks, dtypes and ranges; each yields changed choices with their costs."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import torch

from nonstrict_agent.inputs import moves
from nonstrict_agent.inputs.shapes import SHAPES
from nonstrict_agent.inputs.specification import Spec, literal, tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict_agent.inputs.signature import Parameter, Reading
    from nonstrict_agent.inputs.trying import Choice

Found: TypeAlias = "Iterator[tuple[float, Choice]]"

_LARGEST_SIZE = 64


class Failure(NamedTuple):
    """A failed choice with the text of its error and the parameters it may be due to."""

    reading: Reading
    choice: Choice
    text: str
    blamed: tuple[str, ...]

    def names(self) -> tuple[str, ...]:
        """The parameters to change: those to blame, or all."""
        return self.blamed or tuple(each.name for each in self.reading.parameters)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of this name."""
        return next((each for each in self.reading.parameters if each.name == name), None)


def sizes(failure: Failure) -> Found:
    """Sizes that the text names are made equal to each other, in what is to blame first, then everywhere."""
    text = failure.text.replace("x", " ")
    mentioned = list(dict.fromkeys(int(each) for each in re.findall(r"(?<![\w.])\d{1,3}(?![\w.]*[.\d])", text)))[:7]
    # What is to be divided into such a shape has the size of its product.
    lists = re.findall(r"[\[(](-?\d+(?:, -?\d+)+)[\])]", failure.text)
    mentioned += [math.prod(size for size in map(int, each.split(", ")) if size > 0) for each in lists]
    mentioned = [each for each in dict.fromkeys(mentioned) if each <= _LARGEST_SIZE]
    present: set[int] = set()
    for _, _, node in moves.parts(failure.reading, failure.choice):
        present.update(node["shape"] if node["kind"] == "tensor" else [node["value"]] if moves.is_number(node) else [])
    for old, new in itertools.permutations(mentioned, 2):
        if old in present and new > 0:
            if failure.blamed:
                yield 0.6, moves.resized(failure.reading, failure.choice, old, new, failure.blamed)
            yield 0.9, moves.resized(failure.reading, failure.choice, old, new)
            yield from _one_size(failure, old, new, 0.5)
    for new in mentioned:
        yield from _one_size(failure, None, new, 1.1)


def _one_size(failure: Failure, old: int | None, new: int, cost: float) -> Found:
    """One size or integer, any or those that are `old`, made `new`."""
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if node["kind"] == "tensor" and new > 0:
            for axis, size in enumerate(node["shape"]):
                if size != new and old in {None, size}:
                    shape = [*node["shape"][:axis], new, *node["shape"][axis + 1 :]]
                    yield cost, moves.with_node(failure.choice, name, spec, node, moves.shaped(node, shape))
        elif moves.is_number(node) and node["value"] != new and old in {None, node["value"]}:
            yield cost + 0.1, moves.with_node(failure.choice, name, spec, node, literal(new))


def named(failure: Failure) -> Found:
    """Parameters that the text names are given something else."""
    words = set(re.findall(r"\w+", failure.text))
    for parameter in failure.reading.parameters:
        spec = moves.current(parameter, failure.choice)
        absent = 0.0 if spec is None or spec["kind"] == "none" else 0.3
        for guess in parameter.guesses[:8] if parameter.name in words and len(parameter.name) > 1 else ():
            if guess.spec != spec:
                yield 0.4 + absent + 0.4 * guess.cost, {**failure.choice, parameter.name: guess.spec}


def quoted(failure: Failure) -> Found:
    """Strings that the text quotes are tried where a string is given or accepted."""
    quoted = list(dict.fromkeys(re.findall(r"['\"`]([A-Za-z_][\w\- ]{0,30})['\"`]", failure.text)))[:8]
    for parameter in failure.reading.parameters:
        spec = moves.current(parameter, failure.choice)
        takes = any(
            guess.spec["kind"] == "literal" and isinstance(guess.spec["value"], str) for guess in parameter.guesses
        )
        given = spec is not None and spec["kind"] == "literal" and isinstance(spec["value"], str)
        for n, word in enumerate(quoted if takes or given else []):
            if word != parameter.name:
                yield 0.7 + 0.1 * n, {**failure.choice, parameter.name: literal(word)}


def ranked(failure: Failure, ranks: list[int], cost: float = 0.4) -> Found:
    """Other ranks, for each tensor to blame and for all of them."""
    for n, rank in enumerate(ranks):
        for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
            if node["kind"] == "tensor" and len(node["shape"]) != rank and 0 <= rank <= 6:
                yield cost + 0.1 * n, moves.with_node(failure.choice, name, spec, node, moves.ranked(node, rank))
        if not 0 <= rank <= 6:
            continue

        def change(node: Spec, rank: int = rank) -> Spec | None:
            return moves.ranked(node, rank) if node["kind"] == "tensor" and len(node["shape"]) != rank else None

        yield cost + 0.3, moves.each_changed(failure.reading, failure.choice, change, failure.blamed)


def rank_named(failure: Failure, _found: re.Match[str]) -> Found:
    """Ranks that the text names: "expected 3D or 4D input"."""
    named = [int(each) for each in re.findall(r"(\d)-?\s?[dD](?:im)?", failure.text)]
    return ranked(failure, list(dict.fromkeys(named)))


def rank_of_unpacking(failure: Failure, found: re.Match[str]) -> Found:
    """A shape or a sequence is unpacked into so many names."""
    yield from ranked(failure, [int(found.group(1))], 0.3)
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if node["kind"] in {"list", "tuple"} and node["items"]:
            items = [node["items"][n % len(node["items"])] for n in range(int(found.group(1)))]
            yield 0.4, moves.with_node(failure.choice, name, spec, node, {**node, "items": items})
        elif node["kind"] == "tensor" and node["shape"]:
            yield (
                0.7,
                moves.with_node(
                    failure.choice, name, spec, node, moves.shaped(node, [int(found.group(1)), *node["shape"][1:]])
                ),
            )


def rank_above(failure: Failure, found: re.Match[str]) -> Found:
    """A dimension that the tensor does not have: more dimensions, or another number."""
    wanted = int(found.group(1))
    yield from ranked(failure, [wanted + 1 if wanted >= 0 else -wanted], 0.3)
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if moves.is_number(node) and node["value"] == wanted:
            for value in (0, -1, 1):
                yield 0.5, moves.with_node(failure.choice, name, spec, node, literal(value))


def more_ranks(failure: Failure, _found: re.Match[str]) -> Found:
    """A dimension more or fewer."""
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if node["kind"] == "tensor":
            for step in (1, 2, -1):
                if 0 <= len(node["shape"]) + step <= 6:
                    yield (
                        0.4 + 0.1 * step,
                        moves.with_node(
                            failure.choice, name, spec, node, moves.ranked(node, len(node["shape"]) + step)
                        ),
                    )


def to_dtypes(*dtypes: str) -> Callable[[Failure, re.Match[str]], Found]:
    """The dtypes tried one after the other: for each tensor to blame, and for all at once."""

    def answer(failure: Failure, found: re.Match[str]) -> Found:
        argument = found.groupdict().get("name")
        return _typed(failure, dtypes, (argument,) if argument and failure.parameter(argument) else failure.names())

    return answer


def named_dtypes(failure: Failure) -> Found:
    """Dtypes that the text names, by whatever name torch knows them."""
    known = (getattr(torch, word.lower(), None) for word in re.findall(r"[A-Za-z]\w*", failure.text))
    found = [str(dtype).rpartition(".")[2] for dtype in known if isinstance(dtype, torch.dtype)]
    return _typed(failure, tuple(dict.fromkeys(found)), failure.names())


def _typed(failure: Failure, dtypes: tuple[str, ...], names: tuple[str, ...]) -> Found:
    for n, dtype in enumerate(dtypes):
        for name, spec, node in moves.parts(failure.reading, failure.choice, names):
            if node["kind"] == "tensor" and node["dtype"] != dtype:
                yield 0.4 + 0.1 * n, moves.with_node(failure.choice, name, spec, node, moves.typed(node, dtype))

        def change(node: Spec, dtype: str = dtype) -> Spec | None:
            return moves.typed(node, dtype) if node["kind"] == "tensor" and node["dtype"] != dtype else None

        yield 0.7 + 0.1 * n, moves.each_changed(failure.reading, failure.choice, change)


def lower_indices(failure: Failure, _found: re.Match[str]) -> Found:
    """Indices beyond what they index: 0 and 1 only, then 0 only."""
    for top in (1, 0):

        def change(node: Spec, top: int = top) -> Spec | None:
            integral = node["kind"] == "tensor" and "int" in node["dtype"] and node.get("high", 9) > top
            return {**node, "low": 0, "high": top} if integral else None

        yield 0.3, moves.each_changed(failure.reading, failure.choice, change)
    for name, spec, node in moves.parts(failure.reading, failure.choice):
        if moves.is_number(node) and node["value"] > 0:
            yield 0.5, moves.with_node(failure.choice, name, spec, node, literal(0))


def alike(failure: Failure, _found: re.Match[str]) -> Found:
    """One tensor to blame is given the shape of another."""
    tensors = [
        each for each in moves.parts(failure.reading, failure.choice, failure.names()) if each[2]["kind"] == "tensor"
    ]
    for (name, spec, node), (_, _, other) in itertools.permutations(tensors[:5], 2):
        if node["shape"] != other["shape"]:
            new = moves.shaped(node, other["shape"])
            yield 0.6, moves.with_node(failure.choice, name, spec, node, new)


def beyond(failure: Failure, found: re.Match[str]) -> Found:
    """An index that the function itself chose is beyond a size: the size is made larger."""
    index, size = int(found.group(1)), int(found.group(2))
    for new in {index + 1, 1 << max(index, 1).bit_length()}:
        yield 0.6, moves.resized(failure.reading, failure.choice, size, new, failure.blamed)
        for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
            for axis, each in enumerate(node["shape"] if node["kind"] == "tensor" else ()):
                if each == size:
                    shape = [*node["shape"][:axis], new, *node["shape"][axis + 1 :]]
                    yield 0.5, moves.with_node(failure.choice, name, spec, node, moves.shaped(node, shape))


def not_none(failure: Failure, _found: re.Match[str]) -> Found:
    """None stands where something is needed."""
    for parameter in failure.reading.parameters:
        spec = moves.current(parameter, failure.choice)
        if spec is not None and spec["kind"] == "none":
            extra = 0.0 if parameter.name in failure.blamed else 0.5
            for guess in parameter.guesses[:8]:
                if guess.spec["kind"] != "none":
                    yield 0.3 + extra + 0.5 * guess.cost, {**failure.choice, parameter.name: guess.spec}
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if node["kind"] == "none" and node is not spec:
            for new in (tensor(SHAPES[2]), literal(2)):
                yield 0.7, moves.with_node(failure.choice, name, spec, node, new)
