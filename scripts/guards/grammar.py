"""The programs that are measured: one for each source of a value, kind of values, use of them, and options.

A program is what a user could write: a region, and a loop that runs it with twelve values. Each calls what it compiles
`region`, and the value that varies `v` inside it.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNT = 12


class Row(NamedTuple):
    """One program: the values of one kind reach a region from a source, and are used there, under some options."""

    source: str
    kind: str
    use: str
    options: str
    text: str

    @property
    def key(self) -> str:
        """What the table calls it."""
        return f"{self.source}/{self.kind}/{self.use}"


class Kind(NamedTuple):
    """Values of one kind: an expression of twelve of them, and what has to stand in front of it."""

    values: str
    before: str = ""


class Source(NamedTuple):
    """Where a region has a value from: its definition, around the use, and how the value is changed and it is run."""

    region: str
    call: str


#: How a region is compiled: the arguments of `torch.compile`.
OPTIONS = {"": "", "dynamic=True": "dynamic=True", "dynamic=False": "dynamic=False"}
#: Keys of Dynamo's configuration, with the kinds of values that they are about.
CONFIG = {
    "specialize_float=True": ("float",),
    "allow_unspec_int_on_nn_module=True": ("int", "int from 0", "int counter", "used int counter"),
    "automatic_dynamic_shapes=False": ("int", "int from 0", "float", "size"),
    "assume_static_by_default=False": ("int", "int from 0", "float", "size"),
    "force_parameter_static_shapes=False": ("size of a parameter",),
}


def options_of(kind: str) -> Iterator[str]:
    """The options under which values of a kind are measured."""
    yield from OPTIONS
    yield from (key for key, kinds in CONFIG.items() if kind in kinds)


KINDS = {
    "int": Kind("list(range(2, 14))"),
    "int from 0": Kind("list(range(12))"),
    "float": Kind("[0.3 + 0.25 * i for i in range(12)]"),
    "bool": Kind("[i % 2 == 0 for i in range(12)]"),
    "str": Kind('[f"k{i}" for i in range(12)]'),
    "enum": Kind("list(Way)", 'Way = enum.Enum("Way", [f"k{i}" for i in range(12)])'),
    "None or float": Kind("[None if i % 2 else 0.5 for i in range(12)]"),
}

#: By use, what the region does with the value, for each kind that can be used so.
USES: dict[str, dict[str, str]] = {
    "arithmetic": dict.fromkeys(("int", "int from 0", "float", "bool"), "return x * v"),
    "operator parameter": {
        "int": "return x.roll(v)",
        "int from 0": "return x.roll(v)",
        "float": "return F.leaky_relu(x, v)",
        "bool": "return x.sum(0, v)",
    },
    "function of numbers": dict.fromkeys(("int", "float"), "return x * math.sqrt(v)"),
    "number that is returned": dict.fromkeys(("int", "float"), "return x + 1, v * 2"),
    "whole part": {"float": "return x * int(v)"},
    "size": dict.fromkeys(("int", "int from 0"), "return x.sum() + torch.ones(v)"),
    "loop bound": dict.fromkeys(("int", "int from 0"), "for _ in range(v):\n    x = x + 1\nreturn x"),
    "branch": {
        **dict.fromkeys(("int", "int from 0", "float"), "return x.sin() if v > 2 else x.cos()"),
        "bool": "return x.sin() if v else x.cos()",
        "str": 'return x.sin() if v == "k5" else x.cos()',
        "enum": "return x.sin() if v is Way.k5 else x.cos()",
        "None or float": "return x + 1 if v is None else x * v",
    },
    "index": dict.fromkeys(("int", "int from 0"), "return x[v]"),
    "index of what is stored": dict.fromkeys(("int", "int from 0"), "x = x.clone()\nx[v] = 0.5\nreturn x"),
    "slice": dict.fromkeys(("int", "int from 0"), "return x[:v] * 2"),
    "position": dict.fromkeys(("int", "int from 0"), "return x * ROW[v]"),
    "key": dict.fromkeys(("int", "int from 0", "float", "str", "enum"), "return x * TABLE[v]"),
    "format": dict.fromkeys(("int", "int from 0", "float", "str"), 'return x * len(f"{v}")'),
    "unused": dict.fromkeys(KINDS, "w = v\nreturn x + 1"),
}

_IN_MODULE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        v = {read}
        {{use}}

model = Model()
region = torch.compile(model{{options}})
"""


def _function(parameters: str, read: str = "", before: str = "") -> str:
    """A compiled function that has the value as a parameter, or reads it."""
    lines = [before, f"def f({parameters}):"]
    lines += [f"    v = {read}"] if read else []
    return "\n".join([*lines, "    {use}", "", "region = torch.compile(f{options})"])


