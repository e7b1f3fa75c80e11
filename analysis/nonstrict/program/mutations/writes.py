"""Who changes captured state: rebindings, attribute and item writes, mutating calls, found in a module's text."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING

from nonstrict.facts.classmethods import class_parameter
from nonstrict.facts.closures import precedes_closures
from nonstrict.facts.execution import Step, steps_outside
from nonstrict.facts.laziness import completes, fills, fills_missing, puts_by_key
from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.steps import may_meet, steps_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import children, walk
from nonstrict.findings import Rebinding, Related
from nonstrict.knowledge.markers import MARKERS
from nonstrict.program.discovery.run_once import decorating
from nonstrict.program.domain.access_paths import VIEW, AccessPath, Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.domain.write import How, Write
from nonstrict.program.externals.running import runs, runs_around, runs_compiled
from nonstrict.program.mutations.calls import (
    IN_PLACE,
    MUTATORS,
    attributes_set,
    changed_argument,
    changed_by,
    changes_some,
    named_by,
    replaces_parameters,
    sets_attribute,
)
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.mutations.preparing import prepares
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Statements that may write a name, and what may hold such statements.
_WRITING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.For, ast.AsyncFor, ast.NamedExpr, *_DEFINITION)
#: Names of functions that trace what they are given at once.
_TRACERS = frozenset(name.rpartition(".")[2] for name, marker in MARKERS.items() if marker.kind == "make-fx")


def writers(machine: Machine, place: AccessPath, *, abroad: bool = True, in_place: bool = True) -> tuple[Related, ...]:
    """Everything that was seen to change what lives at a captured place.

    Other files are searched for it, with `abroad`, where its own module does not change it. Without `in_place` only
    what puts something else there.
    """
    return tuple(
        related_to(write)
        for write in changes(machine, place, abroad=abroad)
        if not write.building and (in_place or _replaces(write, place))
    )


def changes(machine: Machine, place: AccessPath, *, abroad: bool = True) -> list[Write]:
    """The same as writes, with those among them that happen before anything can have been compiled."""
    if place.root is Root.GLOBAL or (place.root is Root.RECEIVER and place.owner):
        module = machine.project.module(place.file)
        writes = machine.mutations.writes_told(module, place.name) if module is not None else []
        if module is not None:
            writes = [*writes, *_of_classes(machine, module, place)]
        if module is not None and not _any_concerns(writes, place):
            writes = [*writes, *machine.mutations.writes_reaching(module, place.name)]
        if module is not None and not _any_concerns(writes, place):
            writes = [*writes, *_put_on_classes(machine, module, place)]
        if abroad and module is not None and not _any_concerns(writes, place):
            replaced = machine.part(FoundWrites).replaced.get((module.path, place.name))
            before = [write for write in writes if write.building and not write.fills]
            writes = [*before, *(replaced or machine.mutations.foreign_writes(module, place.name))]
            if place.path and not _any_concerns(writes, place):
                writes = [*writes, *machine.mutations.writes_reaching_abroad(module, place.name)]
    elif place.root is Root.CELL:
        writes = list(machine.mutations.seen_through(_cell_writes(machine, place)))
    else:
        writes = []
    return [write for write in _changes(writes) if concerns(write, place)]


def _replaces(write: Write, place: AccessPath) -> bool:
    """Whether a write puts something else at a place: `A = B` does for an array, `A += 1` and `A[0] = 1` do not.

    What a method assigns is told by the target: `self.table`.
    """
    rebinds = isinstance(write.node, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Attribute, *_DEFINITION))
    return rebinds and len(write.steps) <= len([step for step in place.path if step != VIEW])


def _of_classes(machine: Machine, module: Module, place: AccessPath) -> Iterator[Write]:
    """The writes of an attribute on the class of a global object, and on the bases of a global class."""
    for cls in _classes_at(machine, module, place):
        if (cls.module, cls.name) != (module, place.name):
            yield from writes_of(machine, cls.module, cls.name)


def _put_on_classes(machine: Machine, module: Module, place: AccessPath) -> Iterator[Write]:
    """The same by code that is handed the class."""
    for cls in _classes_at(machine, module, place):
        for put in machine.mutations.put_on(cls, place.path[0][1:]):
            yield put.write._replace(steps=place.path[:1])


def _classes_at(machine: Machine, module: Module, place: AccessPath) -> Iterator[Class]:
    """The classes that give the first attribute of a place, where a global holds a class or an object of one."""
    if not place.path or not place.path[0].startswith("."):
        return
    for held in machine.global_value(module, place.name).alternatives():
        of_program = held.of_class if held.kind in (Kind.OBJECT, Kind.CLASS) else None
        for cls in classes.lineage(of_program) if of_program is not None else ():
            if not isinstance(cls, str) and cls.closure is None:
                yield cls


def _any_concerns(writes: list[Write], place: AccessPath) -> bool:
    # What makes an object on first use says nothing of who changes its attributes.
    known = _changes(writes) if place.path else writes
    return any(concerns(write, place) and not write.building for write in known)


def _changes(writes: list[Write]) -> list[Write]:
    """The writes that can change what a reader gets: not the filling of a cache, nor what empties such a cache."""
    if not any(write.fills for write in writes):
        return writes
    return [write for write in writes if not write.fills and not _empties(write.node)]


def _empties(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("clear", "pop", "popitem")
    return isinstance(node, ast.Delete)


def expect_writers(machine: Machine, place: AccessPath) -> None:
    """Tell ahead that the writers of a captured place will be asked for, where its own module has none."""
    if place.root is not Root.GLOBAL and not (place.root is Root.RECEIVER and place.owner):
        return
    module = machine.project.module(place.file)
    if module is not None and not any(concerns(write, place) for write in writes_of(machine, module, place.name)):
        machine.elsewhere.expect(module, [place.name])


def concerns(write: Write, place: AccessPath) -> bool:
    """Whether what is written may be what lives at a place, hold it, or be held by it."""
    path = [step for step in place.path if step != VIEW]
    return may_meet(write.steps, path) and not _only_behind(write, path)


def _only_behind(write: Write, path: list[str]) -> bool:
    """Whether a write only adds to the end of a list, behind the entry that is read."""
    node = write.node
    if not isinstance(node, ast.Call) or last_name(node) not in ("append", "extend"):
        return False
    entry = path[len(write.steps) : len(write.steps) + 1]
    return bool(entry) and entry[0][1:-1].isdecimal()


def related_to(write: Write) -> Related:
    """A write as evidence."""
    kind = Rebinding if write.how is How.REBOUND else Related
    return kind(span_of(write.path, write.offset, write.node), write.how.value)


def writes_of(machine: Machine, module: Module, name: str) -> list[Write]:
    """All writes of a top-level name, or of what it leads to, in its module."""
    known = machine.part(FoundWrites).of_names
    if (module, name) not in known:
        known[module, name] = list(_search(machine, module, name))
    return known[module, name]


def rebinds(machine: Machine, module: Module, name: str) -> bool:
    """Whether a module binds a top-level name more than once, other than by alternatives before anything runs."""
    if module.rebound(name):
        return True
    again = len(module.bindings.get(name, ())) > 1
    return again and any(one.how is How.REBOUND and not one.building for one in writes_of(machine, module, name))


def _search(machine: Machine, module: Module, name: str) -> Iterator[Write]:
    for node, offset, top_level in functions_with(module, name):
        if top_level:
            yield from _outside_functions(machine, module, node, name)
            continue
        found = list(_in_function(module.path, offset, node, name))
        calls = decorating(machine, module, node.name) if found and isinstance(node, ast.FunctionDef) else 0
        for write in found:
            decorates = bool(calls) and 0 < _calls_until(node, write.node) <= calls
            yield write._replace(building=decorates or prepares(machine, module, node, write.node))


def _calls_until(function: ast.AST, part: ast.AST) -> int:
    """How many calls, each of what the one before returned, run a part of a function; 0 if that runs otherwise."""
    around = [one for one in walk(function) if isinstance(one, FunctionNode) and part in walk(one)]
    return 0 if any(scope_of(one).is_generator for one in around) else len(around)


def _outside_functions(machine: Machine, module: Module, shell: ast.AST, name: str) -> Iterator[Write]:
    """The writes of a name outside functions; what runs before them is asked as far as the last of them only."""
    running = False
    bound = False
    first = _defined_at(module, name)
    # What is defined may be exchanged until it has been compiled, after whatever calls.
    run = runs_compiled if first < math.inf else runs
    for step, writes in _up_to_the_last_write(module.path, shell, name):
        bound = bound or first < getattr(step.node, "lineno", 0)
        for write in writes:
            # While a module is executed its names are being set up, until it calls something for effect.
            if write.how is How.REBOUND and not (step.repeats or (running and bound)):
                bound = True
                continue
            again = (step.repeats and write.how is How.REBOUND) or runs_around(machine, module, step)
            yield write._replace(building=not (running or again))
        running = running or (bound and run(machine, module, step.node))


def _up_to_the_last_write(path: str, shell: ast.AST, name: str) -> list[tuple[Step, list[Write]]]:
    steps = [
        (step, list(_in_step(path, 0, step, name)) if name in step.words or "globals" in step.words else [])
        for step in steps_outside(shell)
    ]
    while steps and not steps[-1][1]:
        steps.pop()
    return steps


def _defined_at(module: Module, name: str) -> float:
    """The line from which on a name is bound, where a function or class bears it first."""
    binding = next(iter(module.bindings.get(name, ())), None)
    chunk = binding.chunk if binding is not None else None
    return chunk.first if chunk is not None else math.inf


def _in_step(path: str, offset: int, step: Step, name: str) -> Iterator[Write]:
    if isinstance(getattr(step.node, "ctx", None), ast.Store):
        yield from _to_target(path, offset, step.node, name, rebinds=True)
    else:
        yield from _in_statement(path, offset, step.node, name, module_level=True)


def functions_with(
    module: Module, word: re.Pattern[str] | str | AbstractSet[str]
) -> Iterator[tuple[ast.AST, int, bool]]:
    """The shell (true), then each top-level definition whose text matches, with its line offset."""
    yield module.outline.shell, 0, True
    if isinstance(word, re.Pattern):
        chunks = module.chunks_at(match.start() for match in word.finditer(module.source.code))
    else:
        chunks = module.chunks_with({word} if isinstance(word, str) else word)
    for chunk in chunks:
        node = module.outline.node(chunk)
        if node is not None:
            yield node, chunk.offset, False


def _in_function(path: str, offset: int, node: ast.AST, name: str) -> Iterator[Write]:
    """Writes in a function or class and everything nested in it, unless the name is local there."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        scope = scope_of(node)
        if name in scope.local:
            return
        rebinds = name in scope.global_names | scope.nonlocal_names
        for statement in node.body:
            for write in _in_statement(path, offset, statement, name, module_level=rebinds):
                yield _as_filling(node, write, name)
    elif isinstance(node, ast.ClassDef):
        for statement in node.body:
            yield from _in_function(path, offset, statement, name)
            if node.name == name and isinstance(statement, ast.FunctionDef):
                yield from _on_class(path, offset, statement)


