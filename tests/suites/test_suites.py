"""Every case of the Markdown suites: what its comments expect is reported, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.cases import Case, cases, problems

_PAGES = sorted(Path(__file__).parent.glob("*.md"))
_CASES = [
    pytest.param(case, id=f"{page.stem}: {case.title}")
    for page in _PAGES
    for case in cases(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", _CASES)
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    told = problems(case, project)
    assert not told, "\n".join([f"line {case.line}: {case.title}", *told])


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_titles_of_a_page_are_unique(page: Path) -> None:
    titles = [line for line in page.read_text(encoding="utf-8").split("\n") if line.startswith("## ")]
    assert len(titles) == len(set(titles))


def test_there_are_pages() -> None:
    assert _PAGES
