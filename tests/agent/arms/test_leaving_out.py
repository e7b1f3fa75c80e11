"""Statements that fail in any file of a project are left out, as far as the calls that are compared do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.arms.running import result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

MAIN = """\
import torch
{}

@torch.compile
def step(x):
    return {}


def main():
    step(torch.ones(2))
    step(torch.ones(2))
"""
PACKAGE = {
    "lib/__init__.py": "from .tracking import Tracker\nfrom .layers import Norm, SCALE, fused\n",
    "lib/tracking.py": "import absent\n\nclass Tracker(absent.Base):\n    run: absent.Run = absent.init()\n",
    "lib/layers.py": """\
        import absent_ops as ops
        from absent.norm import Fused, LIMITS

        @ops.jit(limits=LIMITS["all"])
        def fused(x: ops.Array) -> ops.Array | None:
            return x * 7

        class Norm(Fused):
            pass

        SCALE = 3.0
        """,
}


def with_files(project: Project, files: dict[str, str]) -> Project:
    for path, text in files.items():
        project.write(path, text)
    return project


def test_packages_that_siblings_lack(project: Project) -> None:
    trace = with_files(project, PACKAGE).arm(MAIN.format("from lib import SCALE, Norm", "x * SCALE"))
    assert trace["missing"] == [
        "left out: lib/tracking.py, line 1: ModuleNotFoundError: No module named 'absent'",
        "left out: lib/layers.py, line 1: ModuleNotFoundError: No module named 'absent_ops'",
        "left out: lib/layers.py, line 2: ModuleNotFoundError: No module named 'absent'",
    ]
    assert [result(call) for call in trace["calls"]] == [[3, 3], [3, 3]]
    assert trace["needs"] == []


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("x * 2 if isinstance(x, lib.Norm) else x", "`Norm` is derived from `absent.norm.Fused`, which could not be"),
        ("lib.fused(x)", "`absent_ops.jit` could not be imported: No module named 'absent_ops'"),
        ("x * lib.layers.LIMITS['high']", "`absent.norm.LIMITS` could not be imported: No module named 'absent'"),
        ("guarded(x)", "`absent_ops.jit` could not be imported"),
    ],
)
def test_calls_are_followed_up_to_one_that_needs_what_is_missing(
    project: Project, use: str, told: str, backend: str
) -> None:
    guarded = """
import lib

def guarded(x):
    try:
        return lib.fused(x)
    except Exception:
        return x

