"""The job that shows what torch makes of a program: its graphs, or the code of Inductor."""

from __future__ import annotations

import inspect
import os
import sys
from typing import TYPE_CHECKING, Any, cast

from nonstrict_agent.arm import Modules, drive, program_in
from nonstrict_agent.code_lines import track_kernels
from nonstrict_agent.graphs import Collector
from nonstrict_agent.loading import LoadError, load
from nonstrict_agent.observe.events import Events
from nonstrict_agent.observe.records import LogRecords
from nonstrict_agent.origins import install_origins
from nonstrict_agent.project_files import install_project, user_files
from nonstrict_agent.recorder import EnoughCalls, Recorder, Recording, Region, seed
from nonstrict_agent.regions import INDUCTOR, install_regions

if TYPE_CHECKING:
    from collections.abc import Callable

GRAPH = "graph"


def run_show(job: dict[str, Any]) -> dict[str, Any]:
    """Run a program and return the graphs (`show` is "graph") or the code ("code") that torch made of it.

    The job holds the fields of an arm's program and driver. The answer holds `shown` (see `graphs.Shown`, as objects),
    `calls` (the number of calls of regions), `error` of the first call that raised, and `failure` with a sentence
    where the program did not get as far as the driver.
    """
    sys.argv = [job["path"]]
    is_user = user_files(job["root"], job["path"])
    collector = Collector(is_user, job["root"], "" if job["show"] == GRAPH else INDUCTOR)
    recorder = _Recorder(collector, is_user, job.get("calls", 6))
    _settle(job["show"], collector)
    install_origins(is_user)
    # `torch.compile` takes a function wherever it takes a name.
    install_regions(recorder, cast("str", collector.backend))
    install_project(job["root"], job["path"], job.get("overlays", {}))
    os.chdir(os.path.dirname(job["path"]) or "/")
    answer: dict[str, Any] = {}
    seed(0)
    try:
        module = load(program_in(job))
        collector.parameters = _parameters(module, job["driver"]["name"])
        answer["stop"] = drive(job["driver"], module, is_user)
        # Versions of torch without that setting make a backward graph only when it is needed.
        recorder.gradients()
    except LoadError as error:
        answer["failure"] = str(error)
    except EnoughCalls:
        answer["stop"] = {"kind": "enough"}
    answer["calls"] = len(recorder.calls)
    answer["error"] = next((call["error"] for call in recorder.calls if "error" in call), None)
    answer["shown"] = [{**one._asdict(), "places": sorted(one.places)} for one in collector.shown]
    return answer


def _settle(show: str, collector: Collector) -> None:
    """Let torch compile afresh, and hand over what it makes."""
    import torch._functorch.config as functorch

    # Backward graphs come when they are first needed otherwise, which may be never.
    functorch.force_non_lazy_backward_lowering = True
    if show == GRAPH:
        return
    import torch._inductor.config as inductor
    from torch._inductor.graph import GraphLowering

    inductor.force_disable_caches = True
    functorch.enable_autograd_cache = False
    inductor.fallback_random = True
    inductor.compile_threads = 1
    GraphLowering.save_output_code = staticmethod(collector.add_code)
    track_kernels()


def _parameters(module: Any, name: str) -> tuple[str, ...]:
    """The names of a function's parameters, as far as it tells them."""
    from nonstrict_agent.schedule import member

    try:
        return tuple(inspect.signature(member(module, name)).parameters)
    except (LoadError, TypeError, ValueError):
        return ()


class _Recorder(Recorder):
    """Follows the calls of regions, and keeps the graphs that are traced ahead of time."""

    def __init__(self, collector: Collector, is_user: Callable[[str], bool], calls: int) -> None:
        recording = Recording(is_user=is_user, modules=Modules(is_user), calls=calls, each=calls)
        super().__init__(recording, Events(is_user), LogRecords(is_user))
        self._collector = collector

    def call(self, region: Region, function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
        self._collector.region = region.name
        return super().call(region, function, arguments, keywords)

    def trace(self, region: str, tracer: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
        nested = self._inside
        made = super().trace(region, tracer, arguments, keywords)
        if not nested:
            self._collector.region = region
            self._collector.add(getattr(made, "graph_module", made), "", "")
        return made
