"""Folders: their settings, files that change on disk, findings of files that nobody opened."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.oracle import checked
from tests.server.protocol.editor import LIMIT, codes, path_of, shown
from tests.server.protocol.profiles import CODE, EMACS, NEOVIM, PROFILES, PULLING, Profile
from tests.server.protocol.projects import BAD, CLEAN, HELPER, MODEL, as_shown, write
from tests.server.protocol.test_showing import plain
from tests.server.units import words_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.server.oracle import Shown
    from tests.server.protocol.conftest import Start
from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio
WHOLE = {"diagnosticMode": "workspace"}


async def workspace(editor: Editor, known: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The reports of all files, by URI."""
    previous = [types.PreviousResultId(uri, result) for uri, result in (known or {}).items()]
    report = await editor.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous, "nonstrict"))
    return {item.uri: item for item in report.items}


async def all_examined(editor: Editor, files: int) -> dict[str, Any]:
    """The reports of all files as soon as so many have findings: like an editor, ask again and again."""
    end = time.monotonic() + LIMIT
    while True:
        reports = await workspace(editor)
        if sum(bool(report.items) for report in reports.values()) >= files:
            return reports
        assert time.monotonic() < end, f"the last reports: {sorted(reports)}"
        await asyncio.sleep(0.1)


def progress(editor: Editor) -> list[Sequence[Any]]:
    """What was reported, by token."""
    return list(editor.client.progress_reports.values())


@pytest.mark.parametrize("profile", [CODE, PULLING], ids=str)
async def test_files_that_nobody_opened(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER, clean=CLEAN)
    editor = await start(profile, root, settings=WHOLE)
    reports = await all_examined(editor, 2)
    found = {path_of(uri).name: shown(report.items) for uri, report in reports.items() if report.items}
    everything = checked(root)
    assert found == {name: as_shown(everything, root / name, profile.encoding) for name in ("helper.py", "model.py")}
    again = await workspace(editor, {uri: report.result_id for uri, report in reports.items()})
    assert {report.kind for report in again.values()} <= {"unchanged"}


async def test_a_scan_reports_its_progress(start: Start, tmp_path: Path):
    # What takes less than half a second is over before anybody reads of it.
    text = BAD + "".join(BAD.partition("\n\n\n")[2].replace("scaled", f"scaled_{number}") for number in range(12))
    root = write(tmp_path / "project", **{f"model_{number}": text for number in range(60)})
    editor = await start(CODE, root, settings=WHOLE)
    reports = await all_examined(editor, 60)
    assert sum(len(report.items) for report in reports.values()) == 60 * 13
    assert await editor.comes_true(
        lambda: (
            bool(progress(editor))
            and all(reports and isinstance(reports[-1], types.WorkDoneProgressEnd) for reports in progress(editor))
        )
    )
    for told in progress(editor):
        assert isinstance(told[0], types.WorkDoneProgressBegin)
        assert told[0].title
        shares = [one.percentage for one in told if isinstance(one, types.WorkDoneProgressReport) and one.percentage]
        assert shares == sorted(shares)
        assert all(0 <= share <= 100 for share in shares)


