"""The programs that are written again: cases of the suites, examples of the rules, the labelled corpus."""

from __future__ import annotations

import functools
import itertools
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.suites.cases import Case, cases

if TYPE_CHECKING:
    from collections.abc import Callable

_TESTS = Path(__file__).parent.parent
_CORPUS = _TESTS / "corpus" / "cases"
_CHUNK = 40


def _page(path: Path) -> Callable[[], list[Case]]:
    return lambda: cases(path.read_text(encoding="utf-8"))


@functools.cache
def _corpus() -> list[Case]:
    """The corpus, expecting what is reported of each program; tests/corpus holds that against the labels."""
    arguments = ["check", "--output-format", "json", "--no-cache", "--isolated", str(_CORPUS)]
    run = subprocess.run([sys.executable, "-m", "nonstrict", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for finding in json.loads(run.stdout):
        row = finding["location"]["row"]
        found[Path(finding["filename"]).name][row].append(f"# {finding['severity']}: [{finding['code']}]")
    programs: list[Case] = []
    for path in sorted(_CORPUS.glob("*.py")):
        lines = path.read_text(encoding="utf-8").split("\n")
        labelled = [" ".join([line, *found[path.name][row]]) for row, line in enumerate(lines, 1)]
        programs.append(Case(path.stem, 1, {"main.py": "\n".join(labelled)}))
    return programs


def _corpus_chunk(start: int) -> Callable[[], list[Case]]:
    return lambda: _corpus()[start : start + _CHUNK]


GROUPS: dict[str, Callable[[], list[Case]]] = {
    **{path.stem: _page(path) for path in sorted((_TESTS / "suites").glob("*.md"))},
    **{
        f"corpus-{number}": _corpus_chunk(start)
        for number, start in zip(itertools.count(1), range(0, len(list(_CORPUS.glob("*.py"))), _CHUNK), strict=False)
    },
}
