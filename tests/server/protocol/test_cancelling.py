"""Work that nobody wants any more: every request has one answer, and the next ones are right."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.server.oracle import checked
from tests.server.protocol.projects import BAD, write
from tests.server.raw_client import CANCELLED, MODIFIED, SUPERSEDED, RawClient

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

PULLS: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-32"]},
    "textDocument": {"diagnostic": {"dynamicRegistration": False}},
}
#: A file that takes a while: many marked functions which call one another.
MANY = BAD.replace("x * SCALE", "x * SCALE + helper_0(x)") + "".join(
    f"\n\n@torch._dynamo.nonstrict_trace\ndef helper_{number}(x):\n    print(x)\n    return x * SCALE\n"
    for number in range(80)
)


@contextmanager
def session(root: Path) -> Generator[RawClient]:
    client = RawClient(root)
    try:
        client.start([root], PULLS)
        yield client
        assert client.stop() == 0, client.errors
    finally:
        client.close()


def open_file(client: RawClient, path: Path, text: str) -> dict[str, Any]:
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    return {"textDocument": {"uri": document["uri"]}}


def change(client: RawClient, params: dict[str, Any], version: int, text: str) -> None:
    document = {**params["textDocument"], "version": version}
    client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


def test_cancelled_requests_are_answered_and_harm_nothing(tmp_path: Path):
    root = write(tmp_path, bad=MANY)
    with session(root) as client:
        params = open_file(client, root / "bad.py", MANY)
        for version in range(2, 6):
            change(client, params, version, MANY + "\n" * version)
            asked = [client.request("textDocument/diagnostic", params) for _ in range(8)]
            asked += [client.request("textDocument/codeLens", params)]
            for number in reversed(asked[1:]):
                client.cancel(number)
            first, *others = [client.reply(number) for number in asked]
            assert first.error is None or first.code in (SUPERSEDED, MODIFIED)
            assert {reply.code for reply in others} <= {None, CANCELLED, SUPERSEDED}
            assert CANCELLED in {reply.code for reply in others}
        report = client.call("textDocument/diagnostic", params)
        assert len(report["items"]) == len(checked(root))
        client.cancel(99_999)
        client.cancel(1)
        assert client.call("textDocument/diagnostic", params)["kind"] == "full"


def test_a_request_for_an_older_text_gives_way(tmp_path: Path):
    root = write(tmp_path, bad=MANY)
    with session(root) as client:
        params = open_file(client, root / "bad.py", MANY)
        old = [client.request("textDocument/diagnostic", params)]
        for version in range(2, 12):
            change(client, params, version, "\n" * version + MANY)
            old.append(client.request("textDocument/diagnostic", params))
        *old, last = [client.reply(number) for number in old]
        assert last.error is None
        rows = {item["range"]["start"]["line"] + 1 for item in last.result["items"]}
        assert rows == {one.start[0] + 11 for one in checked(root)}
        for reply in old:
            assert reply.error is None or reply.code in (SUPERSEDED, MODIFIED)
            if reply.code == SUPERSEDED:
                assert reply.error
                assert reply.error["data"] == {"retriggerRequest": True}


def test_the_end_does_not_wait_for_work(tmp_path: Path):
    root = write(tmp_path, bad=MANY)
    client = RawClient(root)
    try:
        client.start([root], PULLS)
        params = open_file(client, root / "bad.py", MANY)
        asked = [client.request("textDocument/diagnostic", params) for _ in range(5)]
        down = client.request("shutdown")
        assert client.reply(down, 10).error is None
        for number in asked:
            assert client.reply(number, 10)
        late = client.request("textDocument/hover", {**params, "position": {"line": 0, "character": 0}})
        assert client.reply(late, 10).code == -32600
        client.notify("exit")
        assert client.process.wait(10) == 0
        assert "Traceback" not in client.errors
    finally:
        client.close()
