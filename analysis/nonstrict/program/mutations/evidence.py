"""Evidence from the whole project: who switches modes, sets environment variables, replaces helpers and attributes.

Files are searched for bytes only, in the passes of `Elsewhere`; those that may hold evidence are parsed, nearest first,
until there is enough to show.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.aliases import aliases_of
from nonstrict.facts.execution import simple_statements
from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.steps import may_meet
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.models.members import CHANGING_COMMON
from nonstrict.program.discovery import callers, constructions
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import UNKNOWN, Kind, Value
from nonstrict.program.domain.write import How, Write
from nonstrict.program.externals.running import runs
from nonstrict.program.mutations import attribute_writes, foreign_writes, own_methods
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.mutations.preparing import prepares
from nonstrict.program.mutations.strangers import targets_of
from nonstrict.program.mutations.writes import functions_with, related_to, writes_within
from nonstrict.program.objects import classes, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.findings import Span
    from nonstrict.program.discovery.constructions import Construction
    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: So many places are shown as evidence of one kind.
SHOWN = 5
#: Longer calls are not repeated in messages.
_MAX_TEXT = 60
#: A name that more files use tells nothing.
_MAX_FILES = 40
#: What a constructor is given is followed through so many functions that hand it on.
_MAX_HANDED = 3
MODE_TEXTS = (b".eval()", b".train(")
_MODE = re.compile(r"\.(?:eval|train)\(")
#: Objects with a method `train` that are no modules, by the end of their names.
_NO_MODULES = ("trainer", "runner", "engine", "algorithm", "agent")
_ENVIRONMENT = re.compile(r"environ|putenv|unsetenv")
_CHANGING = CHANGING_COMMON
_CHANGES = "|".join(sorted(_CHANGING))
_ENVIRON = "environ"
_SETTERS = frozenset({"setdefault", "update", "pop", "putenv", "unsetenv", "__setitem__"})


# -- modes --------------------------------------------------------------------------------------------------------


def expect_mode_writers(machine: Machine) -> None:
    """Tell ahead that the switches of modes will be asked for."""
    machine.elsewhere.expect_text(*MODE_TEXTS)


def mode_writers(machine: Machine, near: Iterable[str]) -> tuple[Related, ...]:
    """Calls of `.eval()` and `.train()` in the project, those in the near files first."""
    near = list(near)
    found = [related for path in near for related in _switches(machine, path)]
    if not found:
        # Files with `.eval()` first: what is trained may be no module.
        for path in dict.fromkeys(path for text in MODE_TEXTS for path in machine.elsewhere.files_with(text)):
            if path not in near:
                found += _switches(machine, path)
            if len(found) >= SHOWN:
                break
    return tuple(found[:SHOWN])


def _switches(machine: Machine, path: str) -> tuple[Related, ...]:
    known = machine.part(FoundWrites).mode_switches
    if path not in known:
        known[path] = tuple(_switches_in(machine, path))
    return known[path]


def _switches_in(machine: Machine, path: str) -> Iterator[Related]:
    module = machine.project.module(path)
    if module is None or not _MODE.search(module.source.code):
        return
    for node, offset, _ in functions_with(module, _MODE):
        for inner in walk(node):
            if _switches_mode(inner):
                text = ast.unparse(inner)
                told = f": `{text}`" if len(text) <= _MAX_TEXT else " here"
                yield Related(span_of(path, offset, inner), f"switches the mode{told}")


def _switches_mode(node: ast.AST) -> bool:
    """`model.eval()`; an override that calls `super().train(mode)` switches nothing by itself."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    method, receiver = node.func.attr, node.func.value
    if method not in ("eval", "train") or (isinstance(receiver, ast.Call) and last_name(receiver) == "super"):
        return False
    if last_name(receiver).lower().endswith(_NO_MODULES):
        return False
    flags = [*node.args, *(keyword.value for keyword in node.keywords)]
    # `frame.eval("a + b")` and `estimator.train(samples)` are other things; a mode is one flag.
    return not flags or (method == "train" and len(flags) == 1 and _is_flag(flags[0]))


