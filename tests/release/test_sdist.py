"""The source archive of the tree builds its wheel, and what a broken one lacks is said."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from nonstrict import __version__
from scripts.releasing import sdist
from scripts.releasing.archives import files_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.release.conftest import Release

TOP = f"nonstrict-{__version__}/"


def tarred(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_the_source_archive_of_the_tree(release: Release):
    assert list(sdist.mistakes(release.sdist, release.wheel, __version__)) == []


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("LICENSE", None, "`LICENSE` is missing"),
        ("analysis/nonstrict/truth.py", b"broken = True\n", "another one: `nonstrict/truth.py` is another file"),
        ("analysis/nonstrict/more.py", b"", "another one: `nonstrict/more.py` should not be there"),
        ("pyproject.toml", b"[build-system]\nrequires = [", "it builds no wheel"),
        ("client-vscode/node_modules/it.js", b"", "`nonstrict-0.1.0/client-vscode/node_modules/it.js` has no place"),
        ("tests/.env", b"TOKEN=1", "tests/.env` has no place in it"),
    ],
)
def test_a_broken_source_archive(release: Release, tmp_path: Path, name: str, data: bytes | None, message: str):
    files = {one: kept for one, kept in files_of(release.sdist).items() if one != TOP + name}
    files |= {TOP + name: data} if data is not None else {}
    path = tarred(tmp_path / release.sdist.name, files)
    found = list(sdist.mistakes(path, release.wheel, __version__))
    assert any(message.replace("0.1.0", __version__) in mistake for mistake in found), found


def test_what_is_no_source_archive(release: Release, tmp_path: Path):
    path = tmp_path / release.sdist.name
    path.write_bytes(b"no archive")
    (mistake,) = sdist.mistakes(path, release.wheel, __version__)
    assert "cannot be read" in mistake
    (mistake,) = sdist.mistakes(tarred(path, {"elsewhere/a.py": b""}), release.wheel, __version__)
    assert "does not lie in" in mistake


def test_links_have_no_place_in_it(release: Release, tmp_path: Path):
    path = tmp_path / release.sdist.name
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(f"{TOP}key")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    (mistake,) = sdist.mistakes(path, release.wheel, __version__)
    assert "is not a plain file" in mistake
