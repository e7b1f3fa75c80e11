"""`nonstrict budget` as users run it: predicted and measured numbers, what exceeds and what fell, and writing it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.runs.compilations import Observed
from nonstrict.confirm.runs.places import Project
from nonstrict.confirm.runs.store import keep
from nonstrict.findings import Line, Measured, Recompiled

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

MODEL = """\
import torch


@torch.compile
def broken(x):
    x = x * 3
    print("breaks")
    return x + 1


@torch.compile
def whole(x):
    return x * 2


@torch.compile
def looping(x):
    for _ in range(3):
        x = x + 1
        print("round")
    return x


for size in (1, 2):
    broken(torch.ones(size)), whole(torch.ones(size)), looping(torch.ones(size))
"""


def ran(root: Path, function: str, graphs: int, again: int = 0) -> Measured:
    line = next(n for n, text in enumerate(MODEL.split("\n"), 1) if text.startswith(f"def {function}(")) - 1
    guards = (Recompiled("n == 1", (("n",),), (Line(str(root / "model.py"), line + 2),), again),) if again else ()
    return Measured(function, str(root / "model.py"), line, 0, (1,) * graphs, again, (), (), "", (), guards)


def measured(root: Path, *regions: Measured) -> None:
    keep(Observed(regions, time.time(), "2.13.0", 0, frozenset()), Project(str(root)), time.time())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def budget(project: Path, text: str) -> None:
    (project / "nonstrict.toml").write_text(f"[budget]\n{text}\n")


def states(nonstrict: Command, *arguments: str, **environment: str) -> dict[str, str]:
    told: dict[str, Any] = json.loads(nonstrict("budget", "--output-format", "json", *arguments, **environment).out)
    return {f"{one['function']} {one['number']}": one["state"] for one in told["regions"]}


def test_what_is_predicted(nonstrict: Command, project: Path):
    budget(project, '"model.py::broken" = { graphs = 1, recompilations = 1 }\n"model.py" = { graphs = 1 }')
    run = nonstrict("budget")
    assert run.status == 1
    assert run.out == (
        "model.py:5: `broken`: 2 graphs (predicted), budget 1: exceeded (`model.py::broken`)\n"
        "model.py:5: `broken`: recompilations not known, budget 1\n"
        "model.py:12: `whole`: 1 graph (predicted), budget 1\n"
        "model.py:17: `looping`: 0 graphs (predicted), budget 1: nothing is compiled (`model.py`)\n"
        "4 numbers of 3 regions in the budget: 1 exceeded, 1 not compiled, 1 not known.\n"
        "`nonstrict budget --write` writes 1 entry of what is known.\n"
    )


def test_what_was_measured_counts_first(nonstrict: Command, project: Path):
    budget(project, '"model.py" = { graphs = 2, recompilations = 1 }')
    measured(project, ran(project, "broken", 3), ran(project, "whole", 1, again=2))
    told = states(nonstrict)
    assert told["broken graphs"] == "exceeded"
    assert told["whole recompilations"] == "exceeded"
    assert told["looping recompilations"] == "not-known"
    assert "`broken`: 3 graphs (measured just now), budget 2: exceeded" in nonstrict("budget").out
    (project / "model.py").write_text(MODEL.replace("return x + 1", "return x + 2"))
    assert "`broken`: 2 graphs (predicted)" in nonstrict("budget").out, "a run of other code counts no more"


def test_a_number_that_fell_is_told_and_fails_where_it_is_locked(nonstrict: Command, project: Path):
    budget(project, '"model.py::whole" = { graphs = 3 }\n"model.py" = { graphs = 9 }')
    measured(project, ran(project, "whole", 1))
    assert states(nonstrict)["whole graphs"] == "fell"
    assert nonstrict("budget").status == 1, "nothing is compiled of `looping`"
    budget(project, '"model.py::whole" = { graphs = 3 }')
    assert nonstrict("budget").status == 0
    assert nonstrict("budget", "--locked").status == 1
    assert nonstrict("budget", CI="true").status == 1
    assert nonstrict("budget", CI="false").status == 0
    assert nonstrict("budget", "--no-locked", CI="true").status == 0
    assert nonstrict("budget", "--write").status == 0
    assert nonstrict("budget", "--locked").status == 0


def test_writing(nonstrict: Command, project: Path):
    budget(project, '# all\n"model.py" = { graphs = 4 } # generous\n"model.py::whole" = { graphs = 3 }  # once')
    measured(project, ran(project, "broken", 2, again=1), ran(project, "whole", 1))
    run = nonstrict("budget", "--write")
    assert run.err == "Wrote 2 entries into nonstrict.toml.\n"
    assert (project / "nonstrict.toml").read_text() == (
        '[budget]\n# all\n"model.py" = { graphs = 4 } # generous\n'
        '"model.py::whole" = { graphs = 1, recompilations = 0 }  # once\n'
        '"model.py::broken" = { recompilations = 1 }\n'
    )
    assert nonstrict("budget", "--write").err == ""


def test_an_entry_of_a_folder_only_shrinks(nonstrict: Command, project: Path):
    regions = [ran(project, "broken", 2), ran(project, "whole", 1)]
    budget(project, '"." = { graphs = 4, recompilations = 0 }')
    measured(project, *regions)
    assert nonstrict("budget", "--write").err == "", "one region was not measured"
    (project / "model.py").write_text(MODEL.partition("@torch.compile\ndef looping")[0] + "broken(torch.ones(1))\n")
    nonstrict("budget", "--write")
    assert (project / "nonstrict.toml").read_text() == '[budget]\n"." = { graphs = 2, recompilations = 0 }\n'
    measured(project, ran(project, "broken", 5))
    nonstrict("budget", "--write")
    assert (project / "nonstrict.toml").read_text() == (
        '[budget]\n"." = { graphs = 1, recompilations = 0 }\n"model.py::broken" = { graphs = 5 }\n'
    )


def test_where_there_is_no_budget_it_says_so(nonstrict: Command, project: Path):
    run = nonstrict("budget", ".")
    assert run.out.splitlines()[0].startswith("No budget yet: ")


def test_writing_where_nothing_is_configured(nonstrict: Command, project: Path):
    run = nonstrict("budget", "--write")
    assert run.status == 0
    assert (project / "nonstrict.toml").read_text() == (
        '[budget]\n"model.py::broken" = { graphs = 2 }\n"model.py::whole" = { graphs = 1 }\n'
    ), "that nothing is compiled of `looping` is no budget"


def test_what_is_written_first_goes_into_the_configuration_of_the_project(nonstrict: Command, project: Path):
    (project / "pyproject.toml").write_text('[project]\nname = "p"\n')
    run = nonstrict("budget", "--write")
    assert run.err == "Wrote 2 entries into pyproject.toml.\n"
    assert not (project / "nonstrict.toml").exists(), "it would hide what is configured in the other later"
    assert (project / "pyproject.toml").read_text() == (
        '[project]\nname = "p"\n\n[tool.nonstrict.budget]\n'
        '"model.py::broken" = { graphs = 2 }\n"model.py::whole" = { graphs = 1 }\n'
    )


def test_a_budget_survives_that_its_file_is_moved(nonstrict: Command, project: Path):
    budget(project, '# once\n"model.py::broken" = { graphs = 1 } # for now\n"model.py::gone" = { graphs = 1 }')
    (project / "net").mkdir()
    (project / "model.py").rename(project / "net" / "layers.py")
    run = nonstrict("budget")
    assert run.status == 1, "a region does not leave its budget behind"
    assert run.out == (
        "net/layers.py:5: `broken`: 2 graphs (predicted), budget 1: exceeded (`net/layers.py::broken`)\n"
        "model.py::broken: its file was moved, and it counts for `net/layers.py::broken`\n"
        "model.py::gone: no compiled region of that name is known\n"
        "1 number of 1 region in the budget: 1 exceeded; 2 regions without a budget.\n"
        "`nonstrict budget --write` writes 2 entries of what is known.\n"
    )
    assert nonstrict("budget", "--write").err == "Wrote 2 entries into nonstrict.toml.\n"
    assert (project / "nonstrict.toml").read_text() == (
        '[budget]\n# once\n"net/layers.py::broken" = { graphs = 2 } # for now\n"model.py::gone" = { graphs = 1 }\n'
        '"net/layers.py::whole" = { graphs = 1 }\n'
    )
    assert nonstrict("budget", "--write").err == ""


def test_which_of_two_regions_was_moved_is_not_guessed(nonstrict: Command, project: Path):
    budget(project, '"gone.py::broken" = { graphs = 1 }')
    (project / "other.py").write_text(MODEL)
    run = nonstrict("budget")
    assert (run.status, run.out.splitlines()[0]) == (0, "gone.py::broken: no compiled region of that name is known")
    budget(project, '"gone.py::broken" = { graphs = 1 }\n"other.py::broken" = { graphs = 3 }')
    assert "model.py:5: `broken`: 2 graphs (predicted), budget 1: exceeded" in nonstrict("budget").out
    budget(project, '"gone.py::broken" = { graphs = 1 }\n"other.py::broken" = { graphs = 3 }\n"a.b::broken".graphs = 9')
    assert "gone.py::broken: no compiled region of that name is known" in nonstrict("budget").out


def test_an_entry_that_is_about_nothing(nonstrict: Command, project: Path):
    budget(project, '"model.py::gone" = { graphs = 1 }')
    assert "model.py::gone: no compiled region of that name is known" in nonstrict("budget").out
    assert nonstrict("budget").status == 0


def test_tests_and_lambdas_have_no_budget(nonstrict: Command, tmp_path: Path):
    code = "import torch\n\n\ndef test_it():\n    torch.compile(lambda x: x + 1)(torch.ones(2))\n"
    (tmp_path / "test_it.py").write_text(code)
    (tmp_path / "program.py").write_text(code)
    assert nonstrict("budget", "--write").out == "No compiled region is known.\n"
    assert not (tmp_path / "nonstrict.toml").exists()


def test_what_cannot_be_read_or_written(nonstrict: Command, project: Path):
    assert nonstrict("budget", "gone.py").status == 2
    (project / "base.toml").write_text("select = []\n")
    (project / "nonstrict.toml").write_text('extend = "base.toml"\nbudget = 3\n')
    run = nonstrict("budget")
    assert (run.status, run.out) == (2, "")
    assert "bad value for `budget`: expected a table" in run.err
    (project / "below").mkdir()
    (project / "below" / "base.toml").write_text('[budget]\n"a.py" = { graphs = 1 }\n')
    (project / "nonstrict.toml").write_text('extend = "below/base.toml"\n')
    run = nonstrict("budget", "--write")
    assert run.status == 2
    assert "The budget stands in a configuration in" in run.err


def test_a_moved_entry_is_renamed_in_the_budget_alone(nonstrict: Command, project: Path):
    text = (
        '[tool.other]\nnote = ["gone.py::broken"] # "gone.py::broken"\n\n'
        '[tool.nonstrict.budget]\n"gon\\u0065.py::broken" = { graphs = 2 }\n"model.py::whole" = { graphs = 1 }\n'
    )
    (project / "pyproject.toml").write_text(text)
    assert nonstrict("budget", "--write").err == "Wrote 1 entry into pyproject.toml.\n"
    assert (project / "pyproject.toml").read_text() == text.replace("gon\\u0065.py", "model.py")
    assert nonstrict("budget", "--write").err == ""


def test_a_byte_order_mark_is_kept(nonstrict: Command, project: Path):
    (project / "nonstrict.toml").write_bytes(b'\xef\xbb\xbf[budget]\r\n"model.py" = { graphs = 1 }\r\n')
    assert nonstrict("budget", "--write").err == "Wrote 1 entry into nonstrict.toml.\n"
    assert (project / "nonstrict.toml").read_bytes() == (
        b'\xef\xbb\xbf[budget]\r\n"model.py" = { graphs = 1 }\r\n"model.py::broken" = { graphs = 2 }\r\n'
    )


def test_of_several_configurations_all_are_written_or_none(nonstrict: Command, project: Path):
    for name in ("a", "b"):
        (project / name).mkdir()
        (project / name / "model.py").write_text(MODEL)
        (project / name / "nonstrict.toml").write_text("")
    (project / "b" / "nonstrict.toml").chmod(0o444)
    run = nonstrict("budget", "--write")
    assert run.status == 2
    assert run.err.count("\n") == 1
    assert "is read-only" in run.err
    assert (project / "a" / "nonstrict.toml").read_text() == ""
    assert not (project / "nonstrict.toml").exists()
    (project / "b" / "nonstrict.toml").chmod(0o644)
    assert nonstrict("budget", "--write").err == (
        "Wrote 2 entries into nonstrict.toml.\n"
        "Wrote 2 entries into a/nonstrict.toml.\n"
        "Wrote 2 entries into b/nonstrict.toml.\n"
    )


def test_a_configuration_that_is_not_looked_at_is_not_written(nonstrict: Command, project: Path):
    budget(project, '"model.py" = { graphs = 4 }')
    run = nonstrict("budget", "--write", "--isolated")
    assert run.status == 2
    assert "File exists" in run.err
    assert (project / "nonstrict.toml").read_text() == '[budget]\n"model.py" = { graphs = 4 }\n'
