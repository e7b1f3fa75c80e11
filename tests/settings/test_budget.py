"""The compile budget in a configuration: which regions an entry is about, what it may say, and how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tomli

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
        ('"m.py::f" = { graph = 1 }', "`graph` is not a number of a region: there are graphs and recompilations", 15),
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
    assert "write for instance `budget = {" in mistake.help


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


MOVED = """\
# "m.py::f" is the step
[tool.other]
note = ["m.py::f", 'm.py::f'] # "m.py::f"

[tool.nonstrict.budget]
# "m.py::f" is slow
"m.py::f" = { graphs = 3 } # "m.py::f"
'm.py::g'   =   { graphs = 2 }
"gon\\u0065.py::h" = { graphs = 1 }
"m.py::d".graphs = 9

[tool.nonstrict.budget."m.py::t"] # table
graphs = 4

[tool.last."m.py::t"]
x = 1
"""


def test_an_entry_is_renamed_in_the_budget_alone():
    keys = {f"m.py::{name}": f"n/m.py::{name}" for name in "fgdt"} | {"gone.py::h": "n/m.py::h"}
    assert with_budget("/p/pyproject.toml", MOVED, {}, keys) == (
        MOVED.replace('"m.py::f" =', '"n/m.py::f" =')
        .replace("'m.py::g'", "'n/m.py::g'")
        .replace('"gon\\u0065.py::h"', '"n/m.py::h"')
        .replace('"m.py::d"', '"n/m.py::d"')
        .replace('budget."m.py::t"', 'budget."n/m.py::t"')
    )


@pytest.mark.parametrize(
    "text",
    [
        "budget = { 'm.py::f' = { graphs = 1 }, b = { graphs = 2 } } # both\n",
        "budget.'m.py::f'.graphs = 1\nselect = ['ALL']\nbudget.b.graphs = 2\n",
        "budget.b.graphs = 2\r\n[budget.'m.py::f']\r\ngraphs = 1\r\n",
        "[budget.b]\ngraphs = 2\n[severity]\nNST101 = 'note'\n[budget.'m.py::f']\ngraphs = 1\n",
    ],
)
def test_an_entry_is_renamed_however_it_is_written(text: str):
    written = with_budget("nonstrict.toml", text, {"b": {"graphs": 3}}, {"m.py::f": "n.py::f"})
    assert written == text.replace("m.py::f", "n.py::f").replace("graphs = 2", "graphs = 3")


def test_an_entry_is_renamed_to_any_name():
    odd = "it's \"\n.py::f"
    written = with_budget("nonstrict.toml", "[budget]\n'm.py::f' = {}\n", {}, {"m.py::f": odd})
    assert tomli.loads(written) == {"budget": {odd: {}}}


def test_what_cannot_be_edited_is_told():
    with pytest.raises(ConfigurationError, match=r"nonstrict\.toml cannot be edited: "):
        with_budget("nonstrict.toml", "[budget\n", {"b": {"graphs": 3}})
    with pytest.raises(ConfigurationError, match=r"does not hold the entry `m\.py::f`"):
        with_budget("nonstrict.toml", "[other]\n'm.py::f' = {}\n", {}, {"m.py::f": "n.py::f"})
