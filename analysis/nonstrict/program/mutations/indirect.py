"""Writes that the text of a name does not show: through another name, a parameter, a method, what a function returns.

`settings.use("fast")`, `current = get_settings(); current.mode = "fast"`, `configure(settings)`: the functions that
hand a name on are interpreted, and what they change at its place are its writes. Few functions do so with a name that
holds state; where many do, nothing is said.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change, Event
from nonstrict.facts.execution import simple_statements
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.models.members import CHANGING_ANY
from nonstrict.program.domain.access_paths import VIEW, AccessPath, Root
from nonstrict.program.domain.effects import Summary, reachable
from nonstrict.program.domain.values import CALLABLES, PRIMITIVES, TENSORS, Kind, Value
from nonstrict.program.domain.write import How, Write
from nonstrict.program.externals import differentiation
from nonstrict.program.externals.running import runs, runs_compiled
from nonstrict.program.interpret import bodies, singletons
from nonstrict.program.mutations.calls import MUTATORS
from nonstrict.program.mutations.writes import functions_with, writes_of
from nonstrict.program.objects import classes, definition_values, parameters
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: What has no inside that another name could reach.
_CLOSED = PRIMITIVES | CALLABLES | TENSORS | {Kind.UNKNOWN, Kind.TUPLE, Kind.GENERATOR, Kind.PYTHON_MODULE}
_BUILT_IN = CHANGING_ANY | {"get", "items", "keys", "values", "copy", "index"}
#: Functions that only look at what they are given.
_LOOKING = frozenset({"len", "print", "str", "repr", "isinstance", "sum", "min", "max", "sorted", "range", "enumerate"})
#: More functions than this are not looked into.
_MAX_FUNCTIONS = 12
#: How many functions may be reached from each of them.
_BUDGET = 40
_LOOPS = (ast.For, ast.While)
_WRITES = frozenset({Event.WRITE, Event.LEAK})
#: Methods that make a list longer or shorter, which Dynamo guards.
_RESIZING = frozenset({"append", "extend", "insert", "pop", "remove", "clear"})


def writes_reaching(machine: Machine, module: Module, name: str) -> list[Write]:
    """The writes of what a top-level name leads to, in its module, that do not begin with the name."""
    held = machine.global_value(module, name)
    if all(_is_closed(machine, alternative) for alternative in held.alternatives()):
        return []
    names = _handing_on(module, name)
    concerned = list(_concerned(machine, module, names))
    found: list[Write] = []
    for alias in sorted(names - {name}) if len(concerned) <= _MAX_FUNCTIONS else ():
        if held.heap is not None and machine.global_value(module, alias).heap is held.heap:
            writes = writes_of(machine, module, alias)
            found += (write for write in writes if write.how is not How.REBOUND)
    found += _changes_by(module, name, concerned)
    return list({(id(write.node), write.steps): write for write in found}.values())


def writes_reaching_abroad(machine: Machine, module: Module, name: str) -> list[Write]:
    """The same in other files: `get_settings().mode = "fast"`, `SETTINGS.use("fast")`, `configure(SETTINGS)`."""
    held = machine.global_value(module, name)
    if all(_is_closed(machine, alternative) for alternative in held.alternatives()):
        return []
    spelled: dict[str, set[str]] = {}
    for alias in sorted(_handing_on(module, name)):
        for use in machine.elsewhere.users(module, alias):
            spelled.setdefault(use.module.path, set()).update((use.first, use.name))
    users = ((machine.project.module(path), names) for path, names in spelled.items())
    concerned = [one for user, names in users if user is not None for one in _concerned(machine, user, names)]
    return [*_changes_by(module, name, concerned), *_changes_at_origin(machine, module, name)]


def _changes_at_origin(machine: Machine, module: Module, name: str) -> Iterator[Write]:
    """What changes the object of another module that a name is bound to once: `conf = settings.config`."""
    bindings = module.bindings.get(name, [])
    value = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(value, ast.expr) or not steps_of(value):
        return
    origin = machine.evaluate(machine.module_frame(module), value).place
    owner = machine.project.module(origin.file) if origin.root is Root.GLOBAL and not origin.path else None
    if owner is not None and owner is not module:
        for write in (
            *machine.mutations.writes_told(owner, origin.name),
            *machine.mutations.foreign_writes(owner, origin.name),
        ):
            if write.how is not How.REBOUND:
                yield write


def _handing_on(module: Module, name: str) -> set[str]:
    """A name, the other names of what it holds, and the functions that return it."""
    return {name, *module.handed_on.get(name, ()), *_returning(module, name)}


def _changes_by(module: Module, name: str, concerned: list[Summary]) -> list[Write]:
    """What some code changes in what a name leads to; nothing where that is too much to tell anything."""
    found: dict[tuple[int, tuple[str, ...]], Write] = {}
    for summary in concerned if len(concerned) <= _MAX_FUNCTIONS else ():
        for reached in reachable(summary):
            for effect in reached.summary.effects.values():
                changes = effect.event in _WRITES and not effect.lazy
                for place in effect.changed if changes and effect.place[:3] == module.place(name)[:3] else ():
                    steps = tuple(step for step in place.path if step != VIEW)
                    write = Write(effect.path, effect.offset, effect.node, How.CHANGED, steps)
                    write = found.setdefault((id(effect.node), steps), write)
                    found[id(effect.node), steps] = write._replace(held=(*write.held, *_put(effect)))
    return list(found.values())


def _put(effect: Effect) -> tuple[Value, ...]:
    """What a store puts in place of what was there: adding to a list, or taking away, leaves the rest as it was."""
    return effect.value.alternatives() if not resizes(effect) else ()


def resizes(effect: Effect) -> bool:
    """Whether a change makes a list longer or shorter."""
    return effect.how is Change.DELETION or (effect.how is Change.METHOD and effect.what in _RESIZING)


def _is_closed(machine: Machine, held: Value) -> bool:
    """Whether nothing can be changed in what is held: a class counts where it keeps an object of its own."""
    if held.kind is Kind.CLASS and held.of_class is not None:
        return not singletons.is_kept(machine, held.of_class)
    return held.kind in _CLOSED


def _returning(module: Module, name: str) -> Iterator[str]:
    """The functions of a module that return what a name holds."""
    for node, _, top_level in functions_with(module, name):
        if not top_level and isinstance(node, ast.FunctionDef):
            returns = (inner.value for inner in walk(node) if isinstance(inner, ast.Return) and inner.value is not None)
            if any(steps_of(value)[:1] == (name,) for value in returns):
                yield node.name


def _concerned(machine: Machine, module: Module, names: set[str]) -> Iterator[Summary]:
    """What the functions, and statements after the first call, do that hand one of the names on.

    What marked functions change themselves is told where they do, not as a change of what they read.
    """
    seen = {id(mark.function.node) for mark in machine.marks.values() if mark.function is not None}
    for word in sorted(names):
        for node, offset, top_level in functions_with(module, word):
            if id(node) in seen:
                continue
            seen.add(id(node))
            if top_level:
                yield from _statements(machine, module, node, names)
            else:
                yield from _definition(machine, module, node, offset, names, seen)


def _definition(
    machine: Machine, module: Module, node: ast.AST, offset: int, names: set[str], seen: set[int]
) -> Iterator[Summary]:
    if isinstance(node, ast.FunctionDef):
        if _hands_on(node, names):
            yield interpreted(machine, module, node, offset, None)
    elif isinstance(node, ast.ClassDef):
        methods = [
            child
            for child in node.body
            if isinstance(child, ast.FunctionDef) and id(child) not in seen and _hands_on(child, names)
        ]
        owner = definition_values.class_of(machine.module_frame(module), node, offset) if methods else None
        for method in methods:
            yield interpreted(machine, module, method, offset, owner)


def interpreted(
    machine: Machine,
    module: Module,
    node: ast.FunctionDef,
    offset: int,
    owner: Class | None,
    *,
    differentiates: bool = False,
    given: Mapping[str, Value] | None = None,
) -> Summary:
    """What a function of a module does, as if nobody called it; as a method on an object at the argument `self`.

    With `differentiates` also which gradients it asks for. Of its parameters some may be `given`.
    """
    return _run(machine, module, node, offset, owner, differentiates=differentiates, given=given).summary


def held_by(
    machine: Machine, module: Module, node: ast.FunctionDef, offset: int, owner: Class | None, expression: ast.expr
) -> Value:
    """What an expression of a function is once the function ran, as if nobody called it."""
    return machine.evaluate(_run(machine, module, node, offset, owner), expression)


def _run(
    machine: Machine,
    module: Module,
    node: ast.FunctionDef,
    offset: int,
    owner: Class | None,
    *,
    differentiates: bool = False,
    given: Mapping[str, Value] | None = None,
) -> Frame:
    function = definition_values.function_of(machine.module_frame(module), node, offset, owner)
    summary = Summary(function.qualname, definition=function)
    frame = Frame(machine, module, offset, summary, function=function, scope=scope_of(node))
    frame.plain = True
    frame.differentiates = differentiates and not differentiation.turned_off(machine, function)
    definition = parameters.definition_frame(machine.module_frame(module), function)
    receiver = classes.instance_at(machine, owner, AccessPath(Root.ARGUMENT, "", "self")) if owner is not None else None
    if owner is not None and function.binding == "class":
        receiver = Value(Kind.CLASS, owner.place, owner)
    frame.env.update({**parameters.of_marked(definition, function, {}, receiver), **(given or {})})
    with machine.summaries.aside(_BUDGET):
        bodies.run(machine, frame)
    return frame


def _statements(machine: Machine, module: Module, shell: ast.AST, names: set[str]) -> Iterator[Summary]:
    if not _hands_on(shell, names):
        return
    summary = Summary(module.name)
    frame = Frame(machine, module, 0, summary)
    frame.plain = True
    running = False
    held = set(names)
    with machine.summaries.aside(_BUDGET):
        for statement in getattr(shell, "body", []):
            running = running or (isinstance(statement, _LOOPS) and runs_compiled(machine, module, statement))
            if (running or _names_a_part(statement)) and not held.isdisjoint(_read_in(statement)):
                frame.summary = summary if running else Summary(module.name)
                machine.execute(frame, [statement])
                held |= frame.env.keys()
            running = running or any(runs(machine, module, one) for one in simple_statements([statement]))
    if summary.effects or summary.calls:
        yield summary


def once_running(
    machine: Machine, module: Module, shell: ast.AST, concerned: Callable[[ast.stmt], bool]
) -> Iterator[Summary]:
    """What those statements outside functions do that are concerned, once something ran; each by itself."""
    return (summary for summary, _, running in outside_functions(machine, module, shell, concerned) if running)


def outside_functions(
    machine: Machine, module: Module, shell: ast.AST, concerned: Callable[[ast.stmt], bool]
) -> Iterator[tuple[Summary, ast.stmt, bool]]:
    """What those statements outside functions do that are concerned, each with whether something ran before it.

    A loop that runs something did so in an earlier round.
    """
    running = False
    statements = getattr(shell, "body", [])
    last = next((one for one in reversed(statements) if concerned(one)), None)
    for statement in statements if last is not None else ():
        if concerned(statement):
            repeated = (one for one in walk(statement) if isinstance(one, _LOOPS) and concerned(one))
            ran = running or any(runs(machine, module, part) for one in repeated for part in simple_statements([one]))
            yield executed(machine, module, statement), statement, ran
        if statement is last:
            return
        running = running or any(runs(machine, module, one) for one in simple_statements([statement]))


def executed(machine: Machine, module: Module, statement: ast.stmt) -> Summary:
    """What a statement outside functions does."""
    frame = Frame(machine, module, 0, Summary(module.name))
    frame.plain = True
    with machine.summaries.aside(_BUDGET):
        machine.execute(frame, [statement])
    return frame.summary


def _names_a_part(statement: ast.AST) -> bool:
    """Whether a statement gives a part of something a name, and does nothing else: that counts before anything runs."""
    return isinstance(statement, ast.Assign) and _simple(statement.value)


def _read_in(statement: ast.AST) -> set[str]:
    names = (inner for inner in walk(statement) if isinstance(inner, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Load)}


def _hands_on(node: ast.AST, names: set[str]) -> bool:
    """Whether what a name holds may be changed by another name: it is passed, bound, or has a method of its own."""
    for inner in walk(node):
        if isinstance(inner, ast.Call):
            if _called_on(inner, names) or (looks_into(inner) and _any_of(_given(inner), names)):
                return True
        elif isinstance(inner, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.withitem)):
            value = inner.context_expr if isinstance(inner, ast.withitem) else inner.value
            if value is not None and _any_of([value], names) and (not _simple(value) or _changed_through(node, inner)):
                return True
        elif isinstance(inner, ast.For) and _any_of(_one_by_one(inner.iter), names):
            return True
    return False


def _changed_through(around: ast.AST, binding: ast.AST) -> bool:
    """Whether a part gets a name through which it is changed: `model = CONFIG["model"]`, then `model["alpha"] = 2`."""
    targets = binding.targets if isinstance(binding, ast.Assign) else []
    aliases = {target.id for target in targets if isinstance(target, ast.Name)}
    if not aliases:
        return False
    for inner in walk(around):
        stored = isinstance(getattr(inner, "ctx", None), (ast.Store, ast.Del)) and not isinstance(inner, ast.Name)
        called = inner.func if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) else None
        changed = inner if stored else called.value if called is not None and called.attr in MUTATORS else None
        if changed is not None and steps_of(changed)[:1] and steps_of(changed)[0] in aliases:
            return True
    return False


def _one_by_one(iterable: ast.expr) -> list[ast.expr]:
    """The objects that a loop over a literal goes through."""
    elements = iterable.elts if isinstance(iterable, (ast.Tuple, ast.List)) else []
    return [element for element in elements if not _simple(element)]


def _called_on(call: ast.Call, names: set[str]) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in names
    if not isinstance(function, ast.Attribute) or function.attr in _BUILT_IN:
        return False
    return _begins_with(function.value) in names


def _begins_with(node: ast.expr) -> str:
    """The name that leads, by attributes, entries and calls, to what an expression holds: `M` of `M.get().parts`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return next(iter(steps_of(node)), "")


def looks_into(call: ast.Call) -> bool:
    """Whether a call may do more with what it is given than to look at it, as `print` does."""
    return not (isinstance(call.func, ast.Name) and call.func.id in _LOOKING)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _any_of(values: Iterable[ast.expr], names: set[str]) -> bool:
    return any(steps[0] in names for value in values if (steps := steps_of(value)))


def _simple(value: ast.expr) -> bool:
    """Whether a value is an entry or attribute, which mostly holds a number: only whole objects are followed."""
    return isinstance(value, (ast.Attribute, ast.Subscript))
