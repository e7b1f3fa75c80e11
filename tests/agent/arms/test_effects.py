"""What a call does besides computing: output, log records, audit events, executed lines, errors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import HEAD, cause

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch


def program(setup: str, *body: str) -> str:
    """A program whose region has a body; its first line is line 8 where `setup` is one line."""
    lines = "".join(f"    {line}\n" for line in body)
    region = f"@torch.compile\ndef region(x):\n{lines}    return x\n"
    return f"{HEAD}{setup}\n\n{region}\ndef main():\n    region(torch.ones(2))\n"


def called(project: Project, setup: str, *body: str, **fields: Any) -> dict[str, Any]:
    (call,) = project.calls(program(setup, *body), **fields)
    return call


STREAMS: dict[str, tuple[str, str, str, str]] = {
    "print": ("", "print('a', 1)", "a 1\n", ""),
    "standard error": ("import sys", "print('b', file=sys.stderr)", "", "b\n"),
    "below Python": ("import os", "os.write(1, b'low'); os.write(2, b'err')", "low", "err"),
    "another process": ("import subprocess, sys", "subprocess.run([sys.executable, '-c', 'print(7)'])", "7\n", ""),
    "logging": ("import logging\nlogging.basicConfig(format='%(message)s')", "logging.warning('c')", "", "c\n"),
    "early binding": ("import sys\nout = sys.stdout", "out.write('d')", "d", ""),
    "tensor": ("", "print(x)", "tensor([1., 1.])\n", ""),
    "not text": ("import os", "os.write(1, b'\\xff!')", "\ufffd!", ""),
}


@pytest.mark.parametrize("name", STREAMS)
def test_what_a_call_writes(project: Project, name: str) -> None:
    setup, body, out, err = STREAMS[name]
    call = called(project, setup, body)
    assert (call["out"], call["err"]) == (out, err)
    assert call["bytes"] >= len(out) + len(err)


def test_output_belongs_to_the_call_that_wrote_it(project: Project) -> None:
    text = program("N = [0]", "N[0] += 1", "print(N[0])").replace(
        "    region(torch.ones(2))", "    for _ in range(2):\n        print('between')\n        region(torch.ones(2))"
    )
    assert [call["out"] for call in project.calls(text)] == ["1\n", "2\n"]


def test_much_output_is_cut_but_counted(project: Project) -> None:
    call = called(project, "", "print('x' * 50_000)")
    assert len(call["out"]) == 20_000
    assert call["bytes"] == 50_001


def test_warnings_reach_standard_error_with_their_line(project: Project) -> None:
    call = called(project, "import warnings", "warnings.warn('careful')")
    assert call["out"] == ""
    assert f"{project.directory}/model.py:8: UserWarning: careful" in call["err"]


def test_tracing_prints_what_every_call_should(project: Project) -> None:
    text = HEAD + "@nonstrict_trace\ndef marked(x):\n    print('marked')\n    return x + 1\n\n"
    text += "@torch.compile\ndef region(x):\n    return marked(x)\n\n"
    text += "def main():\n    for _ in range(2):\n        region(torch.ones(2))\n"
    eager, compiled = project.calls(text), project.calls(text, "aot_eager")
    assert [call["out"] for call in eager] == ["marked\n", "marked\n"]
    assert compiled[0]["out"].startswith("marked\n")
    assert compiled[1]["out"] == ""


LOG = "import logging\nlog = logging.getLogger('m')\nlog.addHandler(logging.NullHandler())\nlog.propagate = False"


def test_log_records_of_the_users_code(project: Project) -> None:
    call = called(project, LOG, "log.warning('%s of %d', 'one', 2)", "log.info('off')", "log.error('%d', 'text')")
    assert call["log"] == ["WARNING one of 2", "ERROR %d (TypeError)"]
    assert (call["out"], call["err"]) == ("", "")
    everything = called(project, LOG.replace("logging.NullHandler()", "logging.StreamHandler()"), "log.info('on')",
                        logged=True)  # fmt: skip
    assert everything["log"] == ["INFO on"]


def test_log_records_of_others_are_none(project: Project) -> None:
    project.write("site-packages/installed.py", "import logging\ndef f(): logging.getLogger('i').error('theirs')\n")
    paths = [str(project.directory / "site-packages")]
    assert called(project, "import installed", "installed.f()", further=paths)["log"] == []


def test_logging_between_calls_is_not_the_calls(project: Project) -> None:
    text = program(LOG, "pass").replace("def main():\n", "def main():\n    log.error('outside')\n")
    assert project.calls(text)[0]["log"] == []


EVENTS: dict[str, tuple[str, str, list[str]]] = {
    "write": ("import os", "open('new.txt', 'w').close()", ["open new.txt"]),
    "append": ("import os", "open('new.txt', 'a').close()", ["open new.txt"]),
    "low-level write": ("import os", "os.close(os.open('new.txt', os.O_CREAT | os.O_WRONLY))", ["open new.txt"]),
    "read": ("import os", "open(__file__).close()", []),
    "list": ("import os", "os.listdir('.')", []),
    "remove": ("import os\nopen('old.txt', 'w').close()", "os.remove('old.txt')", ["os.remove old.txt"]),
    "rename": ("import os\nopen('old.txt', 'w').close()", "os.rename('old.txt', 'b')", ["os.rename old.txt"]),
    "directory": ("import os", "os.mkdir('d')", ["os.mkdir d"]),
    "environment": ("import os", "os.environ['A'] = 'b'", ["os.putenv b'A'"]),
    "process": ("import subprocess", "subprocess.run(['true'])", ["subprocess.Popen true"]),
    "shell": ("import os", "os.system('true')", ["os.system b'true'"]),
    "socket": ("import socket", "socket.socket().close()",
               ["socket.__new__ <socket.socket fd=-1, family=0, type=0, proto=0>"]),
}  # fmt: skip


@pytest.mark.parametrize("name", EVENTS)
def test_events_below_the_users_code(project: Project, name: str) -> None:
    setup, body, expected = EVENTS[name]
    events = called(project, setup, body)["events"]
    path, line = str(project.directory / "model.py"), 8 + setup.count("\n")
    seen = [event for event in events if event[0] != "os.posix_spawn"]
    assert [f"{event} {subject}" for event, subject, *_ in seen] == expected
    assert all([file, at] == [path, line] for _, _, file, at in events)


def test_events_in_a_library_name_the_line_that_called_it(project: Project) -> None:
    events = called(project, "import pathlib", "x = x + 1", "pathlib.Path('new.txt').write_text('text')")["events"]
    assert [[event, line] for event, _, _, line in events] == [["open", 9]]


def test_compiling_raises_no_events_of_the_users(project: Project) -> None:
    (call,) = project.calls(program("", "x = x * 2"), "inductor")
    assert call["events"] == []


def test_events_outside_of_calls_are_none(project: Project) -> None:
    text = program("", "pass").replace("def main():\n", "def main():\n    open('new.txt', 'w').close()\n")
    assert project.calls(text)[0]["events"] == []


HELPER = "def helped(x):\n    if x is None:\n        return 0\n    return x + 1\n"
LINES = """\
import torch
from helper import helped

