"""The compile budget in a configuration: which regions an entry is about, what it may say, and how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.settings.budget import Budget, covers, governing
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import nearest_settings, settings_from_file
from nonstrict.settings.writing import with_budget

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "/project"


@pytest.mark.parametrize(
    ("place", "name", "path", "function", "about"),
    [
        ("src/pkg/model.py", "Net.forward", "src/pkg/model.py", "Net.forward", True),
        ("src/pkg/model.py", "Net", "src/pkg/model.py", "Net.forward", True),
        ("src/pkg/model.py", "Net", "src/pkg/model.py", "Net.encode", False),
        ("src/pkg/model.py", "", "src/pkg/model.py", "step", True),
        ("pkg.model", "step", "pkg/model.py", "step", True),
        ("pkg.model", "step", "src/pkg/model.py", "step", True),
        ("pkg.model", "step", "src/pkg/models.py", "step", False),
        ("pkg", "", "src/pkg/layers/mlp.py", "step", True),
        ("pkg/layers", "", "pkg/layers/mlp.py", "step", True),
        ("pkg/layers", "", "pkg/layers_old/mlp.py", "step", False),
        ("pkg.layers", "", "pkg/layers/mlp.py", "step", True),
        (".", "", "anywhere/mlp.py", "step", True),
        ("model.py", "step", "other/model.py", "step", False),
    ],
)
def test_what_an_entry_is_about(place: str, name: str, path: str, function: str, about: bool):
    assert covers(place, name, f"{ROOT}/{path}", function, ROOT) is about


def test_the_closest_entry_counts_for_each_number():
    everything, folder = Budget(".", ROOT, 9, 9), Budget("pkg/layers", ROOT, graphs=2)
    own = Budget("pkg.layers.mlp::Mlp", ROOT, recompilations=1)
    budgets = (own, everything, folder)
    mlp = (f"{ROOT}/pkg/layers/mlp.py", "Mlp.forward")
    assert governing(budgets, "graphs", *mlp) is folder
    assert governing(budgets, "recompilations", *mlp) is own
    assert governing(budgets, "recompilations", f"{ROOT}/pkg/layers/mlp.py", "other") is everything
    assert governing((own, folder), "graphs", f"{ROOT}/train.py", "step") is None


def test_it_is_read(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.nonstrict.budget]\n"m.py::f" = { graphs = 1, recompilations = 2 }\n"pkg" = { graphs = 3 }\n'
    )
    settings = nearest_settings(str(tmp_path))
    assert settings is not None
    assert settings.budget == (Budget("m.py::f", str(tmp_path), 1, 2), Budget("pkg", str(tmp_path), 3))


@pytest.mark.parametrize(
    ("entry", "message", "column"),
    [
        ('"m.py::" = { graphs = 1 }', 'expected a region as "FILE::FUNCTION", or a file or folder', 1),
        ('"m.py::f" = 1', "expected a table for `m.py::f`", 1),
        ('"m.py::f" = { graph = 1 }', "`graph` is no number of a region: there are graphs and recompilations", 15),
        ('"m.py::f" = { graphs = -1 }', "expected a number for `graphs` of `m.py::f`", 1),
        ('"m.py::f" = { graphs = true }', "expected a number for `graphs` of `m.py::f`", 1),
    ],
)
def test_mistakes_are_told_at_their_place(tmp_path: Path, entry: str, message: str, column: int):
    (tmp_path / "nonstrict.toml").write_text(f"select = []\n[budget]\n# a comment\n{entry}\n")
    with pytest.raises(ConfigurationError) as caught:
        nearest_settings(str(tmp_path))
    (mistake,) = caught.value.diagnostics
    assert (mistake.code, mistake.location.row, mistake.location.column) == ("NST903", 4, column)
    assert message in mistake.message
    assert "Write for instance `budget = {" in mistake.help


WRITTEN = """\
# the project
[project]
name = "p"   # keep

[tool.nonstrict]
select = ["ALL"]

[tool.nonstrict.budget]
# slow to compile
"m.py::f" = { graphs = 3, recompilations = 2 } # was 5
'pkg' = { graphs = 2 }

[tool.nonstrict.budget."m.py::g"]
graphs = 4  # four

[tool.other]
x = 1
"""


def test_writing_leaves_all_else_as_it_is():
    changes = {"m.py::f": {"graphs": 1}, "m.py::g": {"graphs": 3}}
    text = with_budget("/p/pyproject.toml", WRITTEN, changes)
    assert text == WRITTEN.replace("{ graphs = 3,", "{ graphs = 1,").replace("graphs = 4  #", "graphs = 3  #")


@pytest.mark.parametrize("name", ["pyproject.toml", "nonstrict.toml"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only this\n",
        "[tool.nonstrict]\nselect = ['ALL']\n\n[tool.other]\nx = 1\n",
        "[tool.other]\nx = 1\n\n[tool.nonstrict]\nselect = ['ALL']\n",
        "[tool.nonstrict]\nbudget = { 'a.py' = { graphs = 1 } }\n",
        "[tool]\nnonstrict.budget.'a.py'.graphs = 1\n",
        "[tool.nonstrict.budget]\r\n'a.py' = { graphs = 1 }\r\n",
    ],
)
def test_an_entry_is_added_to_any_file(tmp_path: Path, name: str, text: str):
    if name == "nonstrict.toml":
        text = text.replace("[tool]\nnonstrict.", "").replace("[tool.nonstrict.", "[").replace("[tool.nonstrict]\n", "")
        text = text.replace("[tool.other]\nx = 1\n\n", "").replace("\n[tool.other]\nx = 1\n", "")
    path = tmp_path / name
    written = with_budget(str(path), text, {"m.py::f": {"graphs": 1, "recompilations": 0}})
    path.write_bytes(written.encode())
    budget = {one.key: one for one in settings_from_file(str(path)).budget}
    assert (budget["m.py::f"].graphs, budget["m.py::f"].recompilations) == (1, 0)
    assert ("a.py" in budget) is ("a.py" in text)
    assert all(line in written for line in text.splitlines() if "a.py" not in line)
