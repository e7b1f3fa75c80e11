"""An extension that holds the wheel is fit, and what a broken one lacks is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict import __version__
from scripts.releasing import vsix
from scripts.releasing.archives import files_of
from scripts.releasing.vsix import LIBS
from tests.release.conftest import VSIX_MANIFEST, Release, changed, zipped

if TYPE_CHECKING:
    from pathlib import Path


def found_in(release: Release, tmp_path: Path, files: dict[str, bytes]) -> list[str]:
    path = zipped(tmp_path / release.vsix.name, files)
    return list(vsix.mistakes(path, release.wheel, __version__))


def test_an_extension_that_is_fit(release: Release):
    assert list(vsix.mistakes(release.vsix, release.wheel, __version__)) == []


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("extension/out/extension.js", None, "`extension/out/extension.js` is missing"),
        ("extension/changelog.md", b"\n", "`changelog.md` is missing or empty"),
        ("extension/LICENSE.txt", None, "`license` is missing or empty"),
        ("extension/readme.md", b"![a](pictures/a.png)", "its page shows pictures/a.png"),
        ("extension/readme.md", b"![a](https://a.org/a.svg)", "its page shows https://a.org/a.svg"),
        ("extension/readme.md", b'<img width="3" src="http://a.org/a.png">', "its page shows http://a.org/a.png"),
        ("extension.vsixmanifest", VSIX_MANIFEST.format(version="0.0.1").encode(), "says another version"),
        ("extension.vsixmanifest", b"<PackageManifest/>", "says another version or publisher"),
        ("extension/src/extension.ts", b"", "`extension/src/extension.ts` has no place"),
        ("extension/out/extension.js.map", b"", "`extension/out/extension.js.map` has no place"),
        ("extension/test/it.js", b"", "`extension/test/it.js` has no place"),
        (f"{LIBS}parso/fast.so", b"", "parso/fast.so` has no place"),
        (f"{LIBS}nonstrict/truth.py", b"", "not that of the wheel: `nonstrict/truth.py` is another file"),
        (f"{LIBS}nonstrict_server/main.py", None, "not that of the wheel: `nonstrict_server/main.py` is missing"),
        (f"{LIBS}nonstrict-{__version__}.dist-info/METADATA", None, f"its server is not nonstrict {__version__}"),
        (f"{LIBS}pygls-2.1.1.dist-info/METADATA", None, "its server needs pygls, which is missing"),
        (f"{LIBS}pygls-2.1.1.dist-info/METADATA", b"Name: pygls\nVersion: 1.3\n", "and 1.3 is there"),
    ],
)
def test_a_broken_extension(release: Release, tmp_path: Path, name: str, data: bytes | None, message: str):
    files = files_of(release.vsix)
    files = {**files, name: data} if data is not None else {one: files[one] for one in files if one != name}
    found = found_in(release, tmp_path, files)
    assert any(message in mistake for mistake in found), found


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"version": "0.0.1"}, "package.json says that it is nonstrict 0.0.1"),
        ({"publisher": ""}, "package.json says nothing of `publisher`"),
        ({"repository": None}, "package.json says nothing of `repository`"),
    ],
)
def test_a_broken_manifest(release: Release, tmp_path: Path, entries: dict[str, object], message: str):
    files = changed(files_of(release.vsix), "extension/package.json", **entries)
    assert any(message in mistake for mistake in found_in(release, tmp_path, files))


def test_what_is_no_extension(release: Release, tmp_path: Path):
    path = tmp_path / "it.vsix"
    path.write_bytes(b"")
    (mistake,) = vsix.mistakes(path, release.wheel, __version__)
    assert "cannot be read" in mistake
