"""What the messages of eager errors say about the arguments: changes that answer them.

The texts are those of torch 2.13 and CPython 3.10 to 3.14. A text that is not known here is no loss: the search then
tries the neighbours of what failed.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from nonstrict_agent.inputs import moves
from nonstrict_agent.inputs.answers import (
    Failure,
    Found,
    alike,
    beyond,
    lower_indices,
    more_ranks,
    named,
    named_dtypes,
    not_none,
    quoted,
    rank_above,
    rank_named,
    rank_of_unpacking,
    ranked,
    sizes,
    to_dtypes,
)
from nonstrict_agent.inputs.shapes import SHAPES
from nonstrict_agent.inputs.specification import Spec, literal, nodes, tensor

if TYPE_CHECKING:
    from collections.abc import Callable


def repairs(failure: Failure) -> Found:
    """Changed choices that the text of the error suggests, with their costs."""
    for pattern, answer in _ANSWERS:
        found = pattern.search(failure.text)
        if found is not None:
            yield from answer(failure, found)
    yield from sizes(failure)
    yield from named(failure)
    yield from named_dtypes(failure)
    yield from quoted(failure)


_KINDS: dict[str, list[Spec]] = {
    "int": [literal(value) for value in (2, 1, 0, 4, -1)],
    "float": [literal(0.5), literal(2.0)],
    "bool": [literal(False), literal(True)],
    "number": [literal(0.5), literal(2)],
    "str": [literal("mean"), literal("a")],
    "tensor": [tensor(SHAPES[rank]) for rank in (2, 4, 3, 1, 0)],
    "ints": [{"kind": "list", "items": [literal(v) for v in values]} for values in ([4], [4, 4], [0], [2, 2], [0, 1])],
    "tensors": [{"kind": kind, "items": [tensor(SHAPES[2])] * 2} for kind in ("list", "tuple")],
    "dict": [{"kind": "dict", "items": []}],
    "callable": [{"kind": "function", "name": "torch:tanh"}],
    "dtype": [{"kind": "dtype", "name": "float32"}],
    "device": [{"kind": "device", "name": "cpu"}],
}
_KIND_WORDS = {
    "int": "int", "SymInt": "int", "float": "float", "bool": "bool", "Number": "number", "str": "str",
    "Tensor": "tensor", "real": "number", "integer": "int",
    "tuple of ints": "ints", "tuple of SymInts": "ints", "tuple of Tensors": "tensors", "tuple of bools": "ints",
    "torch.dtype": "dtype", "torch.device": "device",
}  # fmt: skip


def _kinds(failure: Failure, kinds: list[str], names: tuple[str, ...], cost: float = 0.4) -> Found:
    for name in names:
        parameter = failure.parameter(name)
        spec = moves.current(parameter, failure.choice) if parameter is not None and name != "self" else None
        for kind in kinds if spec is not None else []:
            for n, new in enumerate(_KINDS[kind]):
                if new != spec and parameter is not None and parameter.replaceable:
                    yield cost + 0.15 * n, {**failure.choice, name: new}
                inner = [
                    node for node in nodes(spec or {}) if node is not spec and node["kind"] in {"tensor", "literal"}
                ]
                for node in inner[:6]:
                    yield cost + 0.4, moves.with_node(failure.choice, name, spec or {}, node, new)


def _named_argument(failure: Failure, found: re.Match[str]) -> Found:
    """Messages of torch's argument parser: `argument 'dim' (position 2) must be int, not Tensor`."""
    wanted = found.group("kind")
    kinds = [kind for word, kind in _KIND_WORDS.items() if re.search(rf"\b{re.escape(word)}\b", wanted)]
    kinds = ["tensors"] if "tuple of Tensors" in wanted else ["ints", "int"] if "tuple of" in wanted else kinds
    own = found.group("name")
    names = (own,) if failure.parameter(own) and own in failure.names() else failure.names()
    yield from _kinds(failure, kinds, names, 0.3)
    position = int(found.group("position") or 0) - 1
    for parameter in failure.reading.parameters:
        spec = moves.current(parameter, failure.choice) if parameter.kind is inspect.Parameter.VAR_POSITIONAL else None
        if spec is not None and 0 <= position < len(spec["items"]):
            for n, new in enumerate(new for kind in kinds for new in _KINDS[kind]):
                items = [*spec["items"][:position], new, *spec["items"][position + 1 :]]
                yield 0.2 + 0.1 * n, {**failure.choice, parameter.name: {**spec, "items": items}}


def _kind(*kinds: str) -> Callable[[Failure, re.Match[str]], Found]:
    return lambda failure, _found: _kinds(failure, list(kinds), failure.names())


