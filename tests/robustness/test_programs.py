"""Programs of a shape that nobody writes by hand: deep, long, circular. Each ends in time, and says what it found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.robustness.conftest import Check

HEAD = "import torch\nW = torch.ones(3)\n"
MARK = "@torch._dynamo.nonstrict_trace\n"


def marked(body: str) -> str:
    """A marked function with these lines after one that holds a hazard of its own."""
    return f"{HEAD}{MARK}def f(x, n=0):\n{body}"


def other() -> str:
    """A second marked function, which must be analysed whatever becomes of the first."""
    return f"{MARK}def other(x):\n    print(x)\n    return x\n"


def chain(length: int, last: str) -> str:
    """Functions that call one another, from `f` to a last one."""
    links = "".join(f"def g{index}(x):\n    return g{index + 1}(x)\n" for index in range(length))
    return f"{marked('    return g0(x)' + chr(10))}{links}def g{length}(x):\n    {last}\n"


#: What Python's own parser or compiler refuses is a syntax error; the rest is analysed.
NESTED = {
    "5,000 parentheses": "    y = " + "(" * 5000 + "x" + ")" * 5000 + "\n    return y\n",
    "3,000 nested calls": "    y = " + "g(" * 3000 + "x" + ")" * 3000 + "\n    return y\n",
    "3,000 nested lists": "    return " + "[" * 3000 + "x" + "]" * 3000 + "\n",
    "500 nested lambdas": "    return " + "(lambda y: " * 500 + "y" + ")(x)" * 500 + "\n",
    "20,000 chained methods": "    return x" + ".sin()" * 20_000 + "\n",
    "20,000 terms": "    return " + " + ".join(["x"] * 20_000) + "\n",
    "3,000 branches": "    if n == 0:\n        pass\n"
    + "".join(f"    elif n == {index}:\n        x = x + 1\n" for index in range(3000))
    + "    return x\n",
    "120 levels of indentation": "".join(" " * (4 + level) + "if n:\n" for level in range(120)) + " " * 124 + "pass\n",
}
ANALYSED = {
    "2,000 terms": "    return " + " + ".join(["x"] * 2000) + " + W\n",
    "90 nested lists": "    return " + "[" * 90 + "x + W" + "]" * 90 + "\n",
    "900 conditions": "    return " + "".join(f"x if n == {index} else " for index in range(900)) + "x + W\n",
    "18 nested loops": "".join(" " * (4 + level) + "for i in range(3):\n" for level in range(18))
    + " " * 22
    + "x = x + W\n    return x\n",
    "95 levels of indentation": "".join(" " * (4 + level) + "if n:\n" for level in range(90))
    + " " * 94
    + "x = x + W\n    return x\n",
    "huge constants": "    return x * (9**9**9**9) * ('a' * 10**10) * (1 << 10**10) + W\n",
    "a long loop": "    for _ in range(10**12):\n        x = x + W\n    return x\n",
    "5,000 arguments": "    return max(" + ", ".join(map(str, range(5000))) + ") + W\n",
    "10,000 lines": "".join(f"    y{index} = x + {index}\n" for index in range(10_000)) + "    return x + W\n",
    "10,000 assignments of one name": "    x = x + 1\n" * 10_000 + "    return x + W\n",
    "2,500 branches": "    s = 0\n"
    + "    if n:\n        s = s + x\n    else:\n        s = s - x\n" * 2500
    + "    return s + W\n",
}


@pytest.mark.parametrize("name", NESTED)
def test_what_is_nested_too_deeply_is_said_and_costs_nothing_else(name: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(marked(NESTED[name]) + other())
    run = check("a.py")
    assert run.status == 1
    assert run.codes.count("NST901") == 1
    assert "NST201" in run.codes


@pytest.mark.parametrize("name", ANALYSED)
def test_large_functions_are_analysed(name: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(marked(ANALYSED[name]) + other())
    run = check("a.py")
    assert (run.status, run.err) == (1, "")
    assert sorted(set(run.codes)) == ["NST101", "NST201"]


#: Statements with a finding each, whose fixes look at the whole function.
HAZARDS = {
    "changes of a container": "LOG.append({0})",
    "changes of entries": "LOG[{0}] = {0}",
    "changes that are taken back": "try:\n        x = x + W\n    finally:\n        LOG.pop()",
    "prints": "print({0})",
    "numbers": "y{0} = x.item()",
    "pointers": "y{0} = x.data_ptr()",
}


@pytest.mark.parametrize("name", HAZARDS)
def test_thousands_of_hazards_in_one_function(name: str, check: Check, tmp_path: Path) -> None:
    hazards = "".join(f"    {HAZARDS[name].format(index)}\n" for index in range(3000))
    (tmp_path / "a.py").write_text("LOG = []\n" + marked(hazards + "    return x\n") + other())
    run = check("a.py")
    assert (run.status, run.err) == (1, "")
    assert {"NST201"} < set(run.codes) or run.codes.count("NST201") > 1000


@pytest.mark.parametrize("hazard", ["print(x)", "x = x + W", "LOG.append(1)", "torch.manual_seed(1)"])
def test_a_thousand_marked_functions(hazard: str, check: Check, tmp_path: Path) -> None:
    functions = "".join(f"{MARK}def f{index}(x):\n    {hazard}\n    return x\n" for index in range(1000))
    (tmp_path / "a.py").write_text(HEAD + "LOG = []\n" + functions)
    run = check("a.py")
    assert (run.status, run.err, len(run.codes)) == (1, "", 1000)


@pytest.mark.parametrize("length", [3, 20, 200, 3000])
def test_chains_of_calls(length: int, check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(chain(length, "return x + W") + other())
    run = check()
    assert run.status == 1
    assert "NST201" in run.codes
    # Calls are followed to a bounded depth.
    assert ("NST101" in run.codes) is (length < 300)


@pytest.mark.parametrize("size", [1, 2, 20, 3000])
def test_cycles_of_calls(size: int, check: Check, tmp_path: Path) -> None:
    links = "".join(f"def g{index}(x):\n    return g{(index + 1) % size}(x) + W\n" for index in range(size))
    (tmp_path / "a.py").write_text(marked("    return g0(x)\n") + links + other())
    run = check()
    assert (run.status, run.err) == (1, "")
    assert {"NST101", "NST201"} == set(run.codes)


def test_a_class_whose_attribute_needs_itself(check: Check, tmp_path: Path) -> None:
    program = (
        "import torch\n\n\nclass Scaler:\n    factor = 2\n    scale = torch._dynamo.nonstrict_trace(scaler.scale)\n\n\n"
        "scaler = Scaler()\n"
    )
    (tmp_path / "a.py").write_text(program)
    assert check().status == 0


def test_functions_that_all_call_one_another(check: Check, tmp_path: Path) -> None:
    calls = " + ".join(f"g{index}(x)" for index in range(40))
    links = "".join(f"def g{index}(x):\n    return {calls}\n" for index in range(40))
    (tmp_path / "a.py").write_text(marked("    return g0(x) + W\n") + links)
    assert "NST101" in check().codes


def test_calls_that_double_at_each_step(check: Check, tmp_path: Path) -> None:
    kinds = ["x", "[x]", "(x, x)", "1", "{'a': x}"]
    links = "".join(
        f"def g{index}(x):\n    return {' + '.join(f'g{index + 1}({kind})' for kind in kinds)}\n" for index in range(28)
    )
    (tmp_path / "a.py").write_text(marked("    return g0(x) + W\n") + links + "def g28(x):\n    return x\n")
    assert "NST101" in check().codes


def test_functions_handed_on_that_double_at_each_step(check: Check, tmp_path: Path) -> None:
    links = "".join(
        f"def g{index}(x, h):\n    return g{index + 1}(x, lambda y: h(h(y))) + g{index + 1}(x, lambda y: h(y))\n"
        for index in range(20)
    )
    text = marked("    return g0(x, torch.sin) + W\n") + links + "def g20(x, h):\n    return h(x)\n"
    (tmp_path / "a.py").write_text(text)
    assert "NST101" in check().codes


def test_files_that_import_one_another_in_a_circle(check: Check, tmp_path: Path) -> None:
    for index in range(200):
        following = (index + 1) % 200
        last = "x + W" if index == 9 else f"m{following}.step(x)"
        (tmp_path / f"m{index}.py").write_text(
            f"import torch\nimport m{following}\nfrom m{following} import *\nfrom m{following} import W as V\n"
            f"{'W = torch.ones(3)' if index == 9 else ''}\n\ndef step(x):\n    return {last}\n"
        )
    (tmp_path / "main.py").write_text(f"import torch\nimport m0\n{MARK}def f(x):\n    return m0.step(x) + m0.V\n")
    run = check()
    assert (run.status, run.err) == (1, "")
    assert "m9.py" in {Path(finding["filename"]).name for finding in run.findings if finding["code"] == "NST101"}


def test_names_without_end(check: Check, tmp_path: Path) -> None:
    """Names, classes and star imports that lead to themselves."""
    (tmp_path / "a.py").write_text(
        "import torch\nfrom a import *\nimport a\nfrom a import q\nq = q\nu = v\nv = u\n"
        "class A(B):\n    pass\nclass B(A):\n    def go(self, x):\n        return super().go(x) + self.go(x)\n"
        "class C(C):\n    pass\nd = {}\nd['d'] = d\n" + MARK + "def f(x: 'f', c: C):\n"
        "    d['d']['d'] = d\n    y = [x]\n    y.append(y)\n    return A().go(x), q, u, a.a.a.q, f(f, f), C().x, c.c\n"
    )
    run = check()
    assert run.status in (0, 1)
    assert run.err == ""


def test_a_hierarchy_of_3000_classes(check: Check, tmp_path: Path) -> None:
    classes = "".join(f"class C{index}(C{index - 1}):\n    pass\n" for index in range(1, 3000))
    base = "class C0(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    text = f"{HEAD}{base}{classes}{MARK}def f(x, m: C2999):\n    return m(x) + W\n"
    (tmp_path / "a.py").write_text(text)
    assert "NST101" in check().codes


def test_3000_decorators(check: Check, tmp_path: Path) -> None:
    text = HEAD + "def d(fn):\n    return fn\n" + "@d\n" * 3000 + MARK + "def f(x):\n    return x + W\n"
    (tmp_path / "a.py").write_text(text)
    assert "NST101" in check().codes


def test_names_bound_to_names(check: Check, tmp_path: Path) -> None:
    aliases = "".join(f"a{index} = a{index - 1}\n" for index in range(1, 5000))
    text = f"{HEAD}a0 = W\n{aliases}{MARK}def f(x):\n    return x + a4999\n{other()}"
    (tmp_path / "a.py").write_text(text)
    run = check()
    assert "NST201" in run.codes
    assert "NST101" in run.codes or (run.status == 2 and "`f` is nested too deeply" in run.err)


def test_1000_marked_functions(check: Check, tmp_path: Path) -> None:
    functions = "".join(f"{MARK}def f{index}(x):\n    return x + W\n\n\n" for index in range(1000))
    (tmp_path / "a.py").write_text(HEAD + functions)
    assert check().codes == ["NST101"] * 1000
