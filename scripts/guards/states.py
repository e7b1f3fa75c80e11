"""What varies besides plain values: tensors, containers, objects and functions, and the state of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guards.grammar import OPTIONS, SOURCES, Kind, Row, options_of, program

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Sources that hand over any object.
_OF_OBJECTS = (
    "argument",
    "default",
    "attribute of the module",
    "attribute of an argument",
    "attribute of a global object",
    "global",
    "cell",
    "entry of a dict argument",
    "entry of a list argument",
    "entry of a tuple argument",
    "entry of a global dict",
)

_DTYPES = """
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32]
DTYPES += [torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64, torch.complex128]
"""
TENSORS = {
    "tensor": Kind("[torch.full((4,), float(i)) for i in range(12)]"),
    "size": Kind("[torch.ones(i) for i in range(2, 14)]"),
    "size from 0": Kind("[torch.ones(i) for i in range(12)]"),
    "last size": Kind("[torch.ones(4 if i < 11 else 3) for i in range(12)]"),
    "two sizes": Kind("[torch.ones(i, i + 1) for i in range(2, 14)]"),
    "rank": Kind("[torch.ones((2,) * (1 + i)) for i in range(12)]"),
    "strides": Kind("[torch.ones(4, 4).t() if i % 2 else torch.ones(4, 4) for i in range(12)]"),
    "view": Kind("[torch.ones(8)[4:] if i % 2 else torch.ones(4) for i in range(12)]"),
    "dtype": Kind("[torch.ones(4, dtype=dtype) for dtype in DTYPES]", _DTYPES),
    "device": Kind('[torch.ones(4, device="meta" if i % 2 else "cpu") for i in range(12)]'),
    "requires_grad": Kind("[torch.ones(4, requires_grad=i % 2 == 0) for i in range(12)]"),
    "parameter": Kind("[nn.Parameter(torch.ones(4)) if i % 2 else torch.ones(4) for i in range(12)]"),
    "size of a parameter": Kind("[nn.Parameter(torch.ones(i)) for i in range(2, 14)]"),
    "None or tensor": Kind("[None if i % 2 else torch.ones(4) for i in range(12)]"),
}
_TENSOR_USES = {
    "arithmetic": ("return v * 2", tuple(kind for kind in TENSORS if kind != "None or tensor")),
    "branch": ("return x + 1 if v is None else x + v.sum()", ("None or tensor",)),
    "operator parameter": ("return F.layer_norm(x[:4], (4,), v)", ("None or tensor",)),
    "branch on a size": ("return v + 1 if v.shape[0] > 6 else v - 1", ("size", "size from 0")),
    "equal size": ("return v + 1 if v.shape[0] == 6 else v - 1", ("size", "size from 0")),
    "loop over a size": ("for _ in range(v.shape[0]):\n    x = x + 1\nreturn x", ("size",)),
    "loop over entries": ("for entry in v:\n    x = x + entry\nreturn x", ("size",)),
    "reshape": ("return v.reshape(-1, 1) * 2", ("size", "size from 0", "strides")),
    "size as a number": ("return x * v.shape[0]", ("size", "size from 0")),
    "size as a position": ("return x * ROW[v.shape[0]]", ("size",)),
    "size as a key": ("return x * dict(enumerate(ROW))[v.shape[0]]", ("size",)),
    "size in a text": ('return x * len(f"k{v.shape[0]}")', ("size",)),
}

TYPES = {
    "type": Kind("[torch.ones(4), 3, 2.5, True] * 3"),
    "type of a plain value": Kind('[3, 2.5, "a", None] * 3'),
}
_TYPE_USES = {
    "arithmetic": ("return x.sum() * v", ("type",)),
    "branch": ("return x + 1 if v else x - 1", ("type of a plain value",)),
}

CONTAINERS = {
    "list length": Kind("[[torch.ones(2)] * i for i in range(1, 13)]"),
    "length of a list of numbers": Kind("[[1.0] * i for i in range(1, 13)]"),
    "tuple length": Kind("[(torch.ones(2),) * i for i in range(1, 13)]"),
    "keys": Kind('[{f"k{j}": torch.ones(2) for j in range(i)} for i in range(1, 13)]'),
    "order of keys": Kind('[dict.fromkeys("ab" if i % 2 else "ba", 1.0) for i in range(12)]'),
    "set": Kind("[set(range(i)) for i in range(1, 13)]"),
    "list of flags": Kind("[[bool(i >> j & 1) for j in range(4)] for i in range(12)]"),
    "tuple of flags": Kind("[tuple(bool(i >> j & 1) for j in range(4)) for i in range(12)]"),
    "deque length": Kind("[collections.deque([torch.ones(2)] * i) for i in range(1, 13)]", "import collections"),
}
_CONTAINER_USES = {
    "loop": (
        "for entry in v:\n    x = x + entry\nreturn x",
        ("length of a list of numbers", "set"),
    ),
    "stack": ("return x.sum() + torch.stack(list(v)).sum()", ("list length", "tuple length", "deque length")),
    "branch": (
        "x = x * 2\nfor flag in v:\n    if flag:\n        x = x + 1\nreturn x",
        ("list of flags", "tuple of flags"),
    ),
    "length": ("return x * len(v)", tuple(CONTAINERS)),
    "last": ("return x.sum() + v[-1]", ("list length", "length of a list of numbers", "tuple length")),
    "values": ("for entry in v.values():\n    x = x + entry.sum()\nreturn x", ("keys",)),
    "one key": ('return x * v["a"]', ("order of keys",)),
    "contains": ('return x * ("k3" in v)', ("keys",)),
    "unused": ("w = v\nreturn x + 1", tuple(CONTAINERS)),
}

_CLASSES = """
class Base:
    def __call__(self, x):
        return x * 2

