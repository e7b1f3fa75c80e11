"""What the source of a class of `torch.nn` says about its forward; used by `generate_torch_names.py`."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from dataclasses import dataclass
from typing import Any

import torch

CONTAINERS = (
    torch.nn.Sequential,
    torch.nn.ModuleList,
    torch.nn.ModuleDict,
    torch.nn.ParameterList,
    torch.nn.ParameterDict,
)
# A constructor argument with one of these names switches off what depends on the mode when it is falsy.
MODE_ARGUMENTS = ("dropout", "p", "track_running_stats")


# What constructors refuse arguments with.
REFUSALS = (TypeError, ValueError, RuntimeError, AssertionError, AttributeError, NotImplementedError, IndexError)


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """What `nonstrict.knowledge.operators.ModuleClass` stores of one class."""

    mode_dependent: bool
    has_parameters: bool
    container: bool
    stateful: bool
    mode_argument: str
    mode_position: int
    mode_default: bool
    parameters: str
    buffers: str
    keeps: str
    drops: str
    passes: str
    sized: str

    def encoded(self) -> tuple[Any, ...]:
        """Flags as letters (t: mode, p: parameters, c: container, s: stateful), then what is known of the argument.

        Last the names of the parameters and buffers that an instance registers, `#` for the number of a layer, and of
        the attributes that keep an argument, with its position: `module=0`; the function that drops elements; and the
        attributes that operators are given: `eps=torch.nn.functional.layer_norm@4`; and the arguments that decide on
        the sizes of parameters, each with its position: `in_features=0`. What is empty at the end is left out.
        """
        set_flags = (self.mode_dependent, self.has_parameters, self.container, self.stateful)
        letters = "".join(letter for letter, is_set in zip("tpcs", set_flags, strict=True) if is_set)
        of_argument = (self.mode_argument, self.mode_position, self.mode_default)
        last = [self.drops, self.passes, self.sized]
        while last and not last[-1]:
            last.pop()
        return letters, *of_argument, self.parameters, self.buffers, self.keeps, *last


def module_facts(cls: type, known: dict[type, ModuleFacts]) -> ModuleFacts:
    """Facts of one class; classes that it constructs are looked into first (`known` remembers them)."""
    if cls in known:
        return known[cls]
    known[cls] = ModuleFacts(
        mode_dependent=False,
        has_parameters=False,
        container=issubclass(cls, CONTAINERS),
        stateful=False,
        mode_argument="",
        mode_position=-1,
        mode_default=False,
        parameters="",
        buffers="",
        keeps="",
        drops="",
        passes="",
        sized="",
    )
    run = reachable(cls, ["forward"])
    made = [module_facts(part, known) for part in constructed(cls) if part is not cls]
    mode = any(reads_training(node) for node in run) or any(part.mode_dependent for part in made)
    parameters = any(makes_parameters(node) for node in reachable(cls, ["__init__"]))
    argument, position, default = mode_argument(cls) if mode else ("", -1, False)
    owned, buffers = registered(cls)
    known[cls] = ModuleFacts(
        mode_dependent=mode,
        has_parameters=parameters or any(part.has_parameters for part in made),
        container=issubclass(cls, CONTAINERS),
        stateful=any(writes_state(node) for node in run),
        mode_argument=argument,
        mode_position=position,
        mode_default=default if argument else mode,
        parameters=owned,
        buffers=buffers,
        keeps=" ".join(kept(cls)),
        drops=dropping(cls),
        passes=" ".join(passed(cls, run, {*owned.split(), *buffers.split()})),
        sized=" ".join(sized(cls)),
    )
    return known[cls]


def registered(cls: type) -> tuple[str, str]:
    """The names of the parameters and buffers that instances of a class register for themselves, some by an option."""
    first = next(iter(init_parameters(cls)), {})
    required = [
        given(name) for name, one in first.items() if one.default is one.empty and one.kind < one.VAR_POSITIONAL
    ]
    positional = required or ([4, 4] if any(one.kind == one.VAR_POSITIONAL for one in first.values()) else [])
    options = {
        name: option
        for parameters in init_parameters(cls)
        for name, one in parameters.items()
        if (option := chosen(name, one.default)) is not None
    }
    owned, buffers = dict[str, None](), dict[str, None]()
    for name in (None, *options):
        try:
            made = cls(*positional, **({} if name is None else {name: options[name]}))
        except REFUSALS:
            continue
        for table, found in ((made._parameters, owned), (made._buffers, buffers)):
            found |= {re.sub(r"\d+", "#", name): None for name, value in table.items() if value is not None}
    return " ".join(owned), " ".join(buffers)


def sized(cls: type) -> list[str]:
    """The arguments of a constructor that decide on the sizes of parameters, each with its position.

    Told by making the layer twice, the second time with twice the number.
    """
    named = [parameters for parameters in init_parameters(cls) if parameters]
    named = [{name: one for name, one in parameters.items() if one.kind < one.VAR_POSITIONAL} for parameters in named]
    first = next((parameters for parameters in named if parameters), {})
    if shapes(cls, first, "") is None:  # what the class hands on itself is not an argument of it
        first = {name: one for name, one in first.items() if name != "mode"}
    before = shapes(cls, first, "")
    told = [(at, name, shapes(cls, first, name)) for at, name in enumerate(first)]
    return [f"{name}={at}" for at, name, after in told if before and after is not None and after != before]


def shapes(cls: type, parameters: dict[str, inspect.Parameter], twice: str) -> dict[str, tuple[int, ...]] | None:
    """The shapes of the parameters of a layer made with one number doubled; None where it cannot be made."""
    required = {name: given(name) for name, one in parameters.items() if one.default is one.empty}
    number = required.get(twice, parameters[twice].default) if twice else None
    if twice and (not isinstance(number, int) or isinstance(number, bool)):
        return None
    try:
        made = cls(**{**required, **({twice: number * 2} if isinstance(number, int) else {})})
    except REFUSALS:
        return None
    return {name: tuple(one.shape) for name, one in made.named_parameters() if not torch.nn.parameter.is_lazy(one)}


def kept(cls: type) -> list[str]:
    """The attributes that keep an argument of the constructor which forward calls, with its position.

    `*` stands behind those that keep a list of copies (`_get_clones` of `torch/nn/modules/transformer.py`).
    """
    parameters = list(next(iter(init_parameters(cls)), {}))
    run = [node for tree in reachable(cls, ["forward"]) for node in ast.walk(tree)]
    called = {ast.unparse(node.func) for node in run if isinstance(node, ast.Call)}
    repeated = {ast.unparse(node.iter) for node in run if isinstance(node, ast.For)}
    stored = [
        (target, node.value)
        for _, tree in method_sources(cls, "__init__")
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute)
    ]
    found: dict[str, None] = {}
    for target, value in stored:
        copied = value.args[0] if isinstance(value, ast.Call) and ast.unparse(value.func) == "_get_clones" else None
        argument = copied or value
        used = ast.unparse(target) in (repeated if copied else called)
        if used and isinstance(argument, ast.Name) and argument.id in parameters:
            found[f"{target.attr}={parameters.index(argument.id)}{'*' if copied else ''}"] = None
    return list(found)


def dropping(cls: type) -> str:
    """The function that is all of the forward: `F.dropout(input, self.p, self.training, ...)`."""
    for _, tree in method_sources(cls, "forward"):
        made = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
        call = made[0] if len(made) == 1 else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "F":
            given = [ast.unparse(one) for one in call.args]
            return f"torch.nn.functional.{call.func.attr}" if given[1:3] == ["self.p", "self.training"] else ""
    return ""


#: How the modules of `torch.nn` name those of its operators.
OPERATORS = {"F": "torch.nn.functional", "torch": "torch"}


def passed(cls: type, run: list[ast.AST], registered: set[str]) -> list[str]:
    """The attributes that forward gives operators, each with where: `p=torch.nn.functional.dropout@1`.

    What is registered is a tensor; `training` is the mode.
    """
    found: dict[str, None] = {}
    for tree in run:
        bound = bound_to_attributes(tree)
        for node in ast.walk(tree):
            operator = operator_of(node.func) if isinstance(node, ast.Call) else ""
            if not operator or not isinstance(node, ast.Call):
                continue
            at = [
                *((str(place), one) for place, one in enumerate(node.args)),
                *((k.arg, k.value) for k in node.keywords),
            ]
            for place, one in at:
                names = bound.get(one.id, []) if isinstance(one, ast.Name) else [attribute_of(one)]
                for name in names:
                    if (
                        name
                        and name not in registered
                        and name != "training"
                        and not callable(getattr(cls, name, None))
                    ):
                        found[f"{name}={operator}@{place}"] = None
    return list(found)


def bound_to_attributes(tree: ast.AST) -> dict[str, list[str]]:
    """By local name the attributes of the module that it is bound to: `factor = self.momentum`."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(attribute_of(node.value))
    return found


