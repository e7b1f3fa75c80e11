"""What holds for the whole suite: how property tests draw, one warm process, and the score on the corpus at the end."""

from __future__ import annotations

import compileall
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

from tests.warm.process import Warm

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Projects to run the tool on: their tests are theirs.
collect_ignore_glob = ["projects/*/*"]

ROOT = Path(__file__).resolve().parents[1]
#: What the processes that tests start import.
SOURCES = ("analysis", "server")

#: The property under which tests/corpus/test_corpus.py records the rows of its table.
SCORE = "corpus-score"

#: Every run draws the same examples; `make fuzz` draws others.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile(
    "fuzz",
    derandomize=False,  # Hypothesis takes "True" for its default where CI runs
    database=None,
    deadline=None,
    print_blob=False,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
settings.load_profile("repeatable")


def _no_constants_of_modules() -> None:
    """Hypothesis also draws constants of the modules imported so far: those depend on which tests a process ran."""
    known: Any = providers
    if hasattr(known, "_get_local_constants"):
        nothing = known._local_constants
        known._get_local_constants = lambda: nothing


_no_constants_of_modules()


def pytest_configure(config: pytest.Config) -> None:
    """Compile the sources once: where PYTHONDONTWRITEBYTECODE is set, each of many hundred processes would do so."""
    if not hasattr(config, "workerinput"):
        for name in SOURCES:
            compileall.compile_dir(ROOT / name, quiet=1)


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """A process with torch imported, from which programs are forked."""
    pytest.importorskip("torch")
    process = Warm()
    yield process
    process.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports: list[Any] = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    rows = {row[0]: row[1:] for report in reports for name, row in report.user_properties if name == SCORE}
    if not rows:
        return
    terminalreporter.section("corpus: recall and precision")
    terminalreporter.write_line(f"{'rule':8}{'expected':>9}{'found':>7}{'spurious':>10}{'recall':>8}{'precision':>11}")
    totals = [sum(row[index] for row in rows.values()) for index in range(3)]
    for code, (expected, found, spurious) in [*sorted(rows.items()), ("all", totals)]:
        recall = found / expected if expected else 1.0
        precision = found / (found + spurious) if found + spurious else 1.0
        terminalreporter.write_line(f"{code:8}{expected:9}{found:7}{spurious:10}{recall:8.3f}{precision:11.3f}")
