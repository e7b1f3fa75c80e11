"""What a traced function captures is passed to it: through helpers, in all files, in the style of the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fixes.projects import changed, mended

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\nfrom torch import nn\n\n"
REGION = "\n\n@torch.compile(fullgraph=True)\ndef f(x):\n    return g(x)\n"


def check(folder: Path, codes: str, before: dict[str, str], after: dict[str, str], left: tuple[str, ...] = ()) -> None:
    """The texts after all fixes of some rules, and what is found in them; another round changes nothing."""
    found = mended(folder, before, set(codes.split()))
    assert found.files == after
    assert found.titles
    assert tuple(found.after) == left
    assert not set(found.after) - set(found.before)


@pytest.mark.parametrize(
    ("code", "text", "lines"),
    [
        pytest.param(
            "NST101",
            "W = torch.ones(3)\n\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n    return x * W + W\n" + REGION,
            [("def g(x)", "def g(x, W)"), ("return g(x)", "return g(x, W)")],
            id="a global",
        ),
        pytest.param(
            "NST101",
            "W = torch.ones(3)\n\n\ndef first(x):\n    return second(x) + (lambda y: second(y))(x)\n\n\n"
            "def second(x):\n    return x * W\n\n\n"
            "@torch._dynamo.nonstrict_trace\ndef g(x):\n    return first(x)\n" + REGION + "\n\nsecond(torch.ones(3))\n",
            [
                ("def first(x)", "def first(x, W)"),
                ("second(x) +", "second(x, W) +"),
                ("second(y)", "second(y, W)"),
                ("def second(x)", "def second(x, W)"),
                ("def g(x)", "def g(x, W)"),
                ("return first(x)", "return first(x, W)"),
                ("return g(x)", "return g(x, W)"),
                ("second(torch.ones(3))", "second(torch.ones(3), W)"),
            ],
            id="through helpers, and in their other calls",
        ),
        pytest.param(
            "NST101 NST104",
            "class C:\n    scale = 2.0\n    table = {'w': torch.ones(3)}\n\n\n"
            "def g(x, y=1, **more):\n    return x * C.scale + C.table['w'] * C.scale + y\n\n\n"
            "g = torch._dynamo.nonstrict_trace(g)\nf = torch.compile(lambda x: g(x, y=2), fullgraph=True)\n\n\n"
            "def main():\n    C.scale = 3.0\n    f(torch.ones(3))\n",
            [
                ("def g(x, y=1, **more)", "def g(x, y=1, *, scale, w, **more)"),
                ("x * C.scale + C.table['w'] * C.scale", "x * scale + w * scale"),
                ("g(x, y=2)", "g(x, y=2, scale=C.scale, w=C.table['w'])"),
            ],
            id="attributes and entries, by name where others have defaults",
        ),
        pytest.param(
            "NST101",
            "W = torch.ones(3)\n\n\n@torch._dynamo.nonstrict_trace\ndef g(\n    x: torch.Tensor,\n    n: int,\n):\n"
            "    return x * W * n\n\n\n@torch.compile(fullgraph=True)\n"
            "def f(x):\n    return g(\n        x,\n        n=1,\n"
            "    ) + g(x, 2)\n",
            [
                ("    n: int,\n)", "    n: int,\n    W: torch.Tensor,\n)"),
                ("        n=1,\n", "        n=1,\n        W=W,\n"),
                ("g(x, 2)", "g(x, 2, W)"),
            ],
            id="annotations, one on each line, by name behind names",
        ),
        pytest.param(
            "NST101",
            "class C:\n    w = torch.ones(3)\n\n\ndef h(x, w):\n    return x * C.w + w\n\n\n"
            "@torch._dynamo.nonstrict_trace\ndef g(x):\n    return h(x, 1)\n" + REGION,
            [
                ("def h(x, w)", "def h(x, w, c_w)"),
                ("x * C.w + w", "x * c_w + w"),
                ("def g(x)", "def g(x, c_w)"),
                ("h(x, 1)", "h(x, 1, c_w)"),
                ("return g(x)", "return g(x, C.w)"),
            ],
            id="another name where this one is taken",
        ),
        pytest.param(
            "NST101",
            "W = torch.ones(3)\ng = torch._dynamo.nonstrict_trace(lambda x: x * W)\n" + REGION,
            [("lambda x:", "lambda x, W:"), ("return g(x)", "return g(x, W)")],
            id="a lambda",
        ),
        pytest.param(
            "NST101",
            "W = torch.ones(3)\n\n\n@torch._dynamo.nonstrict_trace\n"
            "def g(x, n=1):\n    if n:\n        return g(x, n - 1)\n"
            "    return x * W\n" + REGION,
            [
                ("def g(x, n=1)", "def g(x, n=1, *, W)"),
                ("g(x, n - 1)", "g(x, n - 1, W=W)"),
                ("return g(x)", "return g(x, W=W)"),
            ],
            id="recursion",
        ),
        pytest.param(
            "NST101",
            "TABLE = [torch.ones(3), torch.zeros(3)]\n\n\n@torch._dynamo.nonstrict_trace\ndef g(x, i=0):\n"
            "    return x * TABLE[i] + sum(TABLE)\n" + REGION,
            [("i=0)", "i=0, *, TABLE)"), ("return g(x)", "return g(x, TABLE=TABLE)")],
            id="the container where the key is not known",
        ),
        pytest.param(
            "NST101",
            "class M(nn.Module):\n    @torch._dynamo.nonstrict_trace\n    def g(self, x):\n        return x * W\n\n\n"
            "W = torch.ones(3)\n\n\nclass N(M):\n    def forward(self, x):\n"
            "        return self.g(x) + super().g(x=x)\n\n\n"
            "n = N()\nf = torch.compile(n, fullgraph=True)\nM.g(n, torch.ones(3))\n",
            [
                ("def g(self, x)", "def g(self, x, W)"),
                ("self.g(x)", "self.g(x, W)"),
                ("g(x=x)", "g(x=x, W=W)"),
                ("M.g(n, torch.ones(3))", "M.g(n, torch.ones(3), W)"),
            ],
            id="a method",
        ),
        pytest.param(
            "NST102 NST104",
            "def make(w, n):\n    @torch._dynamo.nonstrict_trace\n    def g(x):\n        return x * w + n\n\n"
            "    @torch.compile(fullgraph=True)\n    def f(x):\n        return g(x)\n\n"
            "    def change(other):\n        nonlocal n\n        n = other\n\n"
            "    return f, change\n\n\nf, change = make(torch.ones(3), 1)\n",
            [("def g(x)", "def g(x, w, n)"), ("return g(x)", "return g(x, w, n)")],
            id="cells",
        ),
        pytest.param(
            "NST102",
            "W = torch.ones(3)\n\n\n@torch._dynamo.nonstrict_trace\ndef g(x, w=W):\n    return x * w\n" + REGION,
            [("w=W", "w"), ("return g(x)", "return g(x, w=W)")],
            id="a default",
        ),
        pytest.param(
            "NST102 NST204",
            "class S:\n    def __init__(self):\n        self.w = torch.ones(3)\n\n    def g(self, x):\n"
            "        self.w.add_(1)\n        return x * self.w\n\n\ns = S()\ng = torch._dynamo.nonstrict_trace(s.g)\n"
            + REGION,
            [
                ("def g(self, x)", "def g(self, x, w)"),
                ("self.w.add_", "w.add_"),
                ("x * self.w", "x * w"),
                ("return g(x)", "return g(x, s.w)"),
            ],
            id="what a bound object holds",
        ),
        pytest.param(
            "NST103",
            "layer = nn.Linear(3, 3)\n\n\n@torch._dynamo.nonstrict_trace\n"
            "def g(x: torch.Tensor):\n    return layer(x)\n" + REGION,
            [("x: torch.Tensor)", "x: torch.Tensor, layer: nn.Module)"), ("return g(x)", "return g(x, layer)")],
            id="a module",
        ),
        pytest.param(
            "NST103",
            "layer = nn.Linear(3, 3)\ng = torch._dynamo.nonstrict_trace(layer)\n" + REGION,
            [
                ("nonstrict_trace(layer)", "nonstrict_trace(lambda module, *arguments: module(*arguments))"),
                ("return g(x)", "return g(layer, x)"),
            ],
            id="a module that was marked",
        ),
        pytest.param(
            "NST104",
            "limit = None\n\n\n@torch._dynamo.nonstrict_trace\n"
            "def g(x):\n    return x * 2 if limit is not None else x\n"
            + REGION
            + "\n\ndef main():\n    global limit\n    limit = 3\n    f(torch.ones(3))\n",
            [
                ("def g(x)", "def g(x, has_limit)"),
                ("if limit is not None", "if has_limit"),
                ("return g(x)", "return g(x, limit is not None)"),
            ],
            id="whether something is None",
        ),
        pytest.param(
            "NST104",
            "limit = None\n\n\n@torch._dynamo.nonstrict_trace\n"
            "def g(x):\n    return x * 2 if limit is not None else x\n"
            + REGION
            + "\n\ndef main():\n    global limit\n    f(torch.ones(3))\n    limit = 3\n"
            + "    f(torch.ones(3))\n\n\nmain()\n",
            [
                ("def g(x)", "def g(x, has_limit)"),
                ("if limit is not None", "if has_limit"),
                ("return g(x)", "return g(x, limit is not None)"),
            ],
            id="whether something is None that the program sets",
        ),
        pytest.param(
            "NST105",
            "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.factor = 2\n\n"
            "    @torch._dynamo.nonstrict_trace\n    def g(self, x):\n"
            "        return x * self.factor if self.training else x\n\n"
            "    def forward(self, x):\n        return self.g(x)\n\n\nm = M()\nf = torch.compile(m, fullgraph=True)\n"
            "f(torch.ones(3))\nm.factor = 3\nm.eval()\n",
            [
                ("def g(self, x)", "def g(self, x, factor, training)"),
                ("x * self.factor if self.training", "x * factor if training"),
                ("self.g(x)", "self.g(x, self.factor, self.training)"),
            ],
            id="the mode and an attribute of a module",
        ),
        pytest.param(
            "NST105",
            "def h(x, m):\n    return x if m.training else x + 1\n"
            "\n\n@torch._dynamo.nonstrict_trace\ndef g(layer, x):\n"
            "    return h(x, layer)\n\n\nb = nn.Linear(3, 3)\n\n\n@torch.compile(fullgraph=True)\ndef f(x):\n"
            "    return g(b, x)\n\n\nb.eval()\n",
            [
                ("def h(x, m)", "def h(x, training)"),
                ("if m.training", "if training"),
                ("def g(layer, x)", "def g(x, training)"),
                ("h(x, layer)", "h(x, training)"),
                ("g(b, x)", "g(x, b.training)"),
            ],
            id="the mode, read in a helper",
        ),
        pytest.param(
            "NST204",
            "totals = {'loss': torch.zeros(3)}\n\n\n"
            "@torch._dynamo.nonstrict_trace\ndef g(x):\n    totals['loss'] += x\n"
            "    return x * 2\n" + REGION,
            [
                ("def g(x)", "def g(x, loss)"),
                ("totals['loss'] +=", "loss +="),
                ("return g(x)", "return g(x, totals['loss'])"),
            ],
            id="a tensor that is changed in place",
        ),
        pytest.param(
            "NST206",
            "scale = 0\n\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n    return x * scale\n\n\n"
            "@torch.compile(fullgraph=True)\ndef f(x, n):\n    global scale\n    scale = n\n    return g(x)\n",
            [("def g(x)", "def g(x, scale)"), ("return g(x)", "return g(x, scale)")],
            id="what the region wrote",
        ),
    ],
)
def test_passed(tmp_path: Path, code: str, text: str, lines: list[tuple[str, str]]):
    check(tmp_path, code, {"a.py": HEAD + text}, {"a.py": HEAD + changed(text, *lines)})


STATE = "import torch\n\nW = torch.ones(3)\n"
KERNELS = "import torch\n{0}\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n    return x * {1}\n"
USER = "import torch\n{0}\n\n@torch.compile(fullgraph=True)\ndef f(x):\n    return {1}\n"


@pytest.mark.parametrize(
    ("kernels", "before", "after"),
    [
        # the module whose name is read, so that rebinding is seen
        (("import state", "state.W"), ("import state\nfrom kernels import g", "g(x)"), (None, "g(x, state.W)")),
        (("import state", "state.W"), ("from kernels import g", "g(x)"), (("import state\n"
        "from kernels import g"), "g(x, state.W)")),
        (("from state import W", "W"), ("import kernels as k", "k.g(x)"), (None, "k.g(x, k.W)")),
        # the same name, if nothing binds it anew
        (("from state import W", "W"), (("from kernels import g as run\n"
        "from state import W"), "run(x)"), (None, "run(x, W)")),
    ],
)  # fmt: skip
def test_passed_in_another_file(
    tmp_path: Path, kernels: tuple[str, str], before: tuple[str, str], after: tuple[str | None, str]
):
    files = {"state.py": STATE, "kernels.py": KERNELS.format(*kernels), "user.py": USER.format(*before)}
    changed_user = USER.format(after[0] or before[0], after[1])
    changed_kernels = files["kernels.py"].replace(kernels[1], "W").replace("def g(x)", "def g(x, W)")
    if "k.W" not in changed_user:
        changed_kernels = changed_kernels.replace(f"{kernels[0]}\n", "")
    check(tmp_path, "NST101", files, {**files, "kernels.py": changed_kernels, "user.py": changed_user})


def test_the_module_where_the_name_is_rebound(tmp_path: Path):
    state = STATE + "\n\ndef renew():\n    global W\n    W = torch.zeros(3)\n"
    kernels = KERNELS.format("import state", "state.W")
    user = USER.format("from kernels import g\nfrom state import W", "g(x)")
    found = mended(tmp_path, {"state.py": state, "kernels.py": kernels, "user.py": user}, {"NST101"})
    assert found.files["user.py"] == USER.format(
        "import state\nfrom kernels import g\nfrom state import W", "g(x, state.W)"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def main(xs):\n    return list(map(g, xs)), g(1)\n", id="handed on"),
        pytest.param("def f(*xs):\n    return g(*xs)\n", id="called with a list"),
        pytest.param("\n", id="called nowhere"),
        pytest.param("def f(x, W):\n    return g(x) + W\n", id="the global is hidden where it is called"),
        pytest.param("def f(x):\n    return f'{g(x)}'\n", id="called in a formatted string"),
    ],
)
def test_not_passed(tmp_path: Path, text: str):
    code = HEAD + "W = torch.rand(3)\n\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n    return x * W\n\n\n" + text
    found = mended(tmp_path, {"a.py": code}, {"NST101"})
    assert (found.titles, found.after) == ([], ["NST101"])


@pytest.mark.parametrize(
    ("code", "text"),
    [
        pytest.param(
            "NST104",
            "A = {1, 2}\n{}    return x * len(A)\n\n\ndef s():\n    A.add(3)\n",
            id="a set, which torch refuses",
        ),
        pytest.param(
            "NST104",
            "count = 0\n{}    global count\n    count += 1\n    return x * count\n",
            id="the function writes it",
        ),
        pytest.param(
            "NST103",
            "A = nn.Sequential(nn.Dropout())\n{}    return A(x)\n\n\nA[0].eval()\n",
            id="a module of which a part is switched",
        ),
        pytest.param(
            "NST104", "A = 1\n{}    return x * {{1: 2, 2: 3}}[A]\n\n\ndef s():\n    global A\n    A = 2\n", id="a key"
        ),
        pytest.param(
            "NST104",
            "A = 1\n{}    return x if isinstance(A, int) else -x\n\n\ndef s():\n    global A\n    A = 2\n",
            id="a number that is asked for its class",
        ),
        pytest.param(
            "NST104",
            "import enum\n\n\nclass E(enum.IntEnum):\n    A = 1\n\n\nA = E.A\n{}"
            "    return x if A is E.A else -x\n\n\ndef s(value):\n    global A\n    A = value\n",
            id="a member of an enumeration of numbers",
        ),
        pytest.param(
            "NST204", "A = torch.ones(3)\n{}    A.unsqueeze_(0)\n    return x + A\n", id="a tensor that is bent"
        ),
        pytest.param(
            "NST104",
            "A = None\n{}    return x if A == 1 else -x\n\n\ndef s():\n    global A\n    A = 2\n",
            id="perhaps None",
        ),
    ],
)
def test_not_passable(tmp_path: Path, code: str, text: str):
    body = "\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n"
    found = mended(
        tmp_path, {"a.py": HEAD + text.replace("{}", body).replace("{{", "{").replace("}}", "}") + REGION}, {code}
    )
    assert (found.titles, code in found.after) == ([], True)


def test_only_nonstrict_functions_take_modules(tmp_path: Path):
    text = (
        HEAD + "layer = nn.Linear(3, 3)\n\n\n@torch._dynamo.allow_in_graph\ndef g(x):\n    return layer(x)\n" + REGION
    )
    assert mended(tmp_path, {"a.py": text}, {"NST103"}).titles == []


HELPER = (
    "import torch\n\nW = torch.ones(2)\n\n\ndef shift(x):\n    return x + W\n\n\n"
    "def set_w(w):\n    global W\n    W = w\n"
)
READER = (
    "\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n    return shift(x)\n\n\n"
    "@torch.compile(fullgraph=True)\ndef f(x):\n    return g(x)\n"
)


@pytest.mark.parametrize(
    ("path", "before", "after", "name"),
    [
        pytest.param(
            "ops/run.py",
            "import torch\nfrom ops.helper import shift\n",
            "import torch\nimport ops.helper\nfrom ops.helper import shift\n",
            "ops.helper",
            id="a folder without __init__.py",
        ),
        pytest.param(
            "ops/run.py",
            "import torch\n\nfrom .helper import shift\n",
            "import torch\n\nfrom . import helper\nfrom .helper import shift\n",
            "helper",
            id="relative imports",
        ),
        pytest.param(
            "tools/run.py",
            "import sys\nsys.path.insert(0, 'ops')\nimport torch\nfrom helper import shift\n",
            "import sys\nsys.path.insert(0, 'ops')\nimport torch\nimport helper\nfrom helper import shift\n",
            "helper",
            id="behind what says where it is",
        ),
    ],
)
def test_modules_of_the_project_are_imported_as_the_file_imports_them(
    tmp_path: Path, path: str, before: str, after: str, name: str
):
    files = {"ops/helper.py": HELPER, path: before + READER, "pyproject.toml": "x = 1\n"}
    done = mended(tmp_path, files, {"NST101"})
    assert done.files[path].startswith(after)
    assert f"return g(x, {name}.W)" in done.files[path]


def test_names_of_one_tensor_that_may_come_apart(tmp_path: Path):
    files = {
        "weights.py": "import torch\n\nW = torch.ones(2)\n",
        "helpers.py": "import weights\n\n\ndef shift(x):\n    return x + weights.W\n",
        "ops.py": (
            "import torch\nfrom helpers import shift\nfrom weights import W\n\n\n"
            "@torch._dynamo.nonstrict_trace\ndef g(x):\n    return shift(x) * W\n"
        ),
        "main.py": (
            "import torch\nimport weights\nfrom ops import g\n\n\n@torch.compile(fullgraph=True)\ndef f(x):\n"
            "    return g(x)\n\n\nweights.W = torch.zeros(2)\nprint(f(torch.ones(2)))\n"
        ),
    }
    done = mended(tmp_path, files, {"NST101"})
    assert done.files["helpers.py"].endswith("def shift(x, given_W):\n    return x + given_W\n")
    assert done.files["ops.py"].endswith("def g(x, given_W, W):\n    return shift(x, given_W) * W\n")
    assert "return g(x, weights.W, ops.W)" in done.files["main.py"]
    assert "NST101" not in done.after
