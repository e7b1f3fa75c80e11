"""What the worker calls, in CPython: findings, fixes and regions of programs as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.live.folder import Folder
from nonstrict_playground import Programs

if TYPE_CHECKING:
    from pathlib import Path

BREAKS = "import torch\n\n\n@torch.compile\ndef step(x):\n    print(x)\n    return x + 1\n"


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(str(tmp_path / "programs"))


def test_findings_and_regions(programs: Programs) -> None:
    told: dict[str, Any] = json.loads(programs.check("one", "2.13", BREAKS))
    assert [(one["code"], one["location"]) for one in told["findings"]] == [("NST701", {"row": 6, "column": 5})]
    (region,) = told["regions"]
    assert region["record"]["function"] == "step"
    assert region["graphs"] == "at most 1 graph, 1 break"
    assert len(region["parts"]) == len(region["record"]["parts"]) > 1


def test_fixes_are_those_of_the_latest_text(programs: Programs) -> None:
    programs.check("one", "2.13", "x = 1\n")
    assert json.loads(programs.fixed("one")) == []
    programs.check("one", "2.13", BREAKS)
    (finding,) = json.loads(programs.fixed("one"))
    assert [fix["applicability"] for fix in finding["fixes"]] == ["unsafe"]


def test_programs_do_not_see_one_another(programs: Programs) -> None:
    programs.check("one", "2.13", "SCALE = 1\n\n\ndef change():\n    global SCALE\n    SCALE = 2\n")
    text = "from main import SCALE\nimport torch\n\n\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    return x * SCALE\n"
    alone = json.loads(programs.check("two", "2.13", text))
    programs.forget("one")
    assert json.loads(programs.check("two", "2.13", text + "\n"))["findings"] == alone["findings"]


def test_a_forgotten_program_begins_anew(programs: Programs) -> None:
    first = programs.check("one", "2.13", BREAKS)
    programs.forget("one")
    assert programs.check("one", "2.13", BREAKS) == first


def test_a_fault_of_ours_is_a_finding(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Folder, path: str) -> None:
        raise ZeroDivisionError

    programs.check("one", "2.13", "")
    monkeypatch.setattr(Folder, "diagnostics", fail)
    told = json.loads(programs.check("one", "2.13", BREAKS))
    assert [(one["code"], one["severity"]) for one in told["findings"]] == [("NST904", "error")]
    assert "ZeroDivisionError" in told["findings"][0]["message"]
    assert json.loads(programs.fixed("one"))[0]["code"] == "NST904"
    monkeypatch.undo()
    assert [one["code"] for one in json.loads(programs.check("one", "2.13", BREAKS))["findings"]] == ["NST701"]