def _attribute(failure: Failure, found: re.Match[str]) -> Found:
    """An attribute is missing: objects made for the search get it; other values become what has it."""
    owner, name = found.group(1), found.group(2)
    for parameter, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        extensible = node["kind"] == "module" and node["class"].startswith("torch.nn.")
        if extensible or (node["kind"] == "object" and node["class"] == "types:SimpleNamespace"):
            for value in (literal(4), tensor(SHAPES[2]), literal(False), literal(0.5)):
                fields = {**node.get("fields", {}), name: value}
                yield 0.5, moves.with_node(failure.choice, parameter, spec, node, {**node, "fields": fields})
    if owner == "NoneType":
        return
    import torch

    kinds = (
        ["tensor"]
        if hasattr(torch.Tensor, name)
        else ["dict"]
        if hasattr(dict, name)
        else ["str"]
        if hasattr(str, name)
        else []
    )
    if hasattr(list, name):
        kinds.append("tensors")
    if owner == "Tensor" or not kinds:
        for each in failure.reading.parameters:
            if each.name in failure.names() and each.replaceable:
                fields = {"kind": "object", "class": "types:SimpleNamespace", "fields": {name: tensor(SHAPES[2])}}
                yield 0.9, {**failure.choice, each.name: fields}
    yield from _kinds(failure, kinds, failure.names(), 0.5)


def _key(failure: Failure, found: re.Match[str]) -> Found:
    key = found.group(1)
    for name, spec, node in moves.parts(failure.reading, failure.choice):
        if node["kind"] == "dict":
            for n, value in enumerate((tensor(SHAPES[2]), literal(2), literal("a"), tensor(SHAPES[3]))):
                items = [*node["items"], [literal(key), value]]
                yield 0.5 + 0.2 * n, moves.with_node(failure.choice, name, spec, node, {**node, "items": items})


def _more_items(failure: Failure, _found: re.Match[str]) -> Found:
    for parameter in failure.reading.parameters:
        gathers = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        for guess in parameter.guesses if gathers else ():
            if guess.spec["items"]:
                yield 0.4 + guess.cost * 0.3, {**failure.choice, parameter.name: guess.spec}
        given = failure.choice.get(parameter.name, {"kind": "tuple", "items": []})
        for n, new in enumerate((tensor(SHAPES[2]), literal(4)) if gathers else ()):
            yield 0.3 + 0.1 * n, {**failure.choice, parameter.name: {**given, "items": [*given["items"], new]}}
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if node["kind"] in {"list", "tuple"} and node["items"]:
            yield (
                0.5,
                moves.with_node(
                    failure.choice, name, spec, node, {**node, "items": [*node["items"], node["items"][-1]]}
                ),
            )


def _needs_gradient(failure: Failure, _found: re.Match[str]) -> Found:
    def change(node: Spec) -> Spec | None:
        floating = node["kind"] == "tensor" and "float" in node["dtype"]
        return {**node, "requires_grad": not node["requires_grad"]} if floating else None

    yield 0.3, moves.each_changed(failure.reading, failure.choice, change)
    for name in failure.names():
        yield 0.4, moves.each_changed(failure.reading, failure.choice, change, (name,))


def _single_elements(failure: Failure, _found: re.Match[str]) -> Found:
    """A tensor is used as a number: one element, or a number in its place."""
    yield from ranked(failure, [0], 0.4)
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if node["kind"] == "tensor" and node["shape"]:
            yield 0.5, moves.with_node(failure.choice, name, spec, node, moves.shaped(node, [1] * len(node["shape"])))
    yield from _kinds(failure, ["number", "bool"], failure.names(), 0.6)


