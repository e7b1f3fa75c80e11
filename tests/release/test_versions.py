"""The versions that a tree states, and its changelogs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from scripts.releasing import versions
from tests.release.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CHANGES = "# Changelog\n\nAll of them.\n\n## {version}\n\n- Something.\n\n## 0.0.1\n\n- Less.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (versions.SOURCE, *versions.MANIFESTS, *versions.CHANGELOGS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / versions.SOURCE).write_text('"""It."""\n\n__version__ = "1.2.0"\n', encoding="utf-8")
    for name in versions.MANIFESTS:
        (tmp_path / name).write_text(json.dumps({"name": "it", "version": "1.2.0"}), encoding="utf-8")
    for name in versions.CHANGELOGS:
        (tmp_path / name).write_text(CHANGES.format(version="1.2.0"), encoding="utf-8")
    return tmp_path


def test_this_tree_could_be_released():
    assert list(versions.mistakes(ROOT, rehearsal=True)) == []


def test_a_tree_that_is_fit(tree: Path):
    assert list(versions.mistakes(tree, tag="v1.2.0")) == []


@pytest.mark.parametrize("heading", ["1.2.0 - 2026-12-01", "[1.2.0]", "[1.2.0] \N{EN DASH} 2026-12-01"])
def test_headings_of_entries(tree: Path, heading: str):
    (tree / "CHANGELOG.md").write_text(CHANGES.format(version=heading), encoding="utf-8")
    assert list(versions.mistakes(tree)) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("package.json", '{"version": "1.1.0"}', "package.json states the version 1.1.0"),
        ("package.json", "{}", "package.json states the version None"),
        ("client-vscode/package.json", '{"version": "1.2"}', "states the version 1.2, and"),
        ("CHANGELOG.md", "# Changelog\n", "CHANGELOG.md has no entry"),
        ("CHANGELOG.md", CHANGES.format(version="Unreleased"), "CHANGELOG.md:5: the entry that stands first is `Unrel"),
        ("CHANGELOG.md", CHANGES.format(version="1.1.0"), "the entry that stands first is `1.1.0`"),
        ("CHANGELOG.md", CHANGES.format(version="1.2.0 soon"), "the entry that stands first is `1.2.0 soon`"),
        ("CHANGELOG.md", "## 1.2.0\n\n\n## 1.1.0\n\n- A.\n", "CHANGELOG.md:1: the entry of 1.2.0 is empty"),
        ("client-vscode/CHANGELOG.md", "## 1.2.0\n \n", "client-vscode/CHANGELOG.md:1: the entry of 1.2.0 is empty"),
    ],
)
def test_what_does_not_fit(tree: Path, name: str, text: str, message: str):
    (tree / name).write_text(text, encoding="utf-8")
    (mistake,) = versions.mistakes(tree)
    assert message in mistake


@pytest.mark.parametrize("version", ["1.2", "1.2.0rc1", "01.2.0", "1.2.0.dev3", "1.2.0+local"])
def test_a_version_that_no_marketplace_takes(tree: Path, version: str):
    (tree / versions.SOURCE).write_text(f'__version__ = "{version}"\n', encoding="utf-8")
    assert any("three numbers are wanted" in mistake for mistake in versions.mistakes(tree))


def test_another_tag(tree: Path):
    (mistake,) = versions.mistakes(tree, tag="v1.2.1")
    assert "the tag is v1.2.1" in mistake


def test_in_a_rehearsal_an_unreleased_entry_must_say_something(tree: Path):
    (tree / "CHANGELOG.md").write_text(CHANGES.format(version="Unreleased"), encoding="utf-8")
    assert list(versions.mistakes(tree, rehearsal=True)) == []
    (tree / "CHANGELOG.md").write_text("## Unreleased\n\n## 1.1.0\n\n- A.\n", encoding="utf-8")
    (mistake,) = versions.mistakes(tree, rehearsal=True)
    assert "the entry of Unreleased is empty" in mistake
