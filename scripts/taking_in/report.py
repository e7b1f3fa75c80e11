"""The report on a release of torch: what differs from the nearest one, and which findings are others for it."""

from __future__ import annotations

import difflib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_breaks import writing as breaks

from nonstrict.knowledge import store
from nonstrict.knowledge.releases import TABLES, file_name, release_of, shown
from taking_in.parts import OPERATORS, SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.knowledge.releases import Release

#: Whose findings are compared: the groups of `scripts/golden.py`.
GROUPS = ("examples", "corpus", "suites")
#: Parts of the table of operators that have an entry for each.
_OPERATORS = ("functions", "methods", "attributes", "floats")


def report(version: str, folder: Path, groups: Iterable[str]) -> str:
    """The report as Markdown, by the tables that there are, and by what was measured of operators in `folder`."""
    data = Path(store.DATA)
    release = release_of(version)
    measured = folder / OPERATORS
    lines = [f"# torch {version}", "", "## What differs", "", *_tables(release, data)]
    if measured.exists():
        lines += _operators(_read(data / OPERATORS), _read(measured))
    lines += ["", f"## Findings for torch {shown(release)} that are others than without these tables", ""]
    with tempfile.TemporaryDirectory() as place:
        before = _without(data, release, Path(place, "before"))
        after = Path(shutil.copytree(data, Path(place, "after")))
        if measured.exists():
            shutil.copyfile(measured, after / OPERATORS)
        for group in groups:
            changed = differences(answers(before, group, release), answers(after, group, release))
            lines += [f"### {group}", "", *(changed or ["None."]), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _without(data: Path, release: Release, target: Path) -> Path:
    """A copy of the data without the tables of a release: another one's answer for it."""
    shutil.copytree(data, target)
    for name in TABLES:
        (target / file_name(name, release)).unlink(missing_ok=True)
    return target


def answers(data: Path, group: str, release: Release) -> list[str]:
    """The findings in a group of files for a release, by the tables in a folder; in a process of its own."""
    command = [sys.executable, str(SCRIPTS / "taking_in" / "answering.py"), str(data), group, shown(release)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def differences(before: list[str], after: list[str]) -> list[str]:
    """The findings that are gone (`-`) and new (`+`), as items of a list."""
    compared = [*difflib.unified_diff(before, after, lineterm="", n=0)][2:]
    return [f"- `{line}`" for line in compared if not line.startswith("@@ ")]


def _tables(release: Release, data: Path) -> Iterator[str]:
    """A line for each table that there is of the release."""
    for name in TABLES:
        path = data / file_name(name, release)
        if path.exists():
            table = _read(path)
            told = _of_guards(table) if "rows" in table else _of_breaks(table)
            yield f"- {name}, beside torch {table['base']}: {told}"


def _of_breaks(table: dict[str, Any]) -> str:
    base = breaks.whole(release_of(table["base"]))
    traced = [key for key, entry in table["entries"].items() if not entry]
    broken = [key for key, entry in table["entries"].items() if entry and not base["entries"].get(key)]
    others = len(table["entries"]) - len(traced) - len(broken)
    told = f"{len(traced)} traced, {len(broken)} break, {others} break under another id"
    return told + _named("traced", traced) + _named("break", broken)


def _of_guards(table: dict[str, Any]) -> str:
    return f"{len(table['rows'])} programs are compiled another number of times" + "".join(
        f"\n  - `{key}`: {', '.join(map(str, row[1:]))}" for key, row in table["rows"].items()
    )


def _operators(base: dict[str, Any], table: dict[str, Any]) -> Iterator[str]:
    for part in _OPERATORS:
        old, new = base[part], table[part]
        gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
        other = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
        told = {"gone": gone, "new": come, "others": other}
        counts = ", ".join(f"{len(names)} {word}" for word, names in told.items())
        yield f"- operators, {part}, beside torch {base['torch']}: {counts}{''.join(map(_named, told, told.values()))}"


def _named(word: str, names: Iterable[str]) -> str:
    """What they are, as a line below one that counts them; nothing where there are none."""
    told = ", ".join(f"`{name}`" for name in names)
    return f"\n  - {word}: {told}" if told else ""


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))