def _on_class(path: str, offset: int, method: ast.FunctionDef) -> Iterator[Write]:
    """What a method that gets its class writes there: `cls._instance = cls()`."""
    receiver = class_parameter(method)
    for statement in method.body if receiver else ():
        for write in _in_statement(path, offset, statement, receiver, module_level=False):
            yield _as_filling(method, write, receiver)


def _as_filling(function: FunctionNode, write: Write, name: str) -> Write:
    """The write, told apart if it fills a cache: `if key not in CACHE: CACHE[key] = make(key)`.

    The cache may be an attribute of what the name holds, as `Table.CACHE` is.
    """
    made = isinstance(write.node, ast.Assign) and not isinstance(write.value, ast.Constant)
    made = made or puts_by_key(write.node)
    attributes = [step for step in write.steps if step.startswith(".")]
    cache = attributes[0] if attributes else name
    filling = made and len(attributes) <= 1 and fills(function, cache)
    filling = filling or completes(function, write.node) or fills_missing(function, write.node)
    return write._replace(fills=True) if filling else write


def _in_statement(path: str, offset: int, statement: ast.AST, name: str, *, module_level: bool) -> Iterator[Write]:
    for node in remembered(statement, "_nonstrict_writing", _find_writing):
        if isinstance(node, _DEFINITION):
            yield from _in_function(path, offset, node, name)
        else:
            yield from _write_at(path, offset, node, name, rebinds=module_level)


