"""Whole commands under `nonstrict record`: what is kept, and that they behave as they do without it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tests.agent.recording.projects import project, record, records, run

if TYPE_CHECKING:
    from pathlib import Path


def shapes(calls: list[Any]) -> list[list[list[int]]]:
    return [[spec["shape"] for spec in call["args"] if spec["kind"] == "tensor"] for call in calls]


def test_a_script_that_compiles_forks_spawns_and_ends_abruptly(tmp_path: Path):
    project(tmp_path)
    alone = run(tmp_path, "-c", f"import torch; torch._dynamo.set_stance('force_eager'); {AS_MAIN}")
    recorded = record(tmp_path, "--limit", "6", "--", sys.executable, "script.py")
    assert alone.returncode == recorded.returncode == 7
    assert recorded.stdout == alone.stdout.replace("'<string>', ", "")
    assert "'wrapped', 'refuses']" in recorded.stdout
    assert recorded.stderr.splitlines()[-1].startswith("Recorded ")

    found = records(tmp_path, "model.py")
    assert set(found) == {
        "Net.forward",
        "Net.masked",
        "doubled",
        "outer.inner",
        "region",
        "run",
        "scaled",
        "shifted",
    }
    (forward,) = found["Net.forward"]
    assert [spec["kind"] for spec in forward["args"]] == ["module", "tensor"]
    assert forward["args"][0]["class"] == "model:Net"
    mask = found["Net.masked"][0]["args"][2]
    assert (mask["dtype"], mask["low"], mask["high"]) == ("bool", 0, 1)
    options = [spec for call in found["scaled"] for spec in call["args"] if spec["kind"] == "dataclass"]
    assert [spec["class"] for spec in options] == ["model:Options"]
    assert found["doubled"][0]["args"][1] == {"kind": "literal", "value": 3}
    # The module from here, a fork, and a process of its own.
    assert sorted(shapes(found["outer.inner"])) == [[[1, 7]], [[2, 7]], [[4, 3]]]
    assert found["run"][0]["args"][0]["class"] == "torch.nn.modules.linear:Linear"
    assert found["run"][0]["kwargs"]["rows"]["kind"] == "unknown"
    # Nothing of the values that make_fx traces with.
    assert len(found["shifted"]) == len(found["scaled"]) == 2

    own = records(tmp_path, "script.py")
    assert set(own) == {"own", "plain"}
    assert 0 < len(own["own"]) <= 6
    assert {call["args"][1]["kind"] for call in own["own"]} == {"literal", "unknown"}
    assert "aaaa" not in json.dumps(own)


#: The script as the main module, in a process whose compiler is off.
AS_MAIN = "import runpy; runpy.run_path('script.py', run_name='__main__')"


def test_pytest_with_a_worker(tmp_path: Path):
    project(tmp_path)
    completed = record(tmp_path, "--", sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider")
    assert completed.returncode == 1
    assert "1 failed, 2 passed" in completed.stdout
    assert "nonstrict_agent" not in completed.stdout
    found = records(tmp_path, "model.py")
    assert [[1, 3]] in shapes(found["scaled"])
    assert [[2, 3]] in shapes(found["scaled"])
    assert [[5, 3]] in shapes(found["region"])
    assert [[9, 3]] in shapes(found["run"])


def test_with_the_compiler_on_only_real_values_are_kept(tmp_path: Path):
    project(tmp_path)
    code = (
        "import torch, model; x = torch.ones(6, 3); from torch._dynamo.testing import CompileCounter as C; c = C();"
        "torch.compile(lambda x: model.shifted(x) * 2, backend=c)(x); assert c.frame_count == 1; "
        "torch.compile(model.shifted, backend='aot_eager')(torch.ones(8)); model.outer(2)(x);"
        "from torch._dynamo.utils import counters; print(dict(counters['frames']))"
    )
    completed = record(tmp_path, "--compiled", "--", sys.executable, "-c", code)
    assert completed.returncode == 0, completed.stderr
    # Nothing of ours is compiled.
    assert completed.stdout == run(tmp_path, "-c", code).stdout
    found = records(tmp_path, "model.py")
    # The function itself in the graph of a backend that runs it, and a region; a trace by AOT gives nothing.
    assert shapes(found["shifted"]) == [[[8]], [[6, 3]]]
    assert shapes(found["outer.inner"]) == [[[6, 3]]]
