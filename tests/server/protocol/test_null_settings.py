"""Clients whose user has set nothing say so in many ways: all of them are the defaults."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.protocol.profiles import CODE, NEOVIM
from tests.server.protocol.projects import BAD, write
from tests.server.raw_client import RawClient

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.server.protocol.conftest import Start

#: A client that is told of diagnostics, and one that is asked to pull them when the settings are known.
TOLD: dict[str, Any] = {}
ASKED: dict[str, Any] = {
    "textDocument": {"diagnostic": {"dynamicRegistration": True}},
    "workspace": {"configuration": True, "diagnostics": {"refreshSupport": True}},
}
NOTHING = (None, [None], [None, None], [], [None, {}], [[], "x"], 5, "none", {"nonstrict": None})


@contextmanager
def session(root: Path, capabilities: dict[str, Any], answer: Any = None, **params: Any) -> Generator[RawClient]:
    """A session that ends well, with nothing on standard error but one line for an answer that makes no sense."""
    client = RawClient(write(root, bad=BAD), answers={"workspace/configuration": lambda _: answer})
    try:
        client.start([root], capabilities, **params)
        yield client
        assert client.stop() == 0
        assert len(client.errors.splitlines()) <= 1, client.errors
        popups = [told["message"] for method, told in client.seen if method == "window/showMessage"]
        assert not popups
    finally:
        client.close()


def published(client: RawClient, root: Path) -> bool:
    """Whether the finding is shown, as it is by default."""
    uri = (root / "bad.py").as_uri()
    text = {"uri": uri, "languageId": "python", "version": 1, "text": BAD}
    client.notify("textDocument/didOpen", {"textDocument": text})
    return client.wait_for(
        lambda seen: any(
            method == "textDocument/publishDiagnostics"
            and told["uri"] == uri
            and [one["code"] for one in told["diagnostics"]] == ["NST101"]
            for method, told in seen
        )
    )


@pytest.mark.parametrize("answer", NOTHING, ids=repr)
def test_an_answer_about_settings(tmp_path: Path, answer: Any):
    root = tmp_path / "project"
    with session(root, ASKED, answer) as client:

        def registered(seen: list[tuple[str, Any]]) -> bool:
            asked = [told for method, told in seen if method == "client/registerCapability"]
            return any(one["method"] == "textDocument/diagnostic" for told in asked for one in told["registrations"])

        # Which diagnostics are to be pulled is known when the settings are.
        assert client.wait_for(registered, 10)
        report = client.call("textDocument/diagnostic", {"textDocument": {"uri": (root / "bad.py").as_uri()}})
        assert [one["code"] for one in report["items"]] == ["NST101"]
        text = client.call("workspace/executeCommand", {"command": "nonstrict.debugInformation"})
        settings = {line.partition(": ")[2] for line in text.splitlines() if line.startswith("settings of")}
        assert len(settings) == 1
        assert "enable=True, overrides=()" in settings.pop()


@pytest.mark.parametrize("options", [None, {}, [], {"settings": None}, {"nonstrict": None}, "x"], ids=repr)
def test_options_of_the_beginning(tmp_path: Path, options: Any):
    with session(tmp_path / "project", TOLD, initializationOptions=options) as client:
        assert published(client, tmp_path / "project")


@pytest.mark.parametrize("settings", [None, {}, [], {"nonstrict": None}, {"nonstrict": {"confirm": None}}, 5], ids=repr)
def test_a_change_to_nothing(tmp_path: Path, settings: Any):
    # What was switched off before is on again: nothing is the default, and not what was.
    off = {"nonstrict": {"enable": False}}
    with session(tmp_path / "project", TOLD, initializationOptions=off) as client:
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert published(client, tmp_path / "project")


@pytest.mark.parametrize("profile", [CODE, NEOVIM], ids=str)
@pytest.mark.asyncio
async def test_an_editor_whose_settings_vanish(start: Start, tmp_path: Path, profile: Any):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(profile, root, settings={"ignore": ["NST101"]})
    uri = editor.open(root / "bad.py")
    await editor.until(uri, lambda found: not found)
    await editor.configure({})
    await editor.until(uri, lambda found: len(found) == 1)
