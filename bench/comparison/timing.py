"""How long each tool takes with one program, as ratios to the run of the program without compiling."""

from __future__ import annotations

import statistics
import subprocess
import time
from typing import TYPE_CHECKING

from bench.comparison import probing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bench.comparison.model import Setting, Tool


def seconds(commands: list[list[str]], setting: Setting) -> float:
    """The wall time of commands that follow one another; findings are no failure."""
    begin = time.perf_counter()
    for command in commands:
        subprocess.run(command, env=probing.environment(setting), capture_output=True, check=False)
    return time.perf_counter() - begin


def ratios(tools: Mapping[str, Tool], program: Path, setting: Setting, rounds: int) -> dict[str, float]:
    """Medians over rounds in which the tools take turns, after one round that fills caches of files."""
    commands = {"eager": [probing.command("eager", program, setting)]}
    commands |= {name: tool.commands(program, setting) for name, tool in tools.items()}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, one in commands.items():
            took = seconds(one, setting)
            if number:
                taken[name].append(took)
    base = statistics.median(taken["eager"])
    return {name: round(statistics.median(times) / base, 3) for name, times in taken.items() if name != "eager"}