def _is_flag(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    return last_name(node) in ("mode", "training", "is_training", "was_training", "train", "prev_mode")


# -- environment variables ----------------------------------------------------------------------------------------


def expect_environment_writers(machine: Machine, name: str) -> None:
    """Tell ahead that the writers of an environment variable will be asked for."""
    machine.elsewhere.expect_text(name.encode("utf-8", "surrogateescape"), _ENVIRON.encode())


def environment_writers(machine: Machine, name: str) -> tuple[Related, ...]:
    """Where the project sets an environment variable after modules were imported: in functions, or once code ran."""
    found: dict[Span, Related] = {}
    # By its name, or by one that is put together: `os.environ[f"APP_{key}"] = value`.
    for word in (name, _ENVIRON):
        paths = machine.elsewhere.files_with(word.encode("utf-8", "surrogateescape"))
        for path in paths if len(paths) <= _MAX_FILES else ():
            module = machine.project.module(path)
            if module is not None and _ENVIRONMENT.search(module.source.code):
                for node, offset in _late(machine, module, word):
                    if _sets_variable(node, name) and not _prepared(machine, module, node, word):
                        span = span_of(path, offset, node)
                        found[span] = Related(span, f"sets `{name}` here")
    return tuple(found.values())[:SHOWN]


def _late(machine: Machine, module: Module, word: str) -> Iterator[tuple[ast.AST, int]]:
    """The nodes of functions that hold a word, and of what stands outside functions once something ran."""
    for node, offset, top_level in functions_with(module, word):
        if not top_level:
            for inner in walk(node):
                yield inner, offset
            continue
        running = False
        for statement in simple_statements(getattr(node, "body", [])):
            for inner in walk(statement) if running else ():
                yield inner, offset
            running = running or runs(machine, module, statement)


def _prepared(machine: Machine, module: Module, node: ast.AST, word: str) -> bool:
    """Whether a node belongs to a function that runs once, before anything compiled does."""
    around = (one for one, _, top_level in functions_with(module, word) if not top_level)
    return any(prepares(machine, module, function, node) for function in around)


def _sets_variable(node: ast.AST, name: str) -> bool:
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)):
        targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        return any(
            isinstance(target, ast.Subscript) and last_name(target.value) == "environ" and _is(target.slice, name)
            for target in targets
        )
    if not isinstance(node, ast.Call) or last_name(node) not in _SETTERS:
        return False
    function = node.func
    of_environ = isinstance(function, ast.Attribute) and last_name(function.value) == "environ"
    if not of_environ and last_name(function) not in ("putenv", "unsetenv"):
        return False
    keys = [key for argument in node.args if isinstance(argument, ast.Dict) for key in argument.keys]
    return any(keyword.arg == name for keyword in node.keywords) or any(
        _is(key, name) for key in (*node.args[:1], *keys)
    )


def _is(node: ast.AST | None, text: str) -> bool:
    """Whether a key is a text, or may be: it is put together of parts of it and others."""
    if not isinstance(node, ast.JoinedStr):
        return isinstance(node, ast.Constant) and node.value == text
    told = [str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values]
    pattern = "".join(re.escape(part) or ".*" for part in told)
    return any(told) and re.fullmatch(pattern, text, re.DOTALL) is not None


# -- helper functions ---------------------------------------------------------------------------------------------


def replaced_abroad(machine: Machine, place: AccessPath) -> bool:
    """Whether another file binds a global function to something else: `model.activation = torch.relu`."""
    module = machine.project.module(place.file)
    if module is None:
        return False
    key = (place.owner, place.name)
    known = machine.part(FoundWrites).replaced
    if key not in known:
        known[key] = list(_replacements(machine, module, place.name))
    return bool(known[key])


def _replacements(machine: Machine, module: Module, name: str) -> Iterator[Write]:
    paths = [path for path in machine.elsewhere.files_replacing(name) if path != module.path]
    for path in paths if len(paths) <= _MAX_FILES else ():
        user = machine.project.module(path)
        if user is not None:
            for write in machine.mutations.seen_through(foreign_writes.in_module(machine, user, module, name, name)):
                if write.how is How.REBOUND and not write.building:
                    yield write
    held = machine.global_value(module, name)
    for put in machine.mutations.put_on(module, name):
        marks = put.value.mark is not None and put.value.mark.function is held.ref
        if not put.write.building and not marks:
            yield put.write


# -- attributes ---------------------------------------------------------------------------------------------------


def argument_writers(machine: Machine, place: AccessPath, owners: Iterable[Class | None]) -> tuple[Related, ...]:
    """Where an attribute of an argument is changed, or one on the way to it; `owners` as for `argument_changes`."""
    return tuple(dict.fromkeys(related_to(write) for write in argument_changes(machine, place, owners)))


