"""Requests that make no sense are refused with a short message (-32602); those about nothing are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.protocol.projects import BAD, write
from tests.server.raw_client import RawClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INVALID, FAILED = -32602, -32803
PULLS: dict[str, Any] = {
    "textDocument": {
        "diagnostic": {"dynamicRegistration": False},
        "codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}},
    }
}
#: Requests about a place in a document.
AT_A_PLACE = (
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/prepareCallHierarchy",
)
IN_A_RANGE = ("textDocument/inlayHint", "textDocument/codeAction")
OF_A_DOCUMENT = ("textDocument/diagnostic", "textDocument/codeLens")
COMMANDS = ("confirmFunction", "confirmFile", "showFindings", "cancel", "showGraph", "showCode", "writeRepro")
START, FAR = {"line": 0, "character": 0}, {"line": 2_000_000_000, "character": 2_000_000_000}
#: What is no address at all: the first is that of no host, the other is not even a text.
NO_ADDRESSES: tuple[Any, ...] = ("http://[", 5, None, {"uri": "file:///x.py"})


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    client = RawClient(write(tmp_path, bad=BAD))
    try:
        client.start([tmp_path], PULLS)
        yield client
        # Nothing of all that is worth a word on standard error, and it still works.
        uri = (tmp_path / "bad.py").as_uri()
        report = client.call("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        assert [item["code"] for item in report["items"]] == ["NST101"]
        assert client.stop() == 0
        assert client.errors == ""
        logged = [params["message"] for method, params in client.seen if method == "window/logMessage"]
        assert not [text for text in logged if "error" in text]
    finally:
        client.close()


def refused(client: RawClient, method: str, params: Any) -> str:
    """The message with which a request is refused."""
    reply = client.reply(client.request(method, params))
    assert reply.code == INVALID, (method, params, reply)
    assert reply.error
    message = str(reply.error["message"])
    assert 0 < len(message) < 250, message
    assert "\n" not in message
    assert "Error" not in message
    assert not reply.error.get("data")
    return message


def params_of(method: str, uri: str, place: Any = START) -> dict[str, Any]:
    """Parameters as a request has them."""
    params: dict[str, Any] = {"textDocument": {"uri": uri}}
    if method in AT_A_PLACE:
        params["position"] = place
    if method in IN_A_RANGE:
        params["range"] = {"start": place, "end": place}
    if method == "textDocument/codeAction":
        params["context"] = {"diagnostics": []}
    if method == "textDocument/references":
        params["context"] = {"includeDeclaration": True}
    return params


def test_requests_about_documents(client: RawClient, tmp_path: Path):
    uri = (tmp_path / "bad.py").as_uri()
    for method in (*AT_A_PLACE, *IN_A_RANGE, *OF_A_DOCUMENT):
        good = params_of(method, uri)
        assert client.reply(client.request(method, good)).error is None
        for params in (None, {}, [], 5, {**good, "textDocument": None}, {**good, "textDocument": {}}):
            refused(client, method, params)
        refused(client, method, params_of(method, "http://["))
        for field in good.keys() - {"textDocument"}:
            refused(client, method, {name: value for name, value in good.items() if name != field})
            for wrong in (5, "x", [], {"line": 0}):
                refused(client, method, {**good, field: wrong})
        if method not in OF_A_DOCUMENT:
            for line in (-1, "one", 2**31, None):
                refused(client, method, params_of(method, uri, {"line": line, "character": 0}))


@pytest.mark.parametrize("uri", ["file:///nowhere/else.py", "untitled:other", "scheme:odd", "", "file:///a%00b.py"])
def test_places_where_nothing_is(client: RawClient, tmp_path: Path, uri: str):
    mine = (tmp_path / "bad.py").as_uri()
    for method in (*AT_A_PLACE, *IN_A_RANGE, *OF_A_DOCUMENT):
        for params in (params_of(method, uri), params_of(method, mine, FAR), params_of(method, uri, FAR)):
            reply = client.reply(client.request(method, params))
            assert reply.error is None, (method, params, reply)
            if params["textDocument"]["uri"] == uri:
                assert reply.result in (None, []) or reply.result["items"] == [], (method, params, reply)


def test_our_own_requests(client: RawClient, tmp_path: Path):
    uri = (tmp_path / "bad.py").as_uri()
    for params in (None, {}, [], 5, "x", *({"uri": one, "position": START} for one in NO_ADDRESSES)):
        refused(client, "nonstrict/chain", params)
    for place in (None, 5, {}, {"line": 0}, {"line": "0", "character": 0}, {"line": -1, "character": 0}, [0, 0]):
        refused(client, "nonstrict/chain", {"uri": uri, "position": place})
    assert "position" in refused(client, "nonstrict/chain", {"uri": uri})
    assert client.call("nonstrict/chain", {"uri": uri, "position": FAR}) is None
    assert client.call("nonstrict/chain", {"uri": "file:///nowhere.py", "position": START}) is None
    for params in (None, {}, 5, *({"uri": one} for one in NO_ADDRESSES), {"uri": uri}, {"uri": "nonstrict:/graph/x"}):
        refused(client, "nonstrict/origins", params)
    for one in NO_ADDRESSES:
        if one is not None:
            refused(client, "nonstrict/environment", {"uri": one})
    for params in (None, {}, {"uri": ""}, {"uri": uri}, {"uri": "file:///nowhere.py"}):
        assert client.call("nonstrict/environment", params)["root"]
    for params in (None, {}, [], {"uri": 5}):
        assert isinstance(client.call("nonstrict/regions", params), list)
    for address in ("nonstrict:/nothing/x", "file:///x", "http://[", "", "nonstrict:/graph/x"):
        refused(client, "workspace/textDocumentContent", {"uri": address})


def test_commands(client: RawClient, tmp_path: Path):
    uri = (tmp_path / "bad.py").as_uri()

    def params(command: str, *arguments: Any) -> dict[str, Any]:
        return {"command": f"nonstrict.{command}", "arguments": list(arguments)}

    for wrong in (None, {}, {"command": None}, {"arguments": []}, {"command": "nonstrict.cancel", "arguments": 5}):
        refused(client, "workspace/executeCommand", wrong)
    refused(client, "workspace/executeCommand", params("noSuchThing"))
    for command in COMMANDS:
        for one in (5, {"uri": uri}, ["x"], True, "http://["):
            refused(client, "workspace/executeCommand", params(command, one))
        if command in {"confirmFile", "cancel"}:
            continue
        for one in (5, ["scaled"], {}, {"line": 1}, {"line": "1", "character": 0}, {"line": -1, "character": 0}):
            refused(client, "workspace/executeCommand", params(command, uri, one))
        reply = client.reply(client.request("workspace/executeCommand", params(command, uri, FAR)))
        assert reply.code == FAILED, (command, reply)
        if command != "cancel":
            assert "address" in refused(client, "workspace/executeCommand", params(command))
    refused(client, "workspace/executeCommand", params("writeRepro", uri, "scaled", 5))
    refused(client, "workspace/executeCommand", params("writeBaseline", 5))


def test_what_clients_hand_back(client: RawClient, tmp_path: Path):
    uri = (tmp_path / "bad.py").as_uri()
    span = {"start": START, "end": START}
    item = {"name": "x", "kind": 12, "uri": uri, "range": span, "selectionRange": span}
    location = [str(tmp_path / "bad.py"), 1, 1, 1, 1, None]
    wrong = (5, [], {}, {"finding": 5, "above": 1}, {"finding": ["NST101", "scaled", []], "above": 0})
    for data in (None, *wrong, {"finding": ["NST101", "scaled", location], "above": "x"}):
        refused(client, "callHierarchy/incomingCalls", {"item": {**item, "data": data}})
    # What was true once is no mistake.
    gone = {"finding": ["NST101", "scaled", location], "above": 99}
    assert client.call("callHierarchy/incomingCalls", {"item": {**item, "data": gone}}) == []
    action = {"title": "x"}
    for data in (*wrong, {"uri": uri}, {"uri": uri, "versions": 5, "edits": []}, {"uri": uri, "versions": {}}):
        refused(client, "codeAction/resolve", {**action, "data": data})
    for edits in (5, [5], [["x", "y"]], [[location[:5], "y"]], [[[None, *location[1:], 7], "y"]]):
        refused(client, "codeAction/resolve", {**action, "data": {"uri": uri, "versions": {}, "edits": edits}})
    for sweep in (5, [], ["NST101"], ["NST101", 99]):
        refused(client, "codeAction/resolve", {**action, "data": {"uri": uri, "versions": {}, "sweep": sweep}})
    assert client.call("codeAction/resolve", action) == action


def test_notifications_without_sense_are_passed_over(client: RawClient, tmp_path: Path):
    text = {"uri": "http://[", "languageId": "python", "version": 1, "text": BAD}
    client.notify("textDocument/didOpen", {"textDocument": text})
    client.notify("textDocument/didOpen", {"textDocument": 5})
    client.notify("textDocument/didChange", {"textDocument": {"uri": "http://[", "version": 2}, "contentChanges": []})
    client.notify("textDocument/didSave", {"textDocument": {"uri": "http://["}})
    client.notify("textDocument/didClose", {})
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": "http://[", "type": 2}]})
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": (tmp_path / "bad.py").as_uri(), "type": 9}]})
    client.notify("$/cancelRequest", {"id": 77})
    client.notify("$/setTrace", {"value": "loud"})
