"""`--fix`, `--diff` and what belongs to them, as a whole process."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.check import analysis
from nonstrict.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

DROPPED = """\
import torch


def scale(x):
    return x * 2


torch._dynamo.nonstrict_trace(scale)  # keep me


@torch.compile(fullgraph=True)
def step(x):
    return scale(x) + 1
"""
#: What a check of the program says at the end.
LOOKED = "1 region and 1 marked function analyzed.\n"
KEPT = DROPPED.replace("torch._dynamo.n", "scale = torch._dynamo.n")
UNUSED = "import torch  # nonstrict: ignore[NST101]\n\nmark = torch._dynamo.nonstrict_trace\n"
REMOVED = UNUSED.replace("  # nonstrict: ignore[NST101]", "")
#: Its suppression names no rule: what was meant is for people to say.
MISSPELT = UNUSED.replace("NST101", "global-tensr-capture")


@pytest.fixture
def dropped(tmp_path: Path) -> Path:
    path = tmp_path / "dropped.py"
    path.write_text(DROPPED, encoding="utf-8")
    return path


def test_findings_that_can_be_fixed_are_marked(nonstrict: Command, dropped: Path):
    run = nonstrict("check")
    assert run.status == 1
    assert " discarded-marker: [*] the result of `" in run.out
    assert "   = fix: Bind the marked function to `scale`\n 8 - torch._dynamo" in run.out
    assert run.out.endswith("Found 1 warning in 1 of 1 file.\n[*] 1 fixable with the `--fix` option.\n" + LOOKED)
    assert dropped.read_text() == DROPPED


def test_fix(nonstrict: Command, dropped: Path):
    assert nonstrict("check", "--fix") == (0, "No findings in 1 file (1 fixed).\n" + LOOKED, "")
    assert dropped.read_text() == KEPT
    assert nonstrict("check", "--fix") == (0, "No findings in 1 file.\n" + LOOKED, "")


def test_line_ends_and_marks_of_files_are_kept(nonstrict: Command, dropped: Path):
    dropped.write_bytes(b"\xef\xbb\xbf" + DROPPED.rstrip().replace("\n", "\r\n").encode())
    assert nonstrict("check", "--fix").status == 0
    assert dropped.read_bytes() == b"\xef\xbb\xbf" + KEPT.rstrip().replace("\n", "\r\n").encode()


def test_what_cannot_be_fixed_is_reported(nonstrict: Command, dropped: Path, project: Path):
    run = nonstrict("check", "--fix", "--output-format", "concise", "--select", "NST1,NST603", "--unfixable", "NST1")
    assert run.status == 1
    assert run.out.splitlines()[0].startswith("bad.py:8:16: error[NST101] `")
    assert run.out.splitlines()[1:] == [
        "Found 1 error in 1 of 3 files (1 fixed).",
        "1 region and 3 marked functions analyzed.",
    ]
    assert dropped.read_text() == KEPT


def test_other_statuses(nonstrict: Command, dropped: Path):
    assert nonstrict("check", "--fix", "--exit-non-zero-on-fix").status == 1
    assert nonstrict("check", "--fix", "--exit-non-zero-on-fix").status == 0
    dropped.write_text(DROPPED)
    assert nonstrict("check", "--fix", "--exit-zero").status == 0


def test_what_was_fixed_is_listed(nonstrict: Command, dropped: Path):
    run = nonstrict("check", "--fix", "--show-fixes")
    assert run.out == (
        "Fixed 1 finding:\n- dropped.py:\n    1 \N{MULTIPLICATION SIGN} NST603 (discarded-marker)\n\n"
        "No findings in 1 file (1 fixed).\n"
        "1 region and 1 marked function analyzed.\n"
    )


def test_diff_writes_nothing(nonstrict: Command, dropped: Path):
    run = nonstrict("check", "--diff")
    assert (run.status, run.err) == (1, "Would fix 1 finding.\n")
    assert run.out.startswith("--- dropped.py\n+++ dropped.py\n@@ -5,7 +5,7 @@\n")
    assert "\n-torch._dynamo.nonstrict_trace(scale)  # keep me\n+scale = torch" in run.out
    assert dropped.read_text() == DROPPED
    assert nonstrict("check", "--diff", "--exit-zero").status == 0
    dropped.write_text(KEPT)
    assert nonstrict("check", "--diff") == (0, "", "No findings would be fixed.\n")
    assert nonstrict("check", "--diff", "-q") == (0, "", "")


def test_diff_can_be_applied(nonstrict: Command, dropped: Path, tmp_path: Path):
    import subprocess

    patch = nonstrict("check", "--diff").out
    subprocess.run(["git", "apply", "-p0", "-"], cwd=tmp_path, input=patch.encode(), check=True)
    assert dropped.read_text() == KEPT


def test_diff_and_confirm_exclude_each_other(nonstrict: Command, dropped: Path):
    run = nonstrict("check", "--diff", "--confirm")
    assert run.status == 2
    assert "--diff writes nothing" in run.err


def test_fix_only_reports_nothing(nonstrict: Command, dropped: Path, project: Path):
    options = ("--select", "NST1,NST603", "--unfixable", "NST1")
    assert nonstrict("check", "--fix-only", *options) == (0, "Fixed 1 finding.\n", "")
    assert nonstrict("check", "--fix-only", *options) == (0, "No findings fixed.\n", "")
    dropped.write_text(DROPPED)
    assert nonstrict("check", "--fix-only", "--exit-non-zero-on-fix", *options).status == 1


def test_unsafe_fixes_are_for_those_who_ask(nonstrict: Command, tmp_path: Path):
    path = tmp_path / "unused.py"
    path.write_text(MISSPELT)
    run = nonstrict("check", "--fix", "--fail-on", "note")
    assert run.status == 1
    assert "fix (unsafe): Remove the unused" in run.out
    assert "No fixes available (1 hidden fix can be enabled with the `--unsafe-fixes` option).\n" in run.out
    assert path.read_text() == MISSPELT
    assert "hidden" not in nonstrict("check", "--no-unsafe-fixes").out
    assert nonstrict("check", "--fix-only").out == (
        "No findings fixed (1 additional fix available with `--unsafe-fixes`).\n"
    )
    assert "[*]" in nonstrict("check", "--unsafe-fixes").out
    assert nonstrict("check", "--fix", "--unsafe-fixes", "--fail-on", "note").status == 0
    assert path.read_text() == REMOVED


def test_rules_can_be_kept_from_being_fixed(nonstrict: Command, dropped: Path, tmp_path: Path):
    (tmp_path / "unused.py").write_text(UNUSED)
    assert "[*]" not in nonstrict("check", "--unfixable", "ALL").out
    assert "[*] 1 fixable" in nonstrict("check", "--fixable", "NST9").out
    nonstrict("check", "--fix", "--unfixable", "NST603")
    assert dropped.read_text() == DROPPED
    assert (tmp_path / "unused.py").read_text() == REMOVED
    nonstrict("check", "--fix", "--fixable", "discarded-marker")
    assert dropped.read_text() == KEPT
    assert "no rule is called `NST999`" in nonstrict("check", "--unfixable", "NST999").err


def test_settings(nonstrict: Command, dropped: Path, tmp_path: Path):
    settings = tmp_path / "nonstrict.toml"
    settings.write_text("fix = true\nunfixable = ['NST6']\nshow-fixes = true\n")
    assert nonstrict("check").status == 1
    settings.write_text("fix = true\nshow-fixes = true\n")
    assert nonstrict("check", "--no-fix").status == 1
    assert dropped.read_text() == DROPPED
    assert "Fixed 1 finding:" in nonstrict("check").out
    assert dropped.read_text() == KEPT
    settings.write_text("unsafe-fixes = true\nfix-only = true\n")
    (tmp_path / "unused.py").write_text(MISSPELT)
    assert nonstrict("check").out == "Fixed 1 finding.\n"


def test_directories_below_have_rules_of_their_own(nonstrict: Command, dropped: Path, tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "nonstrict.toml").write_text("unfixable = ['NST603']\n")
    (tmp_path / "sub" / "dropped.py").write_text(DROPPED)
    nonstrict("check", "--fix")
    assert (dropped.read_text(), (tmp_path / "sub" / "dropped.py").read_text()) == (KEPT, DROPPED)


def test_standard_input(nonstrict: Command, dropped: Path):
    run = nonstrict("check", "-", "--fix", stdin=DROPPED)
    assert run == (0, KEPT, "No findings in 1 file (1 fixed).\n" + LOOKED)
    assert nonstrict("check", "-", "--fix", stdin=KEPT).out == KEPT
    crlf = DROPPED.replace("\n", "\r\n").encode()
    assert nonstrict("check", "-", "--fix", stdin=crlf).out == KEPT.replace("\n", "\r\n")
    run = nonstrict("check", "-", "--diff", "--stdin-filename", "dropped.py", stdin=DROPPED)
    assert run.status == 1
    assert run.out.startswith("--- dropped.py\n+++ dropped.py\n")
    assert dropped.read_text() == DROPPED
    run = nonstrict("check", "-", "--fix", "--stdin-filename", "dropped.py", stdin=DROPPED)
    assert run.out == KEPT
    assert dropped.read_text() == DROPPED


def test_standard_input_that_cannot_be_read_comes_back(nonstrict: Command, tmp_path: Path):
    run = nonstrict("check", "-", "--fix", stdin=b"\0\1\2\3" * 100)
    assert run.status == 2
    assert run.out == "\0\1\2\3" * 100


def test_what_is_left_of_standard_input_goes_to_standard_error(nonstrict: Command):
    run = nonstrict("check", "-", "--fix", "--unfixable", "NST603", "--output-format", "concise", stdin=DROPPED)
    assert (run.status, run.out) == (1, DROPPED)
    assert run.err.startswith("-:8:1: warning[NST603]")


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "# Ä"}, *made], "nbformat": 4}, indent=1)


def test_notebooks(nonstrict: Command, tmp_path: Path):
    head, _, tail = DROPPED.partition("torch._dynamo.n")
    path = tmp_path / "a.ipynb"
    path.write_text(notebook("%time\n" + head, "torch._dynamo.n" + tail))
    run = nonstrict("check", "--diff")
    assert run.out.startswith("--- a.ipynb:cell 3\n+++ a.ipynb:cell 3\n@@ -1,4 +1,4 @@\n-torch._dynamo")
    assert nonstrict("check", "--fix").status == 0
    assert path.read_text() == notebook("%time\n" + head, "scale = torch._dynamo.n" + tail)


def test_pages(nonstrict: Command, tmp_path: Path):
    path = tmp_path / "page.md"
    path.write_text(f"# Page\n\n```python\n{DROPPED}```\n")
    assert nonstrict("check", "--fix").status == 0
    assert path.read_text() == f"# Page\n\n```python\n{KEPT}```\n"


def test_files_that_may_not_be_written(nonstrict: Command, dropped: Path, tmp_path: Path):
    (tmp_path / "unused.py").write_text(UNUSED)
    (tmp_path / "unused.py").chmod(0o444)
    run = nonstrict("check", "--fix")
    assert run.status == 2
    assert run.err == ("nonstrict: unused.py is read-only; make it writable or exclude it. No file was changed.\n")
    assert dropped.read_text() == DROPPED


def test_links_are_followed(nonstrict: Command, dropped: Path, tmp_path: Path):
    (tmp_path / "sub").mkdir()
    dropped.rename(tmp_path / "sub" / "real.txt")
    dropped.symlink_to("sub/real.txt")
    assert nonstrict("check", "dropped.py", "--fix").status == 0
    assert dropped.is_symlink()
    assert (tmp_path / "sub" / "real.txt").read_text() == KEPT


def test_the_cache_knows_fixes(nonstrict: Command, dropped: Path):
    nonstrict("check")
    run = nonstrict("check", "-v")
    assert "from the cache" in run.err
    assert "[*] 1 fixable" in run.out
    assert nonstrict("check", "--fix").status == 0
    assert dropped.read_text() == KEPT


def test_ignores_are_added(nonstrict: Command, dropped: Path, project: Path):
    assert nonstrict("check", "--add-ignore", ".", "--select", "NST101,NST603") == (
        0,
        "Suppressed 2 findings in 2 files.\n",
        "",
    )
    assert "torch._dynamo.nonstrict_trace(scale)  # keep me  # nonstrict: ignore[NST603]\n" in dropped.read_text()
    assert (project / "bad.py").read_text().endswith("    return x * SCALE  # nonstrict: ignore[NST101]\n")
    assert nonstrict("check").status == 0
    assert nonstrict("check", "--add-ignore").out == "Suppressed 0 findings in 0 files.\n"


def test_ignores_have_a_reason(nonstrict: Command, dropped: Path):
    run = nonstrict("check", "--add-ignore=see  #12", "--diff")
    assert run.status == 1
    assert "+torch._dynamo.nonstrict_trace(scale)  # keep me  # nonstrict: ignore[NST603]  see #12\n" in run.out
    assert dropped.read_text() == DROPPED


def test_ignores_on_standard_input(nonstrict: Command):
    run = nonstrict("check", "-", "--add-ignore", stdin=DROPPED)
    assert run.out == DROPPED.replace("# keep me", "# keep me  # nonstrict: ignore[NST603]")
    assert run.err == "Suppressed 1 finding in 1 file.\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="experiments need a sandbox")
def test_experiments_are_of_the_fixed_text(nonstrict: Command, dropped: Path, project: Path):
    empty = project / "environment"
    empty.mkdir()
    (empty / "pyvenv.cfg").touch()
    run = nonstrict("check", "--fix", "--confirm", "--python", str(empty), "--unfixable", "NST1")
    assert dropped.read_text() == KEPT
    assert "NST603" not in run.out
    assert "NST101" in run.out


SECTION = """\
import contextlib
import logging

