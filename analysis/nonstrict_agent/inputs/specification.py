"""Specifications of inputs: JSON that says what a value is like, and values made from it.

A specification is an object with a "kind". It describes a value by kind, shape and range, not by content: tensors
made from it are random, fixed by a seed, and equal in every process that uses the same seed. Nothing is pickled.

    tensor      shape, dtype, device, strides (where not contiguous), requires_grad, parameter, low, high (inclusive),
                ascending (integers evenly from low to high: offsets)
    literal     value: a number, a string or a bool;  none;  complex: real, imag;  bytes: base64
    list, tuple, set, frozenset, size      items;  dict: items (pairs), class where not a plain dict
    dataclass, namedtuple, object          class, fields;  enum: class, name
    module      class, constructor (a call) or fields, children and state, training
    function    name;  dtype, device: name;  slice, range: start, stop, step;  array: shape, dtype, scalar
    process-group, device-mesh: names of its dimensions      made over the default process group, see `process_groups`
    expression  source, evaluated in the module's namespace;  unknown: class

A *call* is {"args": [Spec...], "kwargs": {name: Spec}}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from nonstrict_agent.inputs.naming import UnmakeableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Spec: TypeAlias = dict[str, Any]
NONE: Spec = {"kind": "none"}


class CallSpec(TypedDict):
    """Arguments of one call, each as a specification."""

    args: list[Spec]
    kwargs: dict[str, Spec]


def describe(value: object, depth: int = 6) -> Spec:
    """The specification of `value`, looking `depth` containers deep; what cannot be described is of kind "unknown"."""
    from nonstrict_agent.inputs import describing

    return describing.describe(value, depth)


def describe_call(args: tuple[object, ...], kwargs: Mapping[str, object], depth: int = 6) -> CallSpec:
    """The specification of the arguments of one call."""
    return {
        "args": [describe(each, depth) for each in args],
        "kwargs": {name: describe(each, depth) for name, each in kwargs.items()},
    }


def make(spec: Spec, seed: int, namespace: Mapping[str, object]) -> Any:
    """A value for `spec`: random where it says no more, and the same for the same seed in every process.

    Raises:
        UnmakeableError: a class is not known or not found, or torch cannot make such a tensor.
    """
    from nonstrict_agent.inputs import making

    return making.Maker(seed, namespace).make(spec)


def make_call(
    call: CallSpec,
    seed: int,
    namespace: Mapping[str, object],
    instances: dict[str, Any] | None = None,
    origins: dict[int, Spec] | None = None,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments for `call`; two tensors of one shape hold different numbers.

    Modules that are constructed are looked up in `instances` first, if that is given, and kept there. `origins` is
    given the specification of each tensor, by its `id`.

    Raises:
        UnmakeableError: as for `make`.
    """
    from nonstrict_agent.inputs import making

    maker = making.Maker(seed, namespace, instances, origins)
    args = tuple(maker.make(each) for each in call["args"])
    return args, {name: maker.make(each) for name, each in call["kwargs"].items()}


def notes(call: CallSpec) -> list[str]:
    """What is told about values that are not made exactly as specified: devices that this machine does not have."""
    from nonstrict_agent.inputs import making

    asked = {str(node.get("device") or node.get("name")) for node in nodes(call) if _names_device(node)}
    return [
        f"made on {made} instead of {name}"
        for name in sorted(asked)
        if (made := making.available(name)) != name and name.partition(":")[0] != made
    ]


def nodes(call: CallSpec | Spec) -> Iterator[Spec]:
    """Every specification within a call or a specification, outermost first, in a fixed order."""
    pending: list[object] = [call]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            if "kind" in each:
                yield each
            pending.extend(reversed(list(each.values())))
        elif isinstance(each, list):
            pending.extend(reversed(each))


def tensor(shape: list[int] | tuple[int, ...], dtype: str = "float32", **more: object) -> Spec:
    """The specification of a tensor of the CPU."""
    return {"kind": "tensor", "shape": list(shape), "dtype": dtype, "device": "cpu", "requires_grad": False, **more}


def literal(value: float | str | None) -> Spec:
    """The specification of a number, a string, a bool or None."""
    return dict(NONE) if value is None else {"kind": "literal", "value": value}


def _names_device(node: Spec) -> bool:
    return node["kind"] == "device" or (node["kind"] == "tensor" and "device" in node)


__all__ = [
    "NONE",
    "CallSpec",
    "Spec",
    "UnmakeableError",
    "describe",
    "describe_call",
    "literal",
    "make",
    "make_call",
    "nodes",
    "notes",
    "tensor",
]
