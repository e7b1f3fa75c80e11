"""Formats that services read name files from the top of the repository, wherever the command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.cli.main import main
from tests.cli.conftest import BAD

if TYPE_CHECKING:
    from pathlib import Path

SERVICES = ("github", "gitlab", "azure", "rdjson", "junit", "sarif")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    below = tmp_path / "packages" / "model"
    below.mkdir(parents=True)
    (below / "bad.py").write_text(BAD, encoding="utf-8")
    monkeypatch.chdir(below)


def told(output_format: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(["check", "--no-cache", "--output-format", output_format])
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SERVICES)
def test_from_the_top_of_git(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert "packages/model/bad.py" not in told(name, capsys)
    (tmp_path / ".git").mkdir()
    assert "packages/model/bad.py" in told(name, capsys)
    assert str(tmp_path) not in told(name, capsys).replace(f"file://{tmp_path}", "")


@pytest.mark.parametrize("variable", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY"])
def test_from_where_a_service_put_it(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv(variable, str(tmp_path / "packages"))
    assert "file=model/bad.py" in told("github", capsys)
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert "file=bad.py" in told("github", capsys)


def test_people_are_told_from_where_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / ".git").mkdir()
    assert told("concise", capsys).startswith("bad.py:8:16")


def test_a_finding_has_one_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / ".git").mkdir()
    below = told("gitlab", capsys)
    monkeypatch.chdir(tmp_path)
    assert told("gitlab", capsys) == below
