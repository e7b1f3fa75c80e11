"""Places that a text names, in the project: by path, and by how paths of other machines end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.runs.told import Frame
from nonstrict.explain.places import Finder, Place, Unplaced

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {"a/model.py": "x = 1\n", "b/model.py": "x = 2\n", "train.py": "y = 3\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def place(root: Path, path: str, text: str = "") -> str:
    finder = Finder(str(root), lambda: [str(one) for one in root.rglob("*.py")])
    found = finder.place(Frame(path, 1, "f", text))
    if isinstance(found, Place):
        return str(root.joinpath(found.path).relative_to(root)) + (" edited" if found.edited else "")
    return f"any of {len(found.candidates)}" if isinstance(found, Unplaced) else "none"


def test_paths_here(root: Path):
    assert place(root, "train.py") == "train.py"
    assert place(root, str(root / "a" / "model.py")) == "a/model.py"


def test_paths_of_other_machines(root: Path):
    assert place(root, "/home/ci/job/train.py") == "train.py"
    assert place(root, "/home/ci/job/a/model.py") == "a/model.py"
    assert place(root, "C:\\work\\b\\model.py") == "b/model.py"


def test_what_may_be_several_files(root: Path):
    assert place(root, "/elsewhere/model.py") == "any of 2"
    assert place(root, "/elsewhere/model.py", "x = 2") == "b/model.py"
    assert place(root, "/elsewhere/other.py") == "any of 0"


def test_a_line_that_was_edited(root: Path):
    assert place(root, "train.py", "y = 4") == "train.py edited"
    assert place(root, "/home/ci/a/model.py", "x = 4") == "a/model.py edited"


def test_the_name_of_a_file_alone_is_not_enough(root: Path):
    (root / "pkg").mkdir()
    (root / "pkg" / "utils.py").write_text("a = 1\nb = 2\n", encoding="utf-8")
    assert place(root, "/elsewhere/utils.py") == "any of 1"
    assert place(root, "/elsewhere/utils.py", "c = 3") == "any of 1"
    assert place(root, "/elsewhere/utils.py", "a = 1") == "pkg/utils.py"
    assert place(root, "/elsewhere/utils.py", "b = 2") == "pkg/utils.py edited"
    assert place(root, "/elsewhere/train.py", "c = 3") == "any of 1"


def test_torch_of_a_checkout_is_a_library(root: Path):
    for name in ("utils.py", "torch/nn/functional.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n", encoding="utf-8")
    assert place(root, "/home/me/src/pytorch/torch/_dynamo/utils.py") == "none"
    assert place(root, "/home/me/src/pytorch/torch/_dynamo/utils.py", "x = 1") == "none"
    assert place(root, "C:\\src\\pytorch\\torch\\_inductor\\utils.py") == "none"
    assert place(root, "/home/me/src/mine/torch/nn/functional.py") == "torch/nn/functional.py"
    assert place(root, "torch/nn/functional.py") == "torch/nn/functional.py"


@pytest.mark.parametrize(
    "path",
    [
        "/opt/lib/python3.11/site-packages/torch/train.py",
        "/usr/lib/python3.11/train.py",
        "C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python311\\Lib\\train.py",
        "C:\\Users\\me\\miniconda3\\envs\\job\\Lib\\train.py",
        "<string>",
        "",
    ],
)
def test_libraries_are_left_out(root: Path, path: str):
    assert place(root, path) == "none"