def attribute_of(node: ast.expr) -> str:
    """The name of an attribute of the module; "" for all else."""
    is_own = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
    return node.attr if is_own and isinstance(node, ast.Attribute) else ""


def operator_of(callee: ast.expr) -> str:
    """The dotted name of an operator: `F.dropout`; "" for all else."""
    home = OPERATORS.get(ast.unparse(callee.value), "") if isinstance(callee, ast.Attribute) else ""
    return f"{home}.{callee.attr}" if home and isinstance(callee, ast.Attribute) else ""


def given(name: str) -> object:
    """A required argument that most constructors of layers take."""
    return [2] if name == "cutoffs" else 4


def chosen(name: str, default: object) -> object:
    """Another value than the default of an option that may decide what is registered."""
    if name in {"proj_size", "kdim", "vdim"}:
        return 2
    return (not default) if isinstance(default, bool) else None


def mode_argument(cls: type) -> tuple[str, int, bool]:
    """The constructor argument that decides whether the mode matters, its position (-1: by keyword), its default."""
    for depth, parameters in enumerate(init_parameters(cls)):
        for position, (name, parameter) in enumerate(parameters.items()):
            if name in MODE_ARGUMENTS:
                return name, -1 if depth else position, bool(parameter.default)
    return "", -1, False


