"""Programs in a text, rehearsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.linking.project import Project
from nonstrict.program.rehearsal.rehearsing import MOST, rehearse
from nonstrict.text.source import Source, SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.program.rehearsal.things import Thing

_PATH = "/project/main.py"


def played(
    code: str, most: int = MOST, others: Mapping[str, str] | None = None
) -> tuple[list[Mapping[str, Thing]], bool]:
    """What the calls of compiled functions hold, in order, and whether the program came to its end.

    `others` are further files of the project, by their names.
    """
    texts = {_PATH: code, **{f"/project/{name}.py": text for name, text in (others or {}).items()}}
    overlays = {path: Source(path, SourceKind.PYTHON, text, text) for path, text in texts.items()}
    project = Project((), overlays)
    module = project.module(_PATH)
    assert module is not None
    found = rehearse(project, module, most)
    return [one.held for one in found.given], found.complete