def _multiples(failure: Failure, _found: re.Match[str]) -> Found:
    """A size must be divided by another, or fill a shape: doubled, halved, squared."""
    for name, spec, node in moves.parts(failure.reading, failure.choice, failure.names()):
        if node["kind"] == "tensor":
            for axis, size in enumerate(node["shape"]):
                for new in {size * 2, size * 4, max(size // 2, 1), 1, 12} - {size}:
                    yield (
                        0.6,
                        moves.with_node(
                            failure.choice,
                            name,
                            spec,
                            node,
                            moves.shaped(node, [*node["shape"][:axis], new, *node["shape"][axis + 1 :]]),
                        ),
                    )
        elif moves.is_number(node):
            for new in {1, 2, 4, 8, node["value"] * 2, node["value"] // 2} - {node["value"]}:
                yield 0.7, moves.with_node(failure.choice, name, spec, node, literal(new))


def _ranges(failure: Failure, _found: re.Match[str]) -> Found:
    """Values must lie somewhere: other ranges are tried."""
    return moves.other_values(failure.reading, failure.choice)


def _unexpected(failure: Failure, found: re.Match[str]) -> Found:
    name = found.group(1)
    if name in failure.choice:
        yield 0.2, {key: value for key, value in failure.choice.items() if key != name}


_TABLE: tuple[tuple[str, Callable[[Failure, re.Match[str]], Found]], ...] = (
    (r"\d-?\s?[dD](?:im(?:ension)?s?)?\b", rank_named),
    (r"not enough values to unpack \(expected (?:at least )?(\d+)", rank_of_unpacking),
    (r"too many values to unpack \(expected (\d+)", rank_of_unpacking),
    (r"Dimension out of range .*but got (-?\d+)", rank_above),
    (
        (
            r"[Tt]oo many indices|index out of range$|number of dimensions|input\.dim\(\)|"
            r"not match the length|Dimension specified as"
        ),
        more_ranks,
    ),
    (
        (
            r"[Ii]nvalid (?:dim|rank)|"
            r"must (?:have|be) (?:at least )?(?:a )?(?:\w+ )?(?:dimension|matri|vector)|dimensional"
        ),
        more_ranks,
    ),
    (r"permute\(sparse_coo\)|expected .*tensors?.* to be|same (?:number of )?dim", more_ranks),
    (r"1D tensors expected|tensors? expected|vectors? expected|matri(?:x|ces) expected", more_ranks),
    (
        r"argument '(?P<name>\w+)' (?:\(position (?P<position>\d+)\) )?.*must be (?P<kind>.*?)(?:, not|, but|$)",
        _named_argument,
    ),
    (r"argument #?\d+ '(?P<name>\w+)'.*(?:Long|Int)\b.*but got", to_dtypes("int64")),
    (
        (
            r"must be long|used as indices|(?:dtype )?int64 for index|expected .*(?:Long|int64)|"
            r"scalar type Long but|integral|integer tensor"
        ),
        to_dtypes("int64"),
    ),
    (
        (
            r"not implemented for '(?:Long|Int|Bool|Byte)|floating[- ]point|only supports float|"
            r"expected .*Float but found|must be float"
        ),
        to_dtypes("float32", "float64"),
    ),
    (
        (
            r"not implemented for 'Float'|not implemented for '(?:Complex|Double|Half)|"
            r"not supported for"
        ),
        to_dtypes("int64", "bool", "float32"),
    ),
    (r"to be bool|bool(?:ean)? (?:tensor|dtype|type)|expected .*[Bb]ool|torch\.bool", to_dtypes("bool", "float32")),
    (r"complex", to_dtypes("complex64", "float32")),
    (
        (
            r"same dtype|dtypes? .*match|Mixing|can't be cast|expected scalar type|"
            r"type mismatch"
        ),
        to_dtypes("float32", "int64", "bool"),
    ),
    (r"out of range|out of bounds|out-of-bounds|[Ii]ndex .* (?:exceeds|larger)|Class values must", lower_indices),
    (r"index (\d+) is out of bounds for dimension \d+ with size (\d+)", beyond),
    (r"NoneType|None", not_none),
    (r"'(\w+)' object has no attribute '(\w+)'", _attribute),
    (r"^KeyError: '(\w+)'", _key),
    (r"not callable", _kind("callable")),
    (
        r"'(?:int|float|bool|str|function)' object is not (?:subscriptable|iterable)",
        _kind("tensors", "ints", "tensor", "dict"),
    ),
    (
        (
            r"has no len|must be (?:tuple|list)|expected (?:a )?(?:tuple|list|sequence)|"
            r"iteration over a 0-d"
        ),
        _kind("ints", "tensors", "tensor"),
    ),
    (
        (
            r"cannot be interpreted as an integer|to an index|must be (?:an )?int|integer scalar|"
            r"indices must be integers"
        ),
        _kind("int", "ints"),
    ),
    (r"must be (?:a )?(?:number|float|real)|bad operand type|unsupported operand", _kind("number", "tensor", "int")),
    (r"must be (?:a )?Tensor|[Ee]xpected (?:a )?(?:input )?[Tt]ensor|expected Tensor", _kind("tensor", "tensors")),
    (r"must be (?:a )?(?:str|string)|not a string|expected str", _kind("str")),
    (
        (
            r"Boolean value of Tensor|cannot be converted to Scalar|one element|only one element|"
            r"single element|scalar"
        ),
        _single_elements,
    ),
    (
        (
            r"tuple index out of range|list index out of range|at least one|non-empty|"
            r"missing \d+ required positional"
        ),
        _more_items,
    ),
    (r"does not require grad|requires grad is being used|requires_grad", _needs_gradient),
    (
        (
            r"invalid for input of size|divisible|multiple|even|must be equal|must match|broadcast|"
            r"AssertionError|not compatible|evenly|split"
        ),
        _multiples,
    ),
    (r"equal|same|match|consistent|differ", alike),
    (r"between|positive|negative|greater|less|probab|constraint|in the range|in range|finite", _ranges),
    (r"unexpected keyword argument '(\w+)'", _unexpected),
)
_ANSWERS = tuple((re.compile(pattern), answer) for pattern, answer in _TABLE)
