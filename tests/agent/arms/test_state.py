"""What a call changes: what the program keeps, and the modes and settings of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import HEAD, effects

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch


def changed(project: Project, setup: str, *body: str, **fields: Any) -> dict[str, Any]:
    """The state that the body of a region changes."""
    text = f"{HEAD}{setup}\n\n@torch.compile\ndef region(x):\n" + "".join(f"    {line}\n" for line in body)
    (call,) = project.calls(f"{text}    return x\n\ndef main():\n    region(torch.ones(2))\n", **fields)
    return effects(call)


CLASS = "class C:\n    total = 0\n    def __init__(self):\n        self.n = 0\n        self.inner = [1]\n\nc = C()\n"
SLOTS = (
    "class Base:\n    __slots__ = ('a',)\n\nclass C(Base):\n    __slots__ = ('b', 'unset')\n\nc = C()\nc.a = c.b = 0\n"
)
DATACLASS = "import dataclasses\n@dataclasses.dataclass\nclass C:\n    n: int = 0\n\nc = C()\n"
CLOSURE = """\
def make():
    count = 0
    def step():
        nonlocal count
        count += 1
    return step

step = make()
"""
WRAPPED = """\
import functools

def counted(function):
    seen = []
    @functools.wraps(function)
    def wrapper():
        seen.append(1)
        return function()
    return wrapper

@counted
def step():
    pass
"""
MODULE = """\
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))
        self.linear = torch.nn.Linear(1, 1)
        self.history = []

