"""However a program is written: what a fix leaves parses, keeps what it does not change, and lacks its finding."""

from __future__ import annotations

import ast
import functools
import io
import tempfile
import tokenize
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from nonstrict.check.fixing import fix
from nonstrict.check.run import RunOptions, check
from nonstrict.findings import Applicability, Severity
from nonstrict.fixes.applying import applicable, applied
from nonstrict.settings.model import default_settings
from tests.fixes.transformations import CODE, LAYOUT, Text, ends
from tests.rules.examples import examples
from tests.suites.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from random import Random

    from nonstrict.check.fixing import Fixed
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic, LocatedEdit, LocatedFix
    from nonstrict.text.source import Source

TESTS = Path(__file__).resolve().parents[1]


class Program(NamedTuple):
    """The files of a program, and where it is from."""

    name: str
    files: dict[str, str]


@functools.cache
def sources() -> tuple[Program, ...]:
    """The programs of the corpus, of the suites and of the rules' documentation."""
    found = [
        Program(path.stem, {"main.py": path.read_text()}) for path in sorted((TESTS / "corpus/cases").glob("*.py"))
    ]
    for page in sorted((TESTS / "suites").glob("*.md")):
        found += [Program(f"{page.stem}: {case.title}", case.files) for case in cases(page.read_text())]
    found += [Program(example.name, example.case.files) for example in examples()]
    return tuple(program for program in found if all(map(_is_plain, program.files.items())))


def found() -> list[Program]:
    """The programs that random ones led to, each cut down to what it is about."""
    page = (Path(__file__).parent / "counter_examples.md").read_text()
    return [Program(case.title, case.files) for case in cases(page)]


