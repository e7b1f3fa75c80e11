"""Diagnostics of documents: what `nonstrict check` says, in the columns of every client, over every transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.oracle import SEVERITIES, checked
from tests.server.protocol.editor import codes, path_of, shown
from tests.server.protocol.profiles import CODE, EMACS, NEOVIM, PROFILES, PULLING, Profile
from tests.server.protocol.projects import BAD, CLEAN, HELPER, MODEL, as_shown, expected, write
from tests.server.units import words_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("transport", ["stdio", "tcp"])
@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_what_check_finds_is_shown(start: Start, tmp_path: Path, profile: Profile, transport: str):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(profile, root, transport=transport)
    assert editor.encoding == profile.encoding
    everything = checked(root)
    for name in ("model", "helper"):
        path = root / f"{name}.py"
        uri = editor.open(path)
        should = as_shown(everything, path, profile.encoding)
        assert len(should) >= 2
        found = await editor.until(uri, lambda found, should=should: len(found) >= len(should))
        assert shown(found) == should
        severities = {one.code: SEVERITIES[one.severity] for one in everything if one.path == path}
        for diagnostic in found:
            assert diagnostic.source == "nonstrict"
            assert diagnostic.severity == severities[str(diagnostic.code)]
    model = next(iter(editor.documents))
    captured = {words_at(MODEL, one.range, profile.encoding) for one in await editor.diagnostics(model)}
    assert captured == {"SCALE", "BIAS"}


async def test_a_finding_tells_how_it_is_reached(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(CODE, root)
    uri = editor.open(root / "helper.py")
    editor.open(root / "model.py")
    (should, *_) = [one for one in checked(root) if one.code == "NST301"]
    found = await editor.until(uri, lambda found: codes(found) == ["NST201", "NST301"])
    found = found[-1]
    assert found.message.startswith(should.message)
    chain = list(found.related_information or ())
    assert [(path_of(one.location.uri), one.location.range.start.line + 1) for one in chain] == list(should.related)
    assert words_at(MODEL, chain[1].location.range, "utf-16").startswith("shifted")
    assert found.code_description
    assert "NST301" in found.code_description.href or "nondeterminism" in found.code_description.href


async def test_who_knows_no_related_information_gets_none(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(EMACS, root)
    uri = editor.open(root / "bad.py")
    (found,) = await editor.until(uri, lambda found: len(found) == 1)
    assert not found.related_information


async def test_who_pulls_gets_no_pushes_and_the_other_way_round(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    asked = await start(CODE, root)
    (registration,) = asked.client.registered["textDocument/diagnostic"]
    assert asked.capabilities.diagnostic_provider is None
    assert registration.register_options["identifier"] == "nonstrict"
    assert registration.register_options["interFileDependencies"] is True
    uri = asked.open(root / "bad.py")
    assert codes(await asked.diagnostics(uri)) == ["NST101"]
    assert not asked.client.diagnostics

    static = await start(PULLING, root)
    assert static.capabilities.diagnostic_provider
    assert static.capabilities.diagnostic_provider.inter_file_dependencies
    assert not static.client.registered.get("textDocument/diagnostic")

    for profile in (EMACS, NEOVIM):
        told = await start(profile, root)
        assert told.capabilities.diagnostic_provider is None
        uri = told.open(root / "bad.py")
        assert codes(await told.until(uri, bool)) == ["NST101"]


@pytest.mark.parametrize("profile", [CODE, PULLING], ids=str)
async def test_nothing_new_is_said_in_a_word(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(profile, root)
    uri = editor.open(root / "bad.py")
    first = await editor.pull(uri)
    assert first.kind == "full"
    assert len(first.items) == 1
    second = await editor.pull(uri, first.result_id)
    assert (second.kind, second.result_id) == ("unchanged", first.result_id)
    editor.change(uri, "# A line above: the same finding, elsewhere.\n" + BAD)
    third = await editor.pull(uri, first.result_id)
    assert third.kind == "full"
    assert third.result_id != first.result_id
    assert third.items[0].range.start.line == first.items[0].range.start.line + 1
    editor.change(uri, BAD)
    fourth = await editor.pull(uri, third.result_id)
    assert (fourth.kind, fourth.result_id) == ("full", first.result_id)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_findings_come_and_go_as_one_types(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", mine=CLEAN)
    editor = await start(profile, root)
    uri = editor.open(root / "mine.py")
    assert await editor.shown(uri) == []
    texts = [
        CLEAN.replace("return x", 'print("\U0001f600", x); return x'),
        CLEAN.replace("return x", 'print("\U0001f600", x); import random; return random.random() * x'),
        CLEAN.replace("return x", "return ("),
        CLEAN.replace("\n", "\r\n").replace("return x", "print(x); return x"),
        BAD,
    ]
    for text in texts:
        editor.change(uri, text)
        (root / "mine.py").write_bytes(text.encode())
        should = expected(root, root / "mine.py", profile.encoding)
        assert should
        await editor.until(uri, lambda found, should=should: shown(found) == should)
    editor.change(uri, CLEAN)
    await editor.until(uri, lambda found: not found)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_findings_follow_what_is_typed_in_other_files(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(profile, root)
    model, helper = editor.open(root / "model.py"), editor.open(root / "helper.py")
    await editor.until(model, lambda found: codes(found) == ["NST101", "NST101"])
    await editor.until(helper, lambda found: codes(found) == ["NST201", "NST301"])
    # The imported global is not a tensor any more; the file on disk says otherwise.
    editor.change(helper, HELPER.replace("torch.zeros(3)", "0.5"))
    (found,) = await editor.until(model, lambda found: len(found) == 1)
    assert words_at(MODEL, found.range, profile.encoding) == "SCALE"
    # The marked function does not call the helper any more: its effects are nobody's business.
    editor.change(model, MODEL.replace("shifted(x)", "x"))
    await editor.until(helper, lambda found: not found)
    # Both as on disk, which counts again as soon as they are closed.
    editor.close(helper)
    await editor.until(model, lambda found: codes(found) == ["NST101", "NST101"])


async def test_the_findings_of_a_closed_document_are_taken_back(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(EMACS, root)
    uri = editor.open(root / "bad.py")
    await editor.until(uri, bool)
    editor.close(uri)
    assert await editor.comes_true(lambda: not editor.client.diagnostics[uri])


async def test_a_document_without_a_file(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", clean=CLEAN))
    uri = editor.open("untitled:Untitled-1", BAD)
    (found,) = await editor.diagnostics(uri)
    assert words_at(BAD, found.range, "utf-16") == "SCALE"
    editor.change(uri, CLEAN)
    assert await editor.diagnostics(uri) == []


async def test_what_is_no_folder_is_checked_alone(start: Start, tmp_path: Path):
    for profile in (PULLING, NEOVIM):
        editor = await start(profile)
        uri = editor.open(write(tmp_path / "lonely", bad=BAD) / "bad.py")
        assert codes(await editor.until(uri, bool)) == ["NST101"]


async def test_tags_and_severities_of_the_tool_itself(start: Start, tmp_path: Path):
    text = CLEAN.replace("return x * scale", "return x * scale  # nonstrict: ignore[NST101]  once upon a time")
    editor = await start(CODE, write(tmp_path / "project", mine=text))
    uri = editor.open(tmp_path / "project" / "mine.py")
    # Whether anything else needs the suppression is known when all files were looked at.
    (found,) = await editor.until(uri, lambda found: codes(found) == ["NST902"])
    assert types.DiagnosticTag.Unnecessary in (found.tags or ())


@pytest.mark.parametrize("profile", [*PROFILES, PULLING], ids=str)
async def test_what_depends_on_all_files_is_told_in_the_end(start: Start, tmp_path: Path, profile: Profile):
    # Whether a suppression in a helper suppresses something is known when everybody who may call it was examined.
    helper = HELPER.replace("BIAS = torch.zeros(3)", "BIAS = 0.5  # nonstrict: ignore[NST101]")
    files = {f"model_{number}": MODEL for number in range(20)}
    root = write(tmp_path / "project", helper=helper, **files)
    editor = await start(profile, root)
    uri = editor.open(root / "helper.py")
    if profile.pulls and not profile.registers:
        assert codes(await editor.diagnostics(uri)) == ["NST902", "NST201", "NST301"]
    elif profile.registers:
        await editor.diagnostics(uri)
        assert await editor.comes_true(lambda: editor.client.diagnostic_refresh_count > 0)
    await editor.until(uri, lambda found: codes(found) == ["NST902", "NST201", "NST301"])


async def test_the_first_report_is_whole(start: Start, tmp_path: Path):
    # Who is never told to ask again has to be told at once, also of what only another file leads to.
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(PULLING, root)
    helper = editor.open(root / "helper.py")
    assert codes(await editor.diagnostics(helper)) == ["NST201", "NST301"]


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_syntax_errors_may_be_left_to_others(start: Start, tmp_path: Path, profile: Profile):
    broken = BAD + "\n\ndef open(:\n    pass\n"
    root = write(tmp_path / "project", bad=broken)
    editor = await start(profile, root)
    uri = editor.open(root / "bad.py")
    found = await editor.until(uri, lambda found: codes(found) == ["NST101", "NST901"])
    (error,) = [one for one in found if one.code == "NST901"]
    assert "\nhelp: correct the statement" in error.message
    await editor.configure({"syntaxErrors": False})
    await editor.until(uri, lambda found: codes(found) == ["NST101"])
    # Only the editor leaves them to others.
    assert sorted(one.code for one in checked(root)) == ["NST101", "NST901"]
    await editor.configure({})
    await editor.until(uri, lambda found: codes(found) == ["NST101", "NST901"])
