"""Programs with several functions and files, run for real: each finding gets the evidence of its own function."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.torch

HEAD = "import torch\nfrom torch._dynamo import nonstrict_trace\n"


def told(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], folder: Path, text: str, **files: str
) -> dict[tuple[str, int], dict[str, Any]]:
    """The verdicts of `model.py` by code and line."""
    for name, content in files.items():
        (folder / f"{name}.py").write_text(dedent(content))
    (folder / "model.py").write_text(HEAD + dedent(text))
    done = nonstrict("check", "--confirm", "--output-format", "json", "model.py")
    assert done.returncode in {0, 1}, done.stderr
    return {(one["code"], one["location"]["row"]): one["verdict"] for one in json.loads(done.stdout)}


def test_a_function_that_raises_does_not_hide_the_next(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    @nonstrict_trace
    def first(x):
        print("first")
        raise ValueError("not today")

    @nonstrict_trace
    def second(x):
        print("second")
        return x + 1

    @torch.compile(fullgraph=True)
    def one(x):
        return first(x)

    @torch.compile(fullgraph=True)
    def two(x):
        return second(x)

    def main():
        x = torch.ones(3)
        one(x)
        two(x)
        two(x)
    """
    verdicts = told(nonstrict, tmp_path, text)
    assert verdicts["NST201", 6]["status"] == "inconclusive"
    second = verdicts["NST201", 11]
    assert second["status"] == "confirmed"
    assert "'second'" in second["evidence"]


def test_state_of_another_file_and_wrapped_functions(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    state = """
    class Settings:
        cap = 2.0

    SETTINGS = Settings()
    LIMIT = 2.0

    def tune(value):
        global LIMIT
        SETTINGS.cap = LIMIT = value
    """
    text = """
    import functools, random, state
    from state import SETTINGS

    def logged(function):
        @functools.wraps(function)
        def inner(*arguments, **keywords):
            return function(*arguments, **keywords)
        return inner

    @nonstrict_trace
    def capped(x):
        return x * SETTINGS.cap

    @nonstrict_trace
    def limited(x):
        return x * state.LIMIT

    @nonstrict_trace
    @logged
    def jitter(x):
        return x + random.random()
    """
    verdicts = told(nonstrict, tmp_path, text, state=state)
    assert {key: one["status"] for key, one in verdicts.items()} == {
        ("NST104", 15): "confirmed",
        ("NST104", 19): "confirmed",
        ("NST301", 24): "confirmed",
    }
    assert verdicts["NST104", 15]["evidence"].endswith("SETTINGS.cap` was set from 2.0 to 3.0")
    assert verdicts["NST104", 19]["evidence"].endswith("`LIMIT` was set from 2.0 to 3.0")
