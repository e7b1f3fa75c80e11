"""What is checked and edited: copies, so that caches and edits are theirs alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from bench import report
from bench.peers import tools
from bench.peers.dense import dense_file, middle

TORCH, DENSE, SMALL = "torch", "dense project", "small dense project"
SPARSE_FILE, DENSE_SHORT, DENSE_LONG = "sparse file", "dense file of 500 lines", "dense file of 3000 lines"
CORPORA = (TORCH, DENSE, SMALL)
FILES = (SPARSE_FILE, DENSE_SHORT, DENSE_LONG)
#: A part of torch with few functions that matter to nonstrict: its folder, and the file that is edited.
_SPARSE = ("optim", "lr_scheduler.py")
_SOURCES = {".py", ".pyi"}
#: Which slow tools are measured where nothing else is asked for: a run is to take minutes.
_SLOW = {DENSE: (tools.BASEDPYRIGHT,), SMALL: tools.SLOW}


class Corpus(NamedTuple):
    """A folder that is a project of its own."""

    folder: Path
    style: tools.Format
    #: The tools among those that take minutes for a large corpus that are measured on it.
    slow: tuple[str, ...]


class Edited(NamedTuple):
    """A file that is edited, the folder that is opened, and the function in which one types."""

    file: Path
    root: Path
    function: str | None


def _ignored(folder: str, names: list[str]) -> set[str]:
    """What is not copied: all but sources, of an installed package most of its bytes."""
    root = Path(folder)
    return {name for name in names if not (root / name).is_dir() and Path(name).suffix not in _SOURCES}


def copied(package: Path, folder: Path) -> Path:
    """A project with the sources of a package, which an installed one is not: tools leave site-packages out."""
    shutil.copytree(package, folder / package.name, ignore=_ignored)
    return folder


def command_corpora(
    folder: Path, synthetic: dict[str, int], packages: dict[str, Path], *, slow: bool
) -> dict[str, Corpus]:
    """The corpora of the commands: copies of packages, and synthetic projects of so many modules."""
    found: dict[str, Corpus] = {}
    for name, root in packages.items():
        found[name] = Corpus(copied(root, folder / "package" / name), tools.CONCISE, tools.SLOW if slow else ())
    for name, count in synthetic.items():
        project = report.generate(folder / name.replace(" ", "-"), count)
        found[name] = Corpus(project, tools.JSON, tools.SLOW if slow else _SLOW[name])
    return found


def edited_files(folder: Path) -> dict[str, Edited]:
    """The files of the servers, each in a folder that is a project of all tools."""
    found: dict[str, Edited] = {}
    torch = report.torch_package()
    if torch:
        package, name = _SPARSE
        root = copied(torch / package, folder / "sparse")
        found[SPARSE_FILE] = Edited(root / package / name, root, None)
    for name, lines in {DENSE_SHORT: 500, DENSE_LONG: 3000}.items():
        root = folder / f"dense{lines}"
        root.mkdir(parents=True)
        text = dense_file(lines)
        (root / "dense.py").write_text(text, encoding="utf-8")
        found[name] = Edited(root / "dense.py", root, middle(text))
    for edited in found.values():
        # Without a configuration pyrefly's server shows no errors of types.
        (edited.root / "pyrefly.toml").touch()
    return found
