"""One run of everything: the truth about the programs, what each tool reports, verdicts, times, the labelled cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.comparison import cases, judging, probing, timing, truth
from bench.comparison.results import Results, about_hazards
from bench.comparison.tools import TOOLS
from bench.comparison.tools.commands import output
from bench.comparison.tools.nonstrict import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.comparison.model import Finding, Program, Setting

#: The program that each tool is timed with.
TIMED = "item_in_region"
#: The tools that only read the source, and can look at the labelled cases without running them.
READERS = ("nonstrict", "torchfix", "ruff", "semgrep")


def results(setting: Setting, programs: Sequence[Program], rules: str, rounds: int) -> Results:
    """Everything that the page shows."""
    paths = [program.path for program in programs]
    found: dict[str, list[Finding]] = {}
    for name, tool in TOOLS.items():
        said(f"{name} on {len(paths)} programs")
        found[name] = about_hazards(tool.findings(paths, setting), programs)
    said("the truth about them")
    truths = measured(paths, setting, ("eager", *truth.BACKENDS))
    said("verdicts")
    verdicts = confirmed(paths, setting)
    said("times")
    (timed,) = [path for path in paths if path.stem == TIMED]
    times = timing.ratios(TOOLS, timed, setting, rounds)
    said("labelled cases")
    return Results(
        versions={name: tool.version(setting) for name, tool in TOOLS.items()},
        rules=rules,
        truths=truths,
        findings=found,
        verdicts=verdicts,
        times=times,
        timed=TIMED,
        cases=labelled_cases(setting, programs),
    )


def said(what: str) -> None:
    """Tell whoever waits what is being done."""
    print(what, file=sys.stderr, flush=True)


def measured(paths: Sequence[Path], setting: Setting, modes: Iterable[str]) -> dict[str, str]:
    """What running each program shows."""
    outcomes = {mode: probing.probe(mode, paths, setting) for mode in modes}
    return {path.stem: truth.described({mode: by[path.stem] for mode, by in outcomes.items()}) for path in paths}


def confirmed(paths: Sequence[Path], setting: Setting) -> dict[str, list[str]]:
    """The verdicts of experiments on what nonstrict reports, by program."""
    found = json.loads(output([setting.python, "-m", "nonstrict", *OPTIONS, "json", "--confirm", *paths]))
    verdicts: dict[str, list[str]] = {}
    for one in found:
        if one["verdict"]:
            verdicts.setdefault(Path(one["filename"]).stem, []).append(f"{one['code']} {one['verdict']['status']}")
    return {name: sorted(set(given)) for name, given in sorted(verdicts.items())}


def labelled_cases(setting: Setting, programs: Sequence[Program]) -> dict[str, list[int]]:
    """What the tools report of the hazards of the labelled cases; of nonstrict every code is that of a hazard."""
    counts: dict[str, list[int]] = {}
    for name in READERS:
        found = TOOLS[name].findings(cases.files(), setting)
        own = frozenset(one.code for one in found) if name == "nonstrict" else judging.hazard_codes(programs)
        counts[name] = list(cases.counted(found, own, judging.touching_codes(programs)))
    return counts