def unused():
    return 1

@torch.compile
def region(x):
    if x.shape[0] == 2:
        x = helped(x)
    else:
        x = x - 1
    return [part
            for part in x]

def main():
    region(torch.ones(2))
"""


def test_executed_lines(project: Project) -> None:
    helper = project.write("helper.py", HELPER)
    lines = project.arm(LINES, lines=True)["lines"]
    seen = set(lines[str(project.directory / "model.py")])
    assert {1, 2, 8, 9, 10, 13, 14, 16, 17} <= seen
    assert not {5, 11, 12} & seen
    assert set(lines[str(helper)]) >= {1, 2, 4}
    assert 3 not in lines[str(helper)]
    assert set(lines) == {str(helper), str(project.directory / "model.py")}


def test_lines_within_regions(project: Project) -> None:
    helper = str(project.write("helper.py", HELPER))
    trace = project.arm(f"{LINES}    helped(None)\n", lines=True)
    within = {path: set(lines) for path, lines in trace["within"].items()}
    # With the top level, the header of the region, and the line that calls it.
    assert within == {str(project.directory / "model.py"): {1, 2, 4, 7, 8, 9, 10, 13, 14, 16, 17}, helper: {1, 2, 4}}
    assert 3 in trace["lines"][helper]


def test_lines_are_collected_when_the_program_fails_too(project: Project) -> None:
    path = str(project.directory / "model.py")
    assert 3 in project.arm("import torch\nN = 1\nN / 0\nN = 2\n", lines=True)["lines"][path]
    trace = project.arm(program("", "raise ValueError", "x = 1"), lines=True)
    assert 8 in trace["lines"][path]
    assert 9 not in trace["lines"][path]
    assert "lines" not in project.arm(program("", "pass"))


def test_lines_of_a_backward_pass(project: Project) -> None:
    text = HEAD + """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