import torch

log = logging.getLogger(__name__)


@contextlib.contextmanager
def section({}):
{}    yield
{}

@torch._dynamo.nonstrict_trace
def pool(x):
    with section({}):
        return x.mean(-1)
"""


def test_what_only_several_fixes_together_leave_without_a_use_goes(nonstrict: Command, project: Path):
    told = ['    log.info("enter %s", name)\n', '    log.info("leave %s", name)\n']
    (project / "sections.py").write_text(SECTION.format("name", *told, '"pool"'), encoding="utf-8")
    assert nonstrict("check", "--fix", "--unsafe-fixes", "sections.py").status == 0
    after = SECTION.format("", "", "", "").replace("import logging\n", "")
    after = after.replace("\nlog = logging.getLogger(__name__)\n\n", "\n")
    assert (project / "sections.py").read_text(encoding="utf-8") == after


def test_a_round_analyses_what_the_one_before_reached(project: Path, monkeypatch: pytest.MonkeyPatch):
    texts = {f"module{number}.py": DROPPED for number in range(4)}
    told = ['    log.info("enter %s", name)\n', '    log.info("leave %s", name)\n']
    texts["sections.py"] = SECTION.format("name", *told, '"pool"')
    for name, text in texts.items():
        (project / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(project)
    monkeypatch.setattr(analysis, "_PART_BYTES", 1)
    rounds: list[list[tuple[str, ...]]] = []
    examined = analysis._examined  # pyright: ignore[reportPrivateUsage]

    def noted(parts: list[tuple[str, ...]], *rest: object) -> object:
        rounds.append(parts)
        return examined(parts, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(analysis, "_examined", noted)
    main(["check", "--fix", "--unsafe-fixes", "--unfixable", "NST603", "--jobs", "1", *texts])
    assert [name for (name,) in rounds[0]] == sorted(texts)
    assert len(rounds) > 2
    assert {name for parts in rounds[1:] for (name,) in parts} == {"sections.py"}
    assert "import logging" not in (project / "sections.py").read_text(encoding="utf-8")
