"""Fixes that nobody asks for are not looked for, and the output is the same as if they had been."""

from __future__ import annotations

from pathlib import Path

import pytest

from nonstrict.cli.main import main
from nonstrict.findings import Applicability
from nonstrict.settings.model import FORMATS

CASES = Path(__file__).resolve().parents[1] / "corpus" / "cases"
#: Programs with safe fixes, with unsafe ones, and with none.
NAMES = ("001*", "002*", "112*", "236*", "31?_*", "45?_*", "46?_*")


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    paths = [str(path) for name in NAMES for path in sorted(CASES.glob(name))]
    main(["check", "--isolated", "--no-cache", "--exit-zero", "-j1", *arguments, *paths])
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        *(("--output-format", name) for name in FORMATS),
        *(("--output-format", name, "--quiet") for name in FORMATS),
        ("--output-format", "concise", "--unsafe-fixes"),
        ("--output-format", "concise", "--no-unsafe-fixes"),
        ("--statistics",),
        ("--statistics", "--quiet", "--unsafe-fixes"),
        ("--diff",),
        ("--diff", "--quiet"),
        ("--diff", "--unsafe-fixes"),
        ("--silent",),
    ],
    ids=" ".join,
)
def test_output_is_the_same(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = output(capsys, *arguments)
    monkeypatch.setattr("nonstrict.cli.check.least_wanted", lambda settings, options: Applicability.DISPLAY)
    assert output(capsys, *arguments) == found
