"""Every case of the suites and of the corpus, written in other ways: the same findings at the same statements.

What changes neither what a program computes nor what torch makes of it changes no finding: names, comments, order,
files, and the way in which objects are made. A difference is a defect of the analysis, or it stands in `MEANT` with the
reason why it is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.metamorphic.sources import GROUPS
from tests.metamorphic.ways import ALIKE, MEANT, WAYS, rewritten
from tests.suites.cases import problems

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("group", GROUPS)
def test_variant(way: str, group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    for index, case in enumerate(GROUPS[group]()):
        variant = rewritten(way, case)
        if variant is None or (way, group, case.title) in MEANT:
            continue
        project = tmp_path / str(index)
        project.mkdir()
        monkeypatch.chdir(project)
        differences = problems(variant, project, alike=ALIKE.get(way, {}))
        if differences:
            told.append("\n    ".join([f"{case.title} (line {case.line})", *differences]))
    assert not told, "\n".join(told)


@pytest.mark.parametrize("way", WAYS)
def test_way_applies(way: str) -> None:
    applied = [case for group in GROUPS.values() for case in group() if rewritten(way, case) is not None]
    assert len(applied) >= 20


def test_exceptions_name_cases() -> None:
    for way, group, title in MEANT:
        assert way in WAYS
        assert title in {case.title for case in GROUPS[group]()}
