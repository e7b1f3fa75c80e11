"""Random edits of compiled code, with runs that are recorded and deleted: in between, a fresh server says the same.

Compared is all that is shown of a document and of the workspace: diagnostics, lenses, symbols, tokens, and the map of
the regions. `NONSTRICT_STORM` names the number of edits (240), `NONSTRICT_STORM_SEED` the seed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.runs.store import DIRECTORY
from tests.confirm.runs import logs
from tests.server.oracle import environment
from tests.server.processes import resident, wait_until
from tests.server.protocol.projects import write
from tests.server.protocol.test_regions import MODEL, TRAIN
from tests.server.raw_client import RawClient
from tests.server.units import position_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
EDITS = int(os.environ.get("NONSTRICT_STORM", "240"))
SEED = int(os.environ.get("NONSTRICT_STORM_SEED", "20261130"))
#: So many edits lie between two comparisons.
EVERY = 40
#: Growth after the first quarter of the edits that is no leak.
GROWTH = 1.3
#: So many edits go by before the first look at the memory that is held.
WARM = EDITS // 4
#: An answer may be on its way for so many seconds.
PATIENCE = 30
DAY = 24 * 3600
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "diagnostic": {"dynamicRegistration": False},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
    "workspace": {"diagnostics": {"refreshSupport": True}},
    "experimental": {"nonstrictRegions": True},
}
SETTINGS = {"settings": {"semanticTokens": {"enable": True}}}
#: Asked of each document.
REQUESTS = ("diagnostic", "codeLens", "documentSymbol", "semanticTokens/full")
HELPER = """\
import torch

BIAS = torch.zeros(3)
SEEN = []


@torch._dynamo.nonstrict_trace
def shifted(x):
    SEEN.append(1)
    return x + BIAS


def noisy(x):
    print("noise")
    return shifted(x) * 2


@torch.compile
def looped(x, n):
    for index in range(n):
        x = noisy(x) + index
    return x
"""
TEXTS = {
    "observed": logs.MODEL,
    "model": MODEL,
    "train": TRAIN,
    "helper": HELPER,
    "caller": "import torch\nfrom helper import looped, noisy\n\nagain = torch.compile(noisy)\n\n\ndef step(x):\n"
    "    return again(looped(x, 3))\n\n\nstep(torch.ones(3))\nstep(torch.ones(4))\n",
}
#: What is put in above a line, indented as it is: what breaks graphs, is compiled, is captured, or is no code.
LINES = [
    "print(x)",
    "x = x.sum().item()",
    "torch._dynamo.graph_break()",
    "x = noisy(x)",
    "x = x * SCALE",
    "if x.sum() > 0:",
    "    x = x + 1",
    "return x",
    "@torch.compile",
    "@torch.compile(fullgraph=True)",
    "@torch._dynamo.nonstrict_trace",
    "def shifted(x):",
    "def extra(x):",
    "class Model(torch.nn.Module):",
    "from helper import noisy",
    "from model import Model",
    "SCALE = torch.ones(3)",
    "SEEN = []",
    "more = torch.compile(Model())",
    "more = torch.compile(lambda x: x.sum().item())",
    '"\U0001f600 é"',
    "# nonstrict: file-ignore[NST701]",
    "(",
]
#: What is typed anywhere.
PIECES = ["x", " ", "\n", ")", '"""', "\U0001f600", "  # nonstrict: ignore[NST701, NST101]", "_", ":", "\t", "\r\n"]


class Storm:
    """Documents, what is done to them, and who is told."""

    def __init__(self, client: RawClient, root: Path, record: Path, seed: int) -> None:
        self.client, self._root, self._record = client, root, record
        self._random = random.Random(seed)  # noqa: S311
        self.texts: dict[str, str] = {}
        self._versions = dict.fromkeys(TEXTS, 0)
        self._undo: dict[str, list[str]] = {name: [] for name in TEXTS}
        self._runs = 0
        self.done: dict[str, int] = {}
        for name in TEXTS:
            self._open(name)

    def step(self) -> None:
        """Edit a document, perhaps save it or close it, and look at what it says now and then."""
        name = self._random.choice(sorted(TEXTS))
        if name not in self.texts:
            self._open(name)
        self._edit(name)
        kind = self._random.random()
        if kind < 0.05:
            self._save(name)
        elif kind < 0.08:
            self._close(name)
        elif kind < 0.13:
            self._rerun()
        elif kind < 0.5 and name in self.texts:
            request = self._random.choice(REQUESTS)
            self.client.call(f"textDocument/{request}", document(self._root, name), PATIENCE)

    def fresh(self, client: RawClient) -> None:
        """Open in another editor what is open here."""
        for name, text in self.texts.items():
            opened(client, self._root, name, text)

    def _edit(self, name: str) -> None:
        text, earlier, kind = self.texts[name], self._undo[name], self._random.random()
        if kind < 0.4 and earlier:
            self._replace(name, earlier.pop(), "undone")
            return
        if kind < 0.45:
            self._replace(name, TEXTS[name], "reset")
            return
        earlier.append(text)
        lines = text.splitlines(keepends=True) or [""]
        at = self._random.randrange(len(lines))
        start = len("".join(lines[:at]))
        line = lines[at]
        if kind < 0.75:
            indent = line[: len(line) - len(line.lstrip())].strip("\n") if line.strip() else ""
            self._splice(name, start, start, f"{indent}{self._random.choice(LINES)}\n", "put in")
        elif kind < 0.88:
            self._splice(name, start, start + len(line), "", "taken out")
        else:
            place = self._random.randrange(len(text) + 1)
            self._splice(name, place, place, self._random.choice(PIECES), "typed")

    def _splice(self, name: str, start: int, end: int, new: str, kind: str) -> None:
        text = self.texts[name]
        # A position cannot stand between the two characters of one line end.
        start -= text[start - 1 : start + 1] == "\r\n"
        end += text[end - 1 : end + 1] == "\r\n"
        first, last = (position_at(text, offset, "utf-16") for offset in (start, end))
        places = [{"line": place.line, "character": place.character} for place in (first, last)]
        change = {"range": {"start": places[0], "end": places[1]}, "text": new}
        self._send(name, change, text[:start] + new + text[end:], kind)

    def _replace(self, name: str, text: str, kind: str) -> None:
        self._send(name, {"text": text}, text, kind)

    def _send(self, name: str, change: dict[str, Any], text: str, kind: str) -> None:
        self.texts[name] = text
        self._versions[name] += 1
        identity = {"uri": uri_of(self._root, name), "version": self._versions[name]}
        self.client.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": [change]})
        self._count(kind)

    def _open(self, name: str) -> None:
        self.texts[name] = (self._root / f"{name}.py").read_bytes().decode()
        self._versions[name] += 1
        opened(self.client, self._root, name, self.texts[name], self._versions[name])

    def _save(self, name: str) -> None:
        (self._root / f"{name}.py").write_bytes(self.texts[name].encode())
        self.client.notify("textDocument/didSave", document(self._root, name))
        self._count("saved")

    def _close(self, name: str) -> None:
        """What is on disk counts again."""
        del self.texts[name]
        self._undo[name].clear()
        self.client.notify("textDocument/didClose", document(self._root, name))
        self._count("closed")

    def _rerun(self) -> None:
        """A run is recorded, or the oldest record deleted; the editor tells of it."""
        folder = self._root / DIRECTORY
        known = sorted(folder.iterdir()) if folder.exists() else []
        gone = len(known) > 2 or (bool(known) and self._random.random() < 0.4)
        self._runs += 1
        path = known[0] if gone else folder / f"2026-11-{self._runs:06}.json"
        if gone:
            path.unlink()
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(self._record, path)
        change = {"uri": path.as_uri(), "type": 3 if gone else 1}
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
        self._count("run deleted" if gone else "run recorded")

    def _count(self, kind: str) -> None:
        self.done[kind] = self.done.get(kind, 0) + 1


