"""What torch does about CUDA graphs in each call of a region: what it records and replays, and what it leaves out.

The places, of torch 2.13: a run of a captured function passes `run_eager` while it is warmed up, `record_function`
once, from then on `execute_node` (`CUDAGraphTreeManager` in `torch/_inductor/cudagraph_trees.py`). What runs without
CUDA graphs is told by a warning of the log `cudagraphs` and counted in `counters["inductor"]["cudagraph_skips"]`
(`log_cudagraph_skip_and_bump_counter` in `cudagraph_utils.py`); of tensors that change it is told once for each
function. Operators are left out of the CUDA graphs of a graph, without a word, where `Scheduler.should_partition` has a
reason (`scheduler.py`).
"""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable

#: How torch begins to say that something runs without CUDA graphs; it puts one reason into another.
_SKIPPING = re.compile(r"(?:(?:skipping|disabling) cudagraphs? (?:for backward )?due to )+")
_FOUND_FROM = re.compile(r"\. Found from ?:")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
#: What torch gives as the reason where CUDA graphs are not asked for.
_NOT_ASKED = "partition includes all ops when cudagraphs is disabled"
_COUNTED = "cudagraph_skips"
_MAX_TEXT = 200
_MAX_REASONS = 50
#: What of a program is about CUDA graphs among the options of Inductor.
_ABOUT = ("triton.cudagraph", "graph_partition", "cpp_wrapper")
_CUDA_GRAPHS = "triton.cudagraphs"
#: The backend of torch that makes CUDA graphs of what Dynamo traced, without Inductor.
CUDA_GRAPHS_BACKEND = "cudagraphs"
#: The options of Inductor where no CUDA graphs are to be made.
NO_CUDA_GRAPHS = {_CUDA_GRAPHS: False}


class Reason(TypedDict):
    """Why something runs without CUDA graphs, as torch words it; `lines` are those of the user's that it names."""

    text: str
    lines: list[list[Any]]


class Graphed(TypedDict):
    """What became of the functions that are to be captured, from a call of a region to the next one.

    `begun` are those of forward passes that are warmed up for the first time, `warmed` are all warm-ups, and `waiting`
    those of them that are repeated because a backward pass is pending. `skips` counts what torch runs without CUDA
    graphs, of which it has `told`; `skipped` says why, each reason once. `apart` is why operators are left out; where
    this torch does not say that in a known way, the record is `deaf`.
    """

    begun: int
    warmed: int
    waiting: int
    recorded: int
    replayed: int
    skips: int
    told: int
    skipped: list[Reason]
    apart: list[Reason]
    deaf: bool


def nothing_yet() -> Graphed:
    """Of a call in which nothing happened so far."""
    return Graphed(
        begun=0, warmed=0, waiting=0, recorded=0, replayed=0, skips=0, told=0, skipped=[], apart=[], deaf=False
    )


def options_of(options: dict[str, Any]) -> dict[str, Any]:
    """What the options of `torch.compile` say of CUDA graphs, as options of Inductor; empty if they are not asked for.

    A mode is what torch 2.13 makes of it (`list_mode_options` in `torch/_inductor/__init__.py`), without what it tunes,
    which takes minutes and is no matter of CUDA graphs.
    """
    import torch._inductor

    chosen: dict[str, Any] = dict(options.get("options") or {})
    mode = options.get("mode")
    if isinstance(mode, str) and hasattr(torch._inductor, "list_mode_options"):
        chosen |= torch._inductor.list_mode_options().get(mode, {})
    found = {name: value for name, value in chosen.items() if name.startswith(_ABOUT)}
    return found if found.get(_CUDA_GRAPHS) else {}