m = M()
"""
NAMES = "import collections, types, enum\n"
STATE: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "number": ("N = 1", ["global N", "N += 1"], {"N": ["int 1", "int 2"]}),
    "class of a number": ("N = 1", ["global N", "N = 1.0"], {"N": ["int 1", "float 1.0"]}),
    "truth": ("N = 1", ["global N", "N = True"], {"N": ["int 1", "bool True"]}),
    "negative zero": ("N = 0.0", ["global N", "N = -0.0"], {"N": ["float 0.0", "float -0.0"]}),
    "new global": ("", ["global N", "N = 'a'"], {"N": [None, "str 'a'"]}),
    "deleted global": ("N = None", ["global N", "del N"], {"N": ["NoneType None", None]}),
    "list": ("L = [1]", ["L.append(2)"], {"L": ["list[1]", "list[2]"], "L[1]": [None, "int 2"]}),
    "list item": ("L = [1]", ["L[0] = 5"], {"L[0]": ["int 1", "int 5"]}),
    "dict": ("D = {}", ["D['k'] = 1"], {"D": ["dict[0]", "dict[1]"], "D['k']": [None, "int 1"]}),
    "dict in a list": ("D = [{'a': (1, 2)}]", ["D[0]['a'] = (1, 3)"], {"D[0]['a'][1]": ["int 2", "int 3"]}),
    "set": ("S = {1}", ["S.add(2)"], {"S": ["set ['1']", "set ['1', '2']"]}),
    "deque": (NAMES + "D = collections.deque([1])", ["D.append(2)"],
              {"D": ["deque[1]", "deque[2]"], "D[1]": [None, "int 2"]}),
    "default dict": (NAMES + "D = collections.defaultdict(int)", ["D['a'] += 1"],
                     {"D": ["defaultdict[0]", "defaultdict[1]"], "D['a']": [None, "int 1"]}),
    "counter": (NAMES + "D = collections.Counter('a')", ["D.update('a')"], {"D['a']": ["int 1", "int 2"]}),
    "bytes": ("B = bytearray(b'ab')", ["B[0] = 0"],
              {"B": ["bytearray bytearray(b'ab')", "bytearray bytearray(b'\\x00b')"]}),
    "array": ("import array\nA = array.array('i', [1])", ["A[0] = 2"],
              {"A": ["array array('i', [1])", "array array('i', [2])"]}),
    "attribute": (CLASS, ["c.n += 1"], {"c.n": ["int 0", "int 1"]}),
    "new attribute": (CLASS, ["c.new = 1"], {"c": ["C[2]", "C[3]"], "c.new": [None, "int 1"]}),
    "list of an object": (CLASS, ["c.inner[0] = 2"], {"c.inner[0]": ["int 1", "int 2"]}),
    "class attribute": (CLASS, ["C.total += 1"], {"C.total": ["int 0", "int 1"]}),
    "slots": (SLOTS, ["c.a = 1", "c.b = 2", "c.unset = 3"],
              {"c": ["C[2]", "C[3]"], "c.a": ["int 0", "int 1"], "c.b": ["int 0", "int 2"],
               "c.unset": [None, "int 3"]}),
    "dataclass": (DATACLASS, ["c.n = 4"], {"c.n": ["int 0", "int 4"]}),
    "namespace": (NAMES + "c = types.SimpleNamespace(n=0)", ["c.n = 4"], {"c.n": ["int 0", "int 4"]}),
    "closure": (CLOSURE, ["step()"], {"count": ["int 0", "int 1"]}),
    "closure of a decorator": (WRAPPED, ["step()"], {"seen": ["list[0]", "list[1]"], "seen[0]": [None, "int 1"]}),
    "function attribute": ("def f(): pass\nf.calls = 0", ["f.calls += 1"], {"f.calls": ["int 0", "int 1"]}),
    "mutable default": ("def f(a, seen=[]): seen.append(a)", ["f(1)"],
                        {"f's default 1": ["list[0]", "list[1]"], "f's default 1[0]": [None, "int 1"]}),
    "default of a method": ("class C:\n    def f(self, seen=[]): seen.append(1)", ["C().f()"],
                            {"C.f's default 1": ["list[0]", "list[1]"], "C.f's default 1[0]": [None, "int 1"]}),
    "attribute of a module": (MODULE, ["m.history.append(1)"],
                              {"m.history": ["list[0]", "list[1]"], "m.history[0]": [None, "int 1"]}),
    "training": (MODULE, ["m.eval()"],
                 {"m.training": ["bool True", "bool False"], "m.linear.training": ["bool True", "bool False"]}),
    "date": ("import datetime\nD = datetime.date(2000, 1, 1)", ["global D", "D = D.replace(year=2001)"],
             {"D": ["date datetime.date(2000, 1, 1)", "date datetime.date(2001, 1, 1)"]}),
    "path": ("import pathlib\nP = pathlib.PurePosixPath('a')", ["global P", "P = P / 'b'"],
             {"P": ["PurePosixPath PurePosixPath('a')", "PurePosixPath PurePosixPath('a/b')"]}),
    "counting": ("import itertools\nC = itertools.count()", ["next(C)"], {"C": ["count count(0)", "count count(1)"]}),
    "enumeration": (NAMES + "E = enum.Enum('E', 'A B')\nS = E.A", ["global S", "S = E.B"],
                    {"S._value_": ["int 1", "int 2"], "S._name_": ["str 'A'", "str 'B'"],
                     "S._sort_order_": ["int 0", "int 1"]}),
    "function": ("def f(): pass\ndef g(): pass\nT = [f]", ["T[0] = g"], {"T[0]": ["function f", "function g"]}),
    "nothing": (CLASS + MODULE + CLOSURE, ["L = [1]", "L.append(2)", "x = m.linear(x[:1])"], {}),
    "what was there already": ("L = [1]\nD = {}", ["L[0] = 1", "D.setdefault('a', 1)", "D.clear()"], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", STATE)
def test_state_that_a_call_changes(project: Project, name: str) -> None:
    setup, body, expected = STATE[name]
    assert changed(project, setup, *body) == expected


TENSORS = {
    "elements": ("T = torch.zeros(2)", "T.add_(1)", "T"),
    "a view": ("T = torch.zeros(2)\nV = T[:1]", "V.add_(1)", "T V"),
    "shape": ("T = torch.zeros(2)", "T.unsqueeze_(0)", "T"),
    "whether a gradient is required": ("T = torch.zeros(2)", "T.requires_grad_()", "T"),
    "attribute": ("T = torch.zeros(2)", "T.note = 1", "T"),
    "buffer": (MODULE, "m.mean.add_(1)", "m.mean"),
    "replaced buffer": (MODULE, "m.mean = torch.ones(1)", "m.mean"),
    "parameter": (MODULE, "m.linear.weight.data.fill_(7.0)", "m.linear.weight"),
    "running mean": ("m = torch.nn.BatchNorm1d(1)", "m(x[:, None])",
                     "m.num_batches_tracked m.running_mean m.running_var"),
    "large": ("T = torch.zeros(1000)", "T[999] = 1", "T"),
    "sparse": ("T = torch.eye(2).to_sparse()", "T.mul_(2)", "T"),
    "nested": ("T = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])", "T.mul_(2)", "T"),
    "NumPy": ("import numpy\nT = numpy.zeros(2)\nN = numpy.float32(0)",
              "T[:] = 1; globals().update(N=numpy.float32(1))", "N T"),
    "the same": ("T = torch.zeros(2)", "T.add_(0)", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_that_a_call_changes(project: Project, name: str) -> None:
    setup, body, paths = TENSORS[name]
    assert sorted(changed(project, setup, body)) == paths.split()


def test_fingerprints_of_tensors_are_legible(project: Project) -> None:
    found = changed(project, "T = torch.zeros(2, 3, dtype=torch.int32)", "T.add_(1)")
    before, after = (text.rsplit(" ", 1) for text in found["T"])
    assert before[0] == after[0] == "tensor int32 [2, 3]"
    assert before[1] != after[1]


def test_what_cannot_be_shown_or_ends_nowhere(project: Project) -> None:
    setup = """\
