"""The source archive: all that is needed to build the same wheel and to run the tests of Python."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.releasing.archives import LEFT_OVER, NATIVE, differences, files_of, unwanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Files at the top that have to be there, and folders.
_FILES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "PKG-INFO")
_FOLDERS = ("analysis", "server", "docs", "examples", "tests")


def mistakes(path: Path, wheel: Path, version: str) -> Iterator[str]:
    """What is wrong with a source archive, beside the wheel that was built of the tree."""
    try:
        files = files_of(path)
        wanted = files_of(wheel)
    except ValueError as error:
        yield str(error)
        return
    top = f"nonstrict-{version}/"
    if path.name != f"nonstrict-{version}.tar.gz":
        yield f"{path.name} is not a name of a source archive of {version}"
    for name in files:
        if not name.startswith(top):
            yield f"{path.name}: `{name}` does not lie in {top}"
            return
    for name in _FILES:
        if top + name not in files:
            yield f"{path.name}: `{name}` is missing"
    for folder in _FOLDERS:
        if not any(name.startswith(f"{top}{folder}/") for name in files):
            yield f"{path.name}: `{folder}/` is missing"
    for name in unwanted(files, (*NATIVE, *LEFT_OVER)):
        yield f"{path.name}: `{name}` has no place in it"
    yield from (f"{path.name}: {mistake}" for mistake in _of_wheel(files, top, wanted))


def _of_wheel(files: Mapping[str, bytes], top: str, wanted: Mapping[str, bytes]) -> Iterator[str]:
    """How the wheel that the archive builds differs from the one of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(Path(folder, "built"))]
        done = subprocess.run(command, cwd=Path(folder, top), capture_output=True, text=True, check=False)
        built = list(Path(folder, "built").glob("*.whl"))
        if done.returncode or len(built) != 1:
            yield f"it builds no wheel: {(done.stderr or done.stdout).strip()[-300:]}"
            return
        for difference in differences(wanted, files_of(built[0])):
            yield f"the wheel that it builds is another one: {difference}"