@torch.compile
def region(x):
    return Double.apply(x)

def main():
    region(torch.ones(1, requires_grad=True))
"""  # fmt: skip
    trace = project.arm(text, lines=True, gradients=True)
    assert 7 in trace["within"][str(project.directory / "model.py")]


def error_of(project: Project, text: str, backend: str = "eager", **fields: Any) -> Any:
    trace = project.arm(text, backend, **fields)
    assert trace["stop"]["kind"] == "raised"
    return trace["calls"][-1]["error"]


MISMATCHED = HEAD + """\
@nonstrict_trace
def body(x):
    return torch.ones(2) + (x @ torch.ones(
        5,
    ))

@torch.compile(fullgraph=True)
def region(x):
    return body(x)

def main():
    region(torch.ones(2))
"""  # fmt: skip


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python does not tell columns")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_the_expression_that_raised_an_error(project: Project, backend: str) -> None:
    assert cause(error_of(project, MISMATCHED, backend))["span"] == [6, 8, 28, 5]


def test_the_chain_of_an_error(project: Project) -> None:
    body = [
        "try:", "    {}['k']", "except KeyError as error:", "    try:", "        raise ValueError('second') from error",
        "    except ValueError:", "        raise RuntimeError('third') from None",
    ]  # fmt: skip
    error = error_of(project, program("", *body))
    told = [(link["type"], link["message"], link["frames"][-1][1]) for link in error["links"]]
    assert told == [("RuntimeError", "third", 14), ("ValueError", "second", 12), ("KeyError", "'k'", 9)]
    assert error["cause"] == 2


def test_frames_of_other_files_are_left_out(project: Project) -> None:
    project.write("helper.py", "import json\ndef helped():\n    json.loads('{')\n")
    error = error_of(project, program("import helper", "helper.helped()"))
    assert cause(error)["type"] == "JSONDecodeError"
    assert cause(error)["frames"] == [
        [str(project.directory / "model.py"), 8],
        [str(project.directory / "helper.py"), 3],
    ]


def test_errors_that_cannot_be_told(project: Project) -> None:
    setup = "class Odd(Exception):\n    def __str__(self):\n        raise KeyError\n"
    assert cause(error_of(project, program(setup, "raise Odd")))["message"] == "<str raised KeyError>"
    long = cause(error_of(project, program("", "raise ValueError('x' * 5000)")))["message"]
    assert 500 < len(long) < 1000


def test_exits_and_interrupts_are_errors_of_the_call(project: Project) -> None:
    for raised in ("SystemExit(3)", "KeyboardInterrupt()", "BaseException('b')"):
        error = error_of(project, program("", f"raise {raised}"))
        assert cause(error)["type"] == raised.partition("(")[0]


def test_the_cause_of_a_refusal_is_the_users_line(project: Project) -> None:
    text = HEAD + """\
@nonstrict_trace
def marked(x):
    y = x + 1
    return torch.from_numpy(y.numpy())

@torch.compile(fullgraph=True)
def region(x):
    return marked(x)

def main():
    region(torch.ones(2))
"""  # fmt: skip
    error = error_of(project, text, "aot_eager")
    link = cause(error)
    assert link["frames"][-1] == [str(project.directory / "model.py"), 7]
    assert link["type"] == "RuntimeError"
    assert "numpy()" in link["message"]
    assert error["links"][0]["message"].startswith("Unsupported output type")
    assert len(project.calls(text)) == 1


def test_what_dynamo_tells_in_its_text(project: Project) -> None:
    text = HEAD + "@torch.compile(fullgraph=True)\ndef region(x):\n    torch._dynamo.graph_break()\n    return x\n\n"
    error = error_of(project, text + "def main():\n    region(torch.ones(2))\n", "aot_eager")
    assert error["graph_break"].startswith("GB")
    assert cause(error)["told"] is True
    assert [str(project.directory / "model.py"), 6] in cause(error)["frames"]