CLASSES = [type(f"C{i}", (Base,), {}) for i in range(12)]

class Layer(nn.Module):
    def forward(self, x):
        return x * 2

LAYERS = [type(f"L{i}", (Layer,), {}) for i in range(12)]

def scaled(by):
    return lambda x: x * by

def times(x, by):
    return x * by
"""
_OPERATORS = """
OPERATORS = [torch.sin, torch.cos, torch.tan, torch.exp, torch.abs, torch.neg]
OPERATORS += [torch.asin, torch.acos, torch.atan, torch.tanh, torch.sigmoid, torch.erf]
"""
OBJECTS = {
    "object of one class": Kind("[Base() for _ in range(12)]", _CLASSES),
    "object of another class": Kind("[cls() for cls in CLASSES]", _CLASSES),
    "module of one class": Kind("[Layer() for _ in range(12)]", _CLASSES),
    "module of another class": Kind("[cls() for cls in LAYERS]", _CLASSES),
    "class": Kind("CLASSES", _CLASSES),
    "lambda of one text": Kind("[lambda x: x * 2 for _ in range(12)]"),
    "lambda of another text": Kind('[eval(f"lambda x: x * {i}") for i in range(12)]'),
    "closure over a number": Kind("[scaled(i) for i in range(2, 14)]", _CLASSES),
    "partial with a number": Kind("[functools.partial(times, by=i) for i in range(2, 14)]", _CLASSES),
    "bound method": Kind("[Layer().forward for _ in range(12)]", _CLASSES),
    "operator of torch": Kind("OPERATORS", _OPERATORS),
}
_CALLED = tuple(kind for kind in OBJECTS if kind != "class")
_OBJECT_USES = {
    "call": ("return v(x)", _CALLED),
    "isinstance": ("return x + 1 if isinstance(v, nn.Module) else x - 1", tuple(OBJECTS)),
    "unused": ("w = v\nreturn x + 1", tuple(OBJECTS)),
}

_MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.layer(x))

model = Model()
region = torch.compile(model{options})
"""
_OPTIMIZER = """
layer = nn.Linear(4, 4)
for parameter in layer.parameters():
    parameter.grad = torch.ones_like(parameter)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
region = torch.compile(optimizer.step{options})
"""
#: State of torch that a call meets, and what is compiled: how it is set, and how the region is called. `counting` is
#: the backend that counts.
STATES = {
    "grad mode": ("[i % 2 == 0 for i in range(12)]", "with torch.set_grad_enabled(value):\n    region(x)"),
    "inference mode": ("[i % 2 == 0 for i in range(12)]", "with torch.inference_mode(value):\n    region(x)"),
    "autocast": ("[i % 2 == 0 for i in range(12)]", 'with torch.autocast("cpu", enabled=value):\n    region(x)'),
    "grad and inference mode": (
        "[torch.enable_grad, torch.no_grad, torch.inference_mode] * 4",
        "with value():\n    region(x)",
    ),
    "autocast and its dtype": (
        "[None, torch.float16, torch.bfloat16] * 4",
        'with torch.autocast("cpu", value, enabled=value is not None):\n    region(x)',
    ),
    "training mode": ("[i % 2 == 0 for i in range(12)]", "model.train(value)\nregion(x)"),
    "default dtype": ("[torch.float32, torch.float64] * 6", "torch.set_default_dtype(value)\nregion(x)"),
    "threads": ("[1, 2] * 6", "torch.set_num_threads(value)\nregion(x)"),
    "deterministic": ("[i % 2 == 0 for i in range(12)]", "torch.use_deterministic_algorithms(value)\nregion(x)"),
    "frozen parameters": (
        "[i % 2 == 0 for i in range(12)]",
        "for parameter in model.parameters():\n    parameter.requires_grad_(value)\nregion(x)",
    ),
    "loaded parameters": ("list(range(12))", "model.load_state_dict(model.state_dict())\nregion(x)"),
    "replaced parameter": ("list(range(12))", "model.layer.weight = nn.Parameter(torch.ones(4, 16))\nregion(x)"),
    "replaced submodule": ("list(range(12))", "model.layer = nn.Linear(16, 4)\nregion(x)"),
    "one more hook": ("list(range(12))", "model.layer.register_forward_hook(lambda *_: None)\nregion(x)"),
    "hooks after the first call": (
        "list(range(12))",
        "if value:\n    model.layer.register_forward_hook(lambda *_: None)\nregion(x)",
    ),
    "a new region at each call": ("list(range(12))", "torch.compile(model)(x)"),
    "a new function at each call": (
        "list(range(12))",
        "def scale(x):\n    return x * 2\n\ntorch.compile(scale)(x)",
    ),
    "another `dynamic` of one function": ("[None, True, False] * 4", "torch.compile(model.forward, dynamic=value)(x)"),
    "another backend object": (
        "list(range(12))",
        "torch.compile(model, backend=functools.partial(counting))(x)",
    ),
    "rate of an optimizer": (
        "[0.1 / (i + 1) for i in range(12)]",
        'optimizer.param_groups[0]["lr"] = value\nregion()',
    ),
    "thread": ("list(range(12))", "worker = threading.Thread(target=region, args=(x,))\nworker.start()\nworker.join()"),
}
#: What is compiled where it is no model.
_REGIONS = {"rate of an optimizer": _OPTIMIZER}

#: Their uses, in an order to read them in.
USES = (*_TENSOR_USES, *_CONTAINER_USES, *_OBJECT_USES)
_OBJECTS = (
    (TENSORS, _TENSOR_USES),
    (TYPES, _TYPE_USES),
    (CONTAINERS, _CONTAINER_USES),
    (OBJECTS, _OBJECT_USES),
)


def rows() -> Iterator[Row]:
    """All programs of this file."""
    for kinds, uses in _OBJECTS:
        for use, (body, of) in uses.items():
            for kind in of:
                for source in _OF_OBJECTS:
                    region, call = SOURCES[source]
                    for options in options_of(kind):
                        yield Row(source, kind, use, options, program(kinds[kind], region, body, call, options))
    for state, (values, call) in STATES.items():
        for options in OPTIONS:
            kind = Kind(values, "import threading" if "threading" in call else "")
            yield Row(state, "", "", options, program(kind, _REGIONS.get(state, _MODEL), "", call, options))
