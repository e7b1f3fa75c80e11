"""The wheel of the tree is fit, and what a broken one lacks is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict import __version__
from scripts.releasing import wheel
from scripts.releasing.archives import files_of
from tests.release.conftest import ROOT, Release, zipped

if TYPE_CHECKING:
    from pathlib import Path

INFO = f"nonstrict-{__version__}.dist-info/"


def test_the_wheel_of_the_tree(release: Release):
    assert list(wheel.mistakes(release.wheel, ROOT, __version__)) == []


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("nonstrict/py.typed", None, "`nonstrict/py.typed` is missing"),
        ("nonstrict/knowledge/data/guards.json", b"{}", "`nonstrict/knowledge/data/guards.json` is another file"),
        ("nonstrict_server/main.py", None, "`nonstrict_server/main.py` is missing"),
        ("tests/test_it.py", b"", "`tests/test_it.py` should not be there"),
        ("nonstrict/fast.so", b"", "`nonstrict/fast.so` is for some machines only"),
        (f"{INFO}licenses/LICENSE", None, "licenses/LICENSE` is missing"),
        (f"{INFO}entry_points.txt", b"", "it has no command `nonstrict`"),
        (f"{INFO}WHEEL", b"Root-Is-Purelib: false\n", "it is not pure Python"),
        (f"{INFO}METADATA", b"Name: nonstrict\nVersion: 0\n", "it says that it is nonstrict 0"),
        (f"{INFO}METADATA", b"Name: nonstrict\nVersion: 0\n", "it does not say which Python it needs"),
        (f"{INFO}METADATA", b"Name: nonstrict\nRequires-Dist: torch>=2\n", "it needs torch, which is the user's"),
    ],
)
def test_a_broken_wheel(release: Release, tmp_path: Path, name: str, data: bytes | None, message: str):
    files = files_of(release.wheel)
    files = {**files, name: data} if data is not None else {one: files[one] for one in files if one != name}
    found = list(wheel.mistakes(zipped(tmp_path / release.wheel.name, files), ROOT, __version__))
    assert any(message in mistake for mistake in found), found


def test_what_is_no_wheel(release: Release, tmp_path: Path):
    path = tmp_path / release.wheel.name
    path.write_bytes(release.wheel.read_bytes()[:5000])
    (mistake,) = wheel.mistakes(path, ROOT, __version__)
    assert "cannot be read" in mistake
    (mistake,) = wheel.mistakes(zipped(path, {"../outside.py": b""}), ROOT, __version__)
    assert "leads out of the archive" in mistake


def test_the_name_of_a_wheel(release: Release, tmp_path: Path):
    path = tmp_path / "nonstrict-0-cp311-cp311-linux_x86_64.whl"
    path.write_bytes(release.wheel.read_bytes())
    (mistake,) = wheel.mistakes(path, ROOT, __version__)
    assert "is not a name of a wheel" in mistake


def test_extras_may_need_torch(release: Release):
    told = wheel.metadata(files_of(release.wheel), INFO)
    assert any(text.startswith("torch") for text in told.get_all("Requires-Dist", []))
    assert not any(one.name == "torch" for one in wheel.requirements(told))
