"""What differs from call to call is evaluated outside of compiled code, and passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fixes.projects import mended
from tests.fixes.test_arguments import changed

if TYPE_CHECKING:
    from pathlib import Path

#: A note: what is drawn is another number in each call.
VARIES = "NST505"
HEAD = "import itertools\nimport os\nimport random\nimport time\n\nimport numpy as np\nimport torch\n\n"
REGION = "\n\n@torch.compile(fullgraph=True)\ndef f(x):\n    return g(x)\n"
MAIN = "\n\ndef main():\n    for _ in range(3):\n        f(torch.ones(3))\n"


def program(before: str, body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{HEAD}{before}\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n{lines}{REGION}{MAIN}"


def check(folder: Path, code: str, before: dict[str, str], after: dict[str, str]) -> None:
    """The texts after all fixes of a rule, in which nothing is found but that what is drawn varies."""
    found = mended(folder, before, {code})
    assert found.files == after
    assert found.titles
    assert set(found.after) <= {VARIES}


@pytest.mark.parametrize(
    ("code", "before", "body", "after", "name", "drawn"),
    [
        ("NST301", "", "return x * random.random()", "return x * drawn", "drawn", "random.random()"),
        ("NST301", "", "return x + int(time.time()) % 7", "return x + now", "now", "int(time.time()) % 7"),
        ("NST301", "", ("gain = float(np.random.rand())\n"
        "return x * gain"), "return x * gain", "gain", "float(np.random.rand())"),
        ("NST301", "", ("y = np.random.rand() * x\n"
        "return y"), "y = drawn * x\nreturn y", "drawn", "float(np.random.rand())"),
        (
            "NST301",
            "",
            "if random.random() < 0.5:\n    return x\nreturn -x",
            "if flag:\n    return x\nreturn -x",
            "flag",
            "random.random() < 0.5",
        ),
        ("NST301", "C = itertools.count(1)\n", "return x * next(C)", "return x * following", "following", "next(C)"),
        (
            "NST301",
            "",
            "return x * torch.from_numpy(np.random.rand(3))",
            "return x * drawn",
            "drawn",
            "torch.from_numpy(np.random.rand(3))",
        ),
        (
            "NST104",
            "",
            "return x * float(os.environ['SCALE'])",
            "return x * scale",
            "scale",
            "float(os.environ['SCALE'])",
        ),
        (
            "NST104",
            "",
            "return x if os.environ.get('MODE') == 'fast' else -x",
            "return x if flag else -x",
            "flag",
            "os.environ.get('MODE') == 'fast'",
        ),
    ],
)  # fmt: skip
def test_hoisted(tmp_path: Path, code: str, before: str, body: str, after: str, name: str, drawn: str):
    expected = changed(
        program(before, after),
        ("def g(x)", f"def g(x, {name})"),
        ("def f(x)", f"def f(x, {name})"),
        ("return g(x)", f"return g(x, {name})"),
        ("f(torch.ones(3))", f"f(torch.ones(3), {drawn})"),
    )
    check(tmp_path, code, {"a.py": program(before, body)}, {"a.py": expected})


def test_through_helpers_and_files(tmp_path: Path):
    noise = (
        "import random as rnd\nimport time\n\nimport torch\n\nBASE = 3\n\n\ndef shifted(x):\n"
        "    return x + int(time.time() % BASE)\n\n\n@torch._dynamo.nonstrict_trace\ndef g(x):\n"
        "    return shifted(x) + rnd.random()\n"
    )
    main = (
        "import torch\nfrom noise import g\n" + REGION + "\n\nif __name__ == '__main__':\n    print(f(torch.ones(1)))\n"
    )
    after = changed(
        noise,
        ("import random as rnd\nimport time\n\n", ""),
        ("def shifted(x)", "def shifted(x, now)"),
        ("int(time.time() % BASE)", "now"),
        ("def g(x)", "def g(x, now, drawn)"),
        ("shifted(x) + rnd.random()", "shifted(x, now) + drawn"),
    )
    user = changed(
        main,
        (
            "import torch\nfrom noise import g\n",
            "import random\nimport time\n\nimport torch\nfrom noise import BASE, g\n",
        ),
        ("def f(x)", "def f(x, now, drawn)"),
        ("return g(x)", "return g(x, now, drawn)"),
        ("torch.ones(1)", "torch.ones(1), int(time.time() % BASE), random.random()"),
    )
    check(tmp_path, "NST301", {"noise.py": noise, "main.py": main}, {"noise.py": after, "main.py": user})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("for _ in range(3):\n    x = x * random.random()\nreturn x", id="a loop"),
        pytest.param("if x.shape[0] > 1:\n    return x\nreturn x * random.random()", id="behind a return"),
        pytest.param("return x * random.random() if x.dim() else x", id="a condition"),
        pytest.param("return sum(x * random.random() for _ in range(3))", id="a comprehension"),
        pytest.param("n = x.shape[0]\nreturn x * random.randint(0, n)", id="a local variable"),
        pytest.param("order = [0, 1, 2]\nrandom.shuffle(order)\nreturn x[order]", id="a statement"),
        pytest.param("n = random.random()\nreturn x * n if x.dim() else x", id="used in some calls only"),
        pytest.param("return torch.full((3,), random.random()) * x", id="no operand: compiled for each value"),
        pytest.param("return x[: random.randint(1, 3)]", id="a size"),
        pytest.param("def inner():\n    return random.random()\nreturn x * inner() * inner()", id="a nested function"),
    ],
)
def test_not_hoisted(tmp_path: Path, body: str):
    found = mended(tmp_path, {"a.py": program("", body)}, {"NST301"})
    assert (found.titles, "NST301" in found.after) == ([], True)


def test_regions_that_call_twice(tmp_path: Path):
    text = changed(program("", "return x * random.random()"), ("return g(x)", "return g(x) + g(x)"))
    assert mended(tmp_path, {"a.py": text}, {"NST301"}).titles == []


def test_regions_that_nobody_calls(tmp_path: Path):
    text = changed(program("", "return x * random.random()"), (MAIN, ""))
    assert mended(tmp_path, {"a.py": text}, {"NST301"}).titles == []


def test_torch_draws(tmp_path: Path):
    body = "for _ in range(2):\n    x = x * torch.from_numpy(np.random.randn(3))\nreturn x"
    after = "for _ in range(2):\n    x = x * torch.randn(3, dtype=torch.float64)\nreturn x"
    expected = program("", after).replace("import numpy as np\n", "")
    check(tmp_path, "NST301", {"a.py": program("", body)}, {"a.py": expected})


def test_draws_stay_in_their_order(tmp_path: Path):
    text = """\
