"""`nonstrict record` as users run it, without torch: a stand-in package of that name takes its place."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict.cli.main import main
from tests.confirm.runs.logs import Log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.cli.conftest import Command

#: What a program can see of the way it was started.
LOOK = """\
import os, sys
print(sys.argv, sys.path, sys.flags, "torch" in sys.modules, os.getcwd(), __name__)
print("sitecustomize" in sys.modules and sys.modules["sitecustomize"].__file__)
sys.stderr.write("complaint\\n")
sys.exit(int(sys.argv[1]))
"""


def test_the_command_is_as_it_would_be_by_itself(nonstrict: Command, tmp_path: Path):
    (tmp_path / "look.py").write_text(LOOK)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text(
        "import sys\nprint('customized') if sys.orig_argv[1] == 'look.py' else None\n"
    )
    command = [sys.executable, "look.py", "3", "--", "-x"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "mine")}
    alone = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    run = nonstrict("record", "--", *command, PYTHONPATH=f"{tmp_path / 'mine'}")
    assert alone.returncode == run.status == 3
    assert run.out == alone.stdout
    assert f"{tmp_path / 'mine' / 'sitecustomize.py'}" in run.out
    assert run.err == (
        "complaint\n"
        "nonstrict: No call was recorded: the command did not import torch. Record one that runs your model.\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["look.py", "mine"]


def test_a_program_that_is_no_python(nonstrict: Command):
    run = nonstrict("record", "sh", "-c", "echo out; exit 5")
    assert (run.status, run.out) == (5, "out\n")
    assert "started no Python that could be hooked" in run.err
    assert "-I, -E and -S" in nonstrict("record", "--", sys.executable, "-I", "-c", "pass").err


def test_an_end_by_a_signal(nonstrict: Command):
    assert nonstrict("record", "--", "sh", "-c", "kill -TERM $$").status == 143


@pytest.mark.parametrize("arguments", [[], ["--"], ["--limit", "3", "--"]])
def test_without_a_command(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["record", *arguments]) == 2
    assert "Give the command after `--`: nonstrict record -- pytest" in capsys.readouterr().err


def test_a_command_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["record", "--", "pytets"]) == 2
    assert "The command `pytets` was not found." in capsys.readouterr().err
    script = tmp_path / "train.py"
    script.write_text("")
    assert main(["record", "--", str(script)]) == 2
    assert f"nonstrict record -- python {script}" in capsys.readouterr().err


def test_a_limit_is_at_least_one(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["record", "--limit", "0", "--", "true"])
    assert "at least 1" in capsys.readouterr().err


#: Leaves what a recorded process would leave.
PRETEND = """\
import json, os, sys
path = os.path.join(os.environ["NONSTRICT_RECORD_SPOOL"], "99.jsonl")
here = os.path.realpath("model.py")
with open(path, "w") as file:
    for line in json.loads(sys.argv[1]):
        file.write(json.dumps({"path": here, **line}) + "\\n")
"""


def pretended(
    nonstrict: Command, directory: Path, *options: str, events: Sequence[Mapping[str, object]]
) -> tuple[str, str]:
    (directory / "model.py").write_text("def f(x):\n    return x\n")
    run = nonstrict("record", *options, "--", sys.executable, "-c", PRETEND, json.dumps(events))
    assert run.status == 0
    return run.out, run.err


TORCH = {"event": "torch", "version": "2.13.0"}
MARKED = {"event": "marked", "function": "f"}
CALL = {"event": "call", "function": "f", "call": {"args": [{"kind": "none"}], "kwargs": {}}}


def test_what_was_recorded_is_said(nonstrict: Command, tmp_path: Path):
    out, err = pretended(nonstrict, tmp_path, events=[TORCH, MARKED, CALL, CALL])
    assert (out, err) == ("", f"Recorded 1 call of 1 function in {Path('.nonstrict/inputs')}.\n")
    assert (tmp_path / ".nonstrict" / "inputs" / "model.py.json").is_file()
    traced = {**CALL, "call": {"args": [], "kwargs": {}, "traced": True}}
    told = pretended(nonstrict, tmp_path, events=[TORCH, MARKED, CALL, traced])[1]
    assert told == f"Recorded 2 calls of 1 function in {Path('.nonstrict/inputs')}, 1 of them as torch traced them.\n"
    assert pretended(nonstrict, tmp_path, "-q", events=[TORCH, CALL]) == ("", "")
    pretended(nonstrict, tmp_path, "--output", "elsewhere", events=[CALL])
    assert (tmp_path / "elsewhere" / "model.py.json").is_file()


def test_why_nothing_was_recorded_is_said(nonstrict: Command, tmp_path: Path):
    assert "no function below . was marked or compiled" in pretended(nonstrict, tmp_path, events=[TORCH])[1]
    assert "nothing called `f` and returned" in pretended(nonstrict, tmp_path, events=[TORCH, MARKED])[1]
    failed = {"event": "failed", "text": "torch: AttributeError: compile"}
    assert "Some calls were not recorded: torch: AttributeError" in pretended(nonstrict, tmp_path, events=[failed])[1]
    large = {"event": "large", "function": "f"}
    assert "Some calls of `f` (model.py) are too large" in pretended(nonstrict, tmp_path, events=[large, CALL])[1]


def test_records_that_cannot_be_written(nonstrict: Command, tmp_path: Path):
    (tmp_path / "file").write_text("")
    (tmp_path / "model.py").write_text("def f(x):\n    return x\n")
    arguments = ("--", sys.executable, "-c", PRETEND, json.dumps([TORCH, CALL]))
    run = nonstrict("record", "--output", "file/below", *arguments)
    assert run.status == 2
    assert "No call was kept. Choose another --output." in run.err


def test_old_pythons_can_read_the_hook():
    package = Path(str(sys.modules["nonstrict"].__file__)).parent.parent / "nonstrict_agent"
    text = (package / "recording" / "hook" / "sitecustomize.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 4))
    assert "from __future__" not in text


def test_what_the_command_compiled_is_kept(nonstrict: Command, tmp_path: Path):
    (tmp_path / "model.py").write_text("def step(x):\n    return x\n")
    for name in ("old", "new"):
        log = Log(tmp_path / name, name=name)
        log.started("0/0", str(tmp_path / "model.py"), 1, "step")
        log.done("0/0", "step", recompile_reason=f"0/0: {name} == 1")
    (tmp_path / "train.py").write_text(
        "import os, shutil\nshutil.copytree('new', os.environ['TORCH_TRACE'], dirs_exist_ok=True)"
    )
    command = ["record", "--compiled", "--", sys.executable, "train.py"]
    assert nonstrict(*command).err.endswith(
        "Kept 1 compiled function, 0 breaks, 1 recompilation; `nonstrict check` shows them.\n"
    )
    (record,) = (tmp_path / ".nonstrict" / "runs").iterdir()
    assert json.loads(record.read_text())["regions"][0]["again"][0]["guard"] == "new == 1"


def test_logs_of_former_runs_are_left_out(nonstrict: Command, tmp_path: Path):
    (tmp_path / "model.py").write_text("def step(x):\n    return x\n")
    log = Log(tmp_path / "traces", name="old")
    log.started("0/0", str(tmp_path / "model.py"), 1, "step")
    log.done("0/0", "step")
    os.utime(log.path, (1.0, 1.0))
    nonstrict("record", "--compiled", "--", sys.executable, "-c", "", TORCH_TRACE=str(tmp_path / "traces"))
    assert not (tmp_path / ".nonstrict").exists()
    assert log.path.exists()
