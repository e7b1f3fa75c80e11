"""What calls do besides computing a value, what they return, and which methods change a container.

The tables stand in `stdlib_effects`, `library_effects` and `call_results`, each with its sources; here they are joined
once, when first asked, so that every later question is one look-up.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from nonstrict.findings import Output
from nonstrict.knowledge.stdlib_effects import (
    ARRAY_CHANGING,
    CHANGING_FIRST,
    MUTATING,
    OUTPUT_AT,
    UNIVERSAL,
    UNIVERSAL_OF_ONE,
    UNIVERSAL_OF_TWO,
    Entries,
)


class CallEffect(NamedTuple):
    """The effect of one call.

    `kind` is one of the `OUTPUTS` (it only tells people something), `io` (any other input or output), `environ-read`,
    `environ-write`, `draw` (a number of Python's own generators), `random` (anything else by chance), `seed`, `clock`,
    `identity`, `thread`, `process`, `exit`, `pointer`, `native`, `escape`, `hook`, `torch-state`, `torch-query`,
    `torch-guarded`. `escape` and `native` matter only where an argument is a tensor.
    `what` is a verb phrase for messages: `writes to standard output`.
    `pure_with`: with at least this many positional arguments there is no effect (`time.localtime(seconds)`); 0 where
    arguments change nothing.
    """

    kind: str
    what: str
    pure_with: int = 0


#: Where calls tell people something, by the kinds of these effects. A progress bar is shown on a terminal.
OUTPUTS: dict[str, Output] = {
    "output": Output.ANYWHERE,
    "stdout": Output.STDOUT,
    "stderr": Output.STDERR,
    "progress": Output.STDOUT | Output.STDERR,
    "log": Output.LOG,
}


# Methods that change a container, by the container's kind as `call_result` names it.
MUTATING_METHODS: dict[str, frozenset[str]] = {kind: frozenset(names.split()) for kind, names in MUTATING.items()}


#: Methods by which an array of NumPy changes.
ARRAY_METHODS = frozenset(ARRAY_CHANGING.split())

#: Context managers that matter only to what their block does: documentation of `contextlib`, `warnings` and torch.
SURROUNDING = frozenset(
    {
        "contextlib.nullcontext",
        "contextlib.suppress",
        "warnings.catch_warnings",
        "torch.inference_mode",
        "torch.autocast",
        "torch.amp.autocast",
        "torch.cuda.amp.autocast",
        "torch.cpu.amp.autocast",
        "torch.profiler.record_function",
        "torch.autograd.profiler.record_function",
        "torch._dynamo.error_on_graph_break",
        "torch._dynamo.decorators.error_on_graph_break",
    }
)

#: Functions that change the container or array that is their first argument, by their dotted names.
CHANGING_FUNCTIONS = frozenset({*CHANGING_FIRST.split(), *(f"numpy.{name}.at" for name in UNIVERSAL.split())})


def writes_output(name: str) -> bool:
    """Whether a function of NumPy or torch with this last name writes its result to an argument `out`."""
    from nonstrict.knowledge.operators import torch_function

    known = torch_function(f"torch.{name}")
    return name in _universal() or (known is not None and known.out)


def output_position(qualname: str) -> int | None:
    """At which position a function of NumPy takes the array that it writes its result to; None if it takes none."""
    return _outputs().get(qualname)


@cache
def _outputs() -> dict[str, int]:
    of_one, of_two = (dict.fromkeys(names.split(), at) for at, names in ((1, UNIVERSAL_OF_ONE), (2, UNIVERSAL_OF_TWO)))
    others = {name: position for position, names in OUTPUT_AT.items() for name in names.split()}
    return {f"numpy.{name}": position for name, position in (of_one | of_two | others).items()}


@cache
def _universal() -> frozenset[str]:
    return frozenset(UNIVERSAL.split())


def call_effect(qualname: str) -> CallEffect | None:
    """The effect of calling the function, class or unbound method with this dotted name; None if it has none.

    Names are canonical: `builtins.print`, `random.random`, `torch.manual_seed`, `pathlib.Path.read_text`. Any function
    of NumPy and of other packages of native code without an entry of its own is `native`.
    """
    found = _calls().get(qualname)
    return found if found is not None else _less_direct(qualname)


def only_surrounds(qualname: str) -> bool:
    """Whether a context manager matters only to what its block does: around nothing, it does nothing."""
    known = call_effect(qualname)
    return qualname in SURROUNDING or (known is not None and known.kind == "torch-guarded")


def method_effect(class_qualname: str, method: str) -> CallEffect | None:
    """The effect of a method on an instance of a class; None if it has none.

    The class is a dotted name (`logging.Logger`) or a kind that `call_result` gives (`file`, `logger`, ...).
    """
    methods = _methods()
    found = methods.get((class_qualname, method))
    if found is not None:
        return found
    for other in _same_methods().get(class_qualname, ()):
        found = methods.get((other, method))
        if found is not None:
            return found
    return None


def assignment_effect(qualname: str) -> CallEffect | None:
    """The effect of assigning to an attribute of a module of torch, such as `torch.backends.cudnn.benchmark`."""
    from nonstrict.knowledge.library_effects import SETTINGS_MODULES

    if qualname.startswith(SETTINGS_MODULES):
        return CallEffect("torch-state", "changes a setting of torch")
    if qualname.startswith("os.environ"):
        return CallEffect("environ-write", "changes the environment")
    return None


def call_result(qualname: str) -> str | None:
    """The kind of value that a call of the standard library, a built-in or NumPy returns; None if unknown.

    Containers are `list`, `dict`, `set`, `tuple`, `deque`, `defaultdict`, `OrderedDict`, `Counter`, `ChainMap`,
    `array`, `bytearray`; others include `number`, `string`, `bool`, `bytes`, `none`, `file`, `path`, `lock`,
    `iterator`, `progress-bar`, `random-generator`, `logger`, `numpy`, `module`, `thread`, `executor`, `object`.
    """
    found = _results().get(qualname)
    if found is None and qualname.startswith("numpy.") and qualname not in _exceptions():
        last = qualname.rpartition(".")[2]
        return "numpy" if last.islower() else None
    return found


@cache
def _less_direct(qualname: str) -> CallEffect | None:
    owner, _, name = qualname.rpartition(".")
    found = method_effect(owner, name) if owner else None
    if found is not None:
        return found
    from nonstrict.knowledge.library_effects import NATIVE_PACKAGES

    what = NATIVE_PACKAGES.get(qualname.partition(".")[0])
    if what is None or not owner or qualname in _exceptions():
        return None
    return CallEffect("native", what)


@cache
def _exceptions() -> frozenset[str]:
    from nonstrict.knowledge.library_effects import NATIVE_EXCEPTIONS

    return NATIVE_EXCEPTIONS


def _rows(*tables: Entries) -> list[tuple[str, str, CallEffect]]:
    return [
        (owner, name, CallEffect(kind, what))
        for table in tables
        for kind, what, owner, names in table
        for name in names.split()
    ]


@cache
def _calls() -> dict[str, CallEffect]:
    from nonstrict.knowledge import library_effects as library
    from nonstrict.knowledge import stdlib_effects as stdlib

    rows = _rows(stdlib.CALLS, library.TORCH_CALLS, library.NUMPY_CALLS, library.LIBRARY_CALLS)
    found = {f"{owner}.{name}": effect for owner, name, effect in rows}
    for name, count in stdlib.PURE_WITH.items():
        found[name] = found[name]._replace(pure_with=count)
    return found


@cache
def _methods() -> dict[tuple[str, str], CallEffect]:
    from nonstrict.knowledge import library_effects as library
    from nonstrict.knowledge import stdlib_effects as stdlib

    rows = _rows(stdlib.METHODS, library.TORCH_METHODS, library.NUMPY_METHODS, library.LIBRARY_METHODS)
    return {(owner, name): effect for owner, name, effect in rows}


@cache
def _same_methods() -> dict[str, tuple[str, ...]]:
    from nonstrict.knowledge.library_effects import SAME_LIBRARY_METHODS
    from nonstrict.knowledge.stdlib_effects import SAME_METHODS

    return SAME_METHODS | SAME_LIBRARY_METHODS


@cache
def _results() -> dict[str, str]:
    from nonstrict.knowledge.call_results import MATH, NUMPY_RESULTS, RESULTS

    found = {f"math.{name}": "number" for name in MATH.split()}
    found |= {f"numpy.{name}": kind for kind, names in NUMPY_RESULTS.items() for name in names.split()}
    found |= {name: kind for kind, names in RESULTS.items() for name in names.split()}
    return found
