"""The programs in examples/: what is found in them, and what torch does with them."""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

#: For each file the findings above `note`: the rule and the line it stands on.
FOUND = {
    "attention_mask.py": {("NST101", "return F.softmax(scores + causal_mask, dim=-1) @ value")},
    "rotary.py": {("NST207", "self.table = torch.cos(angles).repeat_interleave(2, dim=-1)")},
    "reporting/telemetry.py": {
        ("NST203", 'seen["batches"] += 1'),
        ("NST201", 'logger.info("batch of shape %s", tuple(x.shape))'),
    },
    "augment.py": {("NST301", "strength = random.uniform(0.5, 1.5)")},
    "gate.py": {
        ("NST402", "if x.abs().max().item() > threshold:"),
        ("NST401", "if x.data_ptr() % 64:"),
    },
    "region.py": {("NST701", "return x * 0.5 ** (time.time() - since)")},
    "layers.py": {("NST701", 'logger.info("layer %d", index)')},
    "settings.py": {("NST501", "return calibrate(x, settings)")},
    "sampler.py": {("NST801", "torch.compile(model)")},
    "options.py": {("NST701", "return x / x.abs().max().item()")},
    "frames.py": {("NST807", "encoded.append(encode(frame))")},
    "counter.py": {("NST803", "self.calls += 1")},
}
#: Findings that may stand beside those, because mending one leaves the other.
ALLOWED = {
    "rotary.py": {
        ("NST105", "if self.table is None or self.table.shape[0] < x.shape[-2]:"),
        ("NST105", "return x * self.table[: x.shape[-2]]"),
        ("NST202", "self.table = torch.cos(angles).repeat_interleave(2, dim=-1)"),
    },
}
#: What the programs print with the aot_eager backend.
PRINTED = {
    "attention_mask.py": ["window 8: agrees with eager: True", "window 2: agrees with eager: False"],
    "rotary.py": ["does not compile: AssertionError", "table left behind: FakeTensor"],
    "reporting.train": ["batches trained: 5, batches counted: 3"],
    "augment.py": ["steps: 5, different strengths: 1"],
    "gate.py": ["clip does not compile: UserError", "halve does not compile: Unsupported"],
    "region.py": ["step does not compile: Unsupported"],
    "layers.py": ["graphs compiled: 0"],
    "settings.py": ["step does not compile: Unsupported"],
    "clean.py": ["window 8: agrees with eager: True", "window 2: agrees with eager: True"],
    "sampler.py": ["graphs compiled: 0"],
    "frames.py": ["frames: 5, different results: 5"],
    "counter.py": ["call 2", "graph breaks: 1"],
    # The last, as its options stay.
    "options.py": ["graphs compiled: 1"],
}
RUNNER = """
import functools, runpy, sys
import torch
torch.compile = functools.partial(torch.compile, backend="aot_eager")
sys.path.insert(0, ".")
for program in sys.argv[1:]:
    torch._dynamo.reset()
    print("program", program)
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__")
"""


def test_the_findings_are_the_expected_ones():
    command = [sys.executable, "-m", "nonstrict", "check", "--isolated", "--no-cache", "--output-format", "json", "."]
    run = subprocess.run(command, cwd=EXAMPLES, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 1, run.stderr
    found: dict[str, set[tuple[str, str]]] = collections.defaultdict(set)
    for finding in json.loads(run.stdout):
        if finding["severity"] != "note":
            path = (EXAMPLES / finding["filename"]).resolve()
            line = path.read_text(encoding="utf-8").splitlines()[finding["location"]["row"] - 1].strip()
            found[path.relative_to(EXAMPLES).as_posix()].add((finding["code"], line))
    kept = {name: findings - ALLOWED.get(name, set()) for name, findings in found.items()}
    assert {name: findings for name, findings in kept.items() if findings} == FOUND


def test_a_finding_in_a_helper_carries_its_call_chain():
    command = [sys.executable, "-m", "nonstrict", "check", "--isolated", "--no-cache", "--output-format", "json"]
    run = subprocess.run(
        [*command, "--select", "NST201", "reporting"], cwd=EXAMPLES, capture_output=True, encoding="utf-8", check=False
    )
    (finding,) = json.loads(run.stdout)
    chain: list[tuple[str, int]] = [
        (Path(link["filename"]).name, link["location"]["row"]) for link in finding["related"]
    ]
    lines = [(EXAMPLES / "reporting" / name).read_text(encoding="utf-8").splitlines()[row - 1] for name, row in chain]
    assert finding["function"].endswith("prepare")
    assert [line.strip() for line in lines if "(" in line and "def" not in line] == [
        "return normalise(x) * 0.5",
        "telemetry.note_batch(x)",
    ]


def test_torch_does_what_the_programs_say():
    pytest.importorskip("torch")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER, *PRINTED],
        cwd=EXAMPLES,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    printed: dict[str, list[str]] = {}
    for line in run.stdout.splitlines():
        if line.startswith("program "):
            printed[line.removeprefix("program ")] = []
        else:
            printed[list(printed)[-1]].append(line)
    assert printed == PRINTED
