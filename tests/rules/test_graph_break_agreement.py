"""Every construct that torch was asked about, written into a compiled region: does graph-break (NST701) say the same?

Once in regions that must not break, once in regions that may. The constructs and the names they use are those of
scripts/graph_breaks, by which the table was measured.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from nonstrict.knowledge.graph_breaks import graph_break, is_measured

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
from graph_breaks.reading import read_constructs  # pyright: ignore[reportMissingImports] - not a package of tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DATA = Path(__file__).parents[2] / "analysis/nonstrict/knowledge/data"
FOLDER = Path(__file__).parents[2] / "scripts" / "graph_breaks"
PIECES = json.loads((DATA / "graph_breaks_in_pieces.json").read_text(encoding="utf-8"))
#: What regions are written below: the names that constructs use.
HEAD = """import datetime as dt
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from graph_breaks.program import *
from graph_breaks.surroundings import *
"""
#: The share of the constructs that break of which the analysis says so.
RECALL_FLOOR = 0.90


class Way(NamedTuple):
    """One way to write a construct, and whether torch breaks on it."""

    key: str
    code: str
    breaks: bool


def ways(*, whole: bool) -> Iterator[Way]:
    """All measured ways that are the body of a region, not all of one.

    Where the graph may break, those are left out that hold a construct of another key which breaks there.
    """
    for construct in read_constructs():
        breaks = graph_break(construct.key, whole=whole) is not None
        before = not whole and PIECES["entries"].get(construct.key) == ""
        for code in construct.ways:
            is_body = not code.startswith(("def region(", "async def region(", "@"))
            if is_measured(construct.key) and is_body and not before:
                yield Way(construct.key, code, breaks)


def region(way: Way, index: int, available: dict[str, str], *, whole: bool) -> tuple[str, str]:
    """The text of a compiled function with a construct in it, and a call of it."""
    names = {node.id for node in ast.walk(ast.parse(way.code)) if isinstance(node, ast.Name)} | {"x"}
    used = [name for name in available if name in names]
    body = f"kept = ({way.code})" if _is_expression(way.code) else way.code
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    text = f"\n@torch.compile(fullgraph={whole})\ndef region{index}({', '.join(used)}):\n{lines}\n    return x + 1\n"
    return text, f"    region{index}({', '.join(available[name] for name in used)})\n"


def _is_expression(code: str) -> bool:
    try:
        compile(code, "<construct>", "eval")
    except SyntaxError:
        return False
    return True


def _arguments() -> dict[str, str]:
    """The expressions that make the arguments of regions, by name."""
    body = ast.parse((FOLDER / "surroundings.py").read_text(encoding="utf-8")).body
    made = next(
        node.value for node in body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "ARGUMENTS"
    )
    assert isinstance(made, ast.Dict)
    makers = {
        str(key.value): value
        for key, value in zip(made.keys, made.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    return {
        name: ast.unparse(maker.body) if isinstance(maker, ast.Lambda) else f"{ast.unparse(maker)}()"
        for name, maker in makers.items()
    }


def _modules(texts: Iterable[str]) -> str:
    """Imports of the modules of the standard library that some texts mention."""
    named = set(re.findall(r"(?<![\w.])([a-z]\w*)(?=\.)", "\n".join(texts))) & sys.stdlib_module_names
    return "".join(f"import {name}\n" for name in sorted(named))


@pytest.fixture(scope="module", params=[True, False], ids=["whole", "in-pieces"])
def whole(request: pytest.FixtureRequest) -> bool:
    """Whether regions must not break."""
    return request.param


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, whole: bool) -> dict[Way, str]:
    """The ways in which a graph break is reported, with the first message."""
    available = _arguments()
    text, calls, at = HEAD + _modules(way.code for way in ways(whole=whole)), "\ndef main():\n", dict[int, Way]()
    for index, way in enumerate(ways(whole=whole)):
        row = text.count("\n") + 1
        added, call = region(way, index, available, whole=whole)
        at.update(dict.fromkeys(range(row, row + added.count("\n") + 1), way))
        text += added
        calls += call
    path = tmp_path_factory.mktemp("constructs") / "constructs.py"
    shutil.copytree(FOLDER, path.parent / FOLDER.name, ignore=shutil.ignore_patterns("__pycache__"))
    path.write_text(text + calls, encoding="utf-8")
    arguments = ["check", "--no-cache", "--isolated", "--select", "NST701,NST702", "--output-format", "json", str(path)]
    run = subprocess.run([sys.executable, "-m", "nonstrict", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    found: dict[Way, str] = {}
    for finding in json.loads(run.stdout):
        way = at.get(finding["location"]["row"])
        if way is not None:
            found.setdefault(way, finding["message"])
    return found


def test_nothing_is_reported_that_torch_traces(told: dict[Way, str], whole: bool) -> None:
    # A key breaks if each way to write it does: one way may be a construct of its own that breaks.
    breaking = {way.code for way in ways(whole=whole) if way.breaks}
    silent = ((way, message) for way, message in told.items() if way.code not in breaking)
    wrong = [f"{way.key}: {way.code!r}: {message}" for way, message in silent]
    assert not wrong, "\n".join(wrong)


def test_most_of_what_breaks_is_reported(told: dict[Way, str], whole: bool) -> None:
    breaking = {way for way in ways(whole=whole) if way.breaks}
    missed = sorted(f"{way.key}: {way.code!r}" for way in breaking - told.keys())
    recall = 1 - len(missed) / len(breaking)
    assert recall >= RECALL_FLOOR, f"{recall:.3f}\n" + "\n".join(missed)