import math
HUGE = math.factorial(3000)
class Odd:
    def __repr__(self):
        raise ValueError
ODD = {Odd()}
LOOP = []
LOOP.append(LOOP)
class Lazy:
    def __getattr__(self, name):
        raise RuntimeError(name)
LAZY = Lazy()
DEEP = [[[[[[[[1]]]]]]]]
LONG = list(range(1000))
"""
    found = changed(project, setup, "global HUGE", "HUGE += 1", "LOOP.append(1)", "LONG[999] = 0")
    assert set(found) == {"HUGE", "LOOP", "LOOP[1]"}
    assert len(found["HUGE"][0]) < 60


def test_state_of_several_modules_carries_their_names(project: Project) -> None:
    project.write("helper.py", "N = 0\n")
    found = changed(project, "import helper\nN = 1\n", "helper.N += 1", "global N", "N += 1")
    assert found == {"helper.N": ["int 0", "int 1"], "model.N": ["int 1", "int 2"]}


def test_modules_that_are_not_the_users_are_left_alone(project: Project) -> None:
    project.write("site-packages/installed.py", "N = 0\n")
    paths = [str(project.directory / "site-packages")]
    assert changed(project, "import installed, json", "installed.N += 1", "json.new = 1", further=paths) == {}


def test_a_compiled_module_is_watched_though_no_global_holds_it(project: Project) -> None:
    text = (
        HEAD
        + """
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x

    def method(self, x):
        self.calls += 10
        return x

def main():
    torch.compile({model})(torch.ones(1))
"""
    )
    for model, after in (("M()", "int 1"), ("M().method", "int 10")):
        (call,) = project.calls(text.replace("{model}", model))
        assert effects(call) == {"M.calls": ["int 0", after]}


def test_what_changes_between_calls_is_told_apart(project: Project) -> None:
    text = HEAD + """\
N = 0

@torch.compile
def region(x):
    global N
    N += 1
    return x

def main():
    global N
    region(torch.ones(1))
    N = 5
    region(torch.ones(1))
"""  # fmt: skip
    first, second = project.calls(text)
    assert first["between"] == {}
    assert second["between"]["N"] == ["int 1", "int 5"]
    assert effects(second) == {"N": ["int 5", "int 6"]}


AMBIENT: dict[str, tuple[str, list[str] | None]] = {
    "grad mode": ("torch.set_grad_enabled(False)", ["True", "False"]),
    "default dtype": ("torch.set_default_dtype(torch.float64)", ["torch.float32", "torch.float64"]),
    "deterministic algorithms": ("torch.use_deterministic_algorithms(True)", ["False", "True"]),
    "float32 matmul precision": ("torch.set_float32_matmul_precision('high')", ["highest", "high"]),
    "number of threads": ("torch.set_num_threads(2)", ["1", "2"]),
    "environment variables": ("os.environ['ARMS'] = '1'", None),
    "module search path": ("sys.path.append('/nowhere')", None),
    "recursion limit": ("sys.setrecursionlimit(1234)", ["1000", "1234"]),
    "warning filters": ("warnings.simplefilter('error')", None),
    "root logger's level": ("logging.getLogger().setLevel(10)", ["30", "10"]),
}


@pytest.mark.parametrize("name", AMBIENT)
def test_modes_that_a_call_changes(project: Project, name: str) -> None:
    body, expected = AMBIENT[name]
    found = changed(project, "import logging, os, sys, warnings", body)
    assert set(found) == {f"<{name}>"}
    assert expected is None or found[f"<{name}>"] == expected


def test_the_working_directory(project: Project) -> None:
    (project.directory / "data").mkdir()
    found = changed(project, "import os", "os.chdir('data')")
    assert found == {"<working directory>": [str(project.directory), str(project.directory / "data")]}


def test_random_numbers_that_a_call_draws(project: Project) -> None:
    text = HEAD + "import random\nimport numpy\n@torch.compile\ndef region(x):\n    {draw}\n    return x\n\n"
    text += "def main():\n    region(torch.ones(1))\n"
    drawn = {
        draw: set(project.calls(text.replace("{draw}", draw))[0]["state"])
        for draw in ("random.random()", "numpy.random.rand()", "random.Random(0).random()")
    }
    assert list(drawn.values()) == [{"<random state>"}, {"<NumPy's random state>"}, set()]
