"""What is known of a function without running it: its parameters with guesses for each, and who depends on whom.

Markers and compilers wrap functions; the signature and the source are those of the function within, which is also the
one to call: the search runs eagerly.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from nonstrict_agent.inputs import body as bodies
from nonstrict_agent.inputs import docstrings, words
from nonstrict_agent.inputs.guesses import Builder
from nonstrict_agent.inputs.shapes import Guess
from nonstrict_agent.inputs.source import influence, tree_of
from nonstrict_agent.inputs.specification import NONE, Spec, describe, tensor
from nonstrict_agent.inputs.usage import Usage

_WRAPPERS = ("__wrapped__", "_torchdynamo_orig_callable", "_orig_mod")


class Parameter(NamedTuple):
    """A parameter with its guesses; `default` is the specification of its default value, None where it has none."""

    name: str
    kind: Any
    guesses: tuple[Guess, ...]
    default: Spec | None
    usage: Usage

    @property
    def replaceable(self) -> bool:
        """Whether something of any kind may be given: not for `self` nor for what gathers arguments."""
        gathers = self.kind in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
        return not gathers and self.name != "self"

    @property
    def optional(self) -> bool:
        """Whether a call may leave it out."""
        return self.default is not None or self.kind in {
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        }


class Reading(NamedTuple):
    """A function as the search sees it: what to call, whose code to watch, and its parameters.

    `influence` says for each local name which parameters its value may depend on; `tree` has the file's line numbers;
    `sizes` are small integers that the body or its object hold.
    """

    call: Callable[..., Any]
    body: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    influence: Mapping[str, frozenset[str]]
    tree: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None
    sizes: tuple[int, ...] = ()


def unwrap(function: Any) -> Any:
    """The eager function within wrappers; modules and bound methods stay what they are."""
    seen = 0
    while seen < 20:
        seen += 1
        within = next((each for name in _WRAPPERS if (each := vars_of(function).get(name)) is not None), None)
        if inspect.ismethod(function):
            inner = unwrap(function.__func__)
            return function if inner is function.__func__ else functools.partial(inner, function.__self__)
        if within is None or isinstance(function, type):
            return function
        function = within
    return function


def vars_of(thing: Any) -> Mapping[str, Any]:
    """Attributes of the object itself, without asking its class."""
    found = getattr(thing, "__dict__", None)
    if isinstance(thing, torch.nn.Module) and found is not None:
        return {**found, **found.get("_modules", {})} if type(thing).__name__ == "OptimizedModule" else {}
    return found if isinstance(found, Mapping) else {}


def read(
    function: Callable[..., Any],
    namespace: Mapping[str, object],
    build: Callable[[type], list[Spec]],
    *,
    owner: type | None = None,
) -> Reading | None:
    """What is known of `function`; None if its parameters cannot be had.

    `build` gives specifications of instances of a class; `owner` is the class of which `function` is the `__init__`,
    or a plain function that expects `self`.
    """
    call = unwrap(function)
    body: Any = type(call).forward if isinstance(call, torch.nn.Module) else call
    body = body.func if isinstance(body, functools.partial) else body
    body = inspect.unwrap(getattr(body, "__func__", body)) if callable(body) else body
    constructing = getattr(body, "__name__", "") == "__init__"
    signature = _signature(call.forward if isinstance(call, torch.nn.Module) else call)
    if signature is None:
        return None
    names = list(signature.parameters)
    if constructing:
        names = names[1:]
    elif owner is None and names and names[0] == "self" and not inspect.ismethod(call):
        owner = owner_of(body, namespace)
    usages = {name: Usage() for name in names}
    bodies.read(body, usages)
    for name, dims in docstrings.shapes(body).items():
        if name in usages:
            usages[name].dims = dims
    for usage, rank in zip(usages.values(), words.RANKS.get(getattr(body, "__name__", ""), ()), strict=False):
        usage.ranks.append(rank)
    scope = {**getattr(body, "__globals__", {}), **namespace}
    builder = Builder(scope, build, constructing=constructing)
    parameters = [_parameter(signature.parameters[name], usages[name], builder) for name in names]
    if owner is not None and not constructing and parameters:
        instances = tuple(Guess(spec, 0.5 * n) for n, spec in enumerate(build(owner)))
        parameters[0] = parameters[0]._replace(guesses=instances)
    tree = tree_of(body)
    return Reading(call, body, tuple(parameters), influence(tree, names), tree, _sizes(tree, call, scope))


def _sizes(tree: ast.AST | None, call: Any, scope: Mapping[str, object]) -> tuple[int, ...]:
    found: list[object] = [
        node.value if isinstance(node, ast.Constant) else scope.get(node.id)
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.Constant, ast.Name))
    ]
    owner = getattr(call, "__self__", call)
    for module in itertools.islice(owner.modules(), 8) if isinstance(owner, torch.nn.Module) else ():
        found.extend(vars(module).values())
    return tuple(dict.fromkeys(each for each in found if type(each) is int and 1 < each <= 64))[:8]


def owner_of(function: Any, namespace: Mapping[str, object]) -> type | None:
    """The class that a function was defined in, by its qualified name."""
    path = getattr(function, "__qualname__", "").rpartition(".")[0]
    found: Any = namespace.get(path.partition(".")[0]) or getattr(function, "__globals__", {}).get(
        path.partition(".")[0]
    )
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _parameter(parameter: inspect.Parameter, usage: Usage, builder: Builder) -> Parameter:
    default = None
    guesses = builder.guesses(parameter.name, usage, parameter.annotation)
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        items = [guess.spec for guess in guesses[:4] if guess.spec["kind"] != "list"] or [tensor([4, 4])]
        counts = (0, 1, 2, 3)
        guesses = [Guess({"kind": "tuple", "items": [each] * n}, n * 0.7) for each in items[:2] for n in counts]
    elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
        likely = {key: builder.guesses(key, used, inspect.Parameter.empty) for key, used in usage.keys.items()}
        items = [[describe(key), found[0].spec if found else tensor([4, 4])] for key, found in likely.items()]
        guesses = [Guess({"kind": "dict", "items": []}, 0), Guess({"kind": "dict", "items": items}, 0.5)]
    elif parameter.default is not inspect.Parameter.empty:
        default = describe(parameter.default)
        guesses = [guess for guess in guesses if guess.spec != default]
    elif usage.none and parameter.annotation is inspect.Parameter.empty:
        guesses = [*guesses, Guess(dict(NONE), 1.0)]
    return Parameter(parameter.name, parameter.kind, tuple(guesses), default, usage)


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return _documented_signature(function)


def _documented_signature(function: Any) -> inspect.Signature | None:
    """The signature that the first lines of the docstring of a function written in C state."""
    name, text = getattr(function, "__name__", ""), inspect.getdoc(function) or ""
    found = re.search(rf"^\s*(?:torch\.|\w+\.)*{re.escape(name)}\((.*?)\)\s*(?:->|$)", text, re.MULTILINE | re.DOTALL)
    if not name or not found:
        return None
    try:
        tree = ast.parse(f"def f({found.group(1)}): pass").body[0]
    except SyntaxError:
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    kinds = inspect.Parameter
    arguments = tree.args
    required = len(arguments.posonlyargs + arguments.args) - len(arguments.defaults)
    parameters: list[inspect.Parameter] = []
    for n, each in enumerate(arguments.posonlyargs + arguments.args):
        default = kinds.empty if n < required else _constant(arguments.defaults[n - required])
        parameters.append(kinds(each.arg, kinds.POSITIONAL_OR_KEYWORD, default=default))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = kinds.empty if default is None else _constant(default)
        parameters.append(kinds(each.arg, kinds.KEYWORD_ONLY, default=value))
    return inspect.Signature(parameters)


def _constant(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
