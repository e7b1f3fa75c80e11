"""One try: make the values, call the function, and say what came of it.

The try runs in the process that searches. What the function changes there stays changed: the process is thrown away
after the search, so nothing is cloned or put back.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import random
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from nonstrict_agent.inputs.source import names_in
from nonstrict_agent.inputs.specification import CallSpec, Spec, UnmakeableError, make_call

if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType

    from nonstrict_agent.inputs.signature import Parameter, Reading

_DEEPEST = 8  # calls within calls whose lines tell two failures apart
Choice = Mapping[str, Spec]  # by parameter; one that is missing is left out of the call
NO_TENSOR, NOT_FINITE, CONSTANT, GOOD = range(4)
WORDS = {
    NO_TENSOR: "no tensor in the result",
    NOT_FINITE: "the result is not finite",
    CONSTANT: "the result is constant",
    GOOD: "",
}


class Outcome(NamedTuple):
    """What a try came to: how good its result is, or its error, how far it got, and which parameters are to blame.

    `progress` are the lines of the call stack at the error, outermost first, zeros after; larger is farther.
    `origins` are the specifications of the values that were passed, by the `id` of those that the error keeps alive.
    """

    quality: int = -1
    error: BaseException | None = None
    progress: tuple[int, ...] = ()
    blamed: tuple[str, ...] = ()
    origins: Mapping[int, Spec] = MappingProxyType({})


def call_of(parameters: tuple[Parameter, ...], choice: Choice) -> CallSpec:
    """The call that a choice stands for: positional as long as nothing is left out, by keyword from there."""
    args: list[Spec] = []
    kwargs: dict[str, Spec] = {}
    star = next((each for each in parameters if each.kind is inspect.Parameter.VAR_POSITIONAL), None)
    starred = choice[star.name]["items"] if star is not None and star.name in choice else []
    left_out = False
    for each in parameters:
        spec = choice.get(each.name)
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            args.extend(starred)
        elif each.kind is inspect.Parameter.VAR_KEYWORD:
            named = ((key.get("value"), value) for key, value in (spec or {"items": []})["items"])
            # What is varied may be a key, too.
            kwargs.update({name: value for name, value in named if isinstance(name, str)})
        elif each.kind is inspect.Parameter.KEYWORD_ONLY:
            kwargs.update({} if spec is None else {each.name: spec})
        elif starred and spec is None and each.default is not None:
            args.append(each.default)
        elif spec is None:
            left_out = True
        elif left_out and each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            kwargs[each.name] = spec
        else:
            args.append(spec)
    return {"args": args, "kwargs": kwargs}


def attempt(
    reading: Reading,
    choice: Choice,
    seed: int,
    namespace: Mapping[str, object],
    instances: dict[str, Any] | None = None,
) -> Outcome:
    """Calls the function with values for `choice` and judges the result.

    The global generators of torch and Python are seeded, so that a try comes out the same each time. Modules are taken
    from `instances` where that is given: making them takes much longer than calling them.
    """
    origins: dict[int, Spec] = {}
    try:
        args, kwargs = make_call(call_of(reading.parameters, choice), seed, namespace, instances, origins)
    except (UnmakeableError, RuntimeError, TypeError, ValueError, OverflowError) as error:
        return Outcome(error=error)
    torch.manual_seed(seed)
    random.seed(seed)
    try:
        result = reading.call(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and the like are answers of the user's function too  # noqa: BLE001
        progress, blamed = _place(reading, error)
        return Outcome(error=error, progress=progress, blamed=blamed, origins=origins)
    return Outcome(quality=quality(result))


def lines_reached(
    reading: Reading, choice: Choice, seed: int, namespace: Mapping[str, object], wanted: Mapping[str, set[int]]
) -> dict[str, set[int]]:
    """Which of the wanted lines, by file name, a call executes; the call is made once more for it."""
    reached: dict[str, set[int]] = {file: set() for file in wanted}
    codes: dict[CodeType, str | None] = {}

    def local(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            reached[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def entered(frame: FrameType, _event: str, _argument: object) -> Any:
        code = frame.f_code
        if code not in codes:
            codes[code] = code.co_filename if code.co_filename in reached else None
        return local if codes[code] is not None else None

    args, kwargs = make_call(call_of(reading.parameters, choice), seed, namespace)
    torch.manual_seed(seed)
    random.seed(seed)
    before = sys.gettrace()
    with contextlib.suppress(Exception):
        sys.settrace(entered)
        try:
            reading.call(*args, **kwargs)
        finally:
            sys.settrace(before)
    return {file: reached[file] & lines for file, lines in wanted.items()}


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Keeps what Python code prints and warns of to itself, and has functions compiled elsewhere run eagerly."""
    # Nothing can have been compiled without Dynamo, whose import takes seconds.
    stance: Any = getattr(torch.compiler, "set_stance", None) if "torch._dynamo" in sys.modules else None
    eager: Any = stance("force_eager") if stance is not None else contextlib.nullcontext()
    silent = io.StringIO()
    with eager, warnings.catch_warnings(), contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        warnings.simplefilter("ignore")
        yield


