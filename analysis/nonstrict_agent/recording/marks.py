"""The places of torch through which functions are marked and regions compiled, and what is put in front of them.

A marker is given a function that records, in place of the user's: what it returns is recorded inside. The result of a
compiler is put into a function that records: whatever it does, its calls have real arguments. Functions that are not
of the project are passed through untouched.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from nonstrict_agent.recording.calls import Watch, recording, target_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict_agent.recording.calls import Recorder

_MARKERS = ("nonstrict_trace", "allow_in_graph", "leaf_function")
#: What markers call the function that they are given.
_PARAMETERS = ("traceable_fn", "fn")


def _on_torch(torch: Any, recorder: Recorder) -> None:
    recorder.note("torch", version=str(torch.__version__))
    torch.compile = _compiler(torch.compile, recorder, "model")
    library = torch.library
    if hasattr(library, "custom_op"):
        library.custom_op = _declaration(library.custom_op, recorder)


def _on_dynamo(dynamo: Any, recorder: Recorder) -> None:
    if recorder.eager:
        # Compiled code would call the marked functions while tracing only, with values that stand for real ones.
        # `config.disable` would do it too, but `fullgraph=True` raises under it (torch 2.13, eval_frame.py).
        dynamo.set_stance("force_eager")
    else:
        # Regions begin at a marked function too: what is ours there is not to be compiled.
        Watch.look = dynamo.disable(Watch.look)
        Watch.keep = dynamo.disable(Watch.keep)
        Watch.refused = dynamo.disable(Watch.refused)
        recorder.skip_code = dynamo.eval_frame.skip_code
    decorators = dynamo.decorators
    for name in _MARKERS:
        original = getattr(decorators, name, None)
        if original is None:
            continue
        patched = _marker(original, recorder)
        for holder in (decorators, dynamo):
            if getattr(holder, name, None) is original:
                setattr(holder, name, patched)


def _on_proxy_tensor(proxy_tensor: Any, recorder: Recorder) -> None:
    proxy_tensor.make_fx = _compiler(proxy_tensor.make_fx, recorder, "f")


HOOKS = {
    "torch": _on_torch,
    "torch._dynamo": _on_dynamo,
    "torch.fx.experimental.proxy_tensor": _on_proxy_tensor,
}


def _marker(original: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    """A marker, with and without arguments: `mark(f)`, `mark(**options)(f)`."""

    @functools.wraps(original)
    def mark(*args: Any, **kwargs: Any) -> Any:
        if args:
            return original(recorder.watched(args[0]), *args[1:], **kwargs)
        named = {name: recorder.watched(kwargs[name]) for name in _PARAMETERS if kwargs.get(name) is not None}
        marked = original(**{**kwargs, **named})
        return marked if named else _applied(marked, recorder)

    return mark


def _declaration(original: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    """`custom_op(name, f, ...)` and `custom_op(name, ...)(f)`."""

    @functools.wraps(original)
    def declare(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and args[1] is not None:
            return original(args[0], recorder.watched(args[1]), *args[2:], **kwargs)
        return _applied(original(*args, **kwargs), recorder)

    return declare


def _applied(decorator: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def apply(function: Any) -> Any:
        return decorator(recorder.watched(function))

    return apply


def _compiler(original: Callable[..., Any], recorder: Recorder, parameter: str) -> Callable[..., Any]:
    """`torch.compile` and `make_fx`; without a function they return a decorator that asks again."""

    @functools.wraps(original)
    def compiler(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        model = args[0] if args else kwargs.get(parameter)
        return result if model is None or result is model else _region(model, result, recorder)

    return compiler


def _region(model: Any, compiled: Any, recorder: Recorder) -> Any:
    """A compiled function or module that records its calls; a module stays the object that it is."""
    import torch

    target, bound = target_of(model)
    watch = recorder.watch(target) if target is not None else None
    if watch is None:
        return compiled
    if isinstance(compiled, torch.nn.Module):
        compiled.forward = _outside(compiled.forward, recording(compiled.forward, watch, bound))
        return compiled
    return _outside(compiled, recording(compiled, watch, bound))


def _outside(compiled: Callable[..., Any], recorded: Callable[..., Any]) -> Callable[..., Any]:
    """`recorded`, but `compiled` itself where another region is being traced through it."""
    import torch

    is_compiling = torch.compiler.is_compiling

    @functools.wraps(recorded)
    def region(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        chosen = compiled if is_compiling() else recorded
        try:
            return chosen(*args, **kwargs)
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise

    return region
