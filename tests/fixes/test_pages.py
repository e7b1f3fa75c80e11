"""The cases of the Markdown pages in `pages`: a program, the title of a fix, the program afterwards.

The fix must make the findings of its rule fewer and give no new ones, and must not be offered again for them.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nonstrict.check.run import RunOptions, check
from nonstrict.findings import Severity
from nonstrict.fixes.applying import with_edits
from nonstrict.settings.model import Settings

if TYPE_CHECKING:
    from nonstrict.check.diagnostics import Diagnostic

_PAGES = Path(__file__).parent / "pages"
_CASE = re.compile(
    r"^## (?P<title>[^\n]+)\n\n```python\n(?P<before>.*?)^```\n\n"
    r"(?P<code>NST\d{3}): (?:no fix(?: `(?P<unwanted>[^`\n]+)`)?|"
    r"(?P<fix>[^\n]+) \((?P<sure>\w+)\)\n\n```python\n(?P<after>.*?)^```)$",
    re.MULTILINE | re.DOTALL,
)


class Case(NamedTuple):
    """One case; `after` is None where no fix, or none whose title begins with `fix`, is to be offered."""

    before: str
    code: str
    fix: str
    sure: str
    after: str | None


def cases() -> list[Any]:
    found: list[Any] = []
    for page in sorted(_PAGES.glob("*.md")):
        text = page.read_text()
        parts = list(_CASE.finditer(text))
        assert len(parts) == text.count("\n## "), f"a case of {page.name} cannot be read"
        for part in parts:
            title = part["fix"] or part["unwanted"] or ""
            case = Case(part["before"], part["code"], title, part["sure"] or "", part["after"])
            found.append(pytest.param(case, id=f"{page.stem}: {part['title']}"))
    return found


def findings(folder: Path, text: str) -> list[Diagnostic]:
    path = folder / "main.py"
    path.write_text(text)
    return list(check([str(path)], Settings(str(folder)), RunOptions(jobs=1)).diagnostics)


@pytest.mark.parametrize("case", cases())
def test_page(case: Case, tmp_path: Path):
    found = findings(tmp_path, case.before)
    mine = [diagnostic for diagnostic in found if diagnostic.code == case.code]
    assert mine, "the hazard is found"
    fixes = [fix for diagnostic in mine for fix in diagnostic.fixes]
    if case.after is None:
        assert not [fix.title for fix in fixes if fix.title.startswith(case.fix)]
        return
    fix = next((fix for fix in fixes if fix.title == case.fix), None)
    assert fix is not None, [fix.title for fix in fixes]
    assert fix.applicability.label == case.sure
    text = with_edits("main.py", case.before, list(fix.edits))
    ast.parse(text)
    assert text == case.after
    before = Counter(diagnostic.code for diagnostic in found)
    left = findings(tmp_path, text)
    after = Counter(diagnostic.code for diagnostic in left)
    assert after[case.code] < before[case.code]
    worse = Counter(diagnostic.code for diagnostic in left if diagnostic.severity > Severity.NOTE)
    assert not worse - before, "no new finding above a note"
