"""What a release does where it is installed: in an environment with nothing else, on a machine without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CHECK = ("check", "--isolated", "--no-cache", "--torch-version", "2.13", "--output-format", "json", "examples")
#: What a process needs of the surroundings, beside where pip finds packages.
_KEPT = frozenset({"HOME", "LANG", "TMPDIR", "SYSTEMROOT", "SSL_CERT_FILE"})


class _Ran(NamedTuple):
    """How a process ended, and what it said."""

    status: int
    out: str
    err: str


def mistakes(wheel: Path, vsix: Path, root: Path, version: str, folder: Path) -> Iterator[str]:
    """What goes wrong when a wheel is installed and run, and the server of an extension; all in an empty `folder`."""
    shutil.copytree(root / "examples", folder / "examples")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    command = environment / ("Scripts" if os.name == "nt" else "bin") / "nonstrict"
    # Whatever has to be compiled is refused, and could not be.
    options = ("--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:")
    python = str(command.with_name("python"))
    done = _run([python, "-m", "pip", "install", *options, str(wheel)], folder, command.parent)
    if done.status:
        yield f"{wheel.name} cannot be installed: {done.err[-300:]}"
        return
    yield from _of_command([str(command)], wheel.name, root, version, folder)
    with zipfile.ZipFile(vsix) as archive:
        archive.extractall(folder / "vsix")
    # Whatever the extension does not bring along is not there.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "bare")], check=True)
    bare = folder / "bare" / command.parent.name / "python"
    launch = folder / "vsix" / "extension" / "bundled" / "launch.py"
    yield from _of_command([str(bare), "-I", str(launch), "bundled"], vsix.name, root, version, folder)


def _of_command(command: Sequence[str], name: str, root: Path, version: str, folder: Path) -> Iterator[str]:
    """What is wrong with a command, beside what the tree says of its examples."""
    path = Path(command[0]).parent
    told = _run([*command, "version"], folder, path)
    if told.status or version not in told.out:
        yield f"{name}: `version` says {told.out or told.err!r}"
    for arguments in (["rule", "NST101"], ["server", "--help"], ["completion", "bash"], ["config"]):
        ran = _run([*command, *arguments], folder, path)
        if ran.status or not ran.out or "Traceback" in ran.err:
            yield f"{name}: `nonstrict {' '.join(arguments)}` ends with {ran.status}: {ran.err[-300:]}"
    ours = _run([sys.executable, "-m", "nonstrict", *_CHECK], folder, path, root)
    found = _run([*command, *_CHECK], folder, path)
    if (found.status, found.out) != (ours.status, ours.out) or found.status != 1:
        yield f"{name}: it finds in the examples what the tree does not: {found.err[-300:] or found.out[:300]}"


def _run(command: Sequence[str], folder: Path, path: Path, tree: Path | None = None) -> _Ran:
    """Run a command with nothing on the `PATH` but one folder; with a `tree`, the packages in that come first."""
    environment = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("PIP_")}
    environment["PATH"] = str(path)
    if tree is not None:
        environment["PYTHONPATH"] = os.pathsep.join((str(tree / "analysis"), str(tree / "server")))
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return _Ran(done.returncode, done.stdout, done.stderr)
