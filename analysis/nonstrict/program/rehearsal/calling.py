"""Calls: of functions, methods and classes of the program, of modules, of what was compiled, of what is outside."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from nonstrict.knowledge.operators import nn_module, torch_kind
from nonstrict.program.rehearsal import (
    command_lines,
    containers,
    layers,
    loaders,
    module_members,
    standard,
    tensor_members,
    torch_calls,
)
from nonstrict.program.rehearsal.managers import Managed
from nonstrict.program.rehearsal.stage import Given, RaisedError
from nonstrict.program.rehearsal.statements import ReturnSignal
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Closure,
    Compiled,
    Definition,
    External,
    Instance,
    Method,
    Partial,
    Scope,
    Setting,
    Super,
    Tensor,
    is_known,
    plain_dict,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

#: Calls inside of one another, at most.
_DEEPEST = 40
_OPTIMIZERS = "torch.optim."
#: How far objects are looked into that a compiled function is given.
_KEPT = 6


def call(
    stage: Stage, callee: Thing, given: Sequence[Thing], named: Mapping[str, Thing], node: ast.AST, scope: Scope
) -> Thing:
    """What a call gives. Raises RaisedError and GivenUpError."""
    stage.depth += 1
    try:
        return _call(stage, callee, given, dict(named), node, scope) if stage.depth <= _DEEPEST else UNKNOWN
    finally:
        stage.depth -= 1


def _call(
    stage: Stage, callee: Thing, given: Sequence[Thing], named: dict[str, Thing], node: ast.AST, scope: Scope
) -> Thing:
    if isinstance(callee, Compiled):
        return _compiled(stage, callee, given, named, node, scope)
    if isinstance(callee, Closure):
        return invoke(stage, callee, given, named, node)
    if isinstance(callee, Method):
        if isinstance(callee.function, External):
            return _method(stage, callee.function.dotted, callee.receiver, given, named)
        return stage.call(callee.function, (callee.receiver, *given), named, node, scope)
    if isinstance(callee, Partial):
        return stage.call(callee.function, (*callee.positional, *given), {**callee.keywords, **named}, node, scope)
    if isinstance(callee, Definition):
        return _instantiate(stage, callee, given, named, node)
    if isinstance(callee, Instance):
        return _object(stage, callee, given, named, node, scope)
    if isinstance(callee, Setting):  # as a decorator
        is_function = bool(given) and isinstance(given[0], Closure)
        return torch_calls.with_setting(given[0], callee) if is_function and isinstance(given[0], Closure) else UNKNOWN
    if isinstance(callee, External):
        return _external(stage, callee.dotted, given, named, node, scope)
    return UNKNOWN


# -- compiled code ------------------------------------------------------------------------------------------------


def _compiled(
    stage: Stage, compiled: Compiled, given: Sequence[Thing], named: dict[str, Thing], node: ast.AST, scope: Scope
) -> Thing:
    if not stage.inside:
        _note(stage, compiled, given, named, node, scope)
    stage.inside += 1
    try:
        return stage.call(compiled.target, given, named, node, scope)
    finally:
        stage.inside -= 1


def _note(
    stage: Stage, compiled: Compiled, given: Sequence[Thing], named: dict[str, Thing], node: ast.AST, scope: Scope
) -> None:
    """Note what a compiled function is given: as it is now, whatever becomes of it."""
    target = compiled.target
    if isinstance(target, Partial):
        inner = Compiled(target.function, compiled.site)
        _note(stage, inner, (*target.positional, *given), {**target.keywords, **named}, node, scope)
        return
    receiver: Thing = None
    if isinstance(target, Instance):
        receiver, forward = target, _forward(target)
        if forward is None:
            held = {f"args[{at}]": one for at, one in enumerate(given)} | named
            _keep(stage, Given(None, scope.path, node, held, {}, {}, id(receiver), compiled.site))
            return
        target = Method(forward, target)
    if isinstance(target, Method) and isinstance(target.function, Closure):
        receiver, target, given = target.receiver, target.function, (target.receiver, *given)
    if isinstance(target, Closure):
        _keep(stage, Given(target, scope.path, node, _bound(target, given, named), {}, {}, id(receiver), compiled.site))


def _keep(stage: Stage, given: Given) -> None:
    known: dict[int, Thing] = {}
    held = {name: containers.copied(one, known, _KEPT) for name, one in given.held.items()}
    names = given.function.scope.all_names() if given.function is not None else {}
    around = {name: containers.copied(one, known, _KEPT) for name, one in names.items() if _may_change(one)}
    stage.spend(len(known))
    stage.given.append(given._replace(held=held, around=around, settings=dict(stage.settings)))


def _may_change(thing: Thing) -> bool:
    """Whether a variable of a module holds what a rehearsal keeps for each call: no definition, and no module."""
    is_plain = (
        is_known(thing) or isinstance(thing, Tensor) or sequence(thing) is not None or plain_dict(thing) is not None
    )
    return is_plain or (isinstance(thing, Instance) and not layers.is_module(thing))


def _forward(module: Instance) -> Closure | None:
    found = module.attributes.get("forward", module.of.member("forward") if isinstance(module.of, Definition) else None)
    found = found.function if isinstance(found, Method) else found
    return found if isinstance(found, Closure) else None


# -- functions of the program -------------------------------------------------------------------------------------


def _bound(function: Closure, given: Sequence[Thing], named: Mapping[str, Thing]) -> dict[str, Thing]:
    """What the parameters of a function hold in a call."""
    arguments = function.node.args
    plain = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    found: dict[str, Thing] = dict(zip(plain[len(plain) - len(function.defaults) :], function.defaults, strict=True))
    found |= function.keyword_defaults
    found |= dict(zip(plain, given, strict=False))
    keyword_only = {one.arg for one in arguments.kwonlyargs}
    found |= {name: one for name, one in named.items() if name in plain or name in keyword_only}
    if arguments.vararg is not None:
        found[arguments.vararg.arg] = tuple(given[len(plain) :])
    if arguments.kwarg is not None:
        found[arguments.kwarg.arg] = {name: one for name, one in named.items() if name not in found}
    return {**dict.fromkeys((*plain, *keyword_only), UNKNOWN), **found}


def invoke(stage: Stage, function: Closure, given: Sequence[Thing], named: Mapping[str, Thing], node: ast.AST) -> Thing:
    """What a function of the program gives; one that yields gives what goes through it."""
    inner = Scope(_bound(function, given, named), function.scope, function.scope.top, function.scope.path)
    if isinstance(function.node, ast.Lambda):
        return stage.evaluate(function.node.body, inner)
    if function.generates:
        running = _generated(stage, function.node.body, inner)
        return Managed(running) if function.manages else running
    before = dict(stage.settings)
    stage.settings.update(function.settings)
    try:
        for _ in stage.run(function.node.body, inner):
            pass
    except ReturnSignal as signal:
        return signal.thing
    finally:
        stage.settings.update({name: before[name] for name, _ in function.settings if name in before})
    return None


def _generated(stage: Stage, body: Sequence[ast.stmt], scope: Scope) -> Generator[Thing, None, None]:
    try:
        yield from stage.run(body, scope)
    except ReturnSignal:
        return


# -- classes and objects ------------------------------------------------------------------------------------------


def _instantiate(
    stage: Stage, cls: Definition, given: Sequence[Thing], named: dict[str, Thing], node: ast.AST
) -> Thing:
    if cls.inherits(*ENUMS):
        members = (one for one in cls.names.values() if isinstance(one, Instance) and one.of is cls)
        return next((one for one in members if given and one.attributes.get("value") == given[0]), UNKNOWN)
    made = Instance(cls)
    if layers.is_module(made):
        made.attributes["training"] = True
    constructor = cls.member("__init__")
    if isinstance(constructor, Closure):
        invoke(stage, constructor, (made, *given), named, node)
    elif cls.is_dataclass or cls.inherits("typing.NamedTuple"):
        _fill(stage, made, cls, given, named)
    elif outside := next((one.dotted for one in cls.line if isinstance(one, External)), ""):
        _construct(stage, made, outside, given, named)
    return made


ENUMS = ("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag")
#: Where a class keeps the names that it annotates, in order.
FIELDS = "__annotated__"


def _fill(stage: Stage, made: Instance, cls: Definition, given: Sequence[Thing], named: dict[str, Thing]) -> None:
    """Set the fields of a data class."""
    lines = [one for one in reversed(cls.line) if isinstance(one, Definition)]
    fields = list(dict.fromkeys(name for one in lines for name in sequence(one.names.get(FIELDS)) or ()))
    for name in map(str, fields):
        made.attributes[name] = _default(stage, cls.member(name))
    made.attributes.update(zip(map(str, fields), given, strict=False))
    made.attributes.update(named)
    if isinstance(cls.member("__post_init__"), Closure):
        stage.call(stage.member(made, "__post_init__"), (), {}, stage.here, stage.nowhere)


def _default(stage: Stage, told: Thing) -> Thing:
    """The default of a field: itself, or what its factory makes."""
    if not isinstance(told, Partial) or not isinstance(told.function, External):
        return containers.copied(told)
    factory = told.keywords.get("default_factory")
    if factory is not None:
        return stage.call(factory, (), {}, stage.here, stage.nowhere)
    return told.keywords.get("default", UNKNOWN)


def _construct(stage: Stage, made: Instance, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> None:
    """Run the constructor of a class from outside."""
    if dotted.startswith(layers.LIBRARY):
        layers.construct(stage, made, dotted, given, named)
    elif dotted.startswith(_OPTIMIZERS):
        parameters = stage.iterate(given[0]) if given else None
        defaults = plain_dict(given[1]) if len(given) > 1 else None
        told = dict(defaults) if defaults is not None else {cast("Thing", name): one for name, one in named.items()}
        made.attributes.update(torch_calls.optimizer_state([*parameters] if parameters is not None else [], told))


def _object(
    stage: Stage, thing: Instance, given: Sequence[Thing], named: dict[str, Thing], node: ast.AST, scope: Scope
) -> Thing:
    if not layers.is_module(thing):
        method = thing.of.member("__call__") if isinstance(thing.of, Definition) else UNKNOWN
        return (
            stage.call(stage.member(thing, "__call__"), given, named, node, scope) if method is not UNKNOWN else UNKNOWN
        )
    if thing.compiled and not stage.inside:
        return _compiled(stage, Compiled(thing), given, named, node, scope)
    for hook in sequence(thing.attributes.get(module_members.BEFORE)) or ():
        changed = stage.call(hook, (thing, tuple(given)), {}, node, scope)
        if changed is not None and changed is not UNKNOWN:
            given = sequence(changed) or [changed]
    result = _forwarded(stage, thing, given, named, node, scope)
    for hook in sequence(thing.attributes.get(module_members.BEHIND)) or ():
        changed = stage.call(hook, (thing, tuple(given), result), {}, node, scope)
        result = result if changed is None or changed is UNKNOWN else changed
    return result


def _forwarded(
    stage: Stage, thing: Instance, given: Sequence[Thing], named: dict[str, Thing], node: ast.AST, scope: Scope
) -> Thing:
    own = thing.attributes.get("forward")
    if own is not None and own is not UNKNOWN:
        return stage.call(own, given, named, node, scope)
    if isinstance(thing.of, Definition) and (function := thing.of.member("forward")) is not UNKNOWN:
        return stage.call(function, (thing, *given), named, node, scope)
    if layers.base_of(thing) == "Sequential":
        result: Thing = given[0] if given else UNKNOWN
        for one in layers.entries(thing).values():
            result = stage.call(one, (result,), {}, node, scope)
        return result
    with raising():
        return layers.forward(stage, thing, [*given, *named.values()])


@contextmanager
def raising() -> Generator[None, None, None]:
    """What torch is given wrongly raises in the program."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RaisedError(type(error).__name__) from None


