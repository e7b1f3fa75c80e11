"""The settings that docs/other-editors.md shows, by the heading that they stand under."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_PAGE = ROOT / "docs" / "other-editors.md"
_BLOCK = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def settings_for(editor: str) -> Any:
    """The one block of JSON in the section of an editor."""
    (section,) = (
        part
        for part in re.split(r"^## ", _PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if part.startswith(editor)
    )
    (block,) = _BLOCK.findall(section)
    return json.loads(block)


def replaced(value: Any, command: list[str]) -> Any:
    """Settings with another command than `nonstrict server`."""
    if value == ["nonstrict", "server"]:
        return command
    if isinstance(value, dict):
        return {key: replaced(inner, command) for key, inner in value.items()}
    return value