def argument_changes(machine: Machine, place: AccessPath, owners: Iterable[Class | None]) -> list[Write]:
    """The same as writes.

    `owners` are the classes of the objects along the path that have the attributes; where one is not known, only files
    that are loaded are searched.
    """
    found: list[Write] = []
    for index, owner in zip(attribute_steps(place), owners, strict=False):
        attribute, key = place.path[index][1:], "".join(place.path[index + 1 : index + 2])
        writes = (
            attribute_writes.of_class(machine, owner, attribute)
            if owner
            else attribute_writes.in_loaded(machine, attribute)
        )
        held = _held_by(machine, owner, attribute) if owner else UNKNOWN
        found += (write for write in writes if _may_be_at(write, key) and not _by_own_method(machine, held, write))
        if owner is not None and machine.constructed.get((owner, attribute)) is not None:
            found += _of_given(machine, owner, attribute, place.path[index + 1 :])
    return found


def changes_of_part(machine: Machine, place: AccessPath, owners: Sequence[Class | None]) -> list[Write]:
    """Changes of an attribute of a module of torch that the objects of a class hold: `p` of `net.drop`."""
    steps = place.path[-2:]
    holder = owners[-2] if len(owners) > 1 and owners[-1] is None else None
    if holder is None or not all(step.startswith(".") for step in steps):
        return []
    return attribute_writes.of_part(machine, holder, steps[0][1:], steps[1][1:])


def _held_by(machine: Machine, owner: Class, attribute: str) -> Value:
    """What the objects of a class hold under an attribute."""
    return classes.template(machine, owner).attributes.get(attribute, UNKNOWN)


def _by_own_method(machine: Machine, held: Value, write: Write) -> bool:
    """Whether a method of the object that an attribute holds is called: what it changes is told of its own class."""
    return isinstance(write.node, ast.Call) and own_methods.is_own(machine, held, write._replace(steps=()))


def _of_given(machine: Machine, owner: Class, attribute: str, path: tuple[str, ...]) -> Iterator[Write]:
    """Changes of what a constructor was given, from where the object is made on."""
    for made in constructions.constructions(machine, owner, attribute):
        yield from _changed_after(machine, made, path, _MAX_HANDED)


def _changed_after(machine: Machine, made: Construction | Passing, path: tuple[str, ...], hops: int) -> Iterator[Write]:
    """Changes, after a call, of what is passed to it, by the name that it has there, and by those of the callers."""
    frame, given = made.frame, made.expression
    if isinstance(given, ast.Name) and frame.function is not None:
        given = aliases_of(frame.function.node).get(given.id, given)
    if not isinstance(given, ast.Name):
        return
    around = naming.text_of(frame)
    for write in machine.mutations.seen_through(writes_within(frame.module.path, frame.offset, around, given.id)):
        later = getattr(write.node, "lineno", 0) > getattr(made.node, "lineno", 0)
        if later and write.how is not How.REBOUND and may_meet(write.steps, path):
            yield write
    if hops and frame.function is not None and given.id in parameter_names(frame.function.node.args):
        for passing in callers.passings(machine, frame.function, given.id):
            yield from _changed_after(machine, passing, path, hops - 1)


def owners_at(machine: Machine, holder: Value | None, place: AccessPath) -> list[Class | None]:
    """The classes of the program, as far as known, whose attributes the steps from `holder` are."""
    found: list[Class | None] = []
    for step in place.path:
        if step.startswith("."):
            known = holder is not None and holder.kind in (Kind.MODULE, Kind.OBJECT)
            found.append(holder.of_class if holder is not None and known else None)
        holder = _reached(machine, holder, step)
    return found


def _reached(machine: Machine, holder: Value | None, step: str) -> Value | None:
    """What a step leads to; an attribute that is as the constructor was given it, by what constructions give."""
    found = holder.heap.step(step) if holder is not None and holder.heap is not None else None
    untold = found is None or found.kind in (Kind.UNKNOWN, Kind.EXTERNAL_METHOD)
    if holder is not None and holder.of_class is not None and untold and step.startswith("."):
        found = machine.contracts.given_by_constructions(machine, holder.of_class, step[1:]) or found
    return found


def attribute_steps(place: AccessPath) -> list[int]:
    """The positions of attributes among the steps of a place."""
    return [index for index, step in enumerate(place.path) if step.startswith(".")]


def _may_be_at(write: Write, key: str) -> bool:
    """Whether a write is of an attribute itself, or of that entry of it."""
    if not key.startswith("[") or key == "[]":
        return True
    written = (target.slice for target in targets_of(write.node) if isinstance(target, ast.Subscript))
    known = [f"[{entry.value!r}]" for entry in written if isinstance(entry, ast.Constant)]
    return not known or key in known
