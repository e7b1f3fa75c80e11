"""A wheel and a source archive of the tree, and an extension that holds the wheel as the packager would put it in."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from nonstrict import __version__
from scripts.releasing.archives import files_of
from scripts.releasing.vsix import LIBS
from scripts.releasing.wheel import metadata, requirements

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
VSIX_MANIFEST = """\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata><Identity Language="en-US" Id="nonstrict" Version="{version}" Publisher="nonstrict" /></Metadata>
</PackageManifest>
"""


class Release(NamedTuple):
    """What was built."""

    wheel: Path
    sdist: Path
    vsix: Path


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    """An archive of some files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Release(wheel, sdist, zipped(folder / f"nonstrict-{__version__}.vsix", _extension(wheel)))


def _extension(wheel: Path) -> dict[str, bytes]:
    """The files of an extension that holds a wheel and, by name, what that needs."""
    ours = files_of(wheel)
    extension = ROOT / "client-vscode"
    files = {
        "extension.vsixmanifest": VSIX_MANIFEST.format(version=__version__).encode(),
        "[Content_Types].xml": b"<Types/>",
        "extension/package.json": (extension / "package.json").read_bytes(),
        "extension/out/extension.js": b"exports.activate = () => {};\n",
        "extension/bundled/launch.py": (extension / "bundled" / "launch.py").read_bytes(),
        "extension/icon.png": (extension / "icon.png").read_bytes(),
        "extension/readme.md": b"# nonstrict\n\n![findings](https://example.org/findings.png)\n",
        "extension/changelog.md": (extension / "CHANGELOG.md").read_bytes(),
        "extension/LICENSE.txt": (extension / "LICENSE").read_bytes(),
    }
    files |= {LIBS + name: data for name, data in ours.items()}
    for one in requirements(metadata(ours, f"nonstrict-{__version__}.dist-info/")):
        least = next((spec.version for spec in one.specifier if spec.operator == ">="), "1")
        told = f"Metadata-Version: 2.1\nName: {one.name}\nVersion: {least}\n"
        files[f"{LIBS}{one.name}-{least}.dist-info/METADATA"] = told.encode()
    return files


def changed(files: Mapping[str, bytes], name: str, **entries: object) -> dict[str, bytes]:
    """The files with other entries in one that is JSON."""
    return {**files, name: json.dumps({**json.loads(files[name]), **entries}).encode()}
