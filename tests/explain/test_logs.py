"""What real runs of a project printed, as terminals, pytest, CI services and mails show it: pages, places, findings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from nonstrict.explain.answering import explained
from nonstrict.explain.cleaning import decoded
from nonstrict.explain.places import Place
from nonstrict.settings.model import default_settings

LOGS = Path(__file__).parent / "logs"
PRINTED, TIMED, SHIFTED = (
    "GB0059 models/encoder.py:23 NST701",
    "GB0007 models/encoder.py:28 NST701",
    "NST101 models/encoder.py:32 NST101",
)
COUNTED = "guard-value models/encoder.py:21 NST803"
EXPECTED = {
    "train.log": [
        PRINTED, COUNTED, "guard-value models/encoder.py:24 NST803", "NST803 guard-value models/encoder.py:21 NST803",
    ],
    "ranks.log": [PRINTED, COUNTED],
    "moved.log": [SHIFTED],
    "mail.log": [SHIFTED],
    "pytest.log": [SHIFTED],
    **{name: [TIMED] for name in ("strict.log", "ci.log", "colored.log", "wrapped.log")},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.name for path in LOGS.glob("*.log")))
def test_a_log_is_explained(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    project = tmp_path / "project"
    shutil.copytree(LOGS / "project", project)
    monkeypatch.chdir(project)
    told = explained(decoded((LOGS / name).read_bytes()), ".", default_settings(str(project)))
    assert [
        " ".join(
            [
                *(page.id for page in one.pages),
                f"{os.path.relpath(one.place.path)}:{one.place.line}" if isinstance(one.place, Place) else "nowhere",
                *(finding.code for finding in one.found.findings),
            ]
        )
        for one in told.answers
    ] == EXPECTED[name]
