"""All uses of a function in a project: its calls, and what is not a call."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from nonstrict.facts.scopes import FunctionNode
from nonstrict.fixes.context import Documents
from nonstrict.program import engine
from nonstrict.program.linking.project import Project


def uses(folder: Path, files: dict[str, str], path: str, name: str) -> tuple[list[str], list[str]]:
    """The calls of a function, and the obstacles, as `file:line`."""
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    paths = [str(folder / file) for file in files]
    documents = Documents(engine.machine(Project(), paths))
    document = documents.document(str(folder / path))
    assert document is not None
    nodes = (node for node in ast.walk(document.tree) if isinstance(node, FunctionNode))
    function = next(node for node in nodes if getattr(node, "name", "<lambda>") == name)
    found = documents.uses.of(document, function)
    calls = [f"{_relative(folder, call.document.path)}:{call.node.lineno}" for call in found.calls]
    return sorted(calls), sorted({f"{_relative(folder, span.path)}:{span.line}" for span in found.obstacles})


def _relative(folder: Path, path: str) -> str:
    return Path(path).relative_to(folder).as_posix()


DEFINED = "import torch\n\n\ndef g(x):\n    return x\n"


@pytest.mark.parametrize(
    ("files", "calls"),
    [
        # names, other names, attributes of modules
        ({"a.py": DEFINED, "b.py": "from a import g\ng(1)\n"}, ["b.py:2"]),
        ({"a.py": DEFINED, "b.py": "from a import g as h\nh(1)\nk = h\nk(2)\n"}, ["b.py:2", "b.py:4"]),
        ({"a.py": DEFINED, "b.py": "import a\nimport a as c\na.g(1)\nc.g(2)\n"}, ["b.py:3", "b.py:4"]),
        ({"a.py": DEFINED, "b.py": "from a import *\ng(1)\n"}, ["b.py:2"]),
        ({"a.py": DEFINED, "b.py": "def f():\n    from a import g\n    return g(1)\n"}, ["b.py:3"]),
        # other things of the same name
        ({"a.py": DEFINED, "b.py": "def g(x): ...\ng(1)\n"}, []),
        ({"a.py": DEFINED, "b.py": "import a\ndef f(g):\n    return g(1)\n"}, []),
        ({"a.py": DEFINED, "b.py": "from a import g\ndef f():\n    g = len\n    return g(1)\n"}, []),
        ({"a.py": DEFINED, "b.py": "from a import g\n[g(1) for g in (len,)]\n"}, []),
        ({"a.py": DEFINED, "b.py": "import a, c\nc.g(1)\n", "c.py": "def g(x): ...\n"}, []),
        # packages
        (
            {
                "pkg/__init__.py": "from .a import g\n__all__ = ['g']\n",
                "pkg/a.py": DEFINED,
                "pkg/sub/__init__.py": "",
                "pkg/sub/b.py": "from .. import g\nfrom ..a import g as h\ng(1)\nh(2)\n",
                "main.py": "import pkg\nimport pkg.a\npkg.g(1)\npkg.a.g(2)\n",
            },
            ["main.py:3", "main.py:4", "pkg/sub/b.py:3", "pkg/sub/b.py:4"],
        ),
        # wrappers that take the same
        ({"a.py": DEFINED + "g = torch._dynamo.nonstrict_trace(g)\ng(1)\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "f = torch.compile(g, fullgraph=True)\nf(1)\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "f = torch.compile(fullgraph=True)(g)\nf(1)\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "torch._dynamo.allow_in_graph(g)\ng(1)\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "torch.compile(torch._dynamo.nonstrict_trace(g))(1)\n"}, ["a.py:6"]),
        (
            {
                "m.py": "import torch\ndef mine(fn):\n    return torch._dynamo.nonstrict_trace(fn)\n",
                "a.py": "from m import mine\n\n@mine\ndef g(x):\n    return x\n\nh = mine(g)\nh(1)\n",
            },
            ["a.py:8"],
        ),
        (
            {"a.py": DEFINED + "HAS = True\nh = torch._dynamo.nonstrict_trace(g) if HAS else g\nh(1)\n"},
            ["a.py:8"],
        ),
        # recursion, nested functions, attributes that tell nothing of the parameters
        ({"a.py": "def g(x):\n    return g(x)\n"}, ["a.py:2"]),
        ({"a.py": "def f():\n    def g(x): ...\n    return g(1)\ng = 2\nprint(g)\n"}, ["a.py:3"]),
        ({"a.py": DEFINED + "print(g.__name__)\n"}, []),
        ({"a.py": DEFINED, "b.py": "try:\n    from a import g\nexcept ImportError:\n    g = None\ng(1)\n"}, ["b.py:5"]),
    ],
)
def test_calls(tmp_path: Path, files: dict[str, str], calls: list[str]):
    path = next(path for path in files if path.endswith("a.py"))
    assert uses(tmp_path, files, path, "g") == (calls, [])


@pytest.mark.parametrize(
    ("files", "obstacles"),
    [
        ({"a.py": DEFINED, "b.py": "from a import g\nmap(g, [1])\n"}, ["b.py:2"]),
        ({"a.py": DEFINED, "b.py": "from a import g\nTABLE = {'g': g}\n"}, ["b.py:2"]),
        ({"a.py": DEFINED, "b.py": "import a\ngetattr(a, 'g')(1)\n"}, ["b.py:2"]),
        ({"a.py": DEFINED, "b.py": "from unittest.mock import patch\nwith patch('a.g'): ...\n"}, ["b.py:2"]),
        ({"a.py": DEFINED + "globals()['g'](1)\n"}, ["a.py:6"]),
        ({"a.py": DEFINED, "b.py": "import a\na.g = len\n"}, ["b.py:2"]),
        ({"a.py": DEFINED + "def replace(new):\n    global g\n    g = new\n"}, ["a.py:8"]),
        ({"a.py": DEFINED + "def g(x, y): ...\n"}, ["a.py:6"]),
        ({"a.py": DEFINED + "g(*[1])\n"}, ["a.py:6"]),
        ({"a.py": DEFINED + "g(**{'x': 1})\n"}, ["a.py:6"]),
        ({"a.py": DEFINED + "import functools\nh = functools.partial(g, 1)\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "def f():\n    return g\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "class C:\n    m = g\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "class C: ...\nC.m = g\n"}, ["a.py:7"]),
        ({"a.py": DEFINED + "print(f'{g(1)}')\n"}, ["a.py:6"]),
        ({"a.py": DEFINED, "b.py": "import importlib\nm = importlib.import_module('a')\nm.g(1)\n"}, ["b.py:3"]),
        ({"a.py": DEFINED + "g.__wrapped__(1)\n"}, ["a.py:6"]),
        (
            {"a.py": "def keep(fn):\n    KEPT.append(fn)\n    return fn\n\nKEPT = []\n\n@keep\ndef g(x): ...\n"},
            ["a.py:8"],
        ),
        ({"a.py": "import jit\n\n@jit.script\ndef g(x): ...\n"}, ["a.py:4"]),
        (
            {"a.py": "from torch.library import custom_op\n\n@custom_op('m::g', mutates_args=())\ndef g(x): ...\n"},
            ["a.py:4"],
        ),
    ],
)
def test_obstacles(tmp_path: Path, files: dict[str, str], obstacles: list[str]):
    assert uses(tmp_path, files, "a.py", "g")[1] == obstacles


METHOD = "from torch import nn\n\n\nclass Base(nn.Module):\n    def g(self, x):\n        return x\n\n"


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("    def forward(self, x):\n        return self.g(x)\n", ["a.py:9"]),
        ("class Sub(Base):\n    def forward(self, x):\n        return self.g(x) + super().g(x)\n", ["a.py:10"] * 2),
        ("m = Base()\nm.g(1)\nBase.g(m, 2)\n", ["a.py:9", "a.py:10"]),
        ("def f():\n    m = Base()\n    return m.g(1)\n", ["a.py:10"]),
        ("def f(m: Base):\n    return m.g(1)\n", ["a.py:9"]),
        ("class Other:\n    def g(self, x): ...\n    def f(self):\n        return self.g(1)\n", []),
        ("m = Base()\nh = m.g\nh(1)\n", ["a.py:10"]),
    ],
)
def test_calls_of_methods(tmp_path: Path, code: str, calls: list[str]):
    found, obstacles = uses(tmp_path, {"a.py": METHOD + code}, "a.py", "g")
    assert (sorted(found), obstacles) == (sorted(calls), [])


@pytest.mark.parametrize(
    "code",
    [
        "def f(m):\n    return m.g(1)\n",
        "class Sub(Base):\n    g = staticmethod(len)\n",
        "class Sub(Base):\n    @staticmethod\n    def g(x):\n        return x\n",
        "class Sub(Base):\n    @cached\n    def g(self, x):\n        return x\n",
        "class Sub(Base):\n    def g(self, *all):\n        return super().g(*all)\n",
        "def f():\n    class Sub(Base):\n        def g(self, x): ...\n",
        "class Sub(Base):\n    def forward(self, x):\n        return map(self.g, x)\n",
        "    h = g\n",
        "class Sub(Base): ...\nSub.g = None\n",
    ],
)
def test_obstacles_of_methods(tmp_path: Path, code: str):
    assert uses(tmp_path, {"a.py": METHOD + code}, "a.py", "g")[1] != []


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("class Sub(Base):\n    def g(self, x):\n        return super().g(x)\nSub().g(1)\n", ["a.py:10", "a.py:11"]),
        ("class A(Base): ...\nclass B(A):\n    def g(self, x): ...\ndef f(a: A):\n    return a.g(1)\n", ["a.py:12"]),
        ("class A(Base):\n    def g(self, x): ...\nclass B(Base):\n    def f(self):\n        self.g(1)\n", ["a.py:12"]),
    ],
)  # fmt: skip
def test_calls_of_methods_that_are_overridden(tmp_path: Path, code: str, calls: list[str]):
    assert uses(tmp_path, {"a.py": METHOD + code}, "a.py", "g") == (calls, [])


HOLDER = "class N(nn.Module):\n    def __init__(self, m):\n        self.m = {}\n"
FORWARD = "import torch\nfrom torch import nn\n\n\nclass M(nn.Module):\n    def forward(self, x):\n        return x\n\n"


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("m = M()\nm(1)\nm.forward(2)\n", [10, 11]),
        ("M()(1)\nm = M().eval().to('cpu')\nm(2)\nprint(m.training, m)\n", [9, 11]),
        ("m = torch.compile(M(), fullgraph=True)\nm(1)\nisinstance(m, M)\n", [10]),
        ("def build() -> M:\n    return M()\nm = build()\nm(1)\n", [12]),
        ("def f(m: M, x):\n    return m(x)\nf(M(), 1)\nf(m=M(), x=2)\n", [10]),
        (HOLDER.format("M()") + "    def f(self, x):\n        return self.m(x)\n", [13]),
        (HOLDER.format("nn.ModuleList([M()])") + "    def f(self, x):\n        return self.m[0](x)\n", [13]),
        (HOLDER.format("nn.ModuleList(M() for _ in m)") + "        for one in self.m:\n            one(1)\n", [13]),
        ("ms = nn.ModuleList((M(), M()))\nprint([one(i) for i, one in enumerate(ms)], len(ms))\n", [10]),
        (HOLDER.format("m") + "    def f(self):\n        return self.m(1)\nN(M())\n", [13]),
        ("class N(M):\n    def forward(self, x):\n        return super().forward(x)\nn = N()\nn(1)\n", [11, 13]),
    ],
)  # fmt: skip
def test_calls_of_modules(tmp_path: Path, code: str, calls: list[int]):
    found, obstacles = uses(tmp_path, {"a.py": FORWARD + code}, "a.py", "forward")
    assert (sorted(found), obstacles) == (sorted(f"a.py:{line}" for line in calls), [])


@pytest.mark.parametrize(
    "code",
    [
        "m = nn.Sequential(M())\n",
        "ms = [M()]\n",
        "ms = nn.ModuleList([M(), len])\n",
        "ms = nn.ModuleList([M()])\nms.append(len)\n",
        "ms = nn.ModuleList([M()])\nfor i, one in zip([1], ms):\n    one(1)\n",
        "ms = nn.ModuleList([M()])\nfor one in ms:\n    one(1)\nfor one in [len]:\n    one(1)\n",
        "def f():\n    class N(M): ...\n    return N()(1)\n",
        "make = {'m': M}\n",
        "m = M()\nuse(m)\n",
        "def f(m):\n    return m(1)\nf(M())\nf(len)\n",
        "def f(m):\n    return m(1)\nf(M())\nmap(f, [len])\n",
        HOLDER.format("m") + "class O(N):\n    def __init__(self):\n        super().__init__(len)\nN(M())\n",
        "m = M()\nm = len\n",
        "m = M()\nm.register_forward_hook(len)\n",
        "m = M()\nfor part in m.children():\n    part(1)\n",
        "m = M()\nm(*[1])\n",
        HOLDER.format("M()") + "        self.m = len\n",
        HOLDER.format("M()") + "def f(n):\n    return n.m(1)\n",
        "class N(M):\n    forward = len\n",
        "import lib\nclass N(lib.Trainer, M):\n    def forward(self, x): ...\n",
    ],
)
def test_obstacles_of_modules(tmp_path: Path, code: str):
    assert uses(tmp_path, {"a.py": FORWARD + code}, "a.py", "forward")[1] != []


FACTORY = "def make(w):\n    def g(x):\n        return x * w\n\n    return g\n\n\n"


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("f = make(1)\nf(2)\nmake(3)(4)\n", [9, 10]),
        ("class C:\n    def __init__(self):\n        self.f = make(1)\n    def h(self):\n        self.f(2)\n", [12]),
        ("def again():\n    return make(1)\nf = again()\nf(2)\n", [11]),
    ],
)  # fmt: skip
def test_calls_of_what_a_factory_makes(tmp_path: Path, code: str, calls: list[int]):
    found, obstacles = uses(tmp_path, {"a.py": FACTORY + code}, "a.py", "g")
    assert (sorted(found), obstacles) == (sorted(f"a.py:{line}" for line in calls), [])


@pytest.mark.parametrize(
    "code",
    [
        "",
        "fs = [make(1)]\n",
        "map(make, [1])\n",
        "f = make(1)\nf = make(2)\nf(3)\n",
        "class C:\n    def __init__(self):\n        self.f = make(1)\nC.f = None\n",
        "class C:\n    f = make(1)\n",
        "class C:\n    def __init__(self):\n        self.f = make(1)\n    def get(self):\n        return self.f\n",
        "class C:\n    def __init__(self):\n        self.f = make(1)\ndef h(c: C):\n    getattr(c, 'f')(1)\n",
        "class C:\n    def __init__(self):\n        self.f = make(1)\n    def f(self): ...\n",
        "class C:\n    def __init__(self):\n        self.f = make(1)\nclass D(C):\n    f = 1\n",
        "def h(c):\n    c.f(1)\nclass C:\n    def __init__(self):\n        self.f = make(1)\n",
    ],
)
def test_obstacles_of_what_a_factory_makes(tmp_path: Path, code: str):
    assert uses(tmp_path, {"a.py": FACTORY + code}, "a.py", "g")[1] != []


def test_a_factory_that_returns_something_else_too(tmp_path: Path):
    code = "def make(w):\n    def g(x): ...\n    if w:\n        return len\n    return g\nf = make(1)\nf(2)\n"
    assert uses(tmp_path, {"a.py": code}, "a.py", "g")[1] != []


def test_lambdas(tmp_path: Path):
    assert uses(tmp_path, {"a.py": "f = lambda x: x\nf(1)\n"}, "a.py", "<lambda>") == (["a.py:2"], [])
    assert uses(tmp_path, {"a.py": "f = [lambda x: x]\nf[0](1)\n"}, "a.py", "<lambda>")[1] == ["a.py:1"]


@pytest.mark.parametrize(
    ("cell", "obstacle"),
    [
        ("%timeit g(1)", True),
        ("%time y = g(1)", True),
        ("%%timeit z = g(1)\nz", True),
        ("times = %timeit -o g(1)", True),
        ("%timeit h(1)", False),
        ("%%timeit\ng(1)", False),
        ("print(1 % 2)  # g(1)", False),
    ],
)
def test_magics_of_notebooks(tmp_path: Path, cell: str, obstacle: bool):
    cells = [{"cell_type": "code", "source": text} for text in (DEFINED, "g(1)", cell)]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})
    assert bool(uses(tmp_path, {"n.ipynb": text}, "n.ipynb", "g")[1]) == obstacle
