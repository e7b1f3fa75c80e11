"""Settings, workflows, data and programs in README.md and docs are valid; links lead to headings that exist."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import tomli
from ruamel.yaml import YAML

from nonstrict.check.selection import Selection
from nonstrict.rules.registry import RULES
from nonstrict.settings.load import settings_from_file
from tests.documentation.commands import ROOT, blocks, texts

if TYPE_CHECKING:
    from pathlib import Path

_LINK = re.compile(r"(?<!!)\]\((?!https?:|mailto:)([^)\s#]*)#([^)\s]+)\)")


def snippets(*languages: str) -> list[Any]:
    """The blocks in a language, each named after its place."""
    return [
        pytest.param(block.text, id=f"{name}:{block.line}")
        for name, text in texts().items()
        for block in blocks(text)
        if block.language in languages
    ]


@pytest.mark.parametrize("text", snippets("toml"))
def test_settings_are_taken(text: str, tmp_path: Path):
    document = tomli.loads(text)
    if "language-server" in document:  # of Helix
        return
    path = tmp_path / ("pyproject.toml" if "tool" in document else "nonstrict.toml")
    path.write_text(text, encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "acme.pyi").touch()
    settings = settings_from_file(str(path))
    assert settings is not None
    Selection(settings, RULES)


@pytest.mark.parametrize("text", snippets("yaml", "json"))
def test_data_can_be_read(text: str):
    if not text.startswith('"'):  # lines of an object
        YAML(typ="safe").load(text)
    else:
        json.loads(f"{{{text}}}")


@pytest.mark.parametrize("text", snippets("python"))
def test_programs_can_be_read(text: str):
    ast.parse(text)


def anchors(text: str) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", plain, re.MULTILINE)
    words = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in words}


def linking() -> list[Path]:
    found = [ROOT / name for name in texts()]
    return [*found, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs" / "rules").glob("*.md"))]


@pytest.mark.parametrize("page", linking(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_headings(page: Path):
    broken: list[str] = []
    for path, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        if target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            broken.append(f"{path}#{anchor}")
    assert not broken
