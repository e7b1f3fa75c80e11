"""`nonstrict check --watch`: after each change, what `nonstrict check` says then."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nonstrict.check import analysis
from nonstrict.cli.main import main
from tests.cli.conftest import BAD, CLEAN
from tests.cli.test_sub_projects import ALONE, PAIR, installed
from tests.cli.watching import MODULE, PATIENCE, SMALL_PARTS, terminal, watching
from tests.git import Git
from tests.histories import History

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="ends processes by signals")

EDITS = 40
USER = """\
import torch
from lib import limits


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * limits.LIMIT
"""
WRITTEN = "LIMIT = 2.0\n\n\ndef widen(value):\n    global LIMIT\n    LIMIT = value\n"
#: Fails on a comment that says so.
FAILING = """
from nonstrict.check import analysis
known = analysis._in_epochs
def failing(files, marked, options):
    if any("# fail" in open(file.path).read() for file in marked):
        raise ZeroDivisionError
    return known(files, marked, options)
analysis._in_epochs = failing
from nonstrict.cli.main import command
command()
"""


def fresh(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a run without any memory writes."""
    monkeypatch.chdir(folder)
    capsys.readouterr()
    main(["check", "--no-cache", "-j", "1", "--output-format", "json-lines"])
    return capsys.readouterr().out


@pytest.mark.parametrize("parts", ["one", "many"])
@pytest.mark.parametrize("seed", [1])
def test_after_any_edit_it_tells_what_a_fresh_run_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seed: int, parts: str
):
    if parts == "many":
        monkeypatch.setattr(analysis, "_PART_BYTES", 1)
    history = History(tmp_path, seed)
    for number in range(EDITS):
        (tmp_path / "core" / f"other{number}.py").write_text("")
    with watching(tmp_path, "--no-cache", start=SMALL_PARTS if parts == "many" else MODULE) as watcher:
        assert watcher.round().findings == fresh(tmp_path, capsys, monkeypatch)
        for number, edit in enumerate(history.edits(EDITS)):
            # The round that knows of this, which is written only once, began after the edit.
            told = watcher.write(f"core/other{number}.py", "NUMBER = 1\n")
            assert told.findings == fresh(tmp_path, capsys, monkeypatch), (number, edit)
        assert watcher.end() == 130


def test_one_edit_is_one_round_between_two_records(project: Path):
    with watching(project) as watcher:
        first = watcher.round()
        assert (first.begin["changed"], first.codes) == ([], ["NST101"])
        kept = {name: first.end[name] for name in ("round", "findings", "new", "gone", "files", "status", "failures")}
        assert kept == {"round": 1, "findings": 1, "new": 0, "gone": 0, "files": 2, "status": 1, "failures": []}
        second = watcher.write("clean.py", BAD)
        assert second.begin["changed"] == [str(project / "clean.py")]
        assert (second.end["new"], second.end["gone"], second.end["round"]) == (1, 0, 2)
        # A line that moves is no new finding.
        third = watcher.write("clean.py", f"\n{BAD}")
        assert (third.end["new"], third.end["gone"], third.end["findings"]) == (0, 0, 2)
        fourth = watcher.write("clean.py", CLEAN)
        assert (fourth.end["new"], fourth.end["gone"], fourth.end["status"]) == (0, 1, 1)


def test_files_and_folders_come_go_and_move(project: Path):
    with watching(project) as watcher:
        watcher.round()
        package = project / "package"
        assert watcher.write("package/new.py", BAD).end["findings"] == 2
        (package / "new.py").rename(package / "other.py")
        assert watcher.round_of("other.py").end["findings"] == 2
        shutil.rmtree(package)
        assert watcher.round_of("other.py").end["findings"] == 1
        assert watcher.write("package/new.py", BAD).end["findings"] == 2
        # The folder is another one now, and is watched as the first was.
        assert watcher.write("package/new.py", CLEAN).end["findings"] == 1
        # As editors save: another file takes the name.
        (project / "saved.tmp").write_text(BAD)
        (project / "saved.tmp").replace(package / "new.py")
        assert watcher.round_of("new.py").end["findings"] == 2