# -- what is outside ----------------------------------------------------------------------------------------------


def _method(stage: Stage, dotted: str, receiver: Thing, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    name = dotted.rpartition(".")[2]
    if isinstance(receiver, Tensor):
        with raising():
            return tensor_members.called(stage, receiver, name, given, named)
    if not isinstance(receiver, Instance):
        return containers.called(stage, receiver, name, given, named)
    if name == "__init__":
        _construct(stage, receiver, dotted.rpartition(".")[0], given, named)
        return None
    if layers.is_module(receiver):
        if name in ("forward", "__call__"):
            with raising():
                return layers.forward(stage, receiver, given)
        return (
            module_members.called(stage, receiver, name, given, named)
            if module_members.has(receiver, name)
            else UNKNOWN
        )
    if dotted.startswith("random.Random."):
        return standard.draw(receiver.attributes.get("generator"), name, given)
    if dotted.startswith(command_lines.PARSER):
        return command_lines.called(stage, receiver, name, given, named)
    return None if name in ("zero_grad", "step") and "param_groups" in receiver.attributes else UNKNOWN


def _external(
    stage: Stage, dotted: str, given: Sequence[Thing], named: dict[str, Thing], node: ast.AST, scope: Scope
) -> Thing:
    if dotted == "builtins.super":
        return _super(scope, given)
    if dotted == command_lines.PARSER:
        return command_lines.parser()
    if dotted in (loaders.LOADER, loaders.TENSORS):
        return loaders.made(dotted, given, named)
    if not dotted.startswith("torch."):
        return standard.called(stage, dotted, given, named)
    is_class = nn_module(dotted) is not None or torch_kind(dotted) == "class"
    if is_class and dotted.startswith((layers.LIBRARY, _OPTIMIZERS)) and not dotted.endswith("Parameter"):
        made = Instance(External(dotted))
        with raising():
            _construct(stage, made, dotted, given, named)
        return made
    # a setting that holds for all the rest is made by a call, that of a block when it is entered
    with raising():
        found = torch_calls.called(stage, dotted, given, named)
    return Compiled(found.target, (scope.path, getattr(node, "lineno", 0))) if isinstance(found, Compiled) else found


def _super(scope: Scope, given: Sequence[Thing]) -> Thing:
    if len(given) == 2 and isinstance(given[0], Definition) and isinstance(given[1], Instance):
        return Super(given[1], given[0])
    behind = scope.holder("__class__")
    owner = behind.names["__class__"] if behind is not None else UNKNOWN
    receiver = next(iter(scope.names.values()), UNKNOWN)
    return Super(receiver, owner) if isinstance(receiver, Instance) and isinstance(owner, Definition) else UNKNOWN
