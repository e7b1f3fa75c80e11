"""What a region changes itself, so that each call meets another value than the one before: counters, logs, caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guards.grammar import Kind, Row, options_of, program

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = {initial}

    def forward(self, x):
        {{use}}

model = Model()
region = torch.compile(model{{options}})
"""
_OBJECT = """
class State: pass

state = State()
state.held = {initial}

def f(x, state):
    {{use}}

region = torch.compile(f{{options}})
"""
_ARGUMENT = """
held = {initial}

def f(x, held):
    {{use}}

region = torch.compile(f{{options}})
"""
_ENTRY = """
state = {{"held": {initial}}}

def f(x, state):
    {{use}}

region = torch.compile(f{{options}})
"""
_GLOBAL = """
held = {initial}

def f(x):
    global held
    {{use}}

region = torch.compile(f{{options}})
"""
_CELL = """
def make():
    held = {initial}

    def f(x):
        nonlocal held
        {{use}}

    return f

region = torch.compile(make(){{options}})
"""
_OWN_OBJECT = """
class Worker:
    def __init__(self):
        self.held = {initial}

    def step(self, x):
        {{use}}

region = torch.compile(Worker().step{{options}})
"""
_GLOBAL_OBJECT = """
class State: pass

state = State()
state.held = {initial}

def f(x):
    {{use}}

region = torch.compile(f{{options}})
"""
_SUBMODULE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Identity()
        self.inner.held = {initial}

    def forward(self, x):
        {{use}}

model = Model()
region = torch.compile(model{{options}})
"""
_HELD_OBJECT = """
class State: pass

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = State()
        self.state.held = {initial}

    def forward(self, x):
        {{use}}

model = Model()
region = torch.compile(model{{options}})
"""
#: By where it is held: the region, how it is called, and how it is named there.
HOLDERS = {
    "attribute of the module": (_MODULE, "region(x)", "self.held"),
    "attribute of a submodule": (_SUBMODULE, "region(x)", "self.inner.held"),
    "attribute of an object that a module holds": (_HELD_OBJECT, "region(x)", "self.state.held"),
    "attribute of an argument": (_OBJECT, "region(x, state)", "state.held"),
    "attribute of the object of a method": (_OWN_OBJECT, "region(x)", "self.held"),
    "attribute of a global object": (_GLOBAL_OBJECT, "region(x)", "state.held"),
    "argument": (_ARGUMENT, "region(x, held)", "held"),
    "entry of a dict argument": (_ENTRY, "region(x, state)", "state['held']"),
    "global": (_GLOBAL, "region(x)", "held"),
    "cell": (_CELL, "region(x)", "held"),
}
#: By kind: what is held at first, and what the region does.
CHANGES = {
    "int counter": ("0", "{held} += 1\nreturn x * 2"),
    "used int counter": ("0", "{held} += 1\nreturn x * {held}"),
    "float sum": ("0.0", "{held} += 0.5\nreturn x * 2"),
    "tensor counter": ("torch.zeros(())", "{held} = {held} + 1\nreturn x * {held}"),
    "toggle": ("False", "{held} = not {held}\nreturn x * 2"),
    "list of numbers": ("[]", "{held}.append(1.0)\nreturn x * 2"),
    "list of tensors": ("[]", "{held}.append(x)\nreturn x * 2"),
    "dict": ("{}", '{held}[f"k{{len({held})}}"] = x\nreturn x * 2'),
    "one key": ("{}", '{held}["last"] = x\nreturn x * 2'),
    "replaced list": ("[]", "{held} = [*{held}, x]\nreturn x * 2"),
    "last tensor": ("None", "{held} = x * 2\nreturn {held}"),
    "growing tensor": ("torch.ones(2)", "{held} = torch.cat([{held}, x[:1]])\nreturn x * {held}.sum()"),
    "growing tensor from None": (
        "None",
        "{held} = x[:1] if {held} is None else torch.cat([{held}, x[:1]])\nreturn x * {held}.sum()",
    ),
    "growing buffer": ("nn.Buffer(torch.ones(2))", "{held} = torch.cat([{held}, x[:1]])\nreturn x * {held}.sum()"),
    "last size": ("None", "if {held} != x.shape:\n    {held} = x.shape\nreturn x * 2"),
    "sizes of an argument": ("None", "if {held} != x.shape:\n    {held} = x.shape\nreturn x * 2"),
    "size of an argument": ("0", "if {held} < x.shape[0]:\n    {held} = x.shape[0]\nreturn x * 2"),
}
#: Those that follow from a tensor of another size in each call.
_OF_SIZES = frozenset({"sizes of an argument", "size of an argument"})
#: Those that only modules hold.
_OF_MODULES = frozenset({"growing buffer"})
_MODULES = frozenset({"attribute of the module", "attribute of a submodule"})
#: Those that change what is there: of what an argument is bound to anew, a caller sees nothing.
_IN_PLACE = frozenset({"list of numbers", "list of tensors", "dict", "one key"})
#: The use that all of these have.
USE = "changed in the region"


def rows() -> Iterator[Row]:
    """All programs."""
    for holder, (region, call, name) in HOLDERS.items():
        for kind, (initial, change) in CHANGES.items():
            if holder == "argument" and kind not in _IN_PLACE:
                continue
            if kind in _OF_MODULES and holder not in _MODULES:
                continue
            for options in options_of(kind):
                body, text = change.format(held=name), region.format(initial=initial)
                given = call.replace("(x", "(torch.ones(value)") if kind in _OF_SIZES else call
                yield Row(holder, kind, USE, options, program(Kind("list(range(2, 14))"), text, body, given, options))
