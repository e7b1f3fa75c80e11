"""A GPU that is not there: Inductor compiles for it, and every run only says of which sizes the results are.

Tensors are fake (`torch._subclasses.fake_tensor`). What torch asks of CUDA before it compiles is answered here; then
its own code decides which parts of a graph go into CUDA graphs, why others do not, and when it records another one:
`torch/_inductor/scheduler.py` (`should_partition`), `cudagraph_utils.py`, `output_code.py` and `cudagraph_trees.py` of
torch 2.13. Memory does not exist: which results are overwritten cannot be asked.
"""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sysconfig
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

#: torch without CUDA refuses operators on tensors of a device of which it has no guard.
_GUARD = """\
#include <c10/core/impl/DeviceGuardImplInterface.h>
using Guard = c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>;
C10_REGISTER_GUARD_IMPL(CUDA, Guard)
"""
#: What Inductor asks of a GPU, as an H200 answers.
_PROPERTIES = SimpleNamespace(
    type="cuda",
    index=0,
    name="NVIDIA H200",
    gcnArchName="",  # what is asked for in a build without CUDA
    major=9,
    minor=0,
    multi_processor_count=132,
    max_threads_per_multi_processor=2048,
    max_threads_per_block=1024,
    regs_per_multiprocessor=65536,
    warp_size=32,
    total_memory=150_000_000_000,
    shared_memory_per_block_optin=232448,
)


class Pretended:
    """What torch decided: why it left parts of each graph out, and how many CUDA graphs it would have recorded."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, ...]] = []
        self.recorded = 0


def built_guard(folder: Path) -> Path:
    """The library that gives torch a guard of CUDA devices, built in a folder."""
    import torch

    source, library = folder / "guard.cpp", folder / f"guard{sysconfig.get_config_var('SHLIB_SUFFIX')}"
    source.write_text(_GUARD, encoding="utf-8")
    home = Path(torch.__file__).parent
    options = ["-std=c++20", "-shared", "-fPIC", "-I", home / "include", "-L", home / "lib"]
    subprocess.run(["g++", *options, source, "-lc10", "-o", library], check=True)
    return library


@contextlib.contextmanager
def pretended_gpu(guard: Path) -> Generator[Pretended]:
    """Pretend that there is a GPU, in a process of its own."""
    import torch
    from torch._dynamo.device_interface import CudaInterface
    from torch._inductor import config, cudagraph_trees, graph, scheduler
    from torch._inductor.fx_passes import joint_graph, post_grad
    from torch._subclasses.fake_tensor import FakeTensorMode

    ctypes.CDLL(str(guard))  # needs what torch has loaded
    told = Pretended()
    answers: list[tuple[object, str, object]] = [
        (torch.cuda, "get_device_properties", lambda *_: _PROPERTIES),
        (torch.cuda, "get_device_capability", lambda *_: (_PROPERTIES.major, _PROPERTIES.minor)),
        (torch.cuda, "current_device", lambda: 0),
        (torch.cuda, "device_count", lambda: 2),
        (CudaInterface, "get_device_properties", staticmethod(lambda *_: _PROPERTIES)),
        (CudaInterface.Worker, "get_device_properties", staticmethod(lambda *_: _PROPERTIES)),
        (scheduler, "has_triton", lambda *_: True),
        # Patterns are matched with tensors that are real.
        (joint_graph, "lazy_init", lambda *_: None),
        (post_grad, "lazy_init", lambda *_: None),
        (graph.GraphLowering, "compile_to_module", lambda self: _Module(self, told)),
        (cudagraph_trees, "cudagraphify", _cudagraphified(told)),
    ]
    with contextlib.ExitStack() as stack:
        for owner, name, answer in answers:
            stack.enter_context(mock.patch.object(owner, name, answer))
        # Constants are folded by computing them, and what is cached was not decided now.
        stack.enter_context(config.patch({"joint_graph_constant_folding": False, "force_disable_caches": True}))
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        yield told


class _Module:
    """Stands where torch has the module of the code that it generates; `runner` is what it takes the parts from."""

    def __init__(self, graph: Any, told: Pretended) -> None:
        from torch._inductor.virtualized import V

        self.__file__ = ""
        self.runner = self
        self._graph = graph.module
        graph.init_wrapper_code()
        graph._update_scheduler()
        reasons = [graph.scheduler.should_partition(node) for node in graph.scheduler.nodes]
        _, signatures = graph.scheduler.graph_partition() if V.graph is graph else ((), ())
        told.parts.append((*dict.fromkeys(reason for reason in reasons if reason),))
        self._inputs = list(graph.graph_inputs.items())
        self._signatures = [one for one in signatures if not one.skip_cudagraph]
        self._parts: list[Callable[[list[Any]], Any]] = [_nothing] * len(self._signatures)

    def recursively_apply_fns(self, wrappers: Sequence[Callable[[Any], Any]]) -> None:
        """Called by torch with what captures each part in a CUDA graph."""
        self._parts = [wrap(part) for wrap, part in zip(wrappers, self._parts, strict=True)]

    @property
    def partitions(self) -> list[Callable[[list[Any]], Any]]:
        """The parts, which torch deletes with the graph."""
        return self._parts

    @partitions.deleter
    def partitions(self) -> None:
        self._parts = []

    def call(self, given: list[Any]) -> Any:
        """Run the graph on fake tensors, after each part was asked whether it is recorded."""
        import torch

        inputs = dict(zip((name for name, _ in self._inputs), given, strict=True))
        numbers = {str(symbol): inputs[name] for name, symbol in self._inputs if isinstance(inputs[name], int)}
        for part, signature in zip(self._parts, self._signatures, strict=True):
            # A result of another part has some memory or other.
            tensors = [inputs[name] if name in inputs else torch.empty(1) for name in signature.input_nodes]
            # A size that follows from data is some number or other.
            part([*tensors, *(numbers.get(str(symbol), 1) for symbol in signature.symbol_inputs)])
        result = self._graph(*given)
        given.clear()
        return result


def _nothing(given: list[Any]) -> list[Any]:
    return []


def _cudagraphified(told: Pretended) -> Callable[..., Any]:
    """In the place of what records a CUDA graph: asks torch whether it would, and counts."""

    def cudagraphify(
        model: Callable[[list[Any]], Any],
        inputs: list[Any],
        static_input_idxs: Sequence[int] = (),
        *,
        placeholders: Sequence[Any] = (),
        mutated_input_idxs: Sequence[int] = (),
        **_: Any,
    ) -> tuple[Callable[[list[Any]], Any], Any]:
        from torch._inductor import cudagraph_utils

        function = cudagraph_utils.WrappedFunction(
            model, static_input_idxs, cudagraph_utils.FunctionID(0), (), placeholders, mutated_input_idxs
        )
        reason = cudagraph_utils.check_for_mutation(function, inputs, lambda _: False)
        if reason is None:
            told.recorded += 1
        else:
            cudagraph_utils.log_cudagraph_skip_and_bump_counter(reason)
        return model, model(inputs)

    return cudagraphify
