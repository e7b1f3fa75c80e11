"""One version, stated in several places, each with an entry in the changelog that says something."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Where the version of Python's package stands.
SOURCE = "analysis/nonstrict/__init__.py"
#: What else states it.
MANIFESTS = ("package.json", "client-vscode/package.json")
CHANGELOGS = ("CHANGELOG.md", "client-vscode/CHANGELOG.md")
UNRELEASED = "Unreleased"
_STATED = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
#: The marketplaces take three numbers and nothing behind them.
_VERSION = re.compile(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}")
_ENTRY = re.compile(r"^## +(?:\[)?(?P<version>[^\s\]]+)(?:\])?(?: +[-\u2013] +\d{4}-\d\d-\d\d)? *$")


def version_of(root: Path) -> str:
    """The version that the source states; "" if it states none."""
    found = _STATED.search((root / SOURCE).read_text(encoding="utf-8"))
    return found[1] if found is not None else ""


def mistakes(root: Path, *, rehearsal: bool = False, tag: str = "") -> Iterator[str]:
    """What is wrong with the versions of a tree.

    In a rehearsal the changes of what was not released yet count for the version. `tag` is the one that is released.
    """
    version = version_of(root)
    if not _VERSION.fullmatch(version):
        yield f"{SOURCE} states the version `{version}`: three numbers are wanted"
    if tag and tag != f"v{version}":
        yield f"the tag is {tag}, and {SOURCE} states {version}"
    for name in MANIFESTS:
        stated = json.loads((root / name).read_text(encoding="utf-8")).get("version")
        if stated != version:
            yield f"{name} states the version {stated}, and {SOURCE} states {version}"
    for name in CHANGELOGS:
        yield from _of_changelog(name, (root / name).read_text(encoding="utf-8"), version, rehearsal=rehearsal)


def _of_changelog(name: str, text: str, version: str, *, rehearsal: bool) -> Iterator[str]:
    """What is wrong with the entry that stands first in a changelog."""
    lines = text.splitlines()
    at = next((number for number, line in enumerate(lines) if line.startswith("## ")), None)
    if at is None:
        yield f"{name} has no entry"
        return
    found = _ENTRY.match(lines[at])
    stated = found["version"] if found is not None else lines[at].removeprefix("## ")
    if stated != version and not (rehearsal and stated == UNRELEASED):
        yield f"{name}:{at + 1}: the entry that stands first is `{stated}`, and the version is {version}"
    end = next((number for number in range(at + 1, len(lines)) if lines[number].startswith("## ")), len(lines))
    if not any(line.strip() for line in lines[at + 1 : end]):
        yield f"{name}:{at + 1}: the entry of {stated} is empty"