def writes_within(path: str, offset: int, around: ast.AST, name: str) -> Iterator[Write]:
    """Writes of a variable, or of what it leads to, in the function or module that it belongs to."""
    for statement in getattr(around, "body", []):
        yield from _in_statement(path, offset, statement, name, module_level=False)


def _find_writing(statement: ast.AST) -> tuple[ast.AST, ...]:
    """What in a statement may write some name, the outermost first; of definitions only where they are."""
    found: list[ast.AST] = []
    level: list[ast.AST] = [statement]
    while level:
        found += (
            node for node in level if isinstance(node, _WRITING) or (isinstance(node, ast.Call) and changes_some(node))
        )
        level = [child for node in level if not isinstance(node, _DEFINITION) for child in children(node)]
    return tuple(found)


def _write_at(path: str, offset: int, node: ast.AST, name: str, *, rebinds: bool) -> Iterator[Write]:
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield from _to_target(path, offset, node.target, name, rebinds=rebinds)
        return
    if isinstance(node, ast.Call):
        if _updates_globals(node, name):
            yield Write(path, offset, node, How.REBOUND)
        yield from _mutating_call(path, offset, node, name)
        return
    for target, value in _assigned(node):
        if isinstance(target, ast.Name):
            if target.id == name and rebinds:
                yield Write(path, offset, node, How.REBOUND, (), value)
        elif (steps := steps_of(target))[:1] == (name,):
            yield Write(path, offset, node, How.CHANGED, steps[1:], value)
        elif _is_globals_item(target, name):
            yield Write(path, offset, node, How.REBOUND, (), value)


