"""Calls that no code of the program makes: with recorded, stated or found arguments, or by an example in a docstring.

A marked function that is not a region by itself is called from a region made for it, which does nothing else; one that
`make_fx` traces is traced with the first arguments, and the graph is called. What the program compiles somewhere is
compiled by itself, and may break. Where only its result is in question, a function that returns that stands for it.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
from typing import TYPE_CHECKING, Any

from nonstrict_agent.inputs.search import SEED
from nonstrict_agent.inputs.specification import UnmakeableError, make_call
from nonstrict_agent.loading import LoadError
from nonstrict_agent.regions import is_region

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


def follow(driver: dict[str, Any], module: ModuleType) -> None:
    """Make the calls of a driver of kind `calls`, `traced` or `returned`, or execute the text of one of kind `source`.

    Raises:
        LoadError: the function is not there, or its arguments cannot be made.
    """
    if driver["kind"] == "returned":
        _return_result(driver, module)
        return
    makes = _traced_of if driver["kind"] == "traced" else _compiled_of if driver.get("plain") else region_of
    region = makes(module, driver["name"])
    if driver["kind"] == "source":
        _execute(driver, module, region)
        return
    instances: dict[str, Any] = {}
    for number, call in enumerate(json.loads(driver["given"])):
        arguments, keywords = _arguments(call, number, module, instances)
        region(*arguments, **keywords)


def region_of(module: ModuleType, name: str) -> Callable[..., Any]:
    """The function of a dotted name, in a region of its own unless it is one.

    Raises:
        LoadError: there is no such function.
    """
    import torch

    function = member(module, name)
    if is_region(function):
        return function

    def region(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    region.__qualname__ = name
    return torch.compile(region, fullgraph=True)


def _compiled_of(module: ModuleType, name: str) -> Callable[..., Any]:
    """The function of a dotted name, compiled unless it is.

    Raises:
        LoadError: there is no such function.
    """
    import torch

    function = member(module, name)
    return function if is_region(function) else torch.compile(function)


def _return_result(driver: dict[str, Any], module: ModuleType) -> None:
    """Call, in a region, what is marked as a function is and only returns the result of that.

    The function computes it in the region where that is eager code, and before the region otherwise (`ahead`).

    Raises:
        LoadError: there is no such function, it is marked in no such way, or its arguments cannot be made.
    """
    import torch
    from torch._dynamo import trace_rules

    from nonstrict_agent.inputs.signature import unwrap

    function = member(module, driver["name"])
    marks = (
        (trace_rules.is_nonstrict_trace_callable, torch._dynamo.nonstrict_trace),
        (trace_rules.is_callable_allowed, torch._dynamo.allow_in_graph),
    )
    mark: Any = next((mark for is_marked, mark in marks if is_marked(function)), None)
    if mark is None:
        raise LoadError(f"`{driver['name']}` is not marked")
    results: list[Any] = []

    def returning(*arguments: Any, **keywords: Any) -> Any:
        if not results:
            results.append(unwrap(function)(*arguments, **keywords))
        return results[0]

    marked = mark(returning)

    def region(*arguments: Any, **keywords: Any) -> Any:
        return marked(*arguments, **keywords)

    region.__qualname__ = driver["name"]
    arguments, keywords = _arguments(json.loads(driver["given"])[0], 0, module, {})
    if driver.get("ahead"):
        returning(*arguments, **keywords)
    torch.compile(region, fullgraph=True)(*arguments, **keywords)


def _traced_of(module: ModuleType, name: str) -> Callable[..., Any]:
    """What `make_fx` makes of a function when it is first called.

    Raises:
        LoadError: there is no such function.
    """
    from torch.fx.experimental import proxy_tensor

    function, made = member(module, name), list[Any]()

    def lenient(*values: Any) -> Any:
        # A graph would want values for parameters that have defaults.
        return function(*values)

    lenient.__qualname__ = name
    lenient.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]

    def region(*arguments: Any, **keywords: Any) -> Any:
        values = positional(function, arguments, keywords)
        if not made:
            # As lenient as a program can be, which `make_fx` itself leaves to its caller.
            made.append(proxy_tensor.make_fx(lenient, tracing_mode="fake", _allow_non_fake_inputs=True)(*values))
        return made[0](*values)

    return region


def positional(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
    """The values of a call in the order of the parameters, since graphs have no keywords.

    Raises:
        LoadError: some can only be given by keyword.
    """
    bound = inspect.signature(function).bind(*arguments, **keywords)
    if bound.kwargs:
        raise LoadError(f"`{function.__qualname__}` has arguments that are only given by keyword")
    return bound.args


def member(module: ModuleType, name: str) -> Any:
    """The value of a dotted name.

    Raises:
        LoadError: there is none.
    """
    value: Any = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            raise LoadError(f"`{name}` cannot be reached from the top of its file") from error
    return value


def _arguments(
    call: dict[str, Any], number: int, module: ModuleType, instances: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if "expression" in call:
        return _stated(call["expression"], module)
    if "maker" in call:
        return _made(call["maker"])
    try:
        return make_call(call, SEED + number, vars(module), instances)  # type: ignore[arg-type]
    except UnmakeableError as error:
        raise LoadError(f"the arguments cannot be made: {error}") from error


def _stated(expression: str, module: ModuleType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a directive states, evaluated among the names of the module and `torch`."""
    import torch

    def inputs(*arguments: Any, **keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return arguments, keywords

    try:
        return eval(expression, {"torch": torch, **vars(module), "inputs": inputs})  # noqa: S307 - in the sandbox
    except Exception as error:
        raise LoadError(f"`{expression}` raised {type(error).__name__}: {error}") from error


def _made(maker: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function of another file (`PATH::NAME`) returns: a tuple of arguments, a dict of keywords, or a value."""
    path, _, name = maker.partition("::")
    try:
        value = member(_imported(path), name)()
    except LoadError:
        raise
    except Exception as error:
        raise LoadError(f"`{maker}` raised {type(error).__name__}: {error}") from error
    if isinstance(value, dict):
        return (), value
    return value if isinstance(value, tuple) else (value,), {}


def _imported(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("nonstrict_inputs", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _execute(driver: dict[str, Any], module: ModuleType, region: Callable[..., Any]) -> None:
    import torch

    namespace: dict[str, Any] = {"torch": torch, **vars(module)}
    if "." not in driver["name"]:
        namespace[driver["name"]] = region
    exec(compile(driver["given"], "<example>", "exec"), namespace)  # noqa: S102 - in the sandbox