def _is_plain(file: tuple[str, str]) -> bool:
    """Whether a file is a Python program that can be written another way."""
    name, text = file
    try:
        compile(text, name, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    # Comments that speak to the tool mean something else on another line.
    return name.endswith(".py") and text.strip() != "" and "nonstrict:" not in text and "\r" not in text


def transformed(program: Program, choices: Random) -> dict[str, str]:
    """A program, written another way."""
    files = dict(program.files)
    if len(files) == 1:
        for change in choices.sample(CODE, choices.randint(0, 3)):
            files = {name: change(text, choices) for name, text in files.items()}
        if choices.random() < 0.2:
            files |= _another_module(files)
    for change in choices.sample(LAYOUT, choices.randint(0, 4)):
        for name, text in files.items():
            files[name] = change(text, choices)
            assert ast.dump(ast.parse(files[name])) == ast.dump(ast.parse(text)), change.__name__
    return {name: ends(text, choices) for name, text in files.items()}


def _another_module(files: Mapping[str, str]) -> dict[str, str]:
    """A module that calls a function of the program."""
    ((name, text),) = files.items()
    functions = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
    if not functions or "/" in name:
        return {}
    called = functions[-1 if len(functions) == 1 else -2]
    values = ", ".join(one.arg for one in (*called.args.posonlyargs, *called.args.args))
    module = name.removesuffix(".py")
    return {"other.py": f"import {module}\n\n\ndef more({values}):\n    return {module}.{called.name}({values})\n"}


class Project:
    """Files in a folder, as `nonstrict check --fix --unsafe-fixes` sees them."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self._folder = folder
        self._settings = default_settings(str(folder))._replace(torch_version="2.13.0")
        self.data: dict[str, bytes] = {}
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            self.data[str(path)] = text.encode()
            path.write_bytes(self.data[str(path)])

    def examine(self, overlays: Mapping[str, Source] | None = None) -> CheckResult:
        """What is found."""
        return check([str(self._folder)], self._settings, RunOptions(jobs=1, overlays=overlays or {}))

    def fixed(self, only: LocatedFix | None = None) -> Fixed:
        """Everything mended, or one fix made."""

        def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
            for finding in result.diagnostics:
                best = applicable(finding.fixes, Applicability.UNSAFE)
                if only is None and best is not None:
                    yield finding, best
                elif only is not None and only in finding.fixes:
                    yield finding, only

        return fix(self.examine, propose)

    def write(self, done: Fixed) -> None:
        """The changed files, on the disk."""
        for change in done.changes:
            self.data[change.path] = change.after
            Path(change.path).write_bytes(change.after)


def codes(result: CheckResult) -> set[str]:
    """The rules that say more than a note."""
    return {one.code for one in result.diagnostics if one.severity > Severity.NOTE}


def remarks(text: str) -> Counter[str]:
    """The comments of a program."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def lost(before: str, edits: Iterable[LocatedEdit]) -> Counter[str]:
    """The comments that edits may take with them: on the lines of what they take out, which has these to itself.

    That are statements, decorators, parameters, arguments and imported names.
    """
    text = Text(before)
    ranges = [
        (text.at((where.row, where.column - 1)), text.at((where.end_row, where.end_column - 1)))
        for where in (edit.location for edit in edits if edit.text.strip() in ("", "pass"))
    ]
    lists = ("decorator_list", "args", "keywords")
    within = {part for node in text.nodes for name in lists for part in _listed(node, name)}
    gone = [
        node
        for node in text.nodes
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.alias, ast.keyword))
        and (isinstance(node, (ast.stmt, ast.alias)) or node in within)
        and any(start <= text.bounds(node)[0] and text.bounds(node)[1] <= end for start, end in ranges)
        and (isinstance(node, ast.stmt) or not text.lines[node.lineno - 1][: node.col_offset].strip(" \t@"))
    ]
    rows = {row for one in gone for row in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    return Counter(token.string for token in text.tokens if token.type == tokenize.COMMENT and token.start[0] in rows)


def _listed(node: ast.AST, name: str) -> list[ast.AST]:
    """What a field of a node lists, if it lists anything."""
    parts: object = getattr(node, name, None)
    return cast("list[ast.AST]", parts) if isinstance(parts, list) else []


def plain(data: bytes) -> str:
    """A text with LF ends and without a byte order mark."""
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def keeps_ends(before: bytes, after: bytes) -> bool:
    """Whether all lines end as those of a file did that has one kind of line end."""
    return (b"\r\n" in before) == (b"\r\n" in after) and (
        b"\r\n" not in before or after.count(b"\r\n") == after.count(b"\n")
    )


def check_fix(project: Project, finding: Diagnostic, made: LocatedFix, before: CheckResult) -> None:
    """One fix keeps its promises."""
    about = f"{finding.code} {made.title}"
    for path, old in project.data.items():
        edits = [edit for edit in made.edits if edit.location.path == path]
        new = applied(path, old, edits)
        compile(new, path, "exec", dont_inherit=True)
        assert keeps_ends(old, new) or b"\n" not in old, about
        assert old.startswith(b"\xef\xbb\xbf") == new.startswith(b"\xef\xbb\xbf"), about
        missing = remarks(plain(old)) - remarks(plain(new))
        assert not missing - lost(plain(old), edits), f"{about}: comments"
    done = project.fixed(made)
    assert not done.mistakes, done.mistakes
    assert codes(done.result) <= codes(before), f"{about}: {codes(done.result) - codes(before)}"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sources()), st.randoms(use_true_random=False))
def test_fixes_keep_their_promises(program: Program, choices: Random) -> None:
    files = transformed(program, choices)
    note("\n\n".join(f"`{name}`:\n\n```python\n{text}```" for name, text in files.items()))
    keep_their_promises(files)


@pytest.mark.parametrize("program", found(), ids=lambda program: program.name)
def test_fixes_of_counter_examples_keep_their_promises(program: Program) -> None:
    keep_their_promises(program.files)


def keep_their_promises(files: Mapping[str, str]) -> None:
    """Every fix of a program does what it says, and all of them together."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), files)
        before = project.examine()
        for finding in before.diagnostics:
            best = applicable(finding.fixes, Applicability.DISPLAY)
            if best is not None and best.applicability > Applicability.DISPLAY:
                check_fix(project, finding, best, before)
        done = project.fixed()
        assert not done.mistakes, done.mistakes
        assert codes(done.result) <= codes(before)
        for change in done.changes:
            assert keeps_ends(change.before, change.after) or b"\n" not in change.before
        project.write(done)
        assert not project.fixed().changes, "fixing again changes nothing"
