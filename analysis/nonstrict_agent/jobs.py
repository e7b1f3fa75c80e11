"""The kinds of jobs that a sandboxed child performs."""

from __future__ import annotations

from typing import Any


def perform(job: dict[str, Any]) -> dict[str, Any]:
    """Perform a job and return what it found, as JSON.

    Raises:
        ValueError: no such kind of job.
    """
    kind = job.get("kind")
    if kind == "arm":
        from nonstrict_agent.arm import run_arm

        return run_arm(job)
    if kind == "inputs":
        from nonstrict_agent.searching import run_search

        return run_search(job)
    if kind == "fakes":
        from nonstrict_agent.fakes import run_fakes

        return run_fakes(job)
    if kind == "show":
        from nonstrict_agent.showing import run_show

        return run_show(job)
    if kind == "script":
        from nonstrict_agent.scripting import run_script

        return run_script(job)
    raise ValueError(f"no job of kind {kind!r}")
