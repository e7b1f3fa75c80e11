"""Regions that torch does not compile, because the program switched it off before: `set_stance("force_eager")`.

Measured on torch 2.13: with `torch._dynamo.config.disable`, and in the stance `force_eager`, calls of what is compiled
run as plain Python, whenever that was set. `TORCHDYNAMO_DISABLE` is read where `torch.compile` is applied, and
`TORCH_COMPILE_DISABLE` while `torch._dynamo` is imported. Only a setting that surely holds counts: one that is executed
before the application in any case, and that nothing which may run with it sets otherwise.

In the stance `eager_on_recompile` nothing is compiled any more: what fits no guard runs as plain Python (measured on
torch 2.13, also of the stance as a context manager and as a decorator). In `fail_on_recompile` it is an error, and
`eager_then_compile` compiles as much as without.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import guards
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions.assigned import (
    CONFIG,
    ENVIRONMENT,
    Assigned,
    Settings,
    assigned,
    constant_of,
    parts,
)
from nonstrict.program.discovery.together import may_run_with
from nonstrict.program.domain.values import NO_CONSTANT
from nonstrict.program.linking.imports import modules_imported
from nonstrict.program.objects.naming import names_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_DISABLE, _STANCE = "disable", "set_stance"
_STANCES = frozenset({f"torch.{holder}.{_STANCE}" for holder in ("compiler", "_dynamo", "_dynamo.decorators")})
#: What switches torch off: a name, under which holder, with which value; the stance is what its function is given.
_SWITCHES: dict[str, tuple[str, object]] = {
    _DISABLE: (CONFIG, True),
    "TORCHDYNAMO_DISABLE": (ENVIRONMENT, "1"),
    "TORCH_COMPILE_DISABLE": (ENVIRONMENT, "1"),
    _STANCE: ("", "force_eager"),
}
#: The stance in which what was compiled stays all that is.
_ONLY_COMPILED = "eager_on_recompile"
#: Read while `torch._dynamo` is imported, which only a program without torch so far does for sure later.
_AT_IMPORT = "TORCH_COMPILE_DISABLE"
#: More files than so many are not gone through for what a file imports.
_MAX_FILES = 200


def switched_off(machine: Machine, path: str, offset: int, node: ast.AST) -> Assigned | None:
    """What keeps torch from compiling what is applied at a node of a file; None where it compiles, or may."""
    known = [(one, _value(machine, one) == _SWITCHES[one.name][1]) for one in _all(machine)]
    for switch, is_off in known:
        if is_off and not switch.for_now and _comes_first(machine, switch, path, offset, node):
            others = (one for one, same in known if one.name == switch.name and not same)
            if not any(may_run_with(machine, path, one.path) for one in others):
                return switch
    return None


def may_stop_compiling(machine: Machine, path: str) -> bool:
    """Whether what a program runs together with a file may have torch run plain Python instead of compiling again."""
    stances = (one for one in _all(machine) if one.name == _STANCE and may_run_with(machine, path, one.path))
    return any(_value(machine, one) in (_ONLY_COMPILED, NO_CONSTANT) for one in stances)


def _all(machine: Machine) -> tuple[Assigned, ...]:
    settings = machine.part(Settings)
    if settings.switches is None:
        settings.switches = _switches(machine)
    return settings.switches


def _switches(machine: Machine) -> tuple[Assigned, ...]:
    """The statements of the program that switch torch off, and those that may switch it on again."""
    elsewhere = machine.elsewhere
    files = dict.fromkeys(elsewhere.files_storing(_DISABLE))
    for name in sorted(_SWITCHES.keys() - {_DISABLE}):
        files |= dict.fromkeys(elsewhere.files_with(name.encode()))
    found = [switch for path in sorted(files) for switch in _in_file(machine, path)]
    patching = sorted(set(elsewhere.files_with(_DISABLE.encode())) - files.keys()) if found else ()
    return (*found, *(switch for path in patching for switch in _in_file(machine, path)))


def _in_file(machine: Machine, path: str) -> Iterator[Assigned]:
    module = machine.project.module(path)
    if module is not None:
        set_there = assigned(machine, module, sorted(_SWITCHES.keys() - {_STANCE}))
        yield from (one for one in set_there if one.holder == _SWITCHES[one.name][0])
        yield from _stances(machine, module)


def _stances(machine: Machine, module: Module) -> Iterator[Assigned]:
    """The stances that a module sets; one that is entered, or decorates, holds only for a while."""
    for part, offset in parts(module, (_STANCE,)) if module.holds(_STANCE) else ():
        names = names_below(machine, module, part)
        kept = {statement.value for statement in walk(part) if isinstance(statement, ast.Expr)}
        for call in walk(part):
            if isinstance(call, ast.Call) and names(call.func) in _STANCES:
                given = next(iter(call.args), next((one.value for one in call.keywords if one.arg == "stance"), None))
                yield Assigned(_STANCE, "", given, call, module.path, part, offset, for_now=call not in kept)


def _value(machine: Machine, switch: Assigned) -> object:
    module = machine.project.module(switch.path)
    return constant_of(machine, module, switch.value) if module is not None else NO_CONSTANT


# -- what is executed first ---------------------------------------------------------------------------------------


def _comes_first(machine: Machine, switch: Assigned, path: str, offset: int, node: ast.AST) -> bool:
    """Whether a statement is executed in any case before a node of a file is."""
    way = next(guards.ways(switch.part, lambda one: one is switch.node), ())
    statement = next((one for one in reversed(way) if isinstance(one, ast.stmt)), None)
    if statement is None or (switch.name == _AT_IMPORT and _knows_torch(machine, switch)):
        return False
    is_outside = isinstance(switch.part, ast.Module) and statement in switch.part.body
    if switch.path != path:
        return is_outside and switch.path in _run_first(machine, path, _line(offset, node))
    if is_outside and _line(switch.offset, statement) < _line(offset, node):
        return True
    around = way[way.index(statement) - 1]
    return any(inner is node for later in guards.behind(around, statement) for inner in walk(later))


def _line(offset: int, node: ast.AST) -> int:
    return offset + getattr(node, "lineno", 0)


def _knows_torch(machine: Machine, switch: Assigned) -> bool:
    """Whether a file imports torch, or anything of the program that may, before a statement of it."""
    module = machine.project.module(switch.path)
    line = _line(switch.offset, switch.node)
    return module is None or any(
        _is_of_torch(statement) or any(modules_imported(machine.project, module, statement))
        for statement in _imports_before(module, line)
    )


def _imports_before(module: Module, line: int) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that a file executes in any case, before a line of it; 0 stands for its end."""
    for statement in module.outline.shell.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and (not line or statement.lineno < line):
            yield statement


def _is_of_torch(statement: ast.Import | ast.ImportFrom) -> bool:
    names = [one.name for one in statement.names] if isinstance(statement, ast.Import) else [statement.module or ""]
    return any(name.partition(".")[0] == "torch" for name in names)


def _run_first(machine: Machine, path: str, line: int) -> set[str]:
    """The files of the program that one imports in any case, before a line of it."""
    found: set[str] = set()
    pending = [(path, line)]
    while pending and len(found) < _MAX_FILES:
        current, before = pending.pop()
        module = machine.project.module(current)
        if module is not None:
            imports = _imports_before(module, before)
            new = {one for each in imports for one in modules_imported(machine.project, module, each)} - found
            found |= new
            pending += [(one, 0) for one in sorted(new)]
    return found
