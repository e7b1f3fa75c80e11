"""Whatever becomes of a project, a run with a cache tells what a run without one does."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

from nonstrict.check import analysis
from nonstrict.check.cache.held import Held
from nonstrict.check.run import RunOptions, check
from nonstrict.settings.load import settings_in
from nonstrict.settings.model import default_settings
from nonstrict.text.source import source_from_bytes
from tests.histories import History

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nonstrict.check.run import CheckResult
    from nonstrict.text.source import Source

#: A custom operator without a formula for gradients, which are asked for by way of a third file.
GRADIENTS = {
    "ops.py": """\
import torch


@torch.library.custom_op("mine::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)
""",
    "middle.py": """\
from ops import double


def step(x):
    return double(x) + 1
""",
    "train.py": """\
import torch

from middle import step

step(torch.ones(3, requires_grad=True)).sum().backward()
""",
}
SEEDS = range(5)
EDITS = 100


def told(
    folder: Path, *, cache: bool = False, held: Held | None = None, supposed: Mapping[str, Source] | None = None
) -> CheckResult:
    run = RunOptions(jobs=1, nested=settings_in, cache=cache, held=held, overlays=supposed or {})
    result = check(["."], default_settings(str(folder)), run)
    return result._replace(read={}, cached=False, looked=type(result.looked)(), nested={})


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each file be a part of its own."""
    monkeypatch.setattr(analysis, "_PART_BYTES", 1)


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many parts each examination had to look at."""
    numbers: list[int] = []
    known = analysis._examined  # pyright: ignore[reportPrivateUsage]

    def counted(parts: list[tuple[str, ...]], *rest: object) -> object:
        numbers.append(len(parts))
        return known(parts, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(analysis, "_examined", counted)
    return numbers


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_edit_the_cache_tells_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examined: list[int], seed: int
):
    folder = tmp_path / "now"
    folder.mkdir()
    earlier: list[Path] = []
    monkeypatch.chdir(folder)
    drawn = random.Random(seed)  # noqa: S311 - nothing is kept secret
    history = History(folder, seed)
    reused = 0
    for number, edit in enumerate(history.edits(EDITS)):
        examined.clear()
        found = told(folder, cache=True)
        parts = sum(examined)
        examined.clear()
        assert found == told(folder, cache=False), (number, edit)
        reused += sum(examined) - parts
        if number % 10 == 5:
            _clone_tells_the_same(folder, tmp_path / f"clone{number}", monkeypatch)
        if number % 10 == 8:
            _checkout_tells_the_same(folder, earlier, drawn, tmp_path / f"state{number}")
    assert reused > EDITS


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("seed", SEEDS)
def test_texts_that_no_file_holds_tell_the_same_as_without_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examined: list[int], seed: int
):
    folder, edited = tmp_path / "now", tmp_path / "edited"
    edited.mkdir()
    history = History(edited, seed)
    shutil.copytree(edited, folder)
    monkeypatch.chdir(folder)
    held = Held(disk=False)
    before = told(folder)
    assert told(folder, held=held) == before
    reused, others = 0, 0
    for number, edit in enumerate(history.edits(EDITS)):
        supposed = _supposed(folder, edited)
        examined.clear()
        found = told(folder, held=held, supposed=supposed)
        parts = sum(examined)
        examined.clear()
        assert found == told(folder, supposed=supposed), (number, edit)
        reused += sum(examined) - parts
        others += found.diagnostics != before.diagnostics
    assert told(folder, held=held) == before
    assert reused > EDITS
    assert others > EDITS / 2


def _supposed(folder: Path, edited: Path) -> dict[str, Source]:
    """The files of a folder whose text is another one in an edited copy, as a run calls them."""
    found: dict[str, Source] = {}
    for path in sorted(folder.rglob("*.py")):
        other = edited / path.relative_to(folder)
        if other.exists() and other.read_bytes() != path.read_bytes():
            name = str(path.relative_to(folder))
            found[name] = source_from_bytes(name, other.read_bytes())
    return found


@pytest.mark.usefixtures("small_parts")
def test_what_asks_for_gradients_two_imports_away_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, text in GRADIENTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    found = [[one.code for one in told(tmp_path, cache=True).diagnostics]]
    (tmp_path / "train.py").write_text(GRADIENTS["train.py"].replace(".backward()", ""))
    found.append([one.code for one in told(tmp_path, cache=True).diagnostics])
    assert found == [["NST611"], []]


def _clone_tells_the_same(folder: Path, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another folder with the cache of this one."""
    shutil.copytree(folder, clone)
    monkeypatch.chdir(clone)
    assert told(clone, cache=True) == told(clone, cache=False)
    shutil.rmtree(clone)
    monkeypatch.chdir(folder)


def _checkout_tells_the_same(folder: Path, earlier: list[Path], drawn: random.Random, state: Path) -> None:
    """An earlier state in place of this one, with the cache as it is, and back again."""
    ignored = shutil.ignore_patterns(".nonstrict_cache")
    shutil.copytree(folder, state, ignore=ignored)
    if earlier:
        for content in (drawn.choice(earlier), state):
            for entry in [entry for entry in folder.iterdir() if entry.name != ".nonstrict_cache"]:
                shutil.rmtree(entry)
            shutil.copytree(content, folder, dirs_exist_ok=True)
            assert told(folder, cache=True) == told(folder, cache=False)
    earlier.append(state)
