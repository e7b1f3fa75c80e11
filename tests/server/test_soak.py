"""Thousands of edits and requests, cancelled at random: the server lives, grows no further, and is right in the end.

Among the requests are experiments, cancelled and killed in between. `NONSTRICT_SOAK` names the seconds to go on (60),
`NONSTRICT_SOAK_SEED` the seed.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.oracle import checked
from tests.server.processes import all_gone, descendants, process, resident, wait_until
from tests.server.protocol.projects import BAD, CLEAN, HELPER, MODEL, write
from tests.server.raw_client import CANCELLED, MODIFIED, SUPERSEDED, RawClient, Reply
from tests.server.units import position_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.server.processes import Process

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
SECONDS = float(os.environ.get("NONSTRICT_SOAK", "60"))
SEED = int(os.environ.get("NONSTRICT_SOAK_SEED", "20261121"))
#: So many edits and requests are made even if the computer is busy with other things.
LEAST = 2000
#: How often whatever runs experiments is killed; in between an agent has to import torch.
KILLS = 4
#: The error of a command that could not do what it was asked for.
FAILED = -32803
#: Growth after the first third of the time that is no leak: caches fill, and allocators keep what they have.
GROWTH = 1.3
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-32"]},
    "textDocument": {
        "diagnostic": {"dynamicRegistration": False},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}}},
    },
    "workspace": {"diagnostics": {"refreshSupport": True}},
}
TEXTS = {
    "model": MODEL,
    "helper": HELPER,
    "bad": BAD,
    "clean": CLEAN,
    "user": MODEL.replace("from helper", "from model import scaled\nfrom helper").replace("def scaled", "def again"),
    "large": BAD
    + "".join(
        f"\n\n@torch._dynamo.nonstrict_trace\ndef helper_{number}(x):\n    print(x)\n    return x * SCALE\n"
        for number in range(40)
    ),
}
#: What is typed: pieces that make and break findings and syntax, characters of every width, ends of every kind.
PIECES = [
    " ",
    "\n",
    "\r\n",
    "x",
    "(",
    ")",
    ":",
    '"',
    "\U0001f600",
    "é",
    "\u2028",
    "    print(x)\n",
    "import random\n",
    " * SCALE",
    "@torch._dynamo.nonstrict_trace\n",
    "  # nonstrict: ignore[NST101]",
    "SCALE = torch.ones(3)\n",
    "def shifted(x):\n    return x\n",
    "\tif x.sum() > 0:\n        return x.item()\n",
]
REQUESTS = ["diagnostic", "diagnostic", "diagnostic", "hover", "codeAction", "codeLens", "definition", "inlayHint"]


class User:
    """Someone who types without sense in several documents, and asks for this and that."""

    def __init__(self, client: RawClient, root: Path, seed: int) -> None:
        self._client, self._root, self._random = client, root, random.Random(seed)  # noqa: S311
        self.texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._undo: dict[str, list[str]] = {}
        self._open_requests: list[int] = []
        self._experiments: list[int] = []
        self.counts = {"steps": 0, "experiments": 0, "killed": 0, "edits": 0, "requests": 0, "cancelled": 0}
        self.family: set[Process] = set()

    @property
    def done(self) -> int:
        """How many edits and requests were made."""
        return self.counts["edits"] + self.counts["requests"]

    def step(self) -> None:
        """Do one thing."""
        self.counts["steps"] += 1
        kind = self._random.random()
        name = self._random.choice(sorted(TEXTS))
        if name not in self.texts:
            self._open(name)
        elif kind < 0.45:
            self._edit(name)
        elif kind < 0.9:
            self._ask(name)
        elif kind < 0.93:
            self._close(name)
        elif kind < 0.96:
            self._save(name)
        elif kind < 0.965:
            self._experiment(name)
        else:
            self._replace(name, TEXTS[name])
        if self._random.random() < 0.3 and self._open_requests:
            self._client.cancel(self._random.choice(self._open_requests))
            self.counts["cancelled"] += 1
        if len(self._open_requests) > 12:
            self.collect()

    def collect(self) -> None:
        """Wait for all answers."""
        for number in self._open_requests:
            acceptable(self._client.reply(number))
        self._open_requests.clear()

    def settle(self) -> None:
        """Open all, save all, and wait for what was asked for."""
        self.collect()
        for number in self._experiments:
            assert self._client.reply(number).code in (None, FAILED)
        for name in sorted(TEXTS):
            if name not in self.texts:
                self._open(name)
        for name in sorted(TEXTS):
            self._save(name)

    def shown(self) -> dict[str, list[tuple[str, int]]]:
        """Codes and rows of the findings of all files, as the server tells them now."""
        found: dict[str, list[tuple[str, int]]] = {}
        for name in sorted(TEXTS):
            report = self._client.call("textDocument/diagnostic", self._document(name))
            found[name] = sorted((item["code"], item["range"]["start"]["line"] + 1) for item in report["items"])
        return found

    def _experiment(self, name: str) -> None:
        """Begin an experiment, or cancel those of a file."""
        self._run("nonstrict.cancel" if self._random.random() < 0.2 else "nonstrict.confirmFile", name)

    def _run(self, command: str, name: str) -> None:
        params = {"command": command, "arguments": [self._uri(name)]}
        self._experiments.append(self._client.request("workspace/executeCommand", params))
        self.counts["experiments"] += 1

    def kill(self) -> None:
        """Kill whatever runs the experiments, without a word."""
        if "bad" not in self.texts:
            self._open("bad")
        self._replace("bad", TEXTS["bad"])
        self._run("nonstrict.confirmFile", "bad")
        wait_until(lambda: bool(descendants(self._client.process.pid)), 20)
        for one in descendants(self._client.process.pid):
            self.family.add(one)
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
                self.counts["killed"] += 1

    def _uri(self, name: str) -> str:
        return (self._root / f"{name}.py").as_uri()

    def _document(self, name: str) -> dict[str, Any]:
        return {"textDocument": {"uri": self._uri(name)}}

    def _open(self, name: str) -> None:
        text = (self._root / f"{name}.py").read_bytes().decode()
        self.texts[name], self._versions[name], self._undo[name] = text, 1, []
        document = {"uri": self._uri(name), "languageId": "python", "version": 1, "text": text}
        self._client.notify("textDocument/didOpen", {"textDocument": document})

    def _close(self, name: str) -> None:
        # The text is lost as in an editor: what is on disk counts again.
        del self.texts[name]
        self._client.notify("textDocument/didClose", self._document(name))

    def _save(self, name: str) -> None:
        (self._root / f"{name}.py").write_bytes(self.texts[name].encode())
        self._client.notify("textDocument/didSave", self._document(name))

    def _edit(self, name: str) -> None:
        """Undo, delete, or type somewhere."""
        text, earlier = self.texts[name], self._undo[name]
        if earlier and self._random.random() < 0.4:
            self._replace(name, earlier.pop())
            return
        earlier.append(text)
        start = self._random.randrange(len(text) + 1)
        end = min(len(text), start + self._random.choice([0, 0, 0, 1, 3, 40]))
        self._splice(name, start, end, self._random.choice(PIECES))

    def _replace(self, name: str, text: str) -> None:
        self._send(name, {"text": text}, text)

    def _splice(self, name: str, start: int, end: int, new: str) -> None:
        text = self.texts[name]
        # A position cannot stand between the two characters of one line end.
        start -= text[start - 1 : start + 1] == "\r\n"
        end += text[end - 1 : end + 1] == "\r\n"
        places = [position_at(text, offset, "utf-32") for offset in (start, end)]
        first, last = ({"line": place.line, "character": place.character} for place in places)
        self._send(name, {"range": {"start": first, "end": last}, "text": new}, text[:start] + new + text[end:])

    def _send(self, name: str, change: dict[str, Any], text: str) -> None:
        self.texts[name] = text
        self._versions[name] += 1
        document = {"uri": self._uri(name), "version": self._versions[name]}
        self._client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        self.counts["edits"] += 1

    def _ask(self, name: str) -> None:
        kind = self._random.choice(REQUESTS)
        text = self.texts[name]
        place = position_at(text, self._random.randrange(len(text) + 1), "utf-32")
        start = {"line": place.line, "character": place.character}
        params = self._document(name)
        if kind in {"hover", "definition"}:
            params["position"] = start
        elif kind in {"codeAction", "inlayHint"}:
            params["range"] = {"start": start, "end": {"line": place.line + 1, "character": 0}}
            if kind == "codeAction":
                params["context"] = {"diagnostics": []}
        self._open_requests.append(self._client.request(f"textDocument/{kind}", params))
        self.counts["requests"] += 1


def acceptable(reply: Reply) -> None:
    """A result, or one of the errors that say that nobody wants it any more."""
    assert reply.code in (None, CANCELLED, SUPERSEDED, MODIFIED), reply.error


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    client = RawClient(write(tmp_path, **TEXTS))
    try:
        client.start([tmp_path], CAPABILITIES)
        yield client
    finally:
        client.close()


def test_soak(client: RawClient, tmp_path: Path):
    user = User(client, tmp_path, SEED)
    begin = time.monotonic()
    warm = kills = 0
    while (spent := time.monotonic() - begin) < SECONDS or (user.done < LEAST and spent < 3 * SECONDS):
        user.step()
        if kills < KILLS and spent > (kills + 1) * SECONDS / (KILLS + 1):
            kills += 1
            user.kill()
        if not warm and spent > SECONDS / 3:
            user.collect()
            warm = resident(client.process.pid)
    user.settle()
    should = {name: [] for name in TEXTS} | _by_name(tmp_path)
    # What depends on all files, such as a suppression that suppresses nothing, is known when all are examined again.
    wait_until(lambda: user.shown() == should, 20)
    assert user.shown() == should, f"seed {SEED}, {user.counts}; the texts are in {tmp_path}"
    held = resident(client.process.pid)
    assert held < warm * GROWTH, f"{warm / 1e6:.0f} MB, then {held / 1e6:.0f} MB"
    assert user.done >= LEAST, user.counts
    assert not [params for _, params in client.seen if params and "internal error" in str(params.get("message"))]
    assert user.counts["killed"] >= KILLS, user.counts
    family = [process(client.process.pid), *descendants(client.process.pid), *user.family]
    assert client.stop() == 0
    assert all_gone(family)


def _by_name(root: Path) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    # Named one by one: an open file that does not parse is a finding, also if nobody would look into it otherwise.
    for one in checked(root, ".", *(f"{name}.py" for name in TEXTS)):
        found.setdefault(one.path.stem, []).append((one.code, one.start[0]))
    return {name: sorted(entries) for name, entries in found.items()}
