"""Every example in the documentation of the rules on a real compile: the bad one goes wrong, the good one does not.

Backends: `aot_eager`, which shows most hazards in a fraction of the time, then `inductor` for the bad examples that
agreed. "Wrong" means that something else is printed than by plain Python, or that another exception ends the program;
of code that is meant to be compiled, that nothing is.
"""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES
from tests.compiles.programs import Results, ran
from tests.rules.examples import Example, examples

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are run in forks"),
]

_EXAMPLES = [example for example in examples() if "def main()" in example.case.files.get("main.py", "")]


#: Rules about what torch's caches do.
_OF_CACHES = frozenset({"NST805"})


def _ran(jobs: list[tuple[Example, str]], caches: Path | None = None) -> Results:
    """Run examples with backends."""
    described = [(f"{example.name}-{backend}", example.case.files["main.py"], backend) for example, backend in jobs]
    return ran(described, caches)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What every example did, by name and backend."""
    done = _ran([(example, backend) for example in _EXAMPLES for backend in ("python", "aot_eager")])
    agreed = [
        example
        for example in _EXAMPLES
        if not example.good and done[f"{example.name}-python"] == done[f"{example.name}-aot_eager"]
    ]
    cached = [(example, "inductor") for example in agreed if example.code in _OF_CACHES]
    done |= _ran(cached, tmp_path_factory.mktemp("caches"))
    return done | _ran([(example, "inductor") for example in agreed if example.code not in _OF_CACHES])


@pytest.mark.parametrize("example", _EXAMPLES, ids=lambda example: example.name)
def test_example(example: Example, results: Results) -> None:
    plain = results[f"{example.name}-python"]
    compiled = [
        results[key] for backend in ("aot_eager", "inductor") if (key := f"{example.name}-{backend}") in results
    ]
    assert not plain["error"]
    assert plain["output"]
    assert not any(result["error"].startswith("TimeLimit") for result in compiled)
    if RULES[example.code].experiment is Experiment.COMPILED:
        # Nothing goes wrong where nothing is compiled: the output holds the number of graphs.
        assert all(result == plain for result in compiled) is not example.good
    elif example.good:
        assert compiled == [plain]
    else:
        assert any(result != plain for result in compiled)
