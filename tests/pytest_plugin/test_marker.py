"""`@pytest.mark.compiles` on all kinds of tests: what passes, what fails, and what a failure says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pytest_plugin.conftest import MODEL

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import Outcome, Pytest

pytestmark = pytest.mark.torch

TESTS = """\
import unittest

import pytest
import torch

from model import Net, plain, scaled

compiles = pytest.mark.compiles
x = torch.ones(2, 3)


def compiled(what, **options):
    return torch.compile(what, backend="eager", **options)


@compiles
def test_whole():
    compiled(plain)(x)


@compiles
def test_not_whole():
    compiled(Net())(x)


@compiles
def test_nothing():
    plain(x)


@compiles(graphs=2, breaks=1, recompilations=0)
def test_numbers():
    compiled(Net())(x)


@compiles(graphs=1)
def test_other_numbers():
    compiled(Net())(x)


@compiles(graphs=1, recompilations=1)
def test_again():
    region = compiled(scaled)
    for n in (2, 3, 4):
        region(x, n)


@compiles(recompilations=0)
def test_too_often():
    region = compiled(plain)
    for n in range(2, 5):
        region(torch.ones((2,) * n))


@compiles(graphs=(1, 2), recompilations=(0, None))
def test_between():
    region = compiled(plain)
    region(x)
    region(x[0])


@compiles(graphs=1, only="model.plain")
def test_of_one():
    compiled(plain)(x)
    compiled(scaled)(x, 2)


@compiles(graphs=1, only=["model::Net", "scaled"])
def test_of_a_class():
    compiled(Net())(x)
    compiled(scaled)(x, 2)


@compiles(graphs=1, only="model.missing")
def test_of_none():
    compiled(plain)(x)


@pytest.mark.parametrize("n", [1, 2, 3])
@compiles(graphs=1, recompilations=0)
def test_each(n):
    compiled(scaled)(x, n)


@compiles(graphs=2)
class TestClass:
    def test_inherits(self):
        compiled(Net())(x)

    @compiles(graphs=1)
    def test_has_its_own(self):
        compiled(plain)(x)


@compiles(graphs=1)
class TestCase(unittest.TestCase):
    def test_right(self):
        compiled(plain)(x)

    def test_wrong(self):
        compiled(Net())(x)

    def test_raises(self):
        raise ValueError("own error")

    def test_skips(self):
        self.skipTest("not here")


@compiles(graphs=1)
def test_own_failure():
    compiled(Net())(x)
    assert x is None, "own failure"


@compiles(graphs=1)
@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    compiled(Net())(x)


@compiles(graphs=2)
def test_forgets():
    compiled(plain)(x)
    torch._dynamo.reset()
    compiled(plain)(x)


@pytest.fixture
def warm():
    region = compiled(plain)
    region(x)
    return region


@compiles(graphs=1)
def test_fixture(warm):
    warm(x)


@compiles(graphs=1)
def test_must_be_whole():
    compiled(Net(), fullgraph=True)(x)


@compiles(graphs=1)
def test_nested():
    inner = compiled(plain)
    compiled(lambda x: inner(x) + 1)(x)


@compiles(graphs=1, recompilations=8)
def test_given_up():
    region = compiled(lambda x, text: x * len(text))
    for n in range(12):
        region(x, "x" * n)


@compiles(graphs=1, recompilations=0)
def test_inductor():
    torch.compile(plain)(x)


@compiles(graph=1)
def test_misspelled():
    pass


@compiles(graphs=-1)
def test_no_number():
    pass


@compiles(graphs=1)
@pytest.mark.asyncio
async def test_async():
    compiled(plain)(x)


@compiles(graphs=1)
@pytest.mark.asyncio
async def test_async_wrong():
    compiled(Net())(x)
