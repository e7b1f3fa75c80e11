"""What the server tells of itself: messages as they pass, to a client that asks, and the log on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.protocol.projects import BAD, write
from tests.server.raw_client import RawClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PULLS: dict[str, Any] = {"textDocument": {"diagnostic": {"dynamicRegistration": False}}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    client = RawClient(write(tmp_path, bad=BAD))
    try:
        yield client
    finally:
        client.close()


def pull(client: RawClient, root: Path) -> None:
    client.call("textDocument/diagnostic", {"textDocument": {"uri": (root / "bad.py").as_uri()}})


def traced(client: RawClient) -> list[dict[str, str]]:
    return [params for method, params in client.seen if method == "$/logTrace"]


def test_nobody_hears_what_nobody_asked_for(client: RawClient, tmp_path: Path):
    client.start([tmp_path], PULLS)
    pull(client, tmp_path)
    assert traced(client) == []
    assert client.stop() == 0
    assert client.errors == ""


def test_messages_are_told_and_their_contents_if_that_is_wanted(client: RawClient, tmp_path: Path):
    client.start([tmp_path], PULLS, trace="messages")
    pull(client, tmp_path)
    assert client.wait_for(lambda _: any("Processing request took" in one["message"] for one in traced(client)))
    heard = traced(client)
    assert any(one["message"].startswith("Received request 'textDocument/diagnostic - (") for one in heard)
    assert any(one["message"] == "Received notification 'initialized'." for one in heard)
    assert not any("verbose" in one for one in heard)

    client.notify("$/setTrace", {"value": "verbose"})
    pull(client, tmp_path)
    assert client.wait_for(lambda _: any("NST101" in one.get("verbose", "") for one in traced(client)))
    assert any("bad.py" in one.get("verbose", "") for one in traced(client))

    client.notify("$/setTrace", {"value": "off"})
    client.call("textDocument/hover", _start_of(tmp_path))
    count = len(traced(client))
    pull(client, tmp_path)
    client.call("textDocument/hover", _start_of(tmp_path))
    assert len(traced(client)) == count
    assert client.stop() == 0


def _start_of(root: Path) -> dict[str, Any]:
    return {"textDocument": {"uri": (root / "bad.py").as_uri()}, "position": {"line": 0, "character": 0}}


@pytest.mark.parametrize(
    ("level", "told", "untold"),
    [("error", "", "INFO"), ("info", "INFO nonstrict_server", "DEBUG"), ("debug", "DEBUG nonstrict_server", "Content")],
)
def test_the_log_says_as_much_as_is_wanted(client: RawClient, tmp_path: Path, level: str, told: str, untold: str):
    client.start([tmp_path], PULLS, initializationOptions={"settings": {"logLevel": level}})
    pull(client, tmp_path)
    assert client.stop() == 0
    assert told in client.errors
    assert untold not in client.errors


def test_the_level_changes_with_the_settings(client: RawClient, tmp_path: Path):
    client.start([tmp_path], PULLS)
    client.notify("workspace/didChangeConfiguration", {"settings": {"nonstrict": {"logLevel": "debug"}}})
    pull(client, tmp_path)
    assert client.stop() == 0
    assert "DEBUG nonstrict_server" in client.errors