async def test_who_cannot_pull_is_told_of_the_whole_workspace(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(EMACS, root, settings=WHOLE)
    uri = (root / "bad.py").as_uri()
    assert await editor.comes_true(lambda: codes(editor.client.diagnostics.get(uri, ())) == ["NST101"])


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_a_checked_workspace_stays_up_to_date(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER, clean=CLEAN)
    editor = await start(profile, root)
    everything = checked(root)
    model, clean = ((root / name).as_uri() for name in ("model.py", "clean.py"))

    def told(uri: str) -> list[str]:
        return codes(editor.client.diagnostics.get(uri, ()))

    async def now() -> dict[str, list[Shown]]:
        if not profile.pulls:
            reports = editor.client.diagnostics
            return {path_of(uri).name: shown(items) for uri, items in reports.items() if items}
        reports = await workspace(editor)
        return {path_of(uri).name: shown(one.items) for uri, one in reports.items() if one.items}

    if profile.registers:
        (before,) = editor.client.registered[types.TEXT_DOCUMENT_DIAGNOSTIC]
        assert not before.register_options["workspaceDiagnostics"]
    assert not told(model)
    answer = await editor.client.workspace_execute_command_async(types.ExecuteCommandParams("nonstrict.checkWorkspace"))
    assert plain(answer) == {"findings": len(everything), "files": 2, "checked": 3}
    said = f"nonstrict: {len(everything)} findings in 2 of 3 files."
    assert await editor.comes_true(lambda: [one.message for one in editor.client.messages][-1:] == [said])
    if profile.registers:
        (after,) = editor.client.registered[types.TEXT_DOCUMENT_DIAGNOSTIC]
        assert after.register_options["workspaceDiagnostics"]
    expected = {name: as_shown(everything, root / name, profile.encoding) for name in ("helper.py", "model.py")}
    end = time.monotonic() + LIMIT
    while (found := await now()) != expected:
        assert time.monotonic() < end, found
        await asyncio.sleep(0.05)

    # A file that nobody opened changes.
    refreshed = editor.client.diagnostic_refresh_count
    write(root, clean=BAD)
    editor.written(root / "clean.py")
    if profile.pulls:
        assert await editor.comes_true(lambda: editor.client.diagnostic_refresh_count > refreshed)
    while "clean.py" not in await now():
        assert time.monotonic() < end + LIMIT
        await asyncio.sleep(0.05)
    assert [one.code for one in (await now())["clean.py"]] == ["NST101"]
    # One that is opened and closed again keeps its findings.
    editor.open(root / "clean.py")
    await editor.until(clean, lambda found: codes(found) == ["NST101"])
    editor.close(clean)
    await asyncio.sleep(0.3)
    assert [one.code for one in (await now())["clean.py"]] == ["NST101"]


async def test_a_check_of_the_workspace_says_nothing_if_asked(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", clean=CLEAN))
    command = "nonstrict.checkWorkspace"
    answer = await editor.client.workspace_execute_command_async(types.ExecuteCommandParams(command, [True]))
    assert plain(answer) == {"findings": 0, "files": 0, "checked": 1}
    assert not editor.client.messages
    await editor.client.workspace_execute_command_async(types.ExecuteCommandParams(command))
    assert [one.message for one in editor.client.messages] == ["nonstrict: No findings in 1 file."]
    with pytest.raises(JsonRpcException, match="true or false"):
        await editor.client.workspace_execute_command_async(types.ExecuteCommandParams(command, ["x"]))


async def test_folders_have_settings_of_their_own(start: Start, tmp_path: Path):
    text = BAD.replace("return x", "print(x); return x")
    one, other = write(tmp_path / "one", bad=text), write(tmp_path / "other", bad=text)
    (one / "nonstrict.toml").write_text('ignore = ["NST101"]\n')
    (other / "pyproject.toml").write_text('[tool.nonstrict]\nignore = ["io-side-effect"]\n')
    for profile in (CODE, EMACS):
        editor = await start(profile, one, other)
        for root, left in ((one, ["NST201"]), (other, ["NST101"])):
            uri = editor.open(root / "bad.py")
            await editor.until(uri, lambda found, left=left: codes(found) == left)


async def test_folders_come_and_go(start: Start, tmp_path: Path):
    one, other = write(tmp_path / "one", clean=CLEAN), write(tmp_path / "other", bad=BAD)
    (other / "nonstrict.toml").write_text('severity = { NST101 = "note" }\n')
    editor = await start(CODE, one)
    folder = types.WorkspaceFolder(other.as_uri(), "other")
    event = types.WorkspaceFoldersChangeEvent([folder], [])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    uri = editor.open(other / "bad.py")
    (found,) = await editor.diagnostics(uri)
    assert found.severity == types.DiagnosticSeverity.Information
    event = types.WorkspaceFoldersChangeEvent([], [folder])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    assert codes(await editor.diagnostics(uri)) == ["NST101"]


async def test_settings_change_without_a_restart(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD.replace("return x", "print(x); return x"))
    editor = await start(CODE, root, settings={"ignore": ["NST101"]})
    uri = editor.open(root / "bad.py")
    assert codes(await editor.diagnostics(uri)) == ["NST201"]
    refreshed = editor.client.diagnostic_refresh_count
    await editor.configure({"select": ["NST1"]})
    assert await editor.comes_true(lambda: editor.client.diagnostic_refresh_count > refreshed)
    assert codes(await editor.diagnostics(uri)) == ["NST101"]
    await editor.configure({})
    await editor.until(uri, lambda found: codes(found) == ["NST201", "NST101"])


async def test_settings_change_for_who_cannot_pull(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(EMACS, root)
    uri = editor.open(root / "bad.py")
    await editor.until(uri, lambda found: codes(found) == ["NST101"])
    await editor.configure({"ignore": ["NST101"]})
    await editor.until(uri, lambda found: not found)


@pytest.mark.parametrize("profile", [CODE, EMACS], ids=str)
async def test_files_change_on_disk(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(profile, root)
    uri = editor.open(root / "model.py")
    await editor.until(uri, lambda found: codes(found) == ["NST101", "NST101"])
    watched = [
        str(watcher["globPattern"])
        for one in editor.client.registered["workspace/didChangeWatchedFiles"]
        for watcher in one.register_options["watchers"]
    ]
    for name, suffix in (("", "py"), ("pyproject", "toml"), ("nonstrict", "toml")):
        assert any(name in pattern and suffix in pattern for pattern in watched), watched

    write(root, helper=HELPER.replace("torch.zeros(3)", "0.5"))
    editor.written(root / "helper.py")
    (found,) = await editor.until(uri, lambda found: len(found) == 1)
    assert words_at(MODEL, found.range, profile.encoding) == "SCALE"
    (root / "helper.py").unlink()
    editor.written(root / "helper.py", kind=types.FileChangeType.Deleted)
    assert codes(await editor.until(uri, lambda found: len(found) == 1)) == ["NST101"]
    write(root, helper=HELPER)
    editor.written(root / "helper.py", kind=types.FileChangeType.Created)
    await editor.until(uri, lambda found: codes(found) == ["NST101", "NST101"])


@pytest.mark.parametrize("profile", [CODE, EMACS], ids=str)
async def test_a_broken_configuration_keeps_the_last_good_one(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", bad=BAD.replace("return x", "print(x); return x"))
    settings = root / "nonstrict.toml"
    settings.write_text('ignore = ["NST101"]\n')
    editor = await start(profile, root)
    uri = editor.open(root / "bad.py")
    await editor.until(uri, lambda found: codes(found) == ["NST201"])
    settings.write_text('ignore = ["NST101"\n')
    editor.written(settings)
    assert await editor.comes_true(lambda: complaints(editor, settings) == ["NST903"])
    assert codes(await editor.diagnostics(uri)) == ["NST201"]
    # Nobody has to open the file to hear of it, but is not told again and again.
    assert len(editor.client.messages) == 1
    assert "nonstrict.toml" in editor.client.messages[0].message

    settings.write_text('ignore = ["NST201"]\n')
    editor.written(settings)
    await editor.until(uri, lambda found: codes(found) == ["NST101"])
    assert await editor.comes_true(lambda: complaints(editor, settings) == [])


async def test_a_configuration_that_is_broken_from_the_start(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    settings = root / "pyproject.toml"
    settings.write_text('[tool.nonstrict]\nignore = []\nselct = ["NST1"]\n')
    editor = await start(NEOVIM, root)
    uri, toml = editor.open(root / "bad.py"), editor.open(settings, language="toml")
    # Until it is valid the defaults count: no settings are no reason to find nothing.
    await editor.until(uri, lambda found: codes(found) == ["NST101"])
    assert await editor.comes_true(lambda: complaints(editor, settings) == ["NST903"])
    (found,) = editor.client.diagnostics[settings.as_uri()]
    assert found.range.start.line == 2
    assert "select" in found.message
    editor.change(toml, '[tool.nonstrict]\nselect = ["NST2"]\n')
    editor.save(toml)
    assert await editor.comes_true(lambda: complaints(editor, settings) == [])
    await editor.until(uri, lambda found: not found)
    editor.change(toml, "")
    editor.save(toml)
    await editor.until(uri, lambda found: codes(found) == ["NST101"])


@pytest.mark.parametrize(
    "wrong",
    [
        "select = ['NST999']",
        "ignore = ['NST101', 'NST999']",
        "extend-select = ['no-such-rule']",
        "unfixable = ['NST999']",
        "severity = { NST999 = 'note' }",
        "[severity]\nno-such-rule = 'note'",
        "per-file-ignores = { '*.py' = ['NST101', 'NST999'] }",
    ],
)
async def test_a_misspelt_rule_from_the_start(start: Start, tmp_path: Path, wrong: str):
    root = write(tmp_path / "project", bad=BAD)
    settings = root / "nonstrict.toml"
    settings.write_text(f"fix = false\n{wrong}\n")
    editor = await start(NEOVIM, root)
    uri = editor.open(root / "bad.py")
    await editor.until(uri, lambda found: codes(found) == ["NST101"])
    assert await editor.comes_true(lambda: complaints(editor, settings) == ["NST903"])
    (found,) = editor.client.diagnostics[settings.as_uri()]
    name = "NST999" if "NST999" in wrong else "no-such-rule"
    assert name in found.message
    lines = settings.read_text().splitlines()
    assert name in lines[found.range.start.line][found.range.start.character : found.range.end.character]
    settings.write_text('ignore = ["NST101"]\n')
    editor.written(settings)
    await editor.until(uri, lambda found: not found)
    assert await editor.comes_true(lambda: complaints(editor, settings) == [])
    # From now on there is a version that was valid.
    settings.write_text(f"{wrong}\n")
    editor.written(settings)
    assert await editor.comes_true(lambda: complaints(editor, settings) == ["NST903"])
    assert await editor.diagnostics(uri) == []


async def test_a_misspelt_rule_of_a_project_below(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    settings = write(root / "sub", other=BAD) / "nonstrict.toml"
    settings.write_text("select = ['NST999']\n")
    editor = await start(NEOVIM, root)
    above, below = editor.open(root / "bad.py"), editor.open(root / "sub" / "other.py")
    for uri in (above, below):
        await editor.until(uri, lambda found: codes(found) == ["NST101"])
    assert await editor.comes_true(lambda: complaints(editor, settings) == ["NST903"])
    settings.write_text("ignore = ['NST101']\n")
    editor.written(settings)
    await editor.until(below, lambda found: not found)
    assert codes(await editor.diagnostics(above)) == ["NST101"]
    assert await editor.comes_true(lambda: complaints(editor, settings) == [])


@pytest.mark.parametrize("key", ["select", "ignore"])
async def test_a_misspelt_rule_of_the_client(start: Start, tmp_path: Path, key: str):
    root = write(tmp_path / "project", bad=BAD.replace("return x", "print(x); return x"))
    settings = root / "nonstrict.toml"
    settings.write_text("ignore = ['NST201']\n# Not NST999.\n")
    editor = await start(NEOVIM, root, settings={key: ["NST999"]})
    uri = editor.open(root / "bad.py")
    # The setting is left out, what the file says holds.
    await editor.until(uri, lambda found: codes(found) == ["NST101"])
    told = [one.message for one in editor.client.messages]
    assert [message for message in told if "no rule is called `NST999`" in message] == told[:1]
    assert complaints(editor, settings) == []


USES_LIBRARY = """\
import acme
import torch


@torch._dynamo.nonstrict_trace
def scaled(x):
    acme.report(1.0)
    return x * 2
"""


@pytest.mark.parametrize("profile", [CODE, NEOVIM], ids=str)
async def test_models_of_libraries_are_read_anew(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", train=USES_LIBRARY)
    model = root / "acme.pyi"
    model.write_text("def report(value: float) -> None: ...\n")
    (root / "nonstrict.toml").write_text('models = ["acme.pyi"]\n')
    editor = await start(profile, root)
    uri = editor.open(root / "train.py")
    assert await editor.diagnostics(uri) == []
    effect = "from nonstrict.models import does\n\n@does.log\n"
    text = editor.open(model)
    editor.change(text, effect + "def report(value): ...\n")
    editor.save(text)
    await editor.until(uri, lambda found: codes(found) == ["NST201"])
    editor.change(text, effect + "def report(value) -> Nothing: ...\n")
    editor.save(text)
    await editor.until(text, lambda found: codes(found) == ["NST903"])
    assert codes(await editor.diagnostics(uri)) == ["NST201"]
    editor.close(text)
    assert await editor.comes_true(lambda: complaints(editor, model) == ["NST903"])
    model.write_text("def report(value: float) -> None: ...\n")
    editor.written(model)
    await editor.until(uri, lambda found: found == [])
    assert await editor.comes_true(lambda: complaints(editor, model) == [])


def complaints(editor: Editor, settings: Path) -> list[str]:
    """What is shown at a configuration file: it is published to every client, which would not ask for it."""
    return codes(editor.client.diagnostics.get(settings.as_uri(), ()))
