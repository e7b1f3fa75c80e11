"""Rules of this repository that no linter knows: sizes of files, pinned npm packages."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 500
CLIENT = ("client-vscode/src", "client-vscode/test")
#: Written before these rules, and kept as they are.
AS_THEY_CAME = {"bench/gen_project.py", "bench/lsp_bench.py", "bench/floor_bench.py", "bench/cli_bench.py"}


def sources() -> list[Path]:
    folders = ("analysis", "server", "scripts", "site", "bench", "tests", "examples", *CLIENT)
    found = [path for folder in folders for kind in ("*.py", "*.ts", "*.css") for path in (ROOT / folder).rglob(kind)]
    return sorted(path for path in found if path.relative_to(ROOT).as_posix() not in AS_THEY_CAME)


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_stay_short(path: Path):
    lines = path.read_text(encoding="utf-8", errors="replace").count("\n")
    assert lines <= LONGEST, f"{lines} lines: split the file by purpose"


def test_npm_packages_are_pinned():
    for manifest in (ROOT / "package.json", ROOT / "client-vscode" / "package.json"):
        entries = json.loads(manifest.read_text(encoding="utf-8"))
        for group in ("dependencies", "devDependencies"):
            loose = [name for name, version in entries.get(group, {}).items() if not version[0].isdigit()]
            assert not loose, f"{manifest.name}: name one version of {loose}"


def test_torch_is_no_dependency_of_the_tool():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not [name for name in project["dependencies"] if name.startswith(("torch", "numpy"))]


def test_what_nodes_remember_has_names_of_its_own():
    computed: dict[str, set[str]] = {}
    for path in (ROOT / "analysis").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "remembered" and len(node.args) == 3:
                computed.setdefault(ast.unparse(node.args[1]), set()).add(f"{path.name}: {ast.unparse(node.args[2])}")
    assert len(computed) > 20
    assert [name for name, by in computed.items() if len(by) > 1] == []


#: What holds texts for people, and the methods by which a program would read them.
TEXTS = {"message", "note", "help", "title", "evidence"}
READING = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find", "index", "count"}


def reads_texts(tree: ast.AST) -> list[str]:
    """The expressions in which a program asks what a text for people says."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            empty = any(isinstance(side, ast.Constant) and side.value in ("", None) for side in sides)
            asked = () if empty else sides
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            matched = ast.unparse(node.func.value).startswith(("re", "_")) and node.func.attr in {"search", "match"}
            asked = (node.func.value,) if node.func.attr in READING else node.args if matched else ()
        else:
            continue
        if any(isinstance(one, ast.Attribute) and one.attr in TEXTS for one in asked):
            found.append(ast.unparse(node))
    return found


def test_no_text_for_people_is_read():
    told = {
        path.relative_to(ROOT).as_posix(): found
        for folder in ("analysis", "server")
        for path in (ROOT / folder).rglob("*.py")
        if (found := reads_texts(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert told == {}


@pytest.mark.parametrize(
    "code", ["'rebound' in one.message", "one.note == 'x'", "one.message.startswith('x')", "re.search('x', one.help)"]
)
def test_reading_a_text_would_be_seen(code: str):
    assert reads_texts(ast.parse(code)) == [code]
    assert reads_texts(ast.parse("one.message == ''; one.code == 'x'; print(one.message)")) == []


def test_what_values_refer_to_is_not_guessed_from_its_attributes():
    """`value.of_class`, `value.function` and so on are asked (`nonstrict.program.domain.values`)."""
    guessed: list[str] = []
    for path in (ROOT / "analysis" / "nonstrict").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("hasattr", "getattr"):
                parts = [inner for inner in ast.walk(node.args[0]) if isinstance(inner, ast.Attribute)]
                guessed += [f"{path.name}:{node.lineno}" for part in parts if part.attr == "ref"]
    assert guessed == []


#: How deep the interpreter follows calls. All else follows names once each, or says by its name what is nested so deep.
_DEPTHS_OF_THE_INTERPRETER = {
    "analysis/nonstrict/program/interpret/invoke.py: _MAX_DEPTH",
    "analysis/nonstrict/program/interpret/invoke.py: _MAX_CLOSURE_DEPTH",
    "analysis/nonstrict/program/state/machine.py: STATIC_DEPTH",
}


def test_nothing_but_the_interpreter_evaluates_to_a_depth():
    """What an expression is, one derivation tells: a depth of its own is how another one begins."""
    named = re.compile(r"^(\w*DEPTH)\b.*=", re.MULTILINE)
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("analysis", "server")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in named.findall(path.read_text(encoding="utf-8"))
    }
    assert found == _DEPTHS_OF_THE_INTERPRETER
