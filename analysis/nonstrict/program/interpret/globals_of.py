"""What the top-level names of modules hold: the join of their bindings, evaluated when asked for."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.operators import torch_kind
from nonstrict.knowledge.standard_library import EVER
from nonstrict.program.domain.access_paths import FRESH, AccessPath, Root
from nonstrict.program.domain.values import (
    BOOL,
    NO_CONSTANT,
    NONE,
    NUMBER,
    PRIMITIVES,
    STRING,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    container,
    join,
    placed,
    relocated,
)
from nonstrict.program.interpret import expressions
from nonstrict.program.objects import iteration, releases

if TYPE_CHECKING:
    from nonstrict.program.domain.modules import Binding, Module
    from nonstrict.program.state.machine import Machine

#: Packages that knowledge answers for.
_ANSWERED = frozenset({"torch", "numpy", "builtins", "functorch", "torchvision", "triton", "nonstrict"})
_BUILTINS = frozenset(dir(builtins))
#: What an import keeps: of anything else the inside is shared with the module that it comes from.
_KEPT = PRIMITIVES | {Kind.FUNCTION}


def value(machine: Machine, module: Module, name: str) -> Value:
    """The value of a top-level name, at its global place; a builtin if the module does not bind it."""
    key = (module.path, name)
    if key in machine.globals:
        found = machine.globals[key]
        return UNKNOWN if found is None else found
    machine.globals[key] = None
    with machine.summaries.aside():
        found = _compute(machine, module, name)
    machine.globals[key] = found
    return found


def _compute(machine: Machine, module: Module, name: str) -> Value:
    bindings = module.bindings.get(name)
    if bindings is None:
        if name in module.declared_global and (starred := _from_star(machine, module, name)) is not None:
            return relocated(starred, module.place(name))
        return _from_star(machine, module, name) or _builtin(name)
    place = module.place(name)
    # A function that declares an imported name global makes it the module's own.
    owned = _owned(bindings) or name in module.declared_global
    found: Value | None = None
    for binding in bindings:
        if found is not None and _is_merged(machine, module, found, binding.node):
            continue
        bound = _bound(machine, module, binding) if found is None else _rebound(machine, module, found, binding)
        kept = found is not None and (binding.conditional or _is_other_mark(found, bound))
        found = join(found, bound) if kept else bound
        # An expression that rebinds a name reads what was bound before it.
        machine.globals[module.path, name] = relocated(found, place) if owned else found
    if found is None:
        return UNKNOWN
    # A function may be compiled, or marked, under its own name.
    if name in module.declared_global and (not _settled(found) or found.kind in (Kind.MARKED, Kind.FUNCTION)):
        for written in machine.mutations.rebindings(module, name):
            found = join(found, written)
    if not owned:
        # `from settings import SCALE` keeps what was there: a later binding of the name is not seen.
        return relocated(found, place) if found.kind in _KEPT and found.place.root is Root.GLOBAL else found
    # What tells functions and classes from outside apart is where they come from, unless the name is rebound.
    return placed(found, place) if machine.mutations.is_rebound(place) else relocated(found, place)


def _is_merged(machine: Machine, module: Module, before: Value, statement: ast.AST | None) -> bool:
    """Whether `CONFIG |= options` puts entries into a dict, which stays the same: that is done."""
    merges = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.BitOr)
    if before.kind is not Kind.DICT or before.heap is None or not merges or not isinstance(statement, ast.AugAssign):
        return False
    added = machine.evaluate(machine.module_frame(module), statement.value).heap
    known = added is not None and not added.open and added.loose is None
    for key, entry in added.items.items() if known and added is not None else [(NO_CONSTANT, UNKNOWN)]:
        before.heap.store(key, entry)
    return True


def _rebound(machine: Machine, module: Module, before: Value, binding: Binding) -> Value:
    """What a binding makes of a name that was bound before: `STEP += 1` of a number another number."""
    statement = binding.node
    if not isinstance(statement, ast.AugAssign) or before.kind is not Kind.NUMBER:
        return _bound(machine, module, binding)
    frame = machine.module_frame(module)
    counted = expressions.operate(frame, statement, before, machine.evaluate(frame, statement.value), statement.op)
    return counted if counted.kind is Kind.NUMBER else UNKNOWN


def _is_other_mark(before: Value, after: Value) -> bool:
    """Whether a name is bound to another marked function: what was called in between reached the first one."""
    return before.kind is Kind.MARKED and after.kind is Kind.MARKED and before.ref is not after.ref


def _owned(bindings: list[Binding]) -> bool:
    return any(binding.kind != "import" for binding in bindings)


def _settled(found: Value) -> bool:
    return all(alternative.kind not in (Kind.NONE, Kind.UNKNOWN) for alternative in found.alternatives())


def _builtin(name: str) -> Value:
    if name in _BUILTINS:
        return Value(Kind.EXTERNAL, FRESH, f"builtins.{name}")
    if name in ("__name__", "__file__"):
        return STRING
    return UNKNOWN


def _from_star(machine: Machine, module: Module, name: str) -> Value | None:
    if name.startswith("_"):
        return None
    for binding in module.star_imports:
        dotted = machine.project.absolute(binding.module, binding.level, module)
        path = machine.project.find(dotted, module)
        if path is None:
            if torch_kind(f"{dotted}.{name}") is not None:
                return external(f"{dotted}.{name}")
            continue
        target = machine.project.module(path)
        if target is not None and (name in target.bindings or target.star_imports):
            found = value(machine, target, name)
            if found.kind is not Kind.UNKNOWN:
                return found
    return None


def _bound(machine: Machine, module: Module, binding: Binding) -> Value:
    frame = machine.module_frame(module)
    if binding.kind == "import":
        return _imported(machine, module, binding)
    if binding.kind == "def":
        node = module.definition(binding)
        if node is None:
            return UNKNOWN
        return machine.define(frame, node, binding.offset)
    if binding.kind == "annotation":
        return machine.annotated(frame, binding.node, FRESH)
    if binding.kind in ("assign", "element", "round", "enter") and isinstance(binding.node, ast.expr):
        found = machine.evaluate(frame, binding.node)
        if binding.kind == "enter":
            return found
        if binding.kind == "round":
            found = iteration.elements_of(frame, binding.node, found)
        if binding.position is not None:
            return (found.heap.load(binding.position) if found.heap is not None else None) or UNKNOWN
        if found.kind is Kind.UNKNOWN and binding.annotation is not None:
            return machine.annotated(frame, binding.annotation, FRESH)
        return found
    return UNKNOWN


def _imported(machine: Machine, module: Module, binding: Binding) -> Value:
    dotted = machine.project.absolute(binding.module, binding.level, module)
    if not binding.attribute:
        return Value(Kind.PYTHON_MODULE, FRESH, dotted)
    return member(machine, module, dotted, binding.attribute)


#: False for every program that runs.
_TYPE_CHECKING = frozenset({"typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"})


def member(machine: Machine, importer: Module, dotted: str, attribute: str) -> Value:
    """What `dotted.attribute` is: a name of a project module, a submodule, or something external."""
    project = machine.project
    full = f"{dotted}.{attribute}"
    if full in _TYPE_CHECKING:
        return BOOL._replace(const=False)
    if full in releases.NAMES:
        return releases.at_hand(machine)
    if full == releases.OF_PYTHON and project.python is not None:
        return releases.of_python(project.python)
    if project.models.replaces(full):
        return external(full)
    if full in MARKERS or (full.startswith("torch.") and torch_kind(full) is not None):
        return external(full)
    path = project.find(dotted, importer)
    if path is not None:
        target = project.module(path)
        if target is not None:
            if attribute in target.bindings:
                if target is importer and target.bindings[attribute][0].kind == "import":
                    return _submodule(machine, importer, full) or value(machine, target, attribute)
                return value(machine, target, attribute)
            submodule = _submodule(machine, importer, full)
            if submodule is not None:
                return submodule
            if target.star_imports:
                return _from_star(machine, target, attribute) or UNKNOWN
        return external(full) if torch_kind(full) or project.models.find(full) is not None else UNKNOWN
    submodule = _submodule(machine, importer, full)
    return submodule if submodule is not None else external(full)


def installed(machine: Machine, dotted: str) -> Value | None:
    """A class or function of an installed package, read from its source; None if that is not to be had."""
    package, _, name = dotted.rpartition(".")
    if not package:
        return None
    path = machine.project.find_installed(package)
    module = machine.project.module(path) if path is not None and path.endswith(".py") else None
    if module is None or name not in module.bindings:
        return None
    found = value(machine, module, name)
    return found if found.kind in (Kind.CLASS, Kind.FUNCTION) else None


def held_outside(machine: Machine, external: Value, *, ask: bool = True) -> Value:
    """What a name of an installed package holds: from the package's source, else as jedi tells; else as it was.

    What is only called is not worth a question to jedi (`ask`).
    """
    package, _, name = external.dotted.rpartition(".")
    root = package.partition(".")[0]
    if not package or root in _ANSWERED or root in EVER or not machine.project.find_installed(root):
        return external
    if machine.models.find(external.dotted) is not None:
        return external
    path = machine.project.find_installed(package)
    module = machine.project.module(path) if path is not None and path.endswith(".py") else None
    if module is not None and name in module.bindings:
        found = value(machine, module, name)
        if found.kind is not Kind.UNKNOWN:
            return found
    return _described(machine, external, package, name) if ask else external


def _described(machine: Machine, external: Value, package: str, name: str) -> Value:
    described = machine.jedi.describe(package, name)
    if described is None or described.kind != "instance":
        return external
    place = AccessPath(Root.GLOBAL, package, name)
    if torch_kind(described.name) == "tensor-class":
        return Value(Kind.TENSOR, place)
    defined = machine.installed(described.name)
    cls = defined.of_class if defined is not None and defined.kind is Kind.CLASS else None
    return machine.instance_at(cls, place) if cls is not None else external


def _submodule(machine: Machine, importer: Module, dotted: str) -> Value | None:
    if machine.project.find(dotted, importer) is not None:
        return Value(Kind.PYTHON_MODULE, FRESH, dotted)
    return None


def external(dotted: str) -> Value:
    """Something that lies outside the program, known by its dotted name."""
    kind = torch_kind(dotted)
    if kind == "module":
        return Value(Kind.PYTHON_MODULE, FRESH, dotted)
    if kind in ("dtype", "constant"):
        flags = Flag.OPTIONAL if dotted in _OF_THE_BUILD else Flag.NONE
        return Value(Kind.SETTING, FRESH, dotted, flags=flags)
    if dotted in _CONSTANTS:
        return _CONSTANTS[dotted]
    return Value(Kind.EXTERNAL, FRESH, dotted)


#: None where torch was built without it (`torch/version.py`).
_OF_THE_BUILD = frozenset(f"torch.version.{name}" for name in ("cuda", "hip", "rocm", "xpu"))
_CONSTANTS = {
    "math.pi": NUMBER,
    "math.e": NUMBER,
    "math.inf": NUMBER,
    "math.nan": NUMBER,
    "sys.maxsize": NUMBER,
    "torch.pi": NUMBER,
    "torch.inf": NUMBER,
    "torch.nan": NUMBER,
    "numpy.pi": NUMBER,
    "numpy.inf": NUMBER,
    "numpy.nan": NUMBER,
    "sys.argv": container(Kind.LIST, STRING),
    "builtins.None": NONE,
}
