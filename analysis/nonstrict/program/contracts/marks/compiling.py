"""The options that regions are compiled with, as the arguments of `torch.compile` and of what goes by other names tell.

Source: the signatures of `torch.compile`, `torch.nn.Module.compile`, `torch._dynamo.optimize` and
`torch._dynamo.optimize_assert` of torch 2.13, which are those of 2.2 as far as these options go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.marks import guard_filters
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import CompileOptions, Told
from nonstrict.program.domain.references import Partial
from nonstrict.program.domain.values import NO_CONSTANT, PRIMITIVES, REST, Kind, Value
from nonstrict.program.objects import container_flow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_COMPILE = "torch.compile"
#: What `torch._dynamo.optimize` calls otherwise.
_OTHER_NAMES = {"nopython": "fullgraph"}
_ASSERTING = frozenset({"torch._dynamo.optimize_assert", "torch._dynamo.eval_frame.optimize_assert"})
_DECORATORS = _ASSERTING | {"torch._dynamo.optimize", "torch._dynamo.eval_frame.optimize"}


def options(keywords: Mapping[str, Value]) -> CompileOptions:
    """What the arguments of `torch.compile`, or of the method of modules, tell of its options."""
    missing = Told.NOT_KNOWN if REST in keywords else Told.NOT_GIVEN
    return CompileOptions(
        fullgraph=_switch(keywords.get("fullgraph"), missing),
        dynamic=_constant(keywords.get("dynamic"), missing),
        mode=_constant(keywords.get("mode"), missing),
        backend=_constant(keywords.get("backend"), missing),
        options=_entries(keywords.get("options"), missing),
        disable=_switch(keywords.get("disable"), missing),
        recompile_limit=_constant(keywords.get("recompile_limit"), missing),
        isolate_recompiles=_switch(keywords.get("isolate_recompiles"), missing),
    )


def decorator(name: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """What `torch._dynamo.optimize(backend, nopython=...)` returns: `torch.compile` with such options.

    It is never given what it compiles: a callable among its arguments is the backend. None for any other name.
    """
    if not makes_decorator(name):
        return None
    given = {_OTHER_NAMES.get(known, known): value for known, value in keywords.items()}
    if positional:
        given["backend"] = positional[0]
    if name in _ASSERTING:
        given["fullgraph"] = Value(Kind.BOOL, FRESH, const=True)
    return Value(Kind.PARTIAL, FRESH, Partial(Value(Kind.EXTERNAL, FRESH, _COMPILE), (), tuple(given.items())))


def makes_decorator(name: str) -> bool:
    """Whether a compiler is never given what it compiles: it returns what is."""
    return name in _DECORATORS


def _constant(value: Value | None, missing: Told) -> object:
    if value is None:
        return missing
    return value.const if value.kind in PRIMITIVES and value.const is not NO_CONSTANT else Told.NOT_KNOWN


def _switch(value: Value | None, missing: Told) -> object:
    """An option of which torch asks only whether it is true."""
    told = _constant(value, missing)
    return told if isinstance(told, Told) else bool(told)


def _entries(value: Value | None, missing: Told) -> tuple[tuple[str, object], ...] | Told | None:
    """The entries of a dict of options, as far as it holds no others than those with known names."""
    if value is None:
        return missing
    if value.kind is Kind.NONE:
        return None
    if not container_flow.is_complete(value) or value.heap is None:
        return Told.NOT_KNOWN
    return tuple((str(key), _option(str(key), item, missing)) for key, item in value.heap.items.items())


def _option(name: str, value: Value, missing: Told) -> object:
    return guard_filters.of(value) if name == guard_filters.OPTION else _constant(value, missing)