SOURCES = {
    "argument": Source(_function("x, v"), "region(x, value)"),
    "keyword argument": Source(_function("x, *, v"), "region(x, v=value)"),
    "default": Source(_function("x, v=VALUES[0]"), "f.__defaults__ = (value,)\nregion(x)"),
    "attribute of the module": Source(
        _IN_MODULE.format(made="self.v = VALUES[0]", read="self.v"), "model.v = value\nregion(x)"
    ),
    "attribute of a submodule": Source(
        _IN_MODULE.format(made="self.inner = nn.Identity()", read="self.inner.v"), "model.inner.v = value\nregion(x)"
    ),
    "attribute of an object that a module holds": Source(
        "class Config: pass\n" + _IN_MODULE.format(made="self.config = Config()", read="self.config.v"),
        "model.config.v = value\nregion(x)",
    ),
    "attribute of an argument": Source(
        _function("x, state", "state.v", "class State: pass\nstate = State()"), "state.v = value\nregion(x, state)"
    ),
    "attribute of a new argument": Source(
        _function("x, state", "state.v", "@dataclasses.dataclass\nclass State:\n    v: object"),
        "region(x, State(value))",
    ),
    "attribute of a global object": Source(
        _function("x", "state.v", "class State: pass\nstate = State()"), "state.v = value\nregion(x)"
    ),
    "attribute of a class": Source(_function("x", "State.v", "class State: pass"), "State.v = value\nregion(x)"),
    "attribute of the object of a method": Source(
        "class Worker:\n    def step(self, x):\n        v = self.v\n        {use}\n\nworker = Worker()\n"
        "region = torch.compile(worker.step{options})",
        "worker.v = value\nregion(x)",
    ),
    "global": Source(_function("x", "current"), "current = value\nregion(x)"),
    "cell": Source(
        "def make():\n    v = VALUES[0]\n\n    def f(x):\n        {use}\n\n    def put(new):\n        nonlocal v\n"
        "        v = new\n\n    return f, put\n\nf, put = make()\nregion = torch.compile(f{options})",
        "put(value)\nregion(x)",
    ),
    "entry of a dict argument": Source(_function("x, d", 'd["a"]'), 'region(x, {"a": value})'),
    "entry of a global dict": Source(_function("x", 'state["a"]', "state = {}"), 'state["a"] = value\nregion(x)'),
    "entry of a list argument": Source(_function("x, entries", "entries[0]"), "region(x, [value])"),
    "entry of a tuple argument": Source(_function("x, entries", "entries[0]"), "region(x, (value,))"),
    "entry of a global list": Source(_function("x", "state[0]", "state = [None]"), "state[0] = value\nregion(x)"),
    "attribute of one of several modules": Source(
        "class Block(nn.Module):\n    def __init__(self, v):\n        super().__init__()\n        self.v = v\n\n"
        "    def forward(self, x):\n        v = self.v\n        {use}\n\n"
        "blocks = {value: Block(value) for value in VALUES}\n"
        "for block in blocks.values():\n    block.compile({only_options})",
        "blocks[value](x)",
    ),
    "attribute of one of several objects": Source(
        "class Worker:\n    def __init__(self, v):\n        self.v = v\n\n    @torch.compile{in_brackets}\n"
        "    def step(self, x):\n        v = self.v\n        {use}\n\n"
        "workers = {value: Worker(value) for value in VALUES}",
        "workers[value].step(x)",
    ),
}

_HEAD = """
import dataclasses
import enum
import functools
import math

import torch
import torch.nn.functional as F
from torch import nn
"""


def rows() -> Iterator[Row]:
    """All programs."""
    for source, (region, call) in SOURCES.items():
        for use, by_kind in USES.items():
            for kind, body in by_kind.items():
                for options in options_of(kind):
                    yield Row(source, kind, use, options, program(KINDS[kind], region, body, call, options))


def program(kind: Kind, region: str, use: str, call: str, options: str) -> str:
    """The text of a program."""
    given = OPTIONS.get(options, "")
    config = f"torch._dynamo.config.{options.replace('=', ' = ')}" if options in CONFIG else ""
    before = "\n".join(part for part in (config, kind.before, f"VALUES = {kind.values}", _table(use)) if part)
    body = _put_in(region, use).replace("{options}", f", {given}" if given else "")
    body = body.replace("{only_options}", given).replace("{in_brackets}", f"({given})" if given else "")
    loop = "x = torch.ones(16)\nfor value in VALUES:\n" + textwrap.indent(call, "    ")
    return "\n\n".join(part.strip("\n") for part in (_HEAD, before, body, loop)) + "\n"


def _table(use: str) -> str:
    """What a use looks the value up in."""
    if "ROW" in use:
        return "ROW = [0.5 * number for number in range(16)]"
    return "TABLE = {value: number for number, value in enumerate(VALUES)}" if "TABLE" in use else ""


def _put_in(region: str, use: str) -> str:
    """A region with the use in its place, indented as that is."""
    lines: list[str] = []
    for line in region.split("\n"):
        if line.strip() == "{use}":
            lines.append(textwrap.indent(use, line[: len(line) - len(line.lstrip())]))
        else:
            lines.append(line)
    return "\n".join(lines)
