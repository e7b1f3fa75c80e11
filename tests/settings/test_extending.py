from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.settings.extending import configuration_files

if TYPE_CHECKING:
    from pathlib import Path


def test_files_that_are_extended_are_told_up_to_one_that_cannot_be_read(tmp_path: Path):
    texts = {
        "project/pyproject.toml": '[tool.nonstrict]\nextend = "../shared/base.toml"\n',
        "shared/base.toml": 'extend = "more.toml"\n',
        "shared/more.toml": 'extend = "\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    first, *others = (str(tmp_path / name) for name in texts)
    assert configuration_files(first) == (first, *others)
    (tmp_path / "shared" / "more.toml").write_text('extend = "missing.toml"\n')
    assert configuration_files(first) == (first, *others, str(tmp_path / "shared" / "missing.toml"))


def test_a_circle_ends(tmp_path: Path):
    (tmp_path / "a.toml").write_text('extend = "b.toml"\n')
    (tmp_path / "b.toml").write_text('extend = "a.toml"\n')
    assert configuration_files(str(tmp_path / "a.toml")) == (str(tmp_path / "a.toml"), str(tmp_path / "b.toml"))