CALLS = []"""
    text = MAIN.format(guarded, f"x if CALLS.append(1) or len(CALLS) == 1 else {use}")
    trace = with_files(project, PACKAGE).arm(text, backend)
    assert len(trace["calls"]) == (1 if backend == "eager" else 0) or trace["calls"][0]["region"] == "step"
    assert len(trace["calls"]) < 2
    assert trace["needs"][0].startswith(told)
    assert trace["stop"] == {"kind": "enough"}


FALLBACKS = {
    "a handler": (
        "try:\n    import absent\nexcept ImportError:\n    absent = None\nSCALE = 2.0 if absent is None else 3.0\n"
    ),
    "a handler around a sibling": (
        "try:\n    from fused import SCALE\nexcept (ImportError, RuntimeError):\n    SCALE = 2.0\n"
    ),
    "a handler two files above": (
        "try:\n    import middle\nexcept ImportError:\n    SCALE = 2.0\nelse:\n    SCALE = 3.0\n"
    ),
    "a handler in a function": (
        "def load():\n    try:\n        import fused\n        return 3.0\n"
        "    except Exception:\n        return 2.0\n\nSCALE = load()\n"
    ),
    "suppress": "import contextlib\nSCALE = 2.0\nwith contextlib.suppress(ImportError):\n    from fused import SCALE\n",
    "find_spec": "import importlib.util\nSCALE = 2.0 if importlib.util.find_spec('absent') is None else 3.0\n",
    "a handler of another error": (
        "try:\n    from fused import SCALE\nexcept KeyError:\n    SCALE = 5.0\nSCALE = SCALE - 1\n"
    ),
}


@pytest.mark.parametrize("text", FALLBACKS.values(), ids=FALLBACKS)
@pytest.mark.parametrize("where", ["sibling", "own"])
def test_what_the_program_does_without_a_package_stays_its_own(project: Project, text: str, where: str) -> None:
    project.write("fused.py", "import absent\nSCALE = 3.0\n")
    project.write("middle.py", "import fused\n")
    project.write("settings.py", text)
    head = text if where == "own" else "from settings import SCALE"
    trace = project.arm(MAIN.format(head, "x * SCALE"))
    assert result(trace["calls"][0]) == [2, 2]


FAILING = {
    "arguments": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--w', required=True)\nARGS = p.parse_args()\n"
    ),
    "environment": "import os\nWIDTH = 4\nWIDTH = int(os.environ['NO_SUCH_VARIABLE'])\n",
    "data": "import json\nwith open('absent.json') as file:\n    CONFIG = json.load(file)\n",
    "weights": "import torch\nNET = torch.nn.Linear(2, 2)\nNET.load_state_dict(torch.load('absent.pt'))\n",
    "several names": "import absent\nFIRST, (SECOND, *REST) = absent.load()\n",
    "condition": "import absent\nif absent.is_available():\n    MODE = 'fast'\n",
    "hydra": "import absent\n@absent.main(config_path='conf')\ndef run(cfg):\n    pass\n\nrun()\n",
    "exit": "import sys\nsys.exit('usage')\n",
    "raise": "raise RuntimeError('no such device')\n",
    "decorated": "table = {}\n@table['absent']\ndef helper():\n    pass\n",
    "version": "from importlib.metadata import version\n__version__ = version('absent')\n",
    "GPU": "import torch\nDEVICE = torch.device('cuda')\nTABLE = torch.ones(2, device=DEVICE)\n",
    "shape": "import absent, torch\nNET = torch.nn.Linear(absent.WIDTH, 2)\n",
    "features": "from __future__ import annotations\nimport absent\ndef helper(x: Unknown): ...\n",
}


@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING)
def test_a_statement_of_a_sibling_that_fails(project: Project, text: str) -> None:
    project.write("settings.py", f"{text}\nSCALE = 2.0\n")
    trace = project.arm(MAIN.format("from settings import SCALE", "x * SCALE"))
    assert len(trace["missing"]) >= 1
    assert [result(call) for call in trace["calls"]] == [[2, 2], [2, 2]]


@pytest.mark.parametrize(
    ("kind", "name", "where"),
    [
        *(("arguments", "ARGS.w", where) for where in ("sibling", "own")),
        *(("environment", "WIDTH", where) for where in ("sibling", "own")),
        *(("data", "CONFIG['w']", where) for where in ("sibling", "own")),
        ("weights", "NET(x)", "sibling"),
    ],
)
def test_what_a_failed_statement_would_have_made_or_changed(project: Project, kind: str, name: str, where: str) -> None:
    project.write("settings.py", FAILING[kind])
    text = f"{FAILING[kind]}" if where == "own" else "from settings import *"
    trace = project.arm(MAIN.format(text, f"x * {name}"), kept=None)
    assert trace.get("failure") is None
    assert trace["calls"] == []
    (told,) = trace["needs"]
    assert told.startswith(f"`{name[:3]}")
    assert "could not be made: " in told


def test_imports_in_one_statement_fail_one_by_one(project: Project) -> None:
    project.write("parts.py", "SCALE = 2.0\n")
    project.write("settings.py", "import math, absent, torch.absent\nfrom parts import SCALE, absent as other\n")
    head = "from settings import math, torch, SCALE, other"
    trace = project.arm(MAIN.format(head, "torch.mul(x, SCALE) * math.floor(1.5)"))
    assert result(trace["calls"][0]) == [2, 2]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.set_default_dtype('float64')\n",
        "import os, torch\ntorch.set_default_dtype(os.environ['NO_SUCH_VARIABLE'])\n",
        "import os\nimport torch._dynamo.config as options\noptions.suppress_errors = os.environ['NO_SUCH_VARIABLE']\n",
        "import absent_dir\nfrom torch.utils._pytree import register_pytree_node as r\nr(Point, None, None)\n",
    ],
)
def test_what_a_sibling_does_to_torch_is_needed(project: Project, text: str) -> None:
    project.write("settings.py", f"{text}\nSCALE = 2.0\n")
    trace = project.arm(MAIN.format("import settings", "x"))
    assert trace["calls"] == []
    assert trace["failure"].startswith("line 2: ")


def test_an_error_of_torch_that_a_stand_in_led_to(project: Project) -> None:
    text = "import absent\nNET = torch.nn.Linear(absent.WIDTH, 2)\nSCALE = 2.0"
    assert result(project.arm(MAIN.format(text, "x * SCALE"))["calls"][0]) == [2, 2]
    assert project.arm(MAIN.format(text, "NET(x)"))["needs"][0].startswith("`NET` could not be made: line 3: TypeError")


def test_a_function_that_fails_before_it_has_done_anything_stays(project: Project) -> None:
    project.write("settings.py", "import absent\nSCALE = 2.0\ndef scale():\n    return SCALE\n\nabsent.run(scale())\n")
    project.write("more.py", "def setup(x=2.0):\n    return x * {}[x] if x is None else x\n\nsetup(None)\n")
    trace = project.arm(MAIN.format("from settings import scale\nfrom more import setup", "x * scale() * setup()"))
    assert result(trace["calls"][0]) == [4, 4]


def test_what_a_call_imports_is_part_of_what_it_does(project: Project) -> None:
    project.write("settings.py", "import absent\nSCALE = 2.0\n")
    trace = project.arm(MAIN.format("", "x * __import__('settings').SCALE"))
    assert trace["calls"][0]["error"]["links"][0]["type"] == "ModuleNotFoundError"
