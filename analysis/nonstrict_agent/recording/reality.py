"""Values of calls, described without a trace: real ones, and those of tracing as far as they tell of real ones."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import torch
from torch.utils import _python_dispatch as dispatch

from nonstrict_agent.inputs.specification import describe_call, nodes

#: The mode under which fake tensors stand for real ones, and those under which values stand for nodes of a graph.
_FAKE = "FakeTensorMode"
_TRACING = frozenset({"ProxyTorchDispatchMode", "FunctionalTensorMode", "PreDispatchTorchFunctionMode"})
#: Where torch traces and compiles.
_COMPILER = ("torch._dynamo", "torch._functorch", "torch._inductor", "torch._subclasses", "torch.fx")
_STANDING_IN = ("FakeTensor", "FunctionalTensor", "Proxy", "SymInt", "SymFloat", "SymBool")


def described(args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """The specification of a call; None where nothing is known of what its values stand for.

    It is marked as `traced` where some tensors are known by fakes alone, which have no values.

    Descriptions read values (ranges of indices): under a mode that records operations, or while a CUDA graph is
    captured, that would become part of what is recorded.
    """
    modes = {type(mode).__name__ for mode in dispatch._get_current_dispatch_mode_stack()}
    faked = _FAKE in modes
    if _TRACING & modes or torch._C._is_tracing() or _capturing() or (torch.compiler.is_compiling() and not faked):
        return None
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(dispatch._disable_current_modes())
        call = _stood_for(args, kwargs) if faked else describe_call(args, kwargs)
    if call is None:
        return None
    classes = (str(node.get("class", "")) for node in nodes(call) if node["kind"] == "unknown")
    if any(name.rpartition(":")[2] in _STANDING_IN and name.startswith("torch") for name in classes):
        return None
    return call


def is_refusal(error: BaseException) -> bool:
    """Whether the compiler raised an error, not the program: by the module of the error, or of its innermost frame."""
    known = sys.modules.get("torch._dynamo.exc")
    if known is not None and isinstance(error, known.TorchRuntimeError):
        return False  # which the program raised while it was traced
    places = [type(error).__module__]
    traceback = error.__traceback__
    while traceback is not None:
        innermost = str(traceback.tb_frame.f_globals.get("__name__", ""))
        places[1:], traceback = [innermost], traceback.tb_next
    return any(place == one or place.startswith(f"{one}.") for place in places for one in _COMPILER)


def _stood_for(args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    from nonstrict_agent.recording.fakes import Fakes, Unknown

    fakes = Fakes()
    try:
        call = describe_call(*fakes.out_of((args, kwargs)))
    except Unknown:
        return None
    return {**fakes.into(call), "traced": True} if fakes.specs else call


def _capturing() -> bool:
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()