def _assigned(node: ast.AST) -> list[tuple[ast.expr, ast.expr | None]]:
    """What an assignment or `del` changes, and what is stored there."""
    if isinstance(node, ast.Assign):
        return [pair for target in node.targets for pair in _pairs(target, node.value)]
    if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        return [(node.target, node.value)]
    return [(target, None) for target in node.targets] if isinstance(node, ast.Delete) else []


def _to_target(path: str, offset: int, target: ast.AST, name: str, *, rebinds: bool) -> Iterator[Write]:
    """The writes of a target that gets one element after the other."""
    for part in walk(target):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id == name and rebinds:
            yield Write(path, offset, part, How.REBOUND)
        elif getattr(part, "ctx", None).__class__ is ast.Store and (steps := steps_of(part))[:1] == (name,):
            yield Write(path, offset, part, How.CHANGED, steps[1:])


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        values = value.elts if same and isinstance(value, (ast.Tuple, ast.List)) else [None] * len(target.elts)
        return list(zip(target.elts, values, strict=True))
    return [(target, value)]


def _mutating_call(path: str, offset: int, node: ast.Call, name: str) -> Iterator[Write]:
    function = node.func
    if isinstance(function, ast.Attribute) and (steps := steps_of(function.value))[:1] == (name,):
        method = function.attr
        in_place = IN_PLACE.fullmatch(method) is not None
        if method in MUTATORS or in_place:
            mode = (".training",) if method in ("train", "eval") else ()
            how = How.IN_PLACE if in_place else changed_by(node)
            for part in attributes_set(node, function.value) or (mode,):
                yield Write(path, offset, node, how, (*steps[1:], *part))
    elif replaces_parameters(node):
        for steps in map(steps_of, node.args[:2]):
            if steps[:1] == (name,):
                yield Write(path, offset, node, How.PARAMETERS, steps[1:])
    elif (changed := changed_argument(node)) is not None and (steps := steps_of(changed))[:1] == (name,):
        yield Write(path, offset, node, How.IN_PLACE, steps[1:])
    elif sets_attribute(node) and (steps := steps_of(node.args[0]))[:1] == (name,):
        yield Write(path, offset, node, How.CHANGED, (*steps[1:], *named_by(node.args[1])))


def _is_globals_item(target: ast.expr, name: str) -> bool:
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Call)
        and getattr(target.value.func, "id", "") == "globals"
        and isinstance(target.slice, ast.Constant)
        and target.slice.value == name
    )


def _updates_globals(node: ast.Call, name: str) -> bool:
    """`globals().update(name=...)`, `globals().update({"name": ...})`."""
    if (
        not isinstance(node.func, ast.Attribute)
        or last_name(node) != "update"
        or last_name(node.func.value) != "globals"
    ):
        return False
    keys = [key for argument in node.args if isinstance(argument, ast.Dict) for key in argument.keys]
    return any(keyword.arg == name for keyword in node.keywords) or any(
        isinstance(key, ast.Constant) and key.value == name for key in keys
    )


def _cell_writes(machine: Machine, place: AccessPath) -> list[Write]:
    path, qualname = place.file, place.function
    for function in machine.functions.values():
        if function.qualname == qualname and function.module.path == path and not isinstance(function.node, ast.Lambda):
            return list(_in_closure(path, function.offset, function.node, place.name))
    return []


def _in_closure(path: str, offset: int, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[Write]:
    assigned = 0
    nested = (inner for inner in walk(node) if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)))
    for inner in nested:
        for statement in inner.body if inner is not node and name in scope_of(inner).nonlocal_names else ():
            for write in _in_statement(path, offset, statement, name, module_level=True):
                yield _as_filling(inner, write, name)
    for statement in node.body:
        for write in _in_statement(path, offset, statement, name, module_level=True):
            rebinds = write.how is How.REBOUND
            assigned += rebinds
            again = not rebinds or assigned > 1 or name in scope_of(node).parameters
            if again and not (precedes_closures(node, write.node, name) or _traces(write.value)):
                yield write


def _traces(value: ast.expr | None) -> bool:
    """Whether a value is the graph that tracing made: it stands for the function from there on."""
    return value is not None and any(isinstance(node, ast.Call) and last_name(node) in _TRACERS for node in walk(value))