def test_what_is_named_may_come_and_go(project: Path):
    with watching(project, "bad.py", "later") as watcher:
        first = watcher.round()
        assert (first.end["findings"], first.end["failures"]) == (1, ["later: does not exist"])
        (project / "bad.py").unlink()
        assert watcher.round_of("bad.py").end["files"] == 0
        assert watcher.write("bad.py", BAD).end["findings"] == 1
        told = watcher.write("later/new.py", BAD)
        assert (told.end["findings"], told.end["failures"]) == (2, [])


def test_what_is_left_out_makes_no_round(project: Path):
    (project / ".gitignore").write_text("made/\n")
    Git(project)
    with watching(project) as watcher:
        watcher.round()
        for name in ("made", "node_modules", "__pycache__", ".venv"):
            (project / name).mkdir()
            (project / name / "bad.py").write_text(BAD)
        (project / "notes.swp").write_text(BAD)
        told = watcher.write("clean.py", CLEAN)
        assert (told.begin["round"], told.changed) == (2, {"clean.py"})
        # Once it is no longer left out, what is in it is.
        told = watcher.write(".gitignore", "other/\n")
        assert told.end["findings"] == 2
        assert watcher.write("made/bad.py", CLEAN).end["findings"] == 1


def test_many_files_of_another_branch_are_one_round(project: Path):
    git = Git(project)
    git.commit()
    git("checkout", "-q", "-b", "other")
    for number in range(30):
        (project / f"more{number}.py").write_text(BAD)
    git.commit()
    git("checkout", "-q", "main")
    with watching(project) as watcher:
        assert watcher.round().end["findings"] == 1
        git("checkout", "-q", "other")
        told = watcher.round_of(*(f"more{number}.py" for number in range(30)))
        assert told.end["findings"] == 31
        assert told.end["round"] <= 4


def test_a_file_outside_of_what_is_checked_counts(tmp_path: Path):
    for name, text in {"pyproject.toml": "", "app/model.py": USER, "lib/limits.py": "LIMIT = 2.0\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with watching(tmp_path, "app") as watcher:
        assert watcher.round().codes == []
        assert watcher.write("lib/limits.py", WRITTEN).codes == ["NST104"]
        (tmp_path / "lib" / "limits.py").unlink()
        assert watcher.round_of("limits.py").codes == []
        assert watcher.write("lib/limits.py", WRITTEN).codes == ["NST104"]


def test_settings_count_at_once_and_wrong_ones_are_told_until_they_are_mended(project: Path):
    (project / "base.toml").write_text("")
    with watching(project) as watcher:
        watcher.round()
        told = watcher.write("nonstrict.toml", 'ignore = ["NST999"]\n')
        assert (told.codes, told.end["status"]) == (["NST903"], 2)
        assert told.end["failures"] == ["The configuration is not valid; nothing was checked."]
        told = watcher.write("nonstrict.toml", 'extend = "base.toml"\n')
        assert (told.codes, told.end["status"]) == (["NST101"], 1)
        assert watcher.write("base.toml", 'ignore = ["NST101"]\n').codes == []
        assert watcher.write("base.toml", 'ignore = ["NST\n').codes == ["NST903"]
        assert watcher.write("base.toml", "").codes == ["NST101"]


def test_it_begins_where_the_settings_are_wrong(project: Path):
    (project / "nonstrict.toml").write_text("unknown = 1\n")
    with watching(project) as watcher:
        assert watcher.round().codes == ["NST903"]
        assert watcher.write("nonstrict.toml", "").codes == ["NST101"]


def test_the_baseline_counts_and_stays_as_it_is(project: Path):
    main(["check", "--write-baseline", "--config", f'baseline="{project}/known.json"', str(project)])
    (project / "nonstrict.toml").write_text('baseline = "known.json"\n')
    known = (project / "known.json").read_bytes()
    with watching(project) as watcher:
        assert watcher.round().codes == []
        assert watcher.write("bad.py", CLEAN).codes == []
        assert watcher.write("bad.py", BAD).codes == []
        assert (project / "known.json").read_bytes() == known
        (project / "known.json").write_text('{"version": 1, "findings": []}')
        assert watcher.round_of("known.json").codes == ["NST101"]


def test_a_fault_costs_a_round_and_not_the_watcher(project: Path):
    start = ("-c", FAILING)
    with watching(project, start=start) as watcher:
        watcher.round()
        told = watcher.write("clean.py", f"# fail\n{CLEAN}")
        assert "NST904" in told.codes
        assert told.end["status"] == 2
        told = watcher.write("clean.py", CLEAN)
        assert (told.codes, told.end["status"]) == (["NST101"], 1)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it(project: Path, number: int, status: int):
    with watching(project) as watcher:
        watcher.round()
        assert watcher.end(number) == status
        assert watcher.complaints == []
    # The next command knows what was found.
    again = subprocess.run(
        [sys.executable, "-m", "nonstrict", "check", "-v"], cwd=project, capture_output=True, text=True, check=False
    )
    assert "answered from the cache" in again.stderr


def test_it_ends_with_its_reader(project: Path):
    command = f"{sys.executable} -m nonstrict check --watch | head -n 1"
    done = subprocess.run(command, shell=True, cwd=project, capture_output=True, timeout=PATIENCE, check=False)  # noqa: S602
    assert done.stdout.startswith(b'{"type":"round-begin"')
    assert done.stderr == b""


def test_where_the_system_tells_nothing_it_looks(project: Path):
    with watching(project, WATCHFILES_FORCE_POLLING="1") as watcher:
        watcher.round()
        assert watcher.write("clean.py", BAD).end["findings"] == 2
        assert "WATCHFILES_FORCE_POLLING is set" in "".join(watcher.complaints)


def test_a_limit_of_the_system_is_told_and_got_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from nonstrict.check import notices

    known = notices.watch
    asked: list[bool] = []

    def limited(*paths: str, force_polling: bool, **others: object) -> object:
        asked.append(force_polling)
        if not force_polling:
            raise OSError(28, "OS file watch limit reached.")
        return known(*paths, force_polling=True, **others)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(notices, "watch", limited)
    made = notices.Notices([str(tmp_path)])
    made.close()
    assert asked == [False, True]
    assert "OS file watch limit reached" in made.polling


def test_file_systems_that_tell_nothing_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from nonstrict.check import notices

    mounts = tmp_path / "mounts"
    mounts.write_text("disk / ext4 rw 0 0\nhost:/home /mnt/my\\040work nfs4 rw 0 0\n")
    monkeypatch.setattr(notices, "_MOUNTS", str(mounts))
    assert "nfs4" in notices.silent(["/mnt/my work/project"])
    assert notices.silent(["/home/project"]) == ""
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "false")
    assert notices.silent(["/mnt/my work/project"]) == ""