def quality(result: object) -> int:
    """How much a result tells: nothing without a tensor, less if it is not finite or the same everywhere."""
    found = [each for each in tensors_of(result, 4) if each.numel() and not each.is_meta]
    if not found:
        return NO_TENSOR
    try:
        return _quality(found)
    except Exception:  # a subclass of the program may refuse any operation  # noqa: BLE001
        return GOOD


def _quality(found: list[torch.Tensor]) -> int:
    """The same for some tensors that have elements."""
    values = [each.detach() for each in found]
    values = [each.to_dense() if each.layout != torch.strided else each for each in values]
    values = [
        each.to(torch.float32) if each.dtype.itemsize == 1 and each.is_floating_point() else each for each in values
    ]
    if not all(bool(torch.isfinite(each).all()) for each in values):
        return NOT_FINITE
    telling = any(each.numel() == 1 or bool((each != each.flatten()[0]).any()) for each in values)
    return GOOD if telling else CONSTANT


def tensors_of(value: object, depth: int) -> list[torch.Tensor]:
    """The tensors in a result, within containers and the attributes of objects, `depth` deep."""
    if isinstance(value, torch.Tensor):
        return [value]
    if depth <= 0 or isinstance(value, (str, bytes, type, torch.nn.Module)) or callable(value):
        return []
    if isinstance(value, dict):
        inner: list[object] = list(value.values())
    elif isinstance(value, (list, tuple, set)):
        inner = list(value)
    else:
        inner = list(getattr(value, "__dict__", {}).values())
    return [found for each in inner for found in tensors_of(each, depth - 1)]


def _place(reading: Reading, error: BaseException) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """How far the function got, and the parameters that the failing expression depends on."""
    code = getattr(reading.body, "__code__", None)
    frames = list(_frames(error.__traceback__))
    at = next((n for n, (each, _) in enumerate(frames) if each.tb_frame.f_code is code), None)
    if at is None:
        return (), ()
    lines = [each.tb_lineno for each, _ in frames[at : at + _DEEPEST]]
    progress = (*lines, *(0 for _ in range(_DEEPEST - len(lines))))
    failing = frames[at][0]
    names = _names_at(reading.tree, failing) if reading.tree is not None else set()
    blamed = sorted({each for name in names for each in reading.influence.get(name, ())})
    return progress, tuple(blamed)


def _frames(trace: TracebackType | None) -> Iterator[tuple[TracebackType, int]]:
    n = 0
    while trace is not None:
        yield trace, n
        trace, n = trace.tb_next, n + 1


def _names_at(tree: ast.AST, trace: TracebackType) -> set[str]:
    """The names in the expression that was being evaluated, or on its line where Python (before 3.11) tells no more."""
    positions: Callable[[], Any] | None = getattr(trace.tb_frame.f_code, "co_positions", None)
    line, end, column, last = trace.tb_lineno, None, None, None
    if positions is not None:
        found = list(positions())
        line, end, column, last = (
            found[trace.tb_lasti // 2] if trace.tb_lasti // 2 < len(found) else (line, None, None, None)
        )
    names: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.expr, ast.stmt)) or isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        # Columns are those of a dedented copy: widths are compared, not places.
        width = (node.end_col_offset or 0) - node.col_offset
        exact = (node.lineno, node.end_lineno) == (line, end) and column is not None and width == (last or 0) - column
        if exact and (found_names := names_in(node)):
            return found_names
        simple = isinstance(node, ast.expr) or not hasattr(node, "body")
        if simple and node.lineno <= (line or 0) <= (node.end_lineno or 0):
            names |= names_in(node)
    return names
