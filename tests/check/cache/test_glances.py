"""The first look at files, which an edit has only at what it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.check import analysis
from nonstrict.check.cache import contents
from nonstrict.check.run import RunOptions, check
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from pathlib import Path

MARKED = "import torch\n\n\n@torch._dynamo.nonstrict_trace\ndef scaled(x):\n    return x * 2\n"
SUPPRESSED = MARKED.replace("x * 2", "x * 2  # nonstrict: ignore")
FILES = {
    "broken.py": f"{MARKED}\ndef broken(:\n",
    "marked.py": MARKED,
    "page.md": f"```python\n{MARKED}```\n",
    "plain.py": "WIDTH = 4\n",
    "suppressed.py": SUPPRESSED,
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(contents, "_SETTLED", -1_000_000_000_000)
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that a first look reads."""
    paths: list[str] = []
    known = analysis._bytes  # pyright: ignore[reportPrivateUsage]

    def noted(path: str, options: analysis.AnalysisOptions) -> bytes:
        paths.append(path)
        return known(path, options)

    monkeypatch.setattr(analysis, "_bytes", noted)
    return paths


def run(project: Path, *paths: str, cache: bool = True, keeps: bool = True) -> list[tuple[str, str, int]]:
    options = RunOptions(jobs=1, cache=cache, keeps=keeps)
    result = check(paths or [str(project)], default_settings(str(project)), options)
    assert not result.cached
    return [(one.code, one.location.path, one.location.row) for one in result.diagnostics]


def touch(project: Path, name: str) -> None:
    """Change the text of a file, and so make no answer of a whole run hold."""
    path = project / name
    path.write_text(f"{path.read_text()}# more\n")


def test_only_what_changed_is_read_again(project: Path, read: list[str]):
    run(project)
    assert str(project / "marked.py") in read
    touch(project, "plain.py")
    read.clear()
    found = run(project)
    assert str(project / "plain.py") in read
    assert str(project / "marked.py") not in read
    assert found == run(project, cache=False)


def test_a_file_that_gets_a_marker_is_marked(project: Path):
    run(project)
    (project / "plain.py").write_text(MARKED + "\n\nclass Broken(:\n")
    assert ("NST901", str(project / "plain.py"), 9) in run(project)


def test_what_a_text_alone_has_to_show_is_shown_again(project: Path):
    before = run(project)
    assert {code for code, _, _ in before} == {"NST901", "NST902"}
    touch(project, "plain.py")
    assert run(project) == before


def test_a_text_that_was_not_parsed_is_parsed_once_it_is_among_the_first(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.MonkeyPatch.context() as before:
        before.setattr(analysis, "_SYNTAX_CHECK_BYTES", 0)
        run(project)
    parsed: list[str] = []
    known = analysis.repaired
    monkeypatch.setattr(analysis, "repaired", lambda source: parsed.append(source.path) or known(source))
    touch(project, "plain.py")
    run(project)
    assert str(project / "marked.py") in parsed
    parsed.clear()
    touch(project, "plain.py")
    run(project)
    assert str(project / "marked.py") not in parsed


def test_a_run_that_keeps_nothing_writes_nothing(project: Path):
    run(project, keeps=False)
    assert not list(project.glob(".nonstrict_cache/*/glances-*.json"))
    run(project)
    assert list(project.glob(".nonstrict_cache/*/glances-*.json"))


def test_a_named_file_is_parsed_whatever_is_known(project: Path):
    run(project)
    (project / "other.py").write_text("def broken(:\n")
    assert run(project) == run(project, cache=False)
    assert ("NST901", str(project / "other.py"), 1) in run(project, str(project), str(project / "other.py"))


def test_what_another_python_parsed_is_looked_at_anew(project: Path, read: list[str]):
    run(project)
    (kept,) = project.glob(".nonstrict_cache/*/glances-*.json")
    kept.rename(kept.with_name("glances-3.99.json"))
    touch(project, "plain.py")
    read.clear()
    run(project)
    assert str(project / "marked.py") in read


def test_a_file_that_is_listed_by_a_link_from_now_on_is_the_same_file(project: Path):
    (project / "sub").mkdir()
    (project / "sub" / "writer.py").write_text(
        "import torch\n\nW = torch.ones(3)\n\n\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    return x * W\n"
    )
    run(project)
    (project / "a_link.py").symlink_to(project / "sub" / "writer.py")
    assert run(project) == run(project, cache=False)