import random

import torch


@torch._dynamo.nonstrict_trace
def last(x):
    return x * random.random()


@torch._dynamo.nonstrict_trace
def first(x):
    return x + random.random()


@torch.compile(fullgraph=True)
def f(x):
    return last(first(x))


print(f(torch.ones(3)))
"""
    expected = changed(
        text,
        ("def last(x)", "def last(x, drawn_2)"),
        ("x * random.random()", "x * drawn_2"),
        ("def first(x)", "def first(x, drawn)"),
        ("x + random.random()", "x + drawn"),
        ("def f(x)", "def f(x, drawn, drawn_2)"),
        ("last(first(x))", "last(first(x, drawn), drawn_2)"),
        ("torch.ones(3)", "torch.ones(3), random.random(), random.random()"),
    )
    check(tmp_path, "NST301", {"a.py": text}, {"a.py": expected})


def test_a_draw_behind_one_that_stays(tmp_path: Path):
    body = "if x.dim() > 1:\n    x = x + random.random()\nreturn x * random.random()"
    assert mended(tmp_path, {"a.py": program("", body)}, {"NST301"}).titles == []


GENERATORS = pytest.mark.parametrize(
    ("made", "draw"),
    [
        pytest.param("np.random.default_rng(0)", "normal()", id="NumPy's generator"),
        pytest.param("np.random.RandomState(0)", "uniform(0.0, 2.0)", id="NumPy's old generator"),
        pytest.param("random.Random(0)", "gauss(0, 1)", id="Python's generator"),
    ],
)


@GENERATORS
def test_draws_of_a_generator_object(tmp_path: Path, made: str, draw: str):
    """A number that NumPy draws is passed as one of Python: of its own types torch takes none."""
    text = program(f"rng = {made}\n", f"return x * rng.{draw}")
    passed = f"float(rng.{draw})" if made.startswith("np.") else f"rng.{draw}"
    expected = changed(
        text,
        ("def g(x)", "def g(x, drawn)"),
        (f"x * rng.{draw}", "x * drawn"),
        ("def f(x)", "def f(x, drawn)"),
        ("return g(x)", "return g(x, drawn)"),
        ("f(torch.ones(3))", f"f(torch.ones(3), {passed})"),
    )
    check(tmp_path, "NST301", {"a.py": text}, {"a.py": expected})


@GENERATORS
def test_a_generator_object_draws_in_its_order(tmp_path: Path, made: str, draw: str):
    """A draw behind one that stays, of the same generator, stays too; that of another generator goes."""
    rngs = f"rng = {made}\nother = {made}\n"
    behind = "if x.dim() > 1:\n    x = x + rng.{0}\nreturn x * {1}.{0}"
    assert mended(tmp_path, {"a.py": program(rngs, behind.format(draw, "rng"))}, {"NST301"}).titles == []
    assert len(mended(tmp_path, {"a.py": program(rngs, behind.format(draw, "other"))}, {"NST301"}).titles) == 1


def test_draws_of_two_generator_objects_stay_in_their_order(tmp_path: Path):
    text = program(
        "a = np.random.default_rng(0)\nb = np.random.default_rng(1)\n",
        "x = x * a.normal()\nx = x + b.normal()\nreturn x - a.normal()",
    )
    expected = changed(
        text,
        ("def g(x)", "def g(x, drawn, drawn_2, drawn_3)"),
        ("x * a.normal()", "x * drawn"),
        ("x + b.normal()", "x + drawn_2"),
        ("x - a.normal()", "x - drawn_3"),
        ("def f(x)", "def f(x, drawn, drawn_2, drawn_3)"),
        ("return g(x)", "return g(x, drawn, drawn_2, drawn_3)"),
        ("f(torch.ones(3))", "f(torch.ones(3), float(a.normal()), float(b.normal()), float(a.normal()))"),
    )
    check(tmp_path, "NST301", {"a.py": text}, {"a.py": expected})


@pytest.mark.parametrize(
    "made",
    [
        pytest.param("Dice()", id="a class of the program"),
        pytest.param("np.random.PCG64(0)", id="what draws bits"),
        pytest.param("torch.distributions.Normal(0.0, 1.0)", id="a distribution"),
    ],
)
def test_what_is_no_generator_object_is_not_passed(tmp_path: Path, made: str):
    """Methods named as those of generators draw nothing of which the fix knows that it is a number."""
    dice = "class Dice:\n    def normal(self):\n        return random.random()\n\n\n"
    body = "return x * rng.normal()"
    titles = mended(tmp_path, {"a.py": program(f"{dice}rng = {made}\n", body)}, {"NST301"}).titles
    assert not any("rng.normal()" in title for title in titles)
