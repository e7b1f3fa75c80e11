"""Marked functions and regions as tests: what there is, and how trying one ends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.confirm.runs.logs import MODEL as RUN_MODEL
from tests.server.protocol.profiles import CODE
from tests.server.protocol.projects import write
from tests.server.protocol.test_sightings import run as kept_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

MODEL = """\
import torch

SCALE = 2.0


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE


@torch.compile(fullgraph=True)
def region(x):
    return scaled(x)


def set_scale(value):
    global SCALE
    SCALE = value


def main():
    region(torch.ones(3))
    set_scale(3.0)
    region(torch.ones(3))
"""
CALM = """\
import torch


@torch.compile
def calm(x):
    return x + 1


@torch.compile
def unknown(x):
    return x + len(open("missing.txt").read())


def main():
    calm(torch.ones(3))
"""


async def listed(editor: Editor) -> list[dict[str, Any]]:
    return await editor.client.protocol.send_request_async("nonstrict/tests", {})


async def tried(editor: Editor, uri: str, function: str) -> Any:
    return await editor.client.protocol.send_request_async("nonstrict/test", {"uri": uri, "function": function})


async def test_what_can_be_tried(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, calm=CALM)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    await editor.diagnostics(uri)
    found = await listed(editor)
    for _ in range(100):
        found = await listed(editor) if len(found) < 4 else found
    told = [(one["uri"].rpartition("/")[2], one["function"], one["detail"]) for one in found]
    assert told == [
        ("calm.py", "calm", "compiled"),
        ("calm.py", "unknown", "compiled"),
        ("model.py", "scaled", "nonstrict_trace"),
        ("model.py", "region", "compiled"),
    ]
    assert [one["range"]["start"]["line"] for one in found] == [4, 9, 6, 11]


async def test_a_confirmed_finding_fails_a_test(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    await editor.diagnostics(uri)
    for function in ("scaled", "region"):
        answer = await tried(editor, uri, function)
        assert answer.outcome == "failed"
        (finding,) = answer.findings
        assert finding.startswith("model.py:8: NST104: ")
        assert "eager 3, compiled 2" in finding
    editor.change(uri, MODEL.replace("x * SCALE", "x * 2"))
    assert (await tried(editor, uri, "scaled")).outcome == "passed"


async def test_what_has_no_findings_is_asked_whether_it_computes_the_same(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", calm=CALM)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "calm.py")
    await editor.diagnostics(uri)
    calm = await tried(editor, uri, "calm")
    assert (calm.outcome, calm.findings, calm.reasons) == ("passed", [], [])
    unknown = await tried(editor, uri, "unknown")
    assert (unknown.outcome, unknown.findings) == ("skipped", [])
    assert unknown.reasons


async def test_nothing_is_tried_in_a_workspace_that_is_not_trusted(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    editor = await start(CODE, root, arguments=["--untrusted-workspace"])
    uri = editor.open(root / "model.py")
    await editor.diagnostics(uri)
    assert await listed(editor) == []
    with pytest.raises(JsonRpcException, match="not trusted"):
        await tried(editor, uri, "scaled")


@pytest.mark.parametrize("params", [{}, {"uri": 1, "function": "a"}, {"uri": "file:///a.py"}])
async def test_parameters_that_make_no_sense(start: Start, tmp_path: Path, params: dict[str, Any]):
    editor = await start(CODE, write(tmp_path / "project", model=MODEL), arguments=["--trusted-workspace"])
    with pytest.raises(JsonRpcException) as raised:
        await editor.client.protocol.send_request_async("nonstrict/test", params)
    assert raised.value.code == -32602


OTHERS = """\
import random

import torch


@torch.compile
def calm(x):
    return x + 1


@torch._dynamo.nonstrict_trace
def noisy(x):
    return x * random.random()


@torch.compile
def loud(x):
    return noisy(x)


def main():
    calm(torch.ones(3))
    loud(torch.ones(3))
"""
#: A finding that no experiment can tell of.
ADVISED = """\
import torch


@torch._dynamo.allow_in_graph
def plain(x):
    return x * 2


@torch.compile
def calling(x):
    return plain(x)


def main():
    calling(torch.ones(3))
"""


async def test_what_another_function_does_is_not_laid_to_one(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=OTHERS)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    await editor.diagnostics(uri)
    outcomes = {name: (await tried(editor, uri, name)).outcome for name in ("calm", "noisy", "loud")}
    assert outcomes == {"calm": "passed", "noisy": "failed", "loud": "failed"}
    assert not [one for one in await editor.diagnostics(uri) if one.code == "NST900"]
    missing = await tried(editor, uri, "missing")
    assert (missing.outcome, len(missing.reasons)) == ("skipped", 1)


async def test_what_no_experiment_can_tell_of_is_asked_whether_it_computes_the_same(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=ADVISED)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    assert [one.code for one in await editor.diagnostics(uri)] == ["NST604"]
    assert (await tried(editor, uri, "plain")).outcome == "passed"


async def test_what_a_run_did_is_nothing_to_decide(start: Start, tmp_path: Path):
    """A note of what torch told by itself has no verdict, and needs none."""
    root = write(tmp_path / "project", model=RUN_MODEL)
    (root / "nonstrict.toml").write_text("")
    kept_run(root)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    await editor.until(uri, lambda found: any(one.code == "NST804" for one in found))
    assert "edited meanwhile" not in str((await tried(editor, uri, "unforetold")).reasons)
