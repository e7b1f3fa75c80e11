"""The engine in the browser finds what it finds in CPython, in every example of the playground's menu."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nonstrict.check.run import RunOptions, check
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import default_settings
from tests.playground.driving import OUT
from tests.rules.examples import examples

if TYPE_CHECKING:
    from pathlib import Path

    from tests.playground.driving import Playground

#: Asks a worker of its own, as the page does, for each program in turn; gives what it answers.
ASKED = """
async ([programs, torch]) => {
    const worker = new Worker("worker.js", { type: "module" });
    const answers = [];
    const heard = (wanted) => new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => {
            if (data.kind === wanted) resolve(data.json);
            if (data.kind === "died") reject(data.reason);
        };
    });
    await heard("ready");
    for (const [id, text] of programs.entries()) {
        const answer = heard("answer");
        worker.postMessage({ kind: "check", id, program: "compared", torch, text });
        answers.push(await answer);
    }
    worker.terminate();
    return answers;
}
"""
#: What a compiler says of broken code differs from Python to Python.
BROKEN = "NST901"


class Found(NamedTuple):
    """What is compared of a finding."""

    code: str
    row: int
    column: int
    severity: str
    message: str
    note: str


def menu() -> dict[str, str]:
    groups: list[dict[str, Any]] = json.loads((OUT / "examples.json").read_text(encoding="utf-8"))
    return {one["name"]: one["code"] for group in groups for one in group["examples"]}


def found_here(folder: Path, torch: str, code: str) -> list[Found]:
    folder.mkdir()
    (folder / "main.py").write_text(code, encoding="utf-8")
    settings = default_settings(str(folder))._replace(torch_version=torch)
    result = check([str(folder)], settings, RunOptions(jobs=1, fixes=None))
    return [
        told(one.code, one.location.row, one.location.column, one.severity.label, one.message, one.note)
        for one in result.diagnostics
    ]


def told(code: str, row: int, column: int, severity: str, message: str, note: str | None) -> Found:
    return Found(code, row, column, severity, "" if code == BROKEN else message, note or "")


def found_there(answer: str) -> list[Found]:
    return [
        told(
            one["code"],
            one["location"]["row"],
            one["location"]["column"],
            one["severity"],
            one["message"],
            one["note"],
        )
        for one in json.loads(answer)["findings"]
    ]


def test_the_menu_has_both_examples_of_every_rule() -> None:
    names = set(menu())
    # That of NST903 is a file of settings.
    wanted = {f"{one.code}-{'use-instead' if one.good else 'example'}" for one in examples() if one.code != "NST903"}
    assert wanted <= names
    assert len(wanted) == 2 * (len(RULES) - 1)


@pytest.mark.parametrize("torch", ["2.13", "2.15"])
def test_every_example_has_the_same_findings(opened: Playground, tmp_path: Path, torch: str) -> None:
    programs = menu()
    answers = opened.window.evaluate(ASKED, [list(programs.values()), torch])
    there = dict(zip(programs, map(found_there, answers), strict=True))
    here = {name: found_here(tmp_path / name, torch, code) for name, code in programs.items()}
    assert there == here
    assert {one.code for found in there.values() for one in found} >= {
        code for code in RULES if code not in {"NST900", "NST903", "NST904"}
    }