def init_parameters(cls: type) -> list[dict[str, inspect.Parameter]]:
    """Parameters of the constructor without self; where it takes `*args` or `**kwargs`, also those of the next one."""
    found: list[dict[str, inspect.Parameter]] = []
    for owner in cls.__mro__:
        init: Any = vars(owner).get("__init__")
        if owner is torch.nn.Module:
            break
        if init is None:
            continue
        parameters = inspect.signature(init).parameters
        found.append({name: parameter for name, parameter in parameters.items() if name != "self"})
        if not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()):
            break
    return found


def method_sources(cls: type, name: str) -> list[tuple[type, ast.AST]]:
    """The tree of the method that `cls` runs under `name`, with its owner; empty for those of `nn.Module` and C."""
    for owner in cls.__mro__:
        if owner in (torch.nn.Module, object):
            return []
        if name in vars(owner):
            try:
                source = textwrap.dedent(inspect.getsource(vars(owner)[name]))
            except (TypeError, OSError):
                return []
            return [(owner, ast.parse(source))]
    return []


def reachable(cls: type, names: list[str]) -> list[ast.AST]:
    """Trees of the named methods and of those that they call on `self` or through `super()`."""
    waiting, seen, trees = list(names), set[str](), list[ast.AST]()
    while waiting:
        name = waiting.pop()
        if name in seen or name in {"train", "eval"}:
            continue
        seen.add(name)
        for owner, tree in method_sources(cls, name):
            trees.append(tree)
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                    waiting.append(node.attr)
                if isinstance(node, ast.Attribute) and ast.unparse(node.value).startswith("super("):
                    trees.extend(inherited(owner, node.attr))
    return trees


def inherited(owner: type, name: str) -> list[ast.AST]:
    """Trees of the methods called `name` after `owner` in the order of resolution, as far as each calls the next."""
    trees: list[ast.AST] = []
    for base in owner.__mro__[1:]:
        if base is torch.nn.Module:
            break
        if name in vars(base):
            trees += [tree for _, tree in method_sources(base, name)]
    return trees


def reads_training(tree: ast.AST) -> bool:
    """Whether any `.training` is read."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "training" and isinstance(node.ctx, ast.Load)
        for node in ast.walk(tree)
    )


def writes_state(tree: ast.AST) -> bool:
    """Whether an attribute of `self` is bound."""
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
        for node in ast.walk(tree)
    )


def makes_parameters(tree: ast.AST) -> bool:
    """Whether a `Parameter` is made."""
    names = {"Parameter", "UninitializedParameter"}
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names for node in ast.walk(tree)
    )


def constructed(cls: type) -> list[type]:
    """Module classes whose constructors `__init__` calls."""
    found: list[type] = []
    for tree in reachable(cls, ["__init__"]):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rpartition(".")[2]
                value: Any = getattr(sys.modules[cls.__module__], name, None)
                if inspect.isclass(value) and issubclass(value, torch.nn.Module):
                    found.append(value)
    return found
