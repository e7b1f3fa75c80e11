"""Work on a deep stack, and in place where no thread can be started."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.live.folder import Folder
from nonstrict.check.stack import with_deep_stack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def threadless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python as it is in a browser: threads cannot be started."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(threading.Thread, "start", refuse)


def depth(levels: int) -> int:
    return 0 if levels == 0 else 1 + depth(levels - 1)


def test_a_deep_stack_is_deeper_than_that_of_the_caller() -> None:
    levels = sys.getrecursionlimit() * 3
    assert with_deep_stack(lambda: depth(levels)) == levels


@pytest.mark.usefixtures("threadless")
def test_without_threads_work_is_done_in_place() -> None:
    assert with_deep_stack(threading.get_ident) == threading.get_ident()
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        with_deep_stack(lambda: depth(limit))
    assert sys.getrecursionlimit() == limit


@pytest.mark.usefixtures("threadless")
def test_without_threads_what_is_nested_too_deeply_is_reported_and_the_next_edit_analysed(tmp_path: Path) -> None:
    folder, path = Folder(str(tmp_path)), str(tmp_path / "main.py")
    folder.scan()
    program = "import torch\n\n\n@torch.compile\ndef step(x):\n    print(x)\n    return x{}\n"
    folder.set_text(path, program.format(" + x" * 900))
    assert {one.code for one in folder.diagnostics(path)} == {"NST904"}
    folder.set_text(path, program.format(" + x"))
    assert [one.code for one in folder.diagnostics(path)] == ["NST701"]
