"""What the whole suite tells at its end: the score on the labelled corpus, whichever processes ran the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

#: The property under which tests/corpus/test_corpus.py records the rows of its table.
SCORE = "corpus-score"


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