"""


@pytest.fixture(scope="module")
def marked(run_pytest: Pytest) -> Outcome:
    return run_pytest({"model.py": MODEL, "test_model.py": TESTS}, "-p", "asyncio")


PASSING = (
    "test_whole test_numbers test_again test_between test_of_one test_each[1] test_each[2] test_each[3] "
    "TestClass::test_inherits TestClass::test_has_its_own TestCase::test_right test_forgets test_fixture test_nested "
    "test_inductor test_async"
)
FAILING = (
    "test_not_whole test_nothing test_other_numbers test_too_often test_of_a_class test_of_none TestCase::test_wrong "
    "TestCase::test_raises test_own_failure test_must_be_whole test_given_up test_misspelled test_no_number "
    "test_async_wrong"
)


def test_what_passes_and_what_fails(marked: Outcome):
    passed = {name for name, result in marked.results.items() if result == "PASSED"}
    failed = {name for name, result in marked.results.items() if result == "FAILED"}
    assert passed == set(PASSING.split()), marked.out
    assert failed == set(FAILING.split())
    assert marked.results["test_expected_to_fail"] == "XFAIL"
    assert marked.results["TestCase::test_skips"] == "SKIPPED"
    assert marked.status == 1


def test_a_failure_names_the_break_and_the_rule(marked: Outcome):
    told = marked.about("test_other_numbers")
    assert "torch.compile made 2 graphs, expected 1" in told
    assert "model.py:7: Failed to trace builtin operator (GB0059) [NST701 graph-break] in `Net.forward`" in told
    assert "model.py:5: `Net.forward`: 2 graphs" in told
    assert "torch.compile made 1 graph break, expected 0" in marked.about("test_not_whole")


def test_a_failure_names_the_guard(marked: Outcome):
    told = marked.about("test_too_often")
    assert "torch.compile made 2 recompilations, expected 0" in told
    assert "model.py:15: `plain`: tensor 'x' rank mismatch. expected 2, actual 3 [NST804]" in told


def test_a_failure_says_that_torch_gave_up(marked: Outcome):
    told = marked.about("test_given_up")
    assert "torch.compile made 7 recompilations, expected 8" in told
    assert "was given up: text == 'xxxxxxx' [NST803]" in told


def test_nothing_is_compiled(marked: Outcome):
    assert "0 graphs, expected at least 1\nnothing was compiled" in marked.about("test_nothing")
    told = marked.about("test_of_none")
    assert "of `model.missing`, torch.compile made 0 graphs, expected 1\nwhat was compiled: `plain`" in told


def test_a_test_keeps_its_own_failure(marked: Outcome):
    assert "own failure" in marked.about("test_own_failure")
    assert "torch.compile made" not in marked.about("test_own_failure")
    assert "own error" in marked.about("TestCase.test_raises")
    assert "Unsupported" in marked.about("test_must_be_whole")


def test_wrong_arguments(marked: Outcome):
    told = marked.about("test_misspelled")
    assert "`compiles` takes graphs=, recompilations=, breaks= and only=, not `graph`" in told
    assert "takes a number or a pair (at least, at most), not -1" in marked.about("test_no_number")


def test_a_break_in_a_library_is_told_with_its_place_there(run_pytest: Pytest):
    library = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        print()\n        return x\n"
    )
    tests = """\
import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parent / "site-packages"))
from library import Net


@pytest.mark.compiles(breaks=0, only="Net")
def test_it():
    net = torch.compile(Net(), backend="eager")
    net(torch.ones(2))
"""
    run = run_pytest({"site-packages/library.py": library, "test_it.py": tests})
    assert run.results == {"test_it": "FAILED"}
    told = run.about("test_it")
    assert "test_it.py:14: Failed to trace builtin operator (GB0059) [NST701, observed] in `Net.forward`" in told
    assert "site-packages/library.py:6\n" in told


def test_an_own_failure_comes_with_what_was_compiled(run_pytest: Pytest):
    tests = TESTS.replace("asyncio", "skip")
    run = run_pytest({"model.py": MODEL, "test_model.py": tests}, "-k", "own_failure", "--show-capture=all")
    told = run.out.split("Captured nonstrict call")[1]
    assert "torch.compile made 2 graphs, 1 graph break, 0 recompilations" in told
    assert "model.py:7: Failed to trace builtin operator (GB0059) [NST701, observed]" in told


def test_switched_off(run_pytest: Pytest):
    files = {"model.py": MODEL, "test_model.py": TESTS.replace("asyncio", "skip")}
    run = run_pytest(files, "-k", "test_whole", TORCH_COMPILE_DISABLE="1")
    assert run.results == {"test_whole": "FAILED"}
    assert "torch.compile is switched off in this process" in run.out


def test_without_torch(run_pytest: Pytest):
    tests = "import pytest\n@pytest.mark.compiles\ndef test_it(): pass\ndef test_block(compiles): pass\n"
    run = run_pytest({"torch.py": "raise ImportError('No module named torch')", "test_it.py": tests})
    assert run.results == {"test_it": "FAILED", "test_block": "FAILED"}
    assert run.out.count("`compiles` counts what torch compiles, and there is no torch here") >= 2
    assert "Traceback" not in run.out


def test_nothing_is_loaded_unless_a_test_asks(run_pytest: Pytest):
    tests = """\
import sys


def test_it():
    ours = sorted(name for name in sys.modules if name.partition(".")[0] in {"torch", "nonstrict", "nonstrict_agent"})
    assert ours == []
    assert sorted(name for name in sys.modules if name.startswith("nonstrict_pytest.")) == ["nonstrict_pytest.plugin"]
"""
    assert run_pytest({"test_it.py": tests}).status == 0
    markers = run_pytest({}, "--markers").out
    assert "@pytest.mark.compiles(graphs=None, recompilations=None, breaks=None, only=None): fail unless" in markers