def test_without_the_library_it_says_how_to_get_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("nonstrict.cli.watch.find_spec", lambda _: None)
    assert main(["check", "--watch", str(project)]) == 2
    assert "pip install 'nonstrict[watch]'" in capsys.readouterr().err


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_terminal_is_redrawn(project: Path, nonstrict: Command, term: str):
    """The screen shows what `nonstrict check` writes, and a last line."""
    with terminal(project, TERM=term, NO_COLOR="1") as screen:
        first = screen.until("Ctrl-C ends.")
        assert nonstrict("check", NO_COLOR="1").out in first
        assert "2 files, 1 finding, " in first
        (project / "clean.py").write_text(BAD)
        second = screen.until("Ctrl-C ends.")
        assert ("\x1b[H\x1b[2J" in second) == (term == "xterm")
        shown = second.rpartition("\x1b[H\x1b[2J")[2].lstrip("\n")
        assert shown.startswith(nonstrict("check", NO_COLOR="1").out)
        assert "2 files, 2 findings (+1 new), " in shown
        (project / "nonstrict.toml").write_text("unknown = 1\n")
        # What is said beside the findings stays on the screen.
        third = screen.until("Ctrl-C ends.").rpartition("\x1b[H\x1b[2J")[2]
        assert "nonstrict: The configuration is not valid; nothing was checked." in third
        screen.type("\x03")
        assert screen.status() == 130


