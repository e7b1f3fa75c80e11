"""Real values, told apart from those of tracing, and described without a trace."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch.utils import _python_dispatch as dispatch

from nonstrict_agent.inputs.specification import describe_call, nodes

#: Modes under which functions are given values that only stand for real ones.
_TRACING = frozenset(
    {"FakeTensorMode", "ProxyTorchDispatchMode", "FunctionalTensorMode", "PreDispatchTorchFunctionMode"}
)
_STANDING_IN = ("FakeTensor", "FunctionalTensor", "Proxy", "SymInt", "SymFloat", "SymBool")


def described(args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """The specification of a call; None while something traces, or where the values stand for others.

    Descriptions read values (ranges of indices): under a mode that records operations, or while a CUDA graph is
    captured, that would become part of what is recorded.
    """
    if _tracing():
        return None
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch._C.DisableTorchFunction())
        stack.enter_context(dispatch._disable_current_modes())
        call = describe_call(args, kwargs)
    classes = (str(node.get("class", "")) for node in nodes(call) if node["kind"] == "unknown")
    if any(name.rpartition(":")[2] in _STANDING_IN and name.startswith("torch") for name in classes):
        return None
    return call


def _tracing() -> bool:
    if torch._C._is_tracing() or torch.compiler.is_compiling():
        return True
    if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        return True
    return any(type(mode).__name__ in _TRACING for mode in dispatch._get_current_dispatch_mode_stack())
