"""Marked functions of which torch was asked whether they compile: does tensor-escape (NST402) say the same?

The bodies are of the grammar in scripts/unbacked; `make unbacked` composes and measures others.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
from unbacked.asking import reported  # pyright: ignore[reportMissingImports] - not a package of tests
from unbacked.bodies import Body  # pyright: ignore[reportMissingImports] - as above

#: The share of the bodies that fail of which the analysis says so.
RECALL_FLOOR = 0.97


@pytest.fixture(scope="module")
def told() -> list[tuple[Body, bool, list[str]]]:
    """The measured bodies, whether they fail, and the errors that are reported."""
    rows = json.loads(Path(__file__).with_name("unbacked.json").read_text(encoding="utf-8"))
    bodies = [Body(row["source"], row["rest"], row["wrapper"]) for row in rows]
    return [(body, row["fails"], errors) for body, row, errors in zip(bodies, rows, reported(bodies), strict=True)]


def test_nothing_is_reported_that_compiles(told: list[tuple[Body, bool, list[str]]]) -> None:
    wrong = [f"{body.key}\n{errors[0]}\n" for body, fails, errors in told if errors and not fails]
    assert not wrong, "\n".join(wrong)


def test_most_of_what_fails_is_reported(told: list[tuple[Body, bool, list[str]]]) -> None:
    failing = [(body, errors) for body, fails, errors in told if fails]
    missed = [body.key for body, errors in failing if not errors]
    recall = 1 - len(missed) / len(failing)
    assert recall >= RECALL_FLOOR, f"{recall:.3f}\n" + "\n\n".join(missed)
