"""The engine does what nobody asked for yet, whatever becomes of single files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from nonstrict.check.live.folder import Folder
from nonstrict_server.engine import Engine, Heard
from nonstrict_server.roots import Roots

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from nonstrict_server.reports import Reports

MARKED = """\
import torch

W = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scale(x):
    return x * W
"""


def test_a_file_that_cannot_be_examined_keeps_no_other_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.py").write_text(MARKED, encoding="utf-8")
    broken = str(tmp_path / "first.py")
    examine = Folder.examine

    def failing(self: Folder, path: str) -> frozenset[str]:
        if path == broken:
            raise ValueError(path)
        return examine(self, path)

    monkeypatch.setattr(Folder, "examine", failing)
    ends: list[None] = []
    heard = Heard(lambda _: None, lambda _: None, lambda _, __: None, lambda: ends.append(None))
    roots = Roots(trusted=True, complain=lambda _: None)
    engine = Engine(roots, cast("Reports", None), lambda _: (), heard, lambda: False)
    engine.set_roots([str(tmp_path)])
    with caplog.at_level(logging.ERROR):
        for _ in range(20):
            if not engine.step():
                break
    assert ends == [None]
    found = {path for folder in roots.folders() for path in folder.files_with_findings()}
    assert found == {str(tmp_path / "second.py"), str(tmp_path / "third.py")}
    assert broken in caplog.text