def uri_of(root: Path, name: str) -> str:
    """The address of a document."""
    return (root / f"{name}.py").as_uri()


def document(root: Path, name: str) -> dict[str, Any]:
    """What requests about a document name."""
    return {"textDocument": {"uri": uri_of(root, name)}}


def opened(client: RawClient, root: Path, name: str, text: str, version: int = 1) -> None:
    """A document is opened."""
    item = {"uri": uri_of(root, name), "languageId": "python", "version": version, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})


def answers(client: RawClient, root: Path) -> dict[str, Any]:
    """All that a server shows, by what was asked."""
    found: dict[str, Any] = {"regions": client.call("nonstrict/regions", {}, PATIENCE)}
    for name in TEXTS:
        for request in REQUESTS:
            answer = client.call(f"textDocument/{request}", document(root, name), PATIENCE)
            if request == "diagnostic":
                answer = sorted(map(json.dumps, answer["items"]))
            found[f"{request} of {name}"] = answer
    return found


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Questions that two servers answer otherwise, with both answers."""
    return [f"{key}: {value}\n  fresh: {other[key]}" for key, value in one.items() if value != other[key]]


def compared(storm: Storm, root: Path) -> list[str]:
    """What the server says otherwise than a fresh one, when both are done."""
    fresh = started(root)
    try:
        storm.fresh(fresh)
        wait_until(lambda: not differing(answers(storm.client, root), answers(fresh, root)), PATIENCE)
        # Once more: two servers that know nothing yet agree as well.
        time.sleep(0.3)
        wait_until(lambda: not differing(answers(storm.client, root), answers(fresh, root)), PATIENCE)
        return differing(answers(storm.client, root), answers(fresh, root))
    finally:
        fresh.close()


def started(root: Path) -> RawClient:
    """A server of the project."""
    client = RawClient(root)
    client.start([root], CAPABILITIES, initializationOptions=SETTINGS)
    return client


def recorded(root: Path, outside: Path) -> Path:
    """The record of a run of `observed`, moved out of the project; it ended some days ago."""
    logs.log_of_model(outside / "traces", str(root / "observed.py"), start_time=time.time() - 3.5 * DAY)
    command = [sys.executable, "-m", "nonstrict", "import", str(outside / "traces")]
    subprocess.run(command, cwd=root, env=environment(), check=True, capture_output=True)
    (record,) = (root / DIRECTORY).iterdir()
    return record.rename(outside / "run.json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = write(tmp_path / "project", **TEXTS)
    (root / "nonstrict.toml").write_text("")
    return root


@pytest.fixture
def storm(project: Path, tmp_path: Path) -> Iterator[Storm]:
    record = recorded(project, tmp_path)
    client = started(project)
    try:
        yield Storm(client, project, record, SEED)
    finally:
        client.close()


def test_a_storm_leaves_what_a_fresh_server_says(storm: Storm, project: Path):
    held: dict[int, int] = {}
    for number in range(1, EDITS + 1):
        storm.step()
        if number % EVERY == 0:
            told = compared(storm, project)
            assert not told, f"seed {SEED}, {number} edits, {storm.texts}\n" + "\n".join(told)
        if number in (WARM, EDITS) or number % 1000 == 0:
            held[number] = resident(storm.client.process.pid)
    print({number: f"{size / 1e6:.1f} MB" for number, size in held.items()}, storm.done)  # noqa: T201
    assert {"undone", "put in", "taken out", "saved", "run recorded"} <= storm.done.keys()
    assert held[EDITS] < held[WARM] * GROWTH, held
    assert storm.client.stop() == 0
