"""Compiled regions in an editor: lenses, hovers, hints, and the map of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.server.protocol.profiles import CODE, PROFILES, Profile
from tests.server.protocol.projects import write
from tests.server.protocol.test_confirming import execute
from tests.server.protocol.test_features import hover
from tests.server.protocol.test_showing import ask
from tests.server.units import range_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

#: A region whose graph breaks twice, and one that calls a marked function; both are compiled by `train`.
MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        print("first")
        x = x * 2
        "\U0001d494 é"; print("second")
        return x - 1
"""
TRAIN = """\
import torch

from model import Model

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE


@torch.compile
def plain(x):
    return scaled(x) + 1


def quiet(x):
    return x.sin()


compiled = torch.compile(quiet)
model = torch.compile(Model())
other = torch.compile(unknown())
plain(torch.ones(3))
model(torch.ones(3))
"""


async def lenses(editor: Editor, uri: str) -> dict[int, list[types.Command]]:
    """What stands above the lines of a document, lines from 0."""
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found: dict[int, list[types.Command]] = {}
    for lens in await editor.client.text_document_code_lens_async(params) or ():
        assert lens.command
        found.setdefault(lens.range.start.line, []).append(lens.command)
    return found


def line_of(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n")


async def titles(editor: Editor, uri: str) -> dict[str, str]:
    """The titles of lenses by the line of text below them."""
    lines = editor.documents[uri].text.split("\n")
    found = await lenses(editor, uri)
    return {lines[line]: " | ".join(one.title for one in commands) for line, commands in found.items()}


async def test_a_lens_stands_above_every_region(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, train=TRAIN)
    editor = await start(CODE, root)
    train, model = editor.open(root / "train.py"), editor.open(root / "model.py")
    await editor.until(train, bool)
    assert await titles(editor, train) == {
        "@torch._dynamo.nonstrict_trace": "1 finding | confirm",
        "@torch.compile": "1 graph · 1 error | confirm",
        "def quiet(x):": "1 graph",
        "model = torch.compile(Model())": "3 graphs · 2 breaks · 2 warnings | confirm",
        "other = torch.compile(unknown())": "not analyzed",
    }
    assert await titles(editor, model) == {"    def forward(self, x):": "3 graphs · 2 breaks · 2 warnings | confirm"}
    (above,) = (await lenses(editor, model)).values()
    assert [(one.command, list(one.arguments or ())) for one in above] == [
        ("nonstrict.showFindings", [train, "Model.forward"]),
        ("nonstrict.confirmFunction", [train, "Model.forward"]),
    ]


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_lenses_follow_edits(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL, train=TRAIN)
    editor = await start(profile, root)
    model = editor.open(root / "model.py")
    await editor.until(model, lambda found: len(found) == 2)
    assert list((await titles(editor, model)).values()) == ["3 graphs · 2 breaks · 2 warnings | confirm"]
    editor.change(model, MODEL.replace('        print("first")\n', ""))
    await editor.until(model, lambda found: len(found) == 1)
    assert await titles(editor, model) == {"    def forward(self, x):": "2 graphs · 1 break · 1 warning | confirm"}
    editor.change(model, "# moved\n\n" + MODEL)
    await editor.until(model, lambda found: len(found) == 2)
    assert list(await titles(editor, model)) == ["    def forward(self, x):"]


async def test_lenses_of_regions_are_switched_off_with_the_others(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, train=TRAIN)
    editor = await start(CODE, root, settings={"codeLens": {"enable": False}})
    train = editor.open(root / "train.py")
    await editor.until(train, bool)
    assert await lenses(editor, train) == {}


@pytest.mark.parametrize("words", ["torch.compile(Model())", "compile(Model())"])
async def test_torch_compile_tells_of_its_region(start: Start, tmp_path: Path, words: str):
    root = write(tmp_path / "project", model=MODEL, train=TRAIN)
    editor = await start(CODE, root)
    train = editor.open(root / "train.py")
    said = await hover(editor, train, words)
    first = line_of(MODEL, 'print("first")') + 1
    address = (root / "model.py").as_uri()
    assert "`Model.forward`" in said
    assert "3 graphs · 2 breaks" in said
    assert f"1. [model.py:{first}]({address}#L{first}): `print()` (GB" in said
    assert "docs/regions.md" in said
    assert await hover(editor, train, "Model())\nother") == ""


async def test_all_ways_to_compile_tell_of_their_regions(start: Start, tmp_path: Path):
    text = """\
import torch


def faster(function):
    return torch.compile(function)


@torch.compile(fullgraph=True)
def first(x):
    return x + 1


@faster
def second(x):
    print(x)
    return x.add(1)


class Third(torch.nn.Module):
    def forward(self, x):
        return x.relu()


third = Third()
third.compile()
fourth = faster(lambda x: x.cos())
fifth = torch.compile(unknown())
"""
    root = write(tmp_path / "project", ways=text)
    editor = await start(CODE, root)
    uri = editor.open(root / "ways.py")
    for words, expected in {
        "torch.compile(fullgraph=True)": "`first`",
        "faster\ndef second": "`second`",
        "compile()": "`Third.forward`",
        "faster(lambda": "<lambda>",
        "torch.compile(unknown())": "**Not analyzed**",
        "second(x):": "1 break",
    }.items():
        assert expected in await hover(editor, uri, words), words
    # Within the wrapper, it is all that the wrapper compiles.
    said = await hover(editor, uri, "torch.compile(function)")
    assert "`second`" in said
    assert "<lambda>" in said


async def test_a_page_says_what_was_not_looked_into(start: Start, tmp_path: Path):
    text = TRAIN.replace("    return scaled(x) + 1", "    x = unseen(x)\n    return scaled(x) + 1").replace(
        "import torch\n", "import torch\nfrom somewhere import unseen\n", 1
    )
    root = write(tmp_path / "project", model=MODEL, train=text)
    editor = await start(CODE, root)
    train = editor.open(root / "train.py")
    said = await hover(editor, train, "torch.compile\ndef plain")
    assert "Not analyzed:" in said
    assert "unseen" in said.partition("Not analyzed:")[2]
    assert "`scaled` (1 error)" in said


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_breaks_are_counted_behind_them_unless_that_is_switched_off(
    start: Start, tmp_path: Path, profile: Profile
):
    root = write(
        tmp_path / "project", model=MODEL, train=f"{TRAIN}again = torch.compile(Model())\nagain(torch.ones(3))\n"
    )
    editor = await start(profile, root)
    model = editor.open(root / "model.py")
    whole = types.Range(types.Position(0, 0), types.Position(100, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(model), whole)
    await editor.until(model, lambda found: len(found) == 2)
    hints = await editor.client.text_document_inlay_hint_async(params) or ()
    ends = [range_of(MODEL, f'print("{word}")', editor.encoding).end for word in ("first", "second")]
    assert [(hint.position, hint.label) for hint in hints] == list(
        zip(ends, ["graph break 1/2", "graph break 2/2"], strict=True)
    )
    for number, hint in enumerate(hints, 1):
        # What is compiled at two places breaks at one.
        assert str(hint.tooltip).startswith(f"{number}/2 of `Model.forward`: ")
        assert str(hint.tooltip).count("Model.forward") == 1
    await editor.configure({"inlayHints": {"graphBreaks": False}})
    for _ in range(100):
        hints = await editor.client.text_document_inlay_hint_async(params) or ()
        if not hints:
            break
    assert not hints


def shape(nodes: list[dict[str, Any]]) -> list[Any]:
    """The kinds and texts of a tree."""
    return [[one["kind"], one["text"], one["worst"], *shape(one["children"])] for one in nodes]


async def test_the_map_holds_the_regions_of_the_workspace(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, train=TRAIN)
    other = write(tmp_path / "other", other="import torch\n\n\n@torch.compile\ndef alone(x):\n    return x + 1\n")
    editor = await start(CODE, root, other)
    found = await ask(editor, "nonstrict/regions")
    for _ in range(200):
        if len(found) == 5:
            break
        found = await ask(editor, "nonstrict/regions")
    assert sorted(shape(found)) == [
        ["missed", "not analyzed", ""],
        ["region", "Model.forward", "warning",
            ["graph", "graph 1", "", ["break", "graph break", "warning"]],
            ["graph", "graph 2", "", ["break", "graph break", "warning"]],
            ["graph", "graph 3", ""]],
        ["region", "alone", "", ["graph", "graph 1", ""]],
        ["region", "plain", "error",
            ["graph", "graph 1", "", ["marked", "scaled", "error", ["finding", "NST101", "error"]]]],
        ["region", "quiet", "", ["graph", "graph 1", ""]],
    ]  # fmt: skip
    (forward,) = [one for one in found if one["text"] == "Model.forward"]
    assert forward["name"] == "model.py"
    assert forward["range"]["start"]["line"] == line_of(MODEL, "def forward")
    assert forward["confirm"] == [(root / "train.py").as_uri(), "Model.forward"]
    broken = forward["children"][1]["children"][0]
    assert broken["range"] == {
        "start": {"line": 8, "character": range_of(MODEL, 'print("second")', editor.encoding).start.character},
        "end": {"line": 8, "character": range_of(MODEL, 'print("second")', editor.encoding).end.character},
    }
    assert "`print()`" in broken["detail"]


async def test_what_is_compiled_in_two_files_is_one_region_to_the_user(start: Start, tmp_path: Path):
    own = "def step(x):\n    print(1)\n    return x\n"
    first = "import torch\nfrom own import step\n\ng = torch.compile(step)\n"
    second = first.replace("(step)", "(step, fullgraph=True)")
    root = write(tmp_path / "project", own=own, first=first, second=second)
    editor = await start(CODE, root)
    uri = editor.open(root / "own.py")
    found = await editor.until(uri, bool)
    (above,) = (await lenses(editor, uri)).values()
    listed = await execute(editor, above[0].command, above[0].arguments)
    assert {one["text"] for one in listed} == {one.code for one in found}
    # So it is with the cursor in the function.
    there = types.Position(1, 4)
    assert await execute(editor, "nonstrict.showFindings", [uri, {"line": there.line, "character": 4}]) == listed


async def test_functions_of_the_same_name_are_told_apart(start: Start, tmp_path: Path):
    helper = (
        "import random\n\nimport torch\n\n\ndef low(x):\n    return x * random.random()\n\n\n"
        "@torch._dynamo.nonstrict_trace\ndef one(x):\n    return x * 2\n\n\n"
        "@torch.compile\ndef region(x):\n    return one(x)\n"
    )
    other = "import torch\nfrom helper import low\n\n\n@torch._dynamo.nonstrict_trace\ndef one(x):\n    return low(x)\n"
    root = write(tmp_path / "project", helper=helper, other=other)
    editor = await start(CODE, root)
    uri = editor.open(root / "helper.py")
    await editor.until(uri, bool)
    assert await titles(editor, uri) == {
        "@torch._dynamo.nonstrict_trace": "no findings",
        "@torch.compile": "at most 1 graph",
    }
    assert await execute(editor, "nonstrict.showFindings", [uri, "one"]) == []


SHARED = """\
import random

import torch


def helper(x):
    return x * random.random()


@torch._dynamo.nonstrict_trace
def one(x):
    return helper(x)


@torch._dynamo.nonstrict_trace
def two(x):
    return helper(x) + 1


@torch.compile
def region_one(x):
    return one(x)


@torch.compile
def region_two(x):
    return two(x)
"""


async def test_a_finding_counts_for_each_function_that_comes_to_it(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=SHARED)
    editor = await start(CODE, root)
    uri = editor.open(root / "model.py")
    await editor.diagnostics(uri)
    asked = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    lenses = await editor.client.text_document_code_lens_async(asked)
    said = [one.command.title for one in lenses or () if one.command is not None]
    assert [one for one in said if "finding" in one] == ["1 finding"] * 2
    assert [one for one in said if "graph" in one] == ["at most 1 graph · 1 error"] * 2
    for function in ("one", "two", "region_one", "region_two"):
        command = types.ExecuteCommandParams("nonstrict.showFindings", [uri, function])
        listed: Any = await editor.client.workspace_execute_command_async(command)
        assert [one["text"] for one in listed] == ["NST301"]
