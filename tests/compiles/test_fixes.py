"""Fixes on a real compile: a program that went wrong computes what plain Python does once its findings are mended.

In plain Python every program that fixes change computes what it did before; all of them are run for that.

The programs are the cases of the corpus and the bad examples of the rules. By default every fourth of them is compiled;
with NONSTRICT_CORPUS=all, all are (some minutes).
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.compiles.programs import ran
from tests.rules.examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are run in forks"),
]

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "cases"
STEP = 1 if os.environ.get("NONSTRICT_CORPUS") == "all" else 4
#: The least number of programs of which fixes mend every finding above note.
MENDED_FLOOR = 100
#: The least number of changed programs that run in plain Python.
COMPARED_FLOOR = 100
#: What programs print in marked functions, where a fix takes that out.
TAKEN_OUT = {"case_733_ns_called_outside_compile.py": "called\n"}


class Program(NamedTuple):
    """A program before and after its fixes, the codes of its findings above note, and whether there were notes."""

    name: str
    before: str
    after: str
    found: Counter[str]
    left: Counter[str]
    noted: bool

    @property
    def is_mended(self) -> bool:
        """Whether the fixes left nothing of what was found."""
        return bool(self.found) and not self.left


def _sources() -> dict[str, str]:
    """Every program by the name of its file."""
    bad = [
        example for example in examples() if not example.good and "def main()" in example.case.files.get("main.py", "")
    ]
    found = {f"example_{example.name.replace('-', '_')}.py": example.case.files["main.py"] for example in bad}
    return found | {f"case_{path.name}": path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.py"))}


def _findings(folder: Path) -> tuple[dict[str, Counter[str]], set[str]]:
    """By file, the codes of the findings above note; the files with notes."""
    listed: list[dict[str, Any]] = json.loads(_nonstrict(folder, "--output-format", "json").stdout)
    found: dict[str, Counter[str]] = {}
    noted: set[str] = set()
    for finding in listed:
        name = Path(finding["filename"]).name
        if finding["severity"] == "note":
            noted.add(name)
        else:
            found.setdefault(name, Counter())[finding["code"]] += 1
    return found, noted


def _nonstrict(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nonstrict", "check", "--isolated", "--no-cache", *arguments, str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr[-2000:]
    return run


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    """All programs, mended as far as `--unsafe-fixes` goes."""
    folder = tmp_path_factory.mktemp("programs")
    sources = _sources()
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    before, noted = _findings(folder)
    _nonstrict(folder, "--fix", "--unsafe-fixes")
    fixed = {name: (folder / name).read_text(encoding="utf-8") for name in sources}
    after, _ = _findings(folder)
    _nonstrict(folder, "--fix", "--unsafe-fixes")
    again = {name: (folder / name).read_text(encoding="utf-8") for name in sources}
    assert again == fixed, "fixing twice is not fixing once"
    none = Counter[str]()
    return {
        name: Program(name, text, fixed[name], before.get(name, none), after.get(name, none), name in noted)
        for name, text in sources.items()
    }


def test_what_is_fixed_parses_and_has_no_new_finding(programs: dict[str, Program]) -> None:
    for program in programs.values():
        ast.parse(program.after)
    new = {program.name: program.left - program.found for program in programs.values()}
    assert not {name: codes for name, codes in new.items() if codes}


def test_programs_without_findings_are_left_alone(programs: dict[str, Program]) -> None:
    clean = [program for program in programs.values() if not program.found and not program.noted]
    assert clean
    assert [program.name for program in clean if program.after != program.before] == []


def test_mended_programs_agree_with_plain_python(
    programs: dict[str, Program], record_property: Callable[[str, object], None]
) -> None:
    mended = [program for program in programs.values() if program.is_mended]
    record_property("mended", len(mended))
    assert len(mended) >= MENDED_FLOOR
    jobs = [
        (f"{program.name}-{backend}", program.after, backend)
        for program in mended[::STEP]
        for backend in ("python", "aot_eager", "inductor")
    ]
    # Which function of autograd made a tensor is nothing that it computes.
    results = {
        name: {key: re.sub(r"grad_fn=<\w+>", "grad_fn", text) for key, text in result.items()}
        for name, result in ran(jobs).items()
    }
    wrong = [
        f"{name}: plain {results[name + '-python']}, {backend} {results[f'{name}-{backend}']}"
        for name in (program.name for program in mended[::STEP])
        for backend in ("aot_eager", "inductor")
        if results[f"{name}-{backend}"] != results[f"{name}-python"] or results[f"{name}-python"]["error"]
    ]
    assert not wrong, "\n".join(wrong)


def test_fixes_keep_what_plain_python_computes(programs: dict[str, Program]) -> None:
    changed = [program for program in programs.values() if program.after != program.before]
    jobs = [(f"{program.name} before", program.before, "python") for program in changed]
    jobs += [(f"{program.name} after", program.after, "python") for program in changed]
    results = ran(jobs)
    runs = {program.name: (results[f"{program.name} before"], results[f"{program.name} after"]) for program in changed}
    # What fails in plain Python too is mended by computing something.
    compared = {name: pair for name, pair in runs.items() if not pair[0]["error"]}
    assert len(compared) >= COMPARED_FLOOR
    wrong = {
        name: pair
        for name, pair in compared.items()
        if pair[1] != {**pair[0], "output": pair[0]["output"].replace(TAKEN_OUT.get(name, ""), "")}
    }
    assert not wrong, "\n".join(f"{name}: {before} became {after}" for name, (before, after) in wrong.items())
