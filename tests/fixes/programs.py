"""Programs of one file that one rule has a finding in: as its fixes leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability
from tests.fixes.projects import mended

if TYPE_CHECKING:
    from pathlib import Path


def check(folder: Path, code: str, before: str, after: str, least: Applicability = Applicability.UNSAFE) -> list[str]:
    """Mend one program; the finding is gone, nothing new is found."""
    result = mended(folder, {"model.py": before}, {code}, least)
    assert result.files["model.py"] == after, result.files["model.py"]
    assert code in result.before, result.before
    assert not set(result.after) - set(result.before), result.after
    assert code not in result.after, result.titles
    return result.titles


def unmended(folder: Path, code: str, text: str, least: Applicability = Applicability.DISPLAY) -> None:
    """A program that there is no fix for."""
    result = mended(folder, {"model.py": text}, {code}, least)
    assert code in result.before, result.before
    assert result.titles == []
    assert result.files["model.py"] == text