class CudaGraphs:
    """Collects all of it; `is_user` says whether a file is the user's."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._now = nothing_yet()
        self._counted = 0
        #: Whether this torch has the places.
        self.listening = False

    def install(self) -> None:
        """Begin to listen, for the rest of the process."""
        from torch._inductor import cudagraph_trees, cudagraph_utils, scheduler

        manager = cudagraph_trees.CUDAGraphTreeManager
        places: list[tuple[Any, str, Callable[..., Any]]] = [
            (manager, "run_eager", self._warmed),
            (manager, "record_function", self._recorded),
            (manager, "execute_node", self._replayed),
            (scheduler.Scheduler, "graph_partition", self._partitioned),
        ]
        log = getattr(cudagraph_utils, "cudagraphs_log", None)
        if log is None or not all(hasattr(owner, name) for owner, name, _ in places):
            return
        self.listening = True
        for owner, name, hear in places:
            setattr(owner, name, _around(getattr(owner, name), hear))
        log.addHandler(_Heard(self._skipped))
        if not log.isEnabledFor(logging.WARNING):
            log.setLevel(logging.WARNING)
        self._counted = _skips()

    def begin(self, record: dict[str, Any]) -> None:
        """A call begins, with its record: what happens from now on, also after it and before the next one, is there."""
        self.settle()
        record["graphed"] = self._now = nothing_yet()

    def settle(self) -> None:
        """Take in what torch only counts."""
        count = _skips()
        self._now["skips"] += max(count - self._counted, 0)
        self._counted = count

    def _warmed(self, original: Callable[..., Any], manager: Any, inputs: Any, function: Any) -> Any:
        self._now["warmed"] += 1
        if function in getattr(manager, "warmed_up_functions", ()):
            self._now["waiting"] += _waits(manager)
        else:
            self._now["begun"] += not _is_backward(manager, function)
        return original(manager, inputs, function)

    def _recorded(self, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
        self._now["recorded"] += 1
        return original(*given, **named)

    def _replayed(self, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
        self._now["replayed"] += 1
        return original(*given, **named)

    def _partitioned(self, original: Callable[..., Any], scheduler: Any, *given: Any, **named: Any) -> Any:
        try:
            for node in scheduler.nodes:
                reason = scheduler.should_partition(node)
                if isinstance(reason, str) and reason != _NOT_ASKED:
                    self._note("apart", reason, _trace_of(node))
                elif reason is not None and not isinstance(reason, str):
                    self._now["deaf"] = True  # an older one says only whether it has a reason
        except Exception:  # noqa: BLE001 - a torch that works otherwise is not heard, and works on
            self._now["deaf"] = True
        return original(scheduler, *given, **named)

    def _skipped(self, message: str) -> None:
        reason, *places = _FOUND_FROM.split(message, maxsplit=1)
        begin = _SKIPPING.match(reason)
        if begin is None:
            return  # that too many sizes are recorded, for instance
        self._now["told"] += 1
        self._note("skipped", reason[begin.end() :].strip(), "".join(places))

    def _note(self, kind: str, text: str, trace: str) -> None:
        places = dict.fromkeys((os.path.abspath(path), int(line)) for path, line in _FRAME.findall(trace))
        reason = Reason(text=text[:_MAX_TEXT], lines=[[*place] for place in places if self._is_user(place[0])])
        known = self._now["skipped"] if kind == "skipped" else self._now["apart"]
        if reason not in known and len(known) < _MAX_REASONS:
            known.append(reason)


class _Heard(logging.Handler):
    def __init__(self, hear: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        self._hear(record.getMessage())


def _around(original: Callable[..., Any], hear: Callable[..., Any]) -> Callable[..., Any]:
    def heard(*given: Any, **named: Any) -> Any:
        return hear(original, *given, **named)

    return heard


def _waits(manager: Any) -> bool:
    """Whether a function is warmed up again for a backward pass that is pending.

    It is also where a step that the program began goes on, or where another function of the path is new.
    """
    marked = getattr(manager, "user_invoked_mark_step", bool)() is True
    return getattr(manager, "running_forwards_with_pending_backwards", False) is True and not marked


def _is_backward(manager: Any, function: Any) -> bool:
    return getattr(getattr(manager, "id_to_mode", {}).get(function), "name", "") == "BACKWARD"


def _skips() -> int:
    from torch._dynamo.utils import counters

    return int(counters["inductor"][_COUNTED])


def _trace_of(node: Any) -> str:
    """Where an operator comes from, that Inductor schedules: of several that are fused, all of them."""
    inner = getattr(node, "snodes", None) or [node]
    origins = (getattr(one.node, "origins", None) or () for one in inner if one.node is not None)
    return "\n".join(str(origin.meta.get("stack_trace") or "") for found in origins for origin in found)