def test_a_format_for_people_is_written_to_a_pipe_if_it_is_asked_for(project: Path, nonstrict: Command):
    with watching(project, "--output-format", "concise") as watcher:
        expected = nonstrict("check", "--output-format", "concise").out
        assert "".join(watcher.line() for _ in expected.splitlines()) == expected
        assert watcher.line().endswith("Waiting for changes. Ctrl-C ends.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "--watch waits for files to change, and standard input is none."),
        (["--fix"], "--watch changes no files, --fix does."),
        (["--add-ignore"], "--watch changes no files, --add-ignore does."),
        (["--write-baseline"], "--watch changes no files, --write-baseline does."),
        (["--confirm"], "--watch runs no experiments; `nonstrict server` does in an editor."),
        (["--since", "main"], "--watch and --since exclude each other."),
        (["--staged"], "--watch and --staged exclude each other."),
        (["--diff"], "--watch and --diff exclude each other."),
        (["--statistics"], "--watch and --statistics exclude each other."),
        (["--silent"], "--watch and --silent exclude each other."),
        (["-o", "out.txt"], "--watch and --output-file exclude each other."),
        (["--show-files"], "--watch and --show-files exclude each other."),
        (["--output-format", "sarif"], "--watch writes round after round, sarif is one document."),
    ],
)
def test_what_makes_no_sense_is_refused(nonstrict: Command, project: Path, arguments: list[str], message: str):
    told = nonstrict("check", "--watch", *arguments)
    assert (told.status, told.out) == (2, "")
    assert message in told.err


def test_settings_that_fix_change_nothing(project: Path):
    (project / "nonstrict.toml").write_text("fix = true\nunsafe-fixes = true\n")
    with watching(project) as watcher:
        assert watcher.round().codes == ["NST101"]
        assert (project / "bad.py").read_text() == BAD


def test_an_environment_that_is_made_makes_a_round(tmp_path: Path):
    for name, text in {"nonstrict.toml": "", "sub/nonstrict.toml": 'python = ".venv"\n', "sub/main.py": PAIR}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    installed(tmp_path, "2.15.0")
    with watching(tmp_path, **ALONE) as watcher:
        watcher.round()
        installed(tmp_path / "sub", "2.13.0")
        while "NST502" not in (told := watcher.round()).codes:
            assert all(path.startswith(str(tmp_path / "sub" / ".venv")) for path in told.begin["changed"])
        version = tmp_path / "sub/.venv/lib/python3.11/site-packages/torch/version.py"
        version.write_text("__version__ = '2.15.0'\n")
        assert "NST502" not in watcher.round_of("version.py").codes
        shutil.rmtree(tmp_path / "sub" / ".venv")
        assert all(path.startswith(str(tmp_path / "sub" / ".venv")) for path in watcher.round().begin["changed"])


def test_edits_behind_links_make_rounds(tmp_path: Path):
    texts = {"src/main.py": BAD.replace("torch.ones(3)", "1.0") + "\nimport helper\n\nhelper.at(scaled)\n"}
    texts |= {"ext/real.py": "def at(function):\n    return function\n", "cfg/base.toml": "", "sub/bad.py": BAD}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "src" / "helper.py").symlink_to("../ext/real.py")
    (tmp_path / "sub" / ".nonstrict.toml").symlink_to("../cfg/base.toml")
    with watching(tmp_path, "src/main.py", "sub") as watcher:
        assert watcher.round().codes == ["NST101"]
        assert watcher.write("ext/real.py", "def at(function):\n    return print\n").changed == {"real.py"}
        assert watcher.write("cfg/base.toml", 'ignore = ["NST101"]\n').codes == []
        assert watcher.write("cfg/base.toml", "unknown = 1\n").codes == ["NST903"]
        assert watcher.write("cfg/base.toml", "").codes == ["NST101"]


def test_a_working_directory_that_is_removed_ends_it(project: Path):
    (project / "work").mkdir()
    with watching(project / "work", "..") as watcher:
        watcher.round()
        (project / "work").rmdir()
        told = watcher.round()
        assert told.end["failures"] == ["the working directory is gone."]
        assert (told.findings, told.end["status"]) == ("", 2)
        assert watcher.process.wait(PATIENCE) == 2
    assert watcher.complaints == ["nonstrict: the working directory is gone.\n"]


def test_only_what_changed_is_named_while_settings_are_wrong(project: Path):
    for name in ("sub/nonstrict.toml", "sub/gone/bad.py", "gone/bad.py", "base.toml", "nonstrict.toml"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(BAD if name.endswith(".py") else 'extend-exclude = ["gone"]\n')
    with watching(project) as watcher:
        watcher.round()
        for name in ("sub/nonstrict.toml", "nonstrict.toml"):
            for text in ("unknown = 1\n", 'extend = "unknown.toml"\n', 'extend-exclude = ["gone"]\n', ""):
                (project / name).write_text(text)
                assert watcher.round().begin["changed"] == [str(project / name)]
        # That is checked from now on.
        assert watcher.write("gone/bad.py", CLEAN).begin["changed"] == [str(project / "gone" / "bad.py")]
