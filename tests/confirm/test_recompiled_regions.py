"""Regions that are compiled again, until torch gives them up, or go on with a value of the past: by real compiles."""

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


def told(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], folder: Path, text: str
) -> dict[tuple[str, str], dict[str, Any]]:
    """The verdicts of a program by rule and function."""
    (folder / "model.py").write_text(dedent(text))
    done = nonstrict("check", "--confirm", "--output-format", "json", "model.py")
    assert done.returncode in {0, 1}, done.stderr
    return {(one["code"], one["function"]): one["verdict"] for one in json.loads(done.stdout)}


def test_several_regions_have_their_turn_each(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    LEVEL = 0
    SCALE = 1.0

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.step = 0

        def forward(self, x):
            self.step += 1
            return x * self.step

    @torch.compile(fullgraph=True)
    def levelled(x):
        return x * LEVEL

    @torch.compile
    def scaled(x, scale):
        return x * scale

    def main():
        global LEVEL
        net = torch.compile(Net())
        for _ in range(20):
            net(torch.ones(2))
        for level in range(20):
            LEVEL = level
            levelled(torch.ones(2))
        for scale in (0.5, 1.5, 2.5):
            scaled(torch.ones(2), scale)
    """
    verdicts = told(nonstrict, tmp_path, text)
    assert {one["status"] for one in verdicts.values()} == {"confirmed"}
    assert {key: one["evidence"] for key, one in verdicts.items()} == {
        ("NST803", "Net.forward"): (
            "`Net.forward` was compiled 8 times; from call 9 on it runs in eager mode, as a guard failed: "
            "self.step == 7"
        ),
        ("NST803", "levelled"): (
            "`levelled` was compiled 8 times; in call 21 torch raises, as a guard failed: LEVEL == 7"
        ),
        ("NST804", "scaled"): "`scaled` was compiled twice; the guard that failed in call 26: scale == 0.5",
    }


def test_sizes_containers_and_states_of_torch_are_asked_for_by_their_guards(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    @torch.compile
    def rows(x):
        total = 0
        for i in range(x.shape[0]):
            total = total + x[i]
        return total

    @torch.compile
    def filled(x, history):
        history.append(x * 2)
        return x + 1

    @torch.compile
    def stored(x, found, i):
        found[i] = x * 2
        return x + 1

    @torch.compile
    def product(x):
        return x @ x

    history, found = [], {}
    for n in range(2, 14):
        rows(torch.ones(n))
        filled(torch.ones(3), history)
        stored(torch.ones(3), found, n)
    product(torch.ones(3, 3))
    with torch.autocast("cpu"):
        product(torch.ones(3, 3))
    """
    verdicts = told(nonstrict, tmp_path, text)
    assert {key: one["status"] for key, one in verdicts.items()} == dict.fromkeys(
        [("NST803", "rows"), ("NST803", "filled"), ("NST803", "stored"), ("NST804", "product")], "confirmed"
    )


def test_calls_are_repeated_and_values_changed_where_the_program_does_not(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    LEVEL = 0

    @torch.compile
    def levelled(x):
        return x * LEVEL

    def train():
        global LEVEL
        while True:
            LEVEL += 1
            levelled(torch.ones(2))

    def main():
        levelled(torch.ones(2))
    """
    (verdict,) = told(nonstrict, tmp_path, text).values()
    assert verdict["status"] == "confirmed"
    assert "was compiled 8 times" in verdict["evidence"]


def test_what_inductor_has_from_its_cache_is_stale(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    @torch.compile
    def clamped(x, s):
        return (x * s).clamp(max=s * 0.5)

    def main():
        for k in range(5):
            clamped(torch.ones(4), 0.5 + k * 0.3)
    """
    (verdict,) = told(nonstrict, tmp_path, text).values()
    assert verdict["status"] == "confirmed"
    assert verdict["evidence"].startswith("call 3: eager 0.55, compiled 0.4, and ")
    assert {name: one["result"] for name, one in verdict["backends"].items()} == {
        "aot_eager": "same",
        "inductor": "silent-wrong",
    }


def test_what_is_stale_shows_in_what_a_region_changes_in_place(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    class Average:
        def __init__(self):
            self.mean = torch.zeros(4)

        @torch.compile
        def update(self, x, decay):
            self.mean.mul_(decay).add_(x, alpha=1 - decay)

    @torch.compile
    def moved(mean, x, decay):
        mean.mul_(decay).add_(x, alpha=1 - decay)

    def main():
        average, mean = Average(), torch.zeros(4)
        for step in range(6):
            decay = (1 + step) / (10 + step)
            average.update(torch.full((4,), 1.0 + step), decay)
            moved(mean, torch.full((4,), 1.0 + step), decay)
    """
    verdicts = told(nonstrict, tmp_path, text)
    assert {key: one["status"] for key, one in verdicts.items()} == dict.fromkeys(
        [("NST805", "Average.update"), ("NST805", "moved")], "confirmed"
    )
    assert verdicts["NST805", "moved"]["evidence"].startswith("call 6: `mean` in eager: ")


def test_a_guard_that_is_asked_first_stands_before_another(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    @torch.compile
    def joined(k, v):
        return k.sum() + v.sum()

    def main():
        for n in range(2, 6):
            joined(torch.ones(n), torch.ones(n))
    """
    (tmp_path / "model.py").write_text(dedent(text))
    done = nonstrict("check", "--confirm", "--output-format", "json", "model.py")
    verdicts = [one["verdict"] for one in json.loads(done.stdout)]
    assert [(one["status"], one["reason"]) for one in verdicts] == [
        ("confirmed", None),
        ("inconclusive", "other-guard"),
    ]


def test_a_guard_that_the_program_drops_is_dropped_in_experiments_too(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    scale = 1

    @torch.compile(options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})
    def step(x):
        return x * scale

    def main():
        global scale
        for value in (1, 2, 3):
            scale = value
            step(torch.ones(2))
    """
    (verdict,) = told(nonstrict, tmp_path, text).values()
    assert verdict["status"] == "confirmed"
    assert verdict["evidence"] == "call 2: eager 2, compiled 1, after `scale` changed from 1 to 2"


def test_a_report_tells_what_a_region_is_compiled_again_for(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch

    @torch.compile
    def step(x, n):
        for _ in range(n):
            x = x + 1
        return x

    def main():
        for n in range(2, 14):
            step(torch.ones(3), n)
    """
    (tmp_path / "model.py").write_text(dedent(text))
    done = nonstrict("confirm", "model.py", "-n")
    again, left = done.stdout.splitlines()[-2:]
    assert again == "  recompiled 7 times, then given up: the last guard that failed: n == 9"
    assert left.startswith("  falls back to eager: all of `step`: ")
    assert left.endswith(" (GB0039) (predicted)")
    (told,) = json.loads(nonstrict("confirm", "model.py", "--output-format", "json").stdout)["regions"]
    assert told["recompilations"] == [{"row": 4, "times": 7, "guard": "n == 9", "gave_up": True}]
