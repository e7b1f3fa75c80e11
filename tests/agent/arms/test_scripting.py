"""Scripts are run before they are offered: whether they show that compiled code does otherwise."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

#: Runs itself for the number that it is about, as scripts do for arms.
SCRIPT = """\
import os, subprocess, sys

import torch

if "NUMBER" in os.environ:
    print(torch.ones(int(os.environ["NUMBER"])).sum().item())
    {in_arm}
    sys.exit()
command = [sys.executable, os.path.abspath(__file__)]
found = [
    subprocess.run(command, env={{**os.environ, "NUMBER": str(number)}}, capture_output=True, text=True)
    for number in (2, {other})
]
if any(one.returncode for one in found):
    sys.exit("it fails itself")
echoed = subprocess.run(["echo", found[0].stdout.strip()], capture_output=True, text=True).stdout
assert echoed == found[1].stdout, (echoed, found[1].stdout)
"""


@pytest.mark.parametrize(
    ("in_arm", "other", "shown", "told"),
    [
        ("pass", 3, True, "AssertionError: ('2.0\\n', '3.0\\n')"),
        ("pass", 2, False, ""),
        ("raise ValueError", 3, False, "it fails itself"),
    ],
)
def test_what_a_script_shows(project: Project, in_arm: str, other: int, *, shown: bool, told: str) -> None:
    text = dedent(SCRIPT.format(in_arm=in_arm, other=other))
    answer = project.perform({"kind": "script", "name": "shown.py", "text": text})
    assert answer["shown"] is shown
    assert told in answer["told"]
