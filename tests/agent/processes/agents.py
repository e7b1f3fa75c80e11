"""Agents for tests: with the real torch, or with a stand-in that makes them start in a moment; and their processes."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path

from nonstrict.confirm.client import Agent, Options
from nonstrict.confirm.launching import MARKER
from nonstrict_agent.isolation.tiers import probe

JOBS = Path(__file__).with_name("jobs.py")

#: As much of torch as the agent itself touches.
STAND_IN = """
import sys, types

class Number:
    def sum(self): return self
    def backward(self): pass
    def __mul__(self, other): return self
    def __add__(self, other): return self

__version__ = "9.9.0"
version = types.SimpleNamespace(cuda=None)
compiler = types.SimpleNamespace()
set_num_threads = lambda number: None
rand = lambda *shape, **options: Number()
sin = lambda x: x
compile = lambda function, **options: function
_dynamo = types.ModuleType("torch._dynamo")
_dynamo.reset = lambda: None
_dynamo.nonstrict_trace = lambda function: function
for module in (_dynamo, types.ModuleType("torch._inductor"), types.ModuleType("torch._inductor.compile_fx")):
    sys.modules[module.__name__] = module
"""


def tiers():
    """The isolation that works here, best first, and none."""
    return [*(offer.tier.value for offer in probe() if offer.available), "none"]


def torch_of(directory, source=STAND_IN):
    """A directory with a package `torch` of this source, for PYTHONPATH."""
    package = directory / "stand-in" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(source)
    return str(package.parent)


def job(function, **arguments):
    return {"kind": "python", "file": str(JOBS), "function": function, "arguments": arguments}


@contextmanager
def started(directory, **options):
    """An agent with its project and cache below a directory, sure to leave no process."""
    project = directory / "project"
    project.mkdir(exist_ok=True)
    chosen = Options(directory / "cache", isolation=tiers()[0], testing=True)._replace(**options)
    agent = Agent(sys.executable, project, chosen)
    with agent:
        marker = marker_of(agent)
        yield agent
    assert gone(marker), processes(marker)


def marker_of(agent):
    """What the processes of an agent have in common, and no other."""
    found = []

    def look():
        # A moment after its start a process may not have its own environment yet.
        found[:] = [entry for entry in environment(agent._process.pid) if entry.startswith(f"{MARKER}=".encode())]
        return found

    assert wait_until(look)
    return found[0]


def environment(process):
    try:
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def processes(marker):
    """Command lines of the processes of one agent that are alive, by id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and marker in environment(entry.name):
            try:
                found[int(entry.name)] = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
    return found


def role_of(command):
    """The role of a process of the agent: broker (two), zygote or worker; "" for those it started."""
    for index, word in enumerate(command):
        if word.endswith(b"nonstrict_agent"):
            return command[index + 1].decode()
    return ""


def gone(marker, seconds=5.0):
    """Whether every process of an agent is gone, now or soon."""
    return wait_until(lambda: not processes(marker), seconds)


def wait_until(condition, seconds=20.0):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return True
