"""Formats that show more than findings: `html` with its regions, `agent` with its patches, as users ask for them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict.settings.model import FORMATS
from tests.cli.conftest import BAD
from tests.report.test_html import PROGRAM, Page

if TYPE_CHECKING:
    from tests.cli.conftest import Command

ROOT = Path(__file__).resolve().parents[2]
FORMATS_PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


@pytest.fixture
def program(project: Path) -> Path:
    (project / "bad.py").unlink()
    (project / "region.py").write_text(PROGRAM, encoding="utf-8")
    return project


def test_regions_are_told_whatever_the_cache_holds(nonstrict: Command, program: Path):
    assert "NST701" in nonstrict("check").out
    assert "(answered from the cache)" in nonstrict("check", "-v").err
    told = nonstrict("check", "-v", "--output-format", "html")
    assert "answered from the cache" not in told.err
    assert "2 graphs" in Page(told.out).text
    assert "(answered from the cache)" in nonstrict("check", "-v").err


def test_details_change_no_finding(nonstrict: Command, program: Path):
    found = json.loads(nonstrict("check", "--output-format", "json").out)
    page = Page(nonstrict("check", "--output-format", "html").out)
    assert len(found) == page.shape.count("article") - page.text.count("compiled at ") > 0


def test_a_page_is_the_same_whenever_it_is_written(nonstrict: Command, program: Path):
    nonstrict("check", "--output-format", "html", "-o", "one.html", PYTHONHASHSEED="1")
    nonstrict("check", "--output-format", "html", "-o", "two.html", PYTHONHASHSEED="2")
    one = (program / "one.html").read_bytes()
    assert one == (program / "two.html").read_bytes()
    assert str(program).encode() not in one, "the page names files as they are from here"
    assert one == nonstrict("check", "--output-format", "html", PYTHONIOENCODING="ascii").out.encode()


def test_a_page_tells_what_was_not_looked_at(nonstrict: Command, project: Path):
    (project / "region.py").write_text(
        "import torch\n\n\ndef build(f):\n    return torch.compile(f)\n", encoding="utf-8"
    )
    (project / "data.py").write_bytes(b"\0\1\2" * 100)
    run = nonstrict("check", "--output-format", "html", ".", "data.py", "gone.py")
    page = Page(run.out)
    assert run.status == 2
    assert "gone.py: does not exist" in page.text
    assert "region.py:5:12" in page.text
    assert "1 not analyzed" in page.text


@pytest.mark.skipif(os.name == "nt", reason="names that this system does not have")
def test_names_that_are_no_text_are_shown(nonstrict: Command, project: Path):
    (project / "bad.py").rename(project / "<img src=x onerror=alert(1)>.py")
    with open(os.fsencode(project) + b"/b\xff\x1b.py", "wb") as file:
        file.write(BAD.encode())
    page = Page(nonstrict("check", "--output-format", "html").out)
    assert "<img src=x onerror=alert(1)>.py:8:16" in page.text
    assert r"b\udcff\x1b.py:8:16" in page.text
    told = nonstrict("check", "--output-format", "agent", "--select", "NST101").out
    assert told.count("next: ") == 2
    assert "next: nonstrict rule NST101" in told


def test_a_page_of_a_broken_configuration(nonstrict: Command, project: Path):
    (project / "nonstrict.toml").write_text("selekt = 1\n", encoding="utf-8")
    assert "NST903" in Page(nonstrict("check", "--output-format", "html").out).text


@pytest.mark.torch
def test_experiments_tell_the_page_what_they_compiled(nonstrict: Command, program: Path):
    for arguments in (["confirm", "region.py"], ["check", "--confirm", "."]):
        page = Page(nonstrict(*arguments, "--output-format", "html").out)
        assert page.text.count("graphs: 2, predicted") == 1
        assert "confirmed" in page.text


def test_an_agent_is_told_all_it_needs(nonstrict: Command, project: Path):
    (project / "bad.py").write_text((project / "bad.py").read_text() + "\n\nprint(scaled(torch.ones(3)))\n")
    run = nonstrict("check", "--output-format", "agent", "--color", "always")
    assert run.status == 1
    head, _, rest = run.out.partition("\n")
    assert head == "bad.py:8:16 NST101 global-tensor-capture error"
    assert "\nnext: nonstrict check --confirm bad.py\n" in rest
    assert "\x1b" not in run.out
    assert re.search(
        r"\n\n1 finding \(1 error, 0 warnings, 0 notes\) in 1 of 2 files; .*1 more with --unsafe-fixes", rest
    )
    subprocess.run(["git", "apply", "-"], cwd=project, input=run.out.encode(), check=True)
    assert nonstrict("check").status == 0
    assert nonstrict("check", "--output-format", "agent", "-q").out == ""


def test_the_documentation_shows_what_an_agent_is_told(nonstrict: Command):
    told = nonstrict("check", "--isolated", "--output-format", "agent", "-q", str(ROOT / "examples" / "sampler.py")).out
    told = re.sub(r"no patch: .*\n", "", told).replace(f"{ROOT.as_posix()}/", "")
    shown = re.search("(?s)```text\n(.*?)```", FORMATS_PAGE)
    assert shown is not None
    patch = re.compile(r"(?ms)^---.*?(?=^next: )")
    assert patch.sub("", shown[1]) == told.removesuffix("\n")
    assert patch.search(shown[1]) is not None


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_documented(name: str):
    assert f"`{name}`" in FORMATS_PAGE
