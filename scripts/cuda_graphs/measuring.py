"""Runs programs on a GPU, or where there is none on one that is pretended, and tells what torch captured."""

from __future__ import annotations

import logging
import multiprocessing
import os
import tempfile
import types
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.pretending import Pretended, built_guard, pretended_gpu
from cuda_graphs.programs import TWO_GPUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cuda_graphs.programs import Program

_SKIPPING = "skipping cudagraphs due to "
_SILENT = "(no reason is given)"
#: What a row says that was not measured for want of a GPU.
NOT_MEASURED = "not measured"
#: Programs that run on GPUs at a time.
_ON_GPU = 4


class Captured(NamedTuple):
    """What became of a program.

    `recorded` CUDA graphs; `apart` are the reasons why operators were left out of them, `skipped` those why whole ones
    were, as torch words them. `outcome` is what became of results that were kept: `kept`, `overwritten` or the name of
    the exception; `error` the exception that ended the program, "" if none did.
    """

    recorded: int = 0
    apart: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    outcome: str = ""
    error: str = ""


def measured(programs: Sequence[Program], processes: int | None = None) -> list[Captured]:
    """What becomes of each program, in a process of its own."""
    import torch

    context = multiprocessing.get_context("spawn")
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    with tempfile.TemporaryDirectory() as folder:
        guard = None if gpus else built_guard(Path(folder))
        with context.Pool(processes or processes_for(gpus), maxtasksperchild=1) as pool:
            return pool.map(partial(captured, guard=guard), programs, chunksize=1)


def processes_for(gpus: int) -> int:
    """How many programs run at a time: on a GPU, each takes memory of it, too."""
    processors = os.cpu_count() or 1
    return min(processors, _ON_GPU) if gpus else processors


def captured(program: Program, guard: Path | None = None) -> Captured:
    """Run one program; without a GPU on one that is pretended, with a `guard` for it."""
    import torch

    warnings.filterwarnings("ignore")
    logging.getLogger("torch").setLevel(logging.ERROR)
    if not is_met(program.needs, 0 if guard is not None else torch.cuda.device_count()):
        return Captured(outcome=NOT_MEASURED)
    if guard is None:
        return _on_gpu(program)
    with pretended_gpu(guard) as told:
        skipped, error = _ran(program)
    # What was compiled may not run on tensors without data.
    return _summed(told, skipped, "" if told.parts else error)


def is_met(needs: str, gpus: int) -> bool:
    """Whether a machine with so many GPUs has what a program needs; without any, as many as it likes are pretended."""
    return gpus != 1 if needs == TWO_GPUS else gpus > 0 or not needs


def _summed(told: Pretended, skipped: list[str], error: str) -> Captured:
    apart = dict.fromkeys(reason for part in told.parts for reason in part)
    return Captured(told.recorded, (*apart,), (*dict.fromkeys(skipped),), error=error)


def _on_gpu(program: Program) -> Captured:
    from torch._inductor import config, cudagraph_trees, scheduler

    told = Pretended()
    # What is taken from a cache is not partitioned anew; a pool of compilers costs each process more than it saves.
    config.force_disable_caches = True
    config.compile_threads = 1
    record, partition = cudagraph_trees.CUDAGraphTreeManager.record_function, scheduler.Scheduler.graph_partition

    def recording(self: Any, *given: Any, **named: Any) -> Any:
        told.recorded += 1
        return record(self, *given, **named)

    def partitioning(self: Any) -> Any:
        reasons = [self.should_partition(node) for node in self.nodes]
        told.parts.append((*dict.fromkeys(reason for reason in reasons if reason),))
        return partition(self)

    cudagraph_trees.CUDAGraphTreeManager.record_function = recording
    scheduler.Scheduler.graph_partition = partitioning
    namespace: dict[str, Any] = {}
    skipped, error = _ran(program, namespace)
    return _summed(told, skipped, error)._replace(outcome=_outcome(namespace.get("RESULT")))


def _outcome(result: tuple[list[Any], list[Any]] | None) -> str:
    """What results hold at the end that a program kept, beside what they held when they were computed."""
    import torch

    if result is None:
        return ""
    try:
        same = all(torch.equal(one, other) for one, other in zip(*result, strict=True))
    except RuntimeError as error:
        return type(error).__name__
    return "kept" if same else "overwritten"


def _ran(program: Program, namespace: dict[str, Any] | None = None) -> tuple[list[str], str]:
    """Run a program: why torch skipped CUDA graphs, and the exception that ended it."""
    from torch._dynamo.utils import counters
    from torch._inductor.cudagraph_utils import cudagraphs_log

    told = _Told()
    counters.clear()
    cudagraphs_log.addHandler(told)
    cudagraphs_log.setLevel(logging.WARNING)
    module = types.ModuleType("program")
    vars(module).update({"DEVICE": "cuda:0", "OTHER": "cuda:1"})
    error = ""
    try:
        exec(compile(program.text, "<program>", "exec"), vars(module))  # noqa: S102 - programs of this package
    except Exception as raised:  # noqa: BLE001 - whatever torch raises ends the program
        error = type(raised).__name__
    if namespace is not None:
        namespace.update(vars(module))
    silent = [_SILENT] if counters["inductor"]["cudagraph_skips"] > len(told.messages) else []
    return [*_reasons(told.messages), *silent], error


def _reasons(messages: list[str]) -> Iterator[str]:
    """Messages without the places of the program that they name."""
    for message in messages:
        reason = message.split(". Found from")[0].split(" (")[0].strip()
        yield reason.removeprefix(_SKIPPING).removeprefix(_SKIPPING)


class _Told(logging.Handler):
    """Keeps the messages of a log."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
