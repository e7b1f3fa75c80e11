"""A file has one name in a run, however many links lead to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nonstrict.cli.main import main

HELPER = """import torch


def noisy(x):
    print(x)
    return x


@torch._dynamo.nonstrict_trace
def first(x):
    return noisy(x)
"""
USER = """import torch
from helper import noisy


@torch._dynamo.nonstrict_trace
def second(x):
    return noisy(x) + 1
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("real").mkdir()
    Path("link").symlink_to("real")
    Path("real/helper.py").write_text(HELPER)
    Path("real/use.py").write_text(USER)


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        (("real",), "real/helper.py"),
        (("link",), "link/helper.py"),
        (("real", "link"), "real/helper.py"),
        (("link", "real"), "link/helper.py"),
        (("real/helper.py", "link"), "real/helper.py"),
        (("link/helper.py", "real"), "link/helper.py"),
        (("real/use.py", "link/helper.py"), "link/helper.py"),
        (("link/use.py", "real/helper.py"), "real/helper.py"),
    ],
)
def test_findings_are_told_once(capsys: pytest.CaptureFixture[str], named: tuple[str, ...], shown: str) -> None:
    main(["check", "-n", "--output-format", "json", *named])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert [(one["code"], one["filename"].removeprefix(f"{Path.cwd()}/")) for one in found] == [("NST201", shown)]


def test_a_file_that_is_a_link_is_called_as_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("there").mkdir()
    Path("there/helper.py").symlink_to("../real/helper.py")
    main(["check", "-n", "--output-format", "json", "there/helper.py", "real"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert [Path(one["filename"]).parent.name for one in found] == ["there"]
