"""`pytest --nonstrict`: all that tests compile, beside the findings, in one process and in several."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.pytest_plugin.conftest import MODEL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pytest_plugin.conftest import Outcome, Pytest

pytestmark = pytest.mark.torch

TESTS = """\
import pytest
import torch

import helpers
from model import Net, plain, scaled

x = torch.ones(2, 3)


def compiled(what):
    return torch.compile(what, backend="eager")


def test_net():
    compiled(Net())(x)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_numbers(n):
    compiled(scaled)(x, n)


def test_again():
    region = compiled(plain)
    region(x)
    region(x[0])


def test_fails():
    compiled(plain)(x)
    assert x is None


@pytest.fixture
def warm():
    region = compiled(plain)
    region(x)
    return region


@pytest.mark.compiles(graphs=1)
def test_marked(warm):
    warm(x)


def test_hidden():
    compiled(helpers.run)(x)


def test_eager():
    plain(x)
"""
HELPERS = """\
import torch


def report(x):
    torch._dynamo.graph_break()
    return x


class Plugins:
    pass


setattr(Plugins, "".join(("re", "port")), staticmethod(report))


def run(x):
    return Plugins.report(x + 1)
"""
FILES = {"model.py": MODEL, "helpers.py": HELPERS, "test_model.py": TESTS, "nonstrict.toml": ""}


def section(run: Outcome) -> list[str]:
    told = run.out.split("nonstrict: what torch compiled ===")[1].split("\n===")[0]
    return [line for line in told.split("\n")[1:] if line]


@pytest.fixture(scope="module")
def followed(run_pytest: Pytest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    folder = tmp_path_factory.mktemp("followed")
    return run_pytest(FILES, "--nonstrict", HERE=str(folder)), folder


def test_each_region_is_told(followed: tuple[Outcome, Path]):
    run, _ = followed
    assert run.status == 1, run.out
    assert {name for name, result in run.results.items() if result != "PASSED"} == {"test_fails"}
    assert section(run) == [
        "`Net.forward` (model.py:5), 1 test:",
        "  graphs: 2, as predicted (operators: 1, 1)",
        "  breaks:",
        "    1. model.py:7:9: Failed to trace builtin operator (GB0059): predicted (NST701)",
        "  falls back to eager: no",
        "`scaled` (model.py:11), 3 tests: 1 graph",
        "`plain` (model.py:15), 3 tests:",
        "  graphs: 1, as predicted (operators: 1), 1 more in later calls",
        "  breaks: none",
        "  recompiled 1 time: the last guard that failed: tensor 'x' rank mismatch. expected 2, actual 1",
        "  falls back to eager: no",
        "`run` (helpers.py:16), 1 test:",
        "  graphs: 1, as predicted (operators: 1)",
        "  breaks:",
        "    1. helpers.py:5:5: Call to `torch._dynamo.graph_break()` (GB0025): observed",
        "  falls back to eager: no",
        "4 regions in 8 tests: 2 breaks (1 predicted by no finding), 1 recompilation.",
    ]


def test_it_is_kept_with_the_project(followed: tuple[Outcome, Path]):
    (kept,) = (followed[1] / ".nonstrict" / "runs").iterdir()
    regions = {one["function"]: one for one in json.loads(kept.read_text())["regions"]}
    assert {name: len(one["graphs"]) for name, one in regions.items()} == {
        "Net.forward": 2,
        "scaled": 1,
        "plain": 1,
        "run": 1,
    }
    assert regions["plain"]["path"] == "model.py"
    assert regions["plain"]["seconds"] > regions["plain"]["again"][0]["seconds"] > 0


def test_several_processes_tell_the_same(followed: tuple[Outcome, Path], run_pytest: Pytest):
    run = run_pytest(FILES, "--nonstrict", "-p", "xdist", "-n", "2")
    assert run.results == followed[0].results
    assert sorted(section(run)) == sorted(section(followed[0]))


HEARD = """\
import pytest


@pytest.mark.compiles(graphs=1)
def test_it():
    import torch
    from torch._dynamo.convert_frame import ConvertFrameAssert

    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    heard = ConvertFrameAssert.__call__
    assert heard.__name__ == "heard"
    assert heard.__closure__[heard.__code__.co_freevars.index("original")].cell_contents.__name__ == "__call__"
"""


def test_torch_is_listened_to_once_wherever_it_is_imported(run_pytest: Pytest):
    run = run_pytest({"test_it.py": HEARD}, "--nonstrict")
    assert run.results == {"test_it": "PASSED"}, run.out
    assert "1 region in 1 test" in run.out


def test_nothing_was_compiled(run_pytest: Pytest):
    run = run_pytest({"test_it.py": "import sys\ndef test_it(): assert 'torch' not in sys.modules\n"}, "--nonstrict")
    assert run.status == 0
    assert section(run) == ["No test compiled anything."]


def test_a_configuration_that_is_wrong(run_pytest: Pytest):
    run = run_pytest({**FILES, "nonstrict.toml": "selekt = []"}, "--nonstrict", "-k", "test_net")
    assert (run.status, run.results) == (1, {"test_net": "PASSED"})
    assert "nonstrict.toml:1:1: unknown key `selekt`. Write `select`." in section(run)[0]


def test_a_session_that_exceeds_the_budget_fails(run_pytest: Pytest):
    budget = '[budget]\n"model.Net" = { graphs = 1 }\n"model.py::Net" = { graphs = 1 }\n"." = { recompilations = 0 }\n'
    run = run_pytest({**FILES, "nonstrict.toml": budget}, "--nonstrict", "-k", "test_net or test_again")
    assert set(run.results.values()) == {"PASSED"}
    assert run.status == 1
    assert section(run)[-3:] == [
        "Over the budget:",
        "  model.py:5: `Net.forward`: 2 graphs (measured just now), budget 1: exceeded (`model.py::Net`)",
        "  model.py:15: `plain`: 1 recompilation (measured just now), budget 0: exceeded (`.`)",
    ]
    kept = run_pytest({**FILES, "nonstrict.toml": budget.replace("0", "1")}, "--nonstrict", "-k", "test_again")
    assert kept.status == 0
    assert "Over the budget" not in kept.out
    assert run_pytest({**FILES, "nonstrict.toml": budget}, "--nonstrict", "-p", "xdist", "-n", "2", "-k", "net").status


BELOW = """\
import torch

from pkg.model import Net


def test_net():
    torch.compile(Net(), backend="eager")(torch.ones(2, 3))
"""


def test_folders_with_a_configuration_of_their_own(run_pytest: Pytest):
    files = {
        "nonstrict.toml": '[budget]\n"." = { graphs = 9 }\n',
        "pkg/nonstrict.toml": 'ignore = ["NST701"]\n[budget]\n"model.py::Net" = { graphs = 1 }\n',
        "pkg/model.py": MODEL,
        "test_below.py": BELOW,
    }
    run = run_pytest(files, "--nonstrict")
    assert (run.status, run.results) == (1, {"test_net": "PASSED"})
    assert "(GB0059): observed" in run.out, "no rule of theirs foretells it"
    assert section(run)[-2:] == [
        "Over the budget:",
        "  pkg/model.py:5: `Net.forward`: 2 graphs (measured just now), budget 1: exceeded (`model.py::Net`)",
    ]
    wrong = run_pytest({**files, "pkg/nonstrict.toml": "selekt = []"}, "--nonstrict")
    assert wrong.status == 1
    assert "unknown key `selekt`" in section(wrong)[0]
