"""Puts an arm's backend behind `torch.compile`, `make_fx` and `export`, and a recorder in front of what they return.

In the eager arm the same objects exist, but nothing is compiled: `torch.compiler.set_stance("force_eager")`, and what
`make_fx` or `export` would trace is called itself.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import TYPE_CHECKING, Any

from nonstrict_agent.observe.applied import renamed
from nonstrict_agent.observe.cuda_graphs import CUDA_GRAPHS_BACKEND, NO_CUDA_GRAPHS, options_of
from nonstrict_agent.recorder import Recorder, Region

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict_agent.observe.applied import Application

EAGER = "eager"
INDUCTOR = "inductor"
#: Only traces, with fake tensors; what is computed is computed by eager code.
FAKE = "fake"
_GUARD_FILTER = "guard_filter_fn"
#: The id of a recorded callable, as an attribute that `functools.wraps` passes on to what wraps it.
_MARK = "_nonstrict_region"


def install_regions(
    recorder: Recorder, backend: str, alone: str = "", *, cached: bool = True, captured: bool = False
) -> None:
    """Replace the entry points of torch's compilers in this process, which ends with the experiment.

    Unless it is `cached`, graphs of earlier runs are not used (see `without_caches`). Where they are `captured`,
    Inductor makes CUDA graphs of the regions for which the program asks for some.

    With `alone`, the qualified name of a marked function, only that function is compiled, by itself, wherever the
    program calls it; regions of the program stay eager.
    """
    import torch

    if backend in {EAGER, FAKE}:
        torch.compiler.set_stance("force_eager")
    _settle(backend, cached=cached)
    compiled = _compile(torch.compile, recorder, backend, captured=captured and backend == INDUCTOR)
    torch.compile = _left_alone if alone else compiled
    if alone:
        _replace_markers(alone, compiled)
        return
    _replace_make_fx(recorder, backend)
    _replace_export(recorder, backend)


def _left_alone(model: Any = None, **options: Any) -> Any:
    """Stands for `torch.compile` where regions stay eager."""
    return functools.partial(_left_alone, **options) if model is None else model


def _replace_markers(alone: str, compiled: Callable[..., Any]) -> None:
    """Let each marker put a region around the function of one name."""
    import torch
    import torch._dynamo.decorators

    for owner in (torch._dynamo, torch._dynamo.decorators, torch.compiler):
        for name in ("nonstrict_trace", "allow_in_graph", "leaf_function"):
            marker = getattr(owner, name, None)
            if marker is not None:
                setattr(owner, name, _marking(marker, alone, compiled))


def _marking(marker: Callable[..., Any], alone: str, compiled: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(marker)
    def mark(function: Any = None, *arguments: Any, **options: Any) -> Any:
        marked = marker(function, *arguments, **options)
        if getattr(function, "__qualname__", "") != alone or not callable(marked):
            return marked

        @functools.wraps(function)
        def region(*given: Any, **named: Any) -> Any:
            return marked(*given, **named)

        return compiled(region, fullgraph=True)

    return mark


def _settle(backend: str, *, cached: bool) -> None:
    """Settings under which arms are comparable: the same random numbers, no worker processes, no hidden errors."""
    import torch._dynamo.config as dynamo

    dynamo.suppress_errors = False
    _skip_guard_timing()
    if backend == INDUCTOR:
        import torch._inductor.config as inductor

        inductor.fallback_random = True
        inductor.compile_threads = 1
        if not cached:
            without_caches()


def without_caches() -> None:
    """Let torch use no graphs of earlier runs from now on.

    What an operator of the program's declares (its fake, what it changes) is no part of torch's keys (2.13): after an
    edit the graph of the text before is used again.
    """
    import torch._functorch.config as functorch
    import torch._inductor.config as inductor

    functorch.enable_autograd_cache = False
    inductor.fx_graph_cache = False


def _skip_guard_timing() -> None:
    """Let Dynamo not measure, for its own statistics, how long the guards of each new graph take.

    It empties the processor's caches before (`torch/_dynamo/guards.py`, "this cache flush is expensive"): 20 to 45 ms
    for each graph on torch 2.13.0, a fifth of compiling a small one.
    """
    from torch._dynamo import guards

    name = "profile_guard_manager"
    if hasattr(guards, name):
        setattr(guards, name, lambda *_: 0.0)


def _compile(
    original: Callable[..., Any], recorder: Recorder, backend: str, *, captured: bool = False
) -> Callable[..., Any]:
    # Torch's own, which is replaced for the program.
    from torch.fx.experimental.proxy_tensor import make_fx

    @functools.wraps(original)
    def compiled(model: Any = None, **options: Any) -> Any:
        if model is None:
            return functools.partial(compiled, **options)
        if options.get("disable"):
            return model
        application = recorder.applications.note()
        if backend == FAKE:
            # Where the graph may break, Dynamo leaves to eager code what cannot be traced.
            traced = _traced(model, make_fx if options.get("fullgraph") else None)
            return recorded(traced, model, recorder)
        if getattr(model, _MARK, None) == id(model):
            # Torch knows its own wrapper, and compiles what is inside it.
            model = model.__wrapped__
        chosen: dict[str, Any] = {name: options[name] for name in ("fullgraph", "dynamic") if name in options}
        # Of all the options that are the backend's the filter is the one that Dynamo takes.
        kept = {name: value for name, value in (options.get("options") or {}).items() if name == _GUARD_FILTER}
        if backend == INDUCTOR:
            # What an option says is taken for `torch._inductor.config`, whenever the program sets that.
            kept |= options_of(options) if captured else NO_CUDA_GRAPHS
        if kept:
            chosen["options"] = kept
        makes_them = captured and options.get("backend") == CUDA_GRAPHS_BACKEND
        result = original(model, backend=CUDA_GRAPHS_BACKEND if makes_them else backend, **chosen)
        application.renamed = renamed(result, model)
        return recorded(result, model, recorder, application)

    return compiled


def _traced(model: Any, make_fx: Callable[..., Any] | None) -> Any:
    """A callable that traces a region with fake tensors before its first call, if at all; refusals are raised."""
    import torch

    done = False
    function: Callable[..., Any] = model.forward if isinstance(model, torch.nn.Module) else model

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        nonlocal done
        if make_fx is not None and not done:
            done = True
            # What a region captures are real tensors.
            bound = functools.partial(function, **keywords)
            make_fx(bound, tracing_mode="fake", _allow_non_fake_inputs=True)(*arguments)
        return function(*arguments, **keywords)

    return call


def recorded(compiled: Any, model: Any, recorder: Recorder, application: Application | None = None) -> Any:
    """A compiled callable whose calls are recorded, and counted for its application; a compiled module stays one."""
    import torch

    if getattr(model, "__func__", None) is torch.nn.Module._call_impl:
        # What `Module.compile` compiles.
        model = model.__self__
        recorder.watched.setdefault(type(model).__qualname__, model)
        return _recording(compiled, type(model).__qualname__, recorder, model.forward, application=application)
    name = getattr(model, "__qualname__", None) or type(model).__qualname__
    if isinstance(compiled, torch.nn.Module):
        inner = compiled.forward
        compiled.forward = _recording(inner, name, recorder, defined=model.forward, application=application)
        recorder.watched.setdefault(name, model)
        return compiled
    owner = getattr(model, "__self__", None)
    if isinstance(owner, torch.nn.Module):
        recorder.watched.setdefault(type(owner).__qualname__, owner)
    if isinstance(model, types.FunctionType):
        recorder.functions.append(model)
    return _recording(compiled, name, recorder, application=application)


def is_region(function: Any) -> bool:
    """Whether a callable is compiled, and recorded."""
    import torch

    return hasattr(function, _MARK) or isinstance(function, torch._dynamo.OptimizedModule)


def _recording(
    function: Callable[..., Any],
    name: str,
    recorder: Recorder,
    written: Callable[..., Any] | None = None,
    defined: Callable[..., Any] | None = None,
    application: Application | None = None,
) -> Callable[..., Any]:
    """A region whose calls are recorded; what it is `written` as, and where it is `defined`, if that is another.

    The calls count for the application of `torch.compile` that made it.
    """
    import torch

    region = Region(name, written or function, defined or written or function)
    chosen = function if recorder.compiles(region) else _by_eager_code(function)

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if torch.compiler.is_compiling():
            return function(*arguments, **keywords)
        if application is None:
            return recorder.call(region, chosen, arguments, keywords)
        with application.counted():
            return recorder.call(region, chosen, arguments, keywords)

    setattr(call, _MARK, id(call))
    return call


def _by_eager_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """A region that another arm compiles."""
    import torch

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        with torch.compiler.set_stance("force_eager"):
            return function(*arguments, **keywords)

    return call


def _replace_make_fx(recorder: Recorder, backend: str) -> None:
    from torch.fx.experimental import proxy_tensor

    original = proxy_tensor.make_fx

    @functools.wraps(original)
    def make_fx(function: Callable[..., Any], *settings: Any, **options: Any) -> Callable[..., Any]:
        name = getattr(function, "__qualname__", type(function).__qualname__)

        def trace(*arguments: Any, **keywords: Any) -> Any:
            recorder.begin_ahead()
            if backend in {EAGER, FAKE} or not recorder.follows(Region(name, function, function)):
                return _Untraced(_recording(function, name, recorder))
            tracer = original(function, *settings, **options)
            graph = recorder.trace(name, tracer, arguments, keywords)
            graph.forward = _recording(graph.forward, name, recorder, function)
            return graph

        return trace

    # The compilers import `functorch`, which hands it on.
    for owner in (proxy_tensor, sys.modules.get("torch._functorch.python_key"), sys.modules.get("functorch")):
        if getattr(owner, "make_fx", None) is original:
            owner.make_fx = make_fx  # type: ignore[union-attr]


class _Untraced:
    """Stands for a graph where nothing is traced: calls the function; whatever else is asked of it leads nowhere."""

    def __init__(self, call: Callable[..., Any] | None = None) -> None:
        self._call = call

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self if self._call is None else self._call(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Untraced()

    def __getitem__(self, key: Any) -> Any:
        return _Untraced()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __str__(self) -> str:
        return ""


def _replace_export(recorder: Recorder, backend: str) -> None:
    import torch
    import torch.export

    original = torch.export.export

    @functools.wraps(original)
    def export(module: Any, *arguments: Any, **options: Any) -> Any:
        name = type(module).__qualname__
        recorder.begin_ahead()
        if backend in {EAGER, FAKE}:
            return _Exported(_recording(module, name, recorder))
        program = recorder.trace(name, functools.partial(original, module), arguments, options)
        return _Exported(_recording(program.module(), name, recorder, module), program)

    torch.export.export = export


class _Exported:
    """Stands for an exported program: `module()` gives what is called."""

    def __init__(self, call: Callable[..., Any], program: Any = None) -> None:
        self._call = call
        self._program = program

    def module(self, *_: Any, **__: Any) -> Callable[..., Any]:
        return self._call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)
