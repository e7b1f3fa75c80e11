"""Writes specifications of inputs as Python expressions, for scripts that have to do without the agent."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Spec = dict[str, Any]


class CannotWriteError(Exception):
    """No expression is known for a value of this kind; the text says which."""


class Expressions:
    """The expressions of several calls; modules that they share are made once (`shared`, by name)."""

    def __init__(self, module: str) -> None:
        """`module` is the name of the module whose names need no prefix."""
        self._module = module
        self.shared: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def call(self, spec: Spec) -> str:
        """The arguments of a call, as they stand between its parentheses.

        Raises:
            CannotWriteError: one of them cannot be written.
        """
        parts = [self.value(each) for each in spec["args"]]
        parts += [f"{name}={self.value(each)}" for name, each in spec["kwargs"].items()]
        return ", ".join(parts)

    def value(self, spec: Spec) -> str:
        """One value.

        Raises:
            CannotWriteError: it cannot be written.
        """
        writer = _WRITERS.get(spec["kind"])
        if writer is None:
            raise CannotWriteError(f"a value of {spec.get('class', spec['kind'])}")
        return writer(self, spec)

    def tensor(self, spec: Spec) -> str:
        """A tensor of random numbers."""
        text = _numbers(spec)
        if spec.get("strides"):
            text = f"{_numbers({**spec, 'shape': [_extent(spec)]})}.as_strided({spec['shape']}, {spec['strides']})"
        device = spec.get("device", "cpu")
        if device != "cpu":
            text = f"{text}.to({device!r})"
        if spec.get("parameter"):
            return f"torch.nn.Parameter({text}, requires_grad={spec.get('requires_grad', True)})"
        return f"{text}.requires_grad_()" if spec.get("requires_grad") else text

    def sequence(self, spec: Spec) -> str:
        """A list, tuple, set or shape."""
        items = [self.value(each) for each in spec["items"]]
        inner = ", ".join(items)
        shapes = {"list": "[{}]", "size": "torch.Size([{}])", "set": "set([{}])", "frozenset": "frozenset([{}])"}
        return shapes.get(spec["kind"], "({},)" if len(items) == 1 else "({})").format(inner)

    def dict(self, spec: Spec) -> str:
        """A dictionary."""
        inner = "{" + ", ".join(f"{self.value(key)}: {self.value(value)}" for key, value in spec["items"]) + "}"
        if "factory" in spec:
            raise CannotWriteError(f"a value of {spec['class']}")
        return f"{self._name(spec['class'])}({inner})" if "class" in spec else inner

    def fields(self, spec: Spec) -> str:
        """A dataclass or named tuple, by its fields."""
        inner = ", ".join(f"{name}={self.value(each)}" for name, each in spec["fields"].items())
        return f"{self._name(spec['class'])}({inner})"

    def constructed(self, spec: Spec) -> str:
        """What a call of its class makes."""
        if "constructor" not in spec:
            raise CannotWriteError(f"a value of {spec['class']}, which is not known to be made by a call")
        return f"{self._name(spec['class'])}({self.call(spec['constructor'])})"

    def shared_module(self, spec: Spec) -> str:
        """The name of a module that is made once, in evaluation mode where it is to be."""
        key = repr(spec)
        if key not in self._names:
            text = self.constructed(spec)
            name = f"module_{len(self._names) + 1}"
            self._names[key] = name
            self.shared[name] = text if spec.get("training", True) else f"{text}.eval()"
        return self._names[key]

    def steps(self, spec: Spec) -> str:
        """A slice or range."""
        inner = ", ".join(self._step(spec.get(name)) for name in ("start", "stop", "step"))
        return f"{spec['kind']}({inner})"

    def _step(self, value: Any) -> str:
        return self.value(cast("Spec", value)) if isinstance(value, dict) else _literal(value)

    def _name(self, qualified: str) -> str:
        """The expression for a class or function that is given as `module:Qualified.name`."""
        module, _, name = qualified.partition(":")
        if module == self._module or not name:
            return name or module
        return f"__import__({module!r}, fromlist=['']).{name}"

    def name_of(self, spec: Spec) -> str:
        """A function, or a member of an enumeration."""
        if spec["kind"] == "enum":
            return f"{self._name(spec['class'])}[{spec['name']!r}]"
        return self._name(spec["name"])


def _literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _extent(spec: Spec) -> int:
    return 1 + sum((size - 1) * stride for size, stride in zip(spec["shape"], spec["strides"], strict=True))


def _numbers(spec: Spec) -> str:
    """Random numbers as the agent draws them: normal ones, or evenly from the range that is known."""
    shape, dtype = tuple(spec["shape"]), str(spec["dtype"])
    low, high = spec.get("low"), spec.get("high")
    kind = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    if dtype == "bool":
        return f"torch.randint({int(low or 0)}, {int(1 if high is None else high) + 1}, {shape}).bool()"
    if dtype.startswith(("float", "bfloat", "complex")):
        if low is None or high is None or dtype.startswith("complex"):
            return f"torch.randn({shape}{kind})" if not dtype.startswith("float8") else _converted(shape, dtype)
        return f"(torch.rand({shape}{kind}) * {high - low} + {low})"
    first, last = (0, 1) if low is None or high is None else (int(low), int(high))
    if spec.get("ascending"):
        return f"torch.linspace({first}, {last}, {math.prod(shape)}).round().reshape({shape}).to(torch.{dtype})"
    return f"torch.randint({first}, {last + 1}, {shape}{kind})"


def _converted(shape: tuple[int, ...], dtype: str) -> str:
    return f"torch.randn({shape}).to(torch.{dtype})"


def _array(_: Expressions, spec: Spec) -> str:
    dtype = str(spec["dtype"])
    plain = {"kind": "tensor", "shape": spec["shape"], "dtype": "float32" if dtype.startswith("float") else "int64"}
    return f"{_numbers({**plain, 'low': spec.get('low'), 'high': spec.get('high')})}.numpy().astype({dtype!r})"


_WRITERS: dict[str, Callable[[Expressions, Spec], str]] = {
    "tensor": Expressions.tensor,
    "literal": lambda _, spec: _literal(spec["value"]),
    "none": lambda _, spec: "None",
    "complex": lambda _, spec: f"complex({_literal(spec['real'])}, {_literal(spec['imag'])})",
    "bytes": lambda _, spec: repr(base64.b64decode(spec["base64"])),
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "size"), Expressions.sequence),
    "dict": Expressions.dict,
    "dataclass": Expressions.fields,
    "namedtuple": Expressions.fields,
    "object": Expressions.constructed,
    "module": Expressions.shared_module,
    "dtype": lambda _, spec: f"torch.{spec['name']}",
    "device": lambda _, spec: f"torch.device({spec['name']!r})",
    "slice": Expressions.steps,
    "range": Expressions.steps,
    "enum": Expressions.name_of,
    "function": Expressions.name_of,
    "array": _array,
    "process-group": lambda _, spec: "torch.distributed.group.WORLD",
    "device-mesh": lambda _, spec: f"device_mesh({', '.join(map(repr, spec['names']))})",
    "expression": lambda _, spec: f"({spec['source']})",
}
