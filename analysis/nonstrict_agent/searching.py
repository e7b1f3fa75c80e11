"""The job that looks for arguments of a function: examples in its docstring, then a search guided by eager errors."""

from __future__ import annotations

from typing import Any

from nonstrict_agent.arm import program_in
from nonstrict_agent.inputs.docstrings import examples
from nonstrict_agent.inputs.search import Found, NotFound, find_inputs
from nonstrict_agent.loading import LoadError, load
from nonstrict_agent.project_files import install_project
from nonstrict_agent.schedule import member
from nonstrict_agent.stand_ins import compared


def run_search(job: dict[str, Any]) -> dict[str, Any]:
    """Search arguments for the function `job["name"]` of a program.

    The job holds the fields of an arm's program, `wanted` (lines by file that a call must execute), `search_seconds`.
    The answer holds `calls` (specifications), `examples` (source texts), `how`, and `failure` where nothing was found.
    """
    install_project(job["root"], job["path"], job.get("overlays", {}))
    try:
        module = load(program_in(job))
        function = member(module, job["name"])
    except LoadError as error:
        return {"calls": [], "examples": [], "failure": str(error), "stage": "load"}
    needs: list[str] = []
    with compared(needs):
        found = find_inputs(
            function,
            namespace=vars(module),
            seconds=job.get("search_seconds", 3.0),
            required_lines={path: set(lines) for path, lines in job.get("wanted", {}).items()},
            variants=2,
        )
    told = examples(function)
    if isinstance(found, Found):
        return {"calls": found.calls, "examples": told, "how": found.how}
    if needs:
        return {"calls": [], "examples": told, "failure": needs[0], "stage": "needs"}
    return {"calls": [], "examples": told, "failure": found.reason, "stage": _stage(found)}


def _stage(found: NotFound) -> str:
    """What a search was short of."""
    return "line" if found.missed else "needs-cuda" if found.on_gpu else "inputs"
