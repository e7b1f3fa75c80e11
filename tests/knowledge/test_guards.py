"""What recompiles and what does not, as the table of guards says it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from nonstrict.knowledge import guards
from nonstrict.knowledge.store import data_file

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LIMIT = guards.limit()


@pytest.mark.parametrize(
    ("source", "kind", "use", "compilations"),
    [
        ("argument", "int", "arithmetic", 2),
        ("attribute of the module", "int", "arithmetic", LIMIT),
        ("attribute of one of several modules", "int", "arithmetic", LIMIT),
        ("global", "int", "arithmetic", LIMIT),
        ("global", "float", "arithmetic", 2),
        ("argument", "str", "branch", LIMIT),
        ("argument", "size", "arithmetic", 2),
        ("argument", "size", "branch on a size", 3),
        ("argument", "int", "loop bound", LIMIT),
        ("argument", "list length", "length", LIMIT),
        ("argument", "lambda of one text", "call", 1),
        ("argument", "order of keys", "one key", 1),
        ("attribute of the module", "module of one class", "call", 1),
        ("attribute of the module", "tensor", "arithmetic", 1),
        ("grad mode", "", "", 2),
        ("training mode", "", "", 2),
    ],
)
def test_what_recompiles(source: str, kind: str, use: str, compilations: int):
    found = guards.compiled(source, kind, use)
    assert found is not None
    assert (found.compilations, found.lasting) == (compilations, compilations < LIMIT)


def test_options_make_a_difference():
    assert guards.compiled("argument", "int", "arithmetic", dynamic=False) == (LIMIT, False, "v == 2")
    found = guards.compiled("attribute of the module", "int", "arithmetic", config="allow_unspec_int_on_nn_module=True")
    assert found is not None
    assert found.compilations == 2


def test_the_answer_is_that_of_the_torch_at_hand():
    def told(torch: tuple[int, int], source: str, kind: str, use: str) -> tuple[int, bool]:
        found = guards.compiled(source, kind, use, torch=torch)
        assert found is not None
        return found.compilations, found.lasting

    releases = ((2, 12), (2, 13), (2, 14), (2, 15), (2, 16))
    of_text = [told(torch, "argument", "int", "format") for torch in releases]
    assert of_text == [(1, False)] * 3 + [(LIMIT, False)] * 2
    counted = [told(torch, "global", "int counter", "changed in the region") for torch in releases]
    assert counted == [(LIMIT, False)] * 3 + [(1, True)] * 2


def test_what_was_not_measured_is_not_told():
    assert guards.compiled("argument", "int", "prayer") is None


def _sample() -> list[str]:
    rows = sorted(data_file("guards.json")["rows"])
    return rows[:: max(1, len(rows) // 40)]


@pytest.mark.parametrize("key", _sample())
def test_rows_are_what_torch_does(key: str, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    if data_file("guards.json")["torch"] != torch.__version__.split("+")[0]:
        pytest.skip("the table was measured with another version of torch")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "guards", raising=False)
    changes, grammar, states, measuring = (
        importlib.import_module(f"guards.{name}") for name in ("changes", "grammar", "states", "measuring")
    )
    rows = [
        row
        for row in (*grammar.rows(), *states.rows(), *changes.rows())
        if row.key == key and row.options in grammar.OPTIONS
    ]
    assert rows
    for row in rows:
        found = measuring.counted(row)
        dynamic = {"": None, "dynamic=True": True, "dynamic=False": False}[row.options]
        told = guards.compiled(*key.split("/"), dynamic=dynamic)
        assert (found.error != "") == (told is None)
        if told is not None:
            assert (found.compilations, found.lasting) == (told.compilations, told.lasting)
