"""Brings a process to where jobs start fast: torch imported, a first function compiled, its objects out of the way."""

from __future__ import annotations

import gc
import importlib
import os
import platform
import time
from typing import TYPE_CHECKING, Any

from nonstrict_agent import environment
from nonstrict_agent.isolation import accelerators

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


class Unusable(Exception):  # noqa: N818 - says what is the case
    """This interpreter cannot run experiments: a reason for programs, and a sentence for people."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class Stopwatch:
    """Tells each step as it begins, with what the one before it took."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell = tell
        self._began = self._last = time.perf_counter()

    def step(self, name: str, text: str, **details: Any) -> None:
        """A step begins; `took` is of the one before, `total` of all, in seconds."""
        now = time.perf_counter()
        took, total, self._last = round(now - self._last, 3), round(now - self._began, 3), now
        self._tell({"event": "state", "name": name, "text": text, "took": took, "total": total, **details})


def import_torch(watch: Stopwatch) -> ModuleType:
    """Import torch and its compiler, told step by step; one thread from then on.

    Raises:
        Unusable: there is no torch, it cannot be imported, or it is too old.
    """
    watch.step("importing", "importing torch")
    try:
        torch = importlib.import_module("torch")
    except Exception as error:  # A broken installation raises whatever it likes.
        raise Unusable(*environment.torch_missing(error)) from error
    if problem := environment.torch_too_old(torch):
        raise Unusable(*problem)
    torch.set_num_threads(1)
    for name in ("torch._dynamo", "torch._inductor.compile_fx"):
        watch.step("importing", f"importing {name}")
        importlib.import_module(name)
    return torch


def start_autograd(torch: ModuleType) -> None:
    """Let autograd start its threads while it counts no GPU: none then, and forks can compute gradients.

    It starts one thread for each GPU at the first backward pass of a process, never again, and refuses to work in
    forks of a process that has such threads (`torch/csrc/autograd/engine.cpp`, `start_device_threads`). Without a
    visible GPU there are none, unless a compiler ran before: where torch was built with CUDA, `FakeTensorMode` pretends
    that there are eight GPUs from then on (`c10/core/impl/FakeGuardImpl.h`). Measured with torch 2.15.0+cu132 on a
    machine without a GPU: eight `pt_autograd_N` threads after `compile_once` alone, none after this.
    """
    torch.rand(1, requires_grad=True).sum().backward()


def compile_once(torch: ModuleType, backend: str) -> None:
    """Compile and run one small marked function, forward and backward, and forget it again."""
    scale = 2.0
    dynamo = importlib.import_module("torch._dynamo")
    marker = getattr(dynamo, "nonstrict_trace", None) or getattr(torch.compiler, "nonstrict_trace", lambda f: f)

    def body(x: Any) -> Any:
        return torch.sin(x) * scale

    marked = marker(body)
    compiled = torch.compile(lambda x: marked(x) + 1, backend=backend)
    compiled(torch.rand(8, requires_grad=True)).sum().backward()
    compiled(torch.rand(8))
    dynamo.reset()


def settle() -> None:
    """Move what lives now out of the collector's sight: children that collect would copy its pages otherwise."""
    gc.collect()
    gc.freeze()


def description(torch: ModuleType) -> dict[str, Any]:
    """What "ready" tells of this interpreter; "cuda" is whether torch and the machine look as if it worked."""
    gpu = accelerators.may_have_cuda(os.environ)
    return {
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "cuda": bool(getattr(torch.version, "cuda", None)) and gpu,
    }
