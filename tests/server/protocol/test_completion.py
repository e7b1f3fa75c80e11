"""Rules are completed where a suppression lists them, and nothing is anywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from nonstrict.rules.registry import RULES
from tests.server.protocol.editor import codes
from tests.server.protocol.profiles import CODE, PROFILES, Profile
from tests.server.protocol.projects import BAD, write
from tests.server.units import applied, position_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio
#: The cursor.
HERE = "|"


async def offered(editor: Editor, uri: str, marked: str) -> tuple[str, list[types.CompletionItem]]:
    """Type a text with a cursor; the text without it, and what is offered there."""
    at = marked.index(HERE)
    text = marked.replace(HERE, "", 1)
    editor.change(uri, text)
    params = types.CompletionParams(types.TextDocumentIdentifier(uri), position_at(text, at, editor.encoding))
    found = await editor.client.text_document_completion_async(params)
    if found is None:
        return text, []
    assert isinstance(found, types.CompletionList)
    return text, list(found.items)


def behind(comment: str) -> str:
    """The module with a comment behind the line of its finding, which begins with characters of several units."""
    return BAD.replace("return x * SCALE", f'"\U0001d494 é"; return x * SCALE  {comment}')


@pytest.mark.parametrize("profile", PROFILES, ids=str)
@pytest.mark.parametrize("wanted", ["NST101", "global-tensor-capture"])
@pytest.mark.parametrize(
    "comment",
    [
        "# nonstrict: ignore[|",
        "# nonstrict: ignore[|]",
        "# nonstrict: ignore[NST1|01]",
        "# nonstrict: ignore[NST201,glob|",
        "# kept  # nonstrict: file-ignore[NST201, |]  a reason",
        "#NONSTRICT: Ignore [ nst|",
    ],
)
async def test_a_completed_rule_suppresses(start: Start, tmp_path: Path, profile: Profile, wanted: str, comment: str):
    editor = await start(profile, write(tmp_path / "project", bad=BAD))
    uri = editor.open(tmp_path / "project" / "bad.py")
    text, items = await offered(editor, uri, behind(comment))
    (item,) = [one for one in items if one.label == wanted]
    assert isinstance(item.text_edit, types.TextEdit)
    done = applied(text, [item.text_edit], editor.encoding)
    assert wanted in done
    assert "NST1NST101" not in done
    editor.change(uri, done)
    await editor.until(uri, lambda found: "NST101" not in codes(found))


async def test_all_rules_are_offered_once_with_their_pages(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", bad=BAD))
    uri = editor.open(tmp_path / "project" / "bad.py")
    provider = editor.capabilities.completion_provider
    assert provider
    assert list(provider.trigger_characters or ()) == ["[", ","]
    _, items = await offered(editor, uri, behind("# nonstrict: ignore[|"))
    assert [one.label for one in sorted(items, key=lambda one: one.sort_text or "")] == [
        *sorted(RULES),
        *(RULES[code].name for code in sorted(RULES)),
    ]
    for one in items:
        assert one.detail == (
            RULES[one.label].name
            if one.label in RULES
            else next(rule.code for rule in RULES.values() if rule.name == one.label)
        )
    (item,) = [one for one in items if one.label == "io-side-effect"]
    whole = await editor.client.completion_item_resolve_async(item)
    assert isinstance(whole.documentation, types.MarkupContent)
    assert whole.documentation.value.startswith("# io-side-effect (NST201)")
    # What the list holds is not offered again, by neither of its names.
    _, items = await offered(editor, uri, behind("# nonstrict: ignore[NST101, |, io-side-effect]"))
    assert not {"NST101", "global-tensor-capture", "NST201", "io-side-effect"} & {one.label for one in items}
    assert len(items) == 2 * (len(RULES) - 2)


@pytest.mark.parametrize(
    "marked",
    [
        BAD.replace("x * SCALE", "x * SCALE[|"),
        BAD.replace("x * SCALE", "x * max(SCALE,|"),
        BAD.replace("x * SCALE", 'x * SCALE, "# nonstrict: ignore[|"'),
        BAD + '"""\n# nonstrict: ignore[|\n"""\n',
        behind("# nonstrict: ignore[NST101]|"),
        behind("# nonstrict: ignore[NST101] [|"),
        behind("# nonstrict: ign|"),
        behind("# nonstrict: inputs(x=[|"),
        behind("# type: ignore[|"),
        behind("# noqa: |"),
        BAD + "|",
    ],
)
async def test_nothing_is_offered_elsewhere(start: Start, tmp_path: Path, marked: str):
    editor = await start(CODE, write(tmp_path / "project", bad=BAD))
    uri = editor.open(tmp_path / "project" / "bad.py")
    _, items = await offered(editor, uri, marked)
    assert items == []


async def test_a_cell_of_a_page(start: Start, tmp_path: Path):
    page = f"# Page\n\n- In a list:\n\n  ```python\n{BAD}```\n".replace("\n", "\n  ").replace("  ```\n", "```\n")
    editor = await start(CODE, write(tmp_path / "project", bad=BAD))
    path = tmp_path / "project" / "page.md"
    path.write_text(page, encoding="utf-8")
    uri = editor.open(path, language="markdown")
    marked = page.replace("return x * SCALE", "return x * SCALE  # nonstrict: ignore[|")
    _, items = await offered(editor, uri, marked)
    assert "NST101" in [one.label for one in items]
    # The same words outside of the code of the page.
    _, items = await offered(editor, uri, page.replace("# Page", "# Page # nonstrict: ignore[|"))
    assert items == []
