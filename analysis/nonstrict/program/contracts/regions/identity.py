"""Where the wrapper that `torch.compile` puts around a module is taken for the module.

Measured on torch 2.13: `isinstance` says no, the names of its state begin with `_orig_mod.`, it is not a container, and
what is assigned on its class is not seen by the module.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.contracts.marks import marking
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.contracts.regions.states import Loading, Saving, Testing, plain_of
from nonstrict.program.discovery import roots
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.domain.misapplied import WRAPPED, Misuse
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nonstrict.program.contracts.regions.states import Seen
    from nonstrict.program.domain.definitions import CompileSite
    from nonstrict.program.state.machine import Machine

#: The module inside a wrapper; who names it knows of the wrapper.
_INSIDE = "_orig_mod"
_KNOWS = _INSIDE.encode()
#: The same in code and in strings, not in comments.
_IN_CODE = re.compile(rb"^[^#\n]*_orig_mod", re.MULTILINE)
_READ = ("state_dict", "load_state_dict", "isinstance")


def bodies(machine: Machine, paths: Collection[str]) -> Iterator[MarkedBody]:
    """The applications of `torch.compile` in some files whose wrappers are taken for modules."""
    own = {site.path for site, _ in machine.part(Compilations).given_here() if site.path in paths}
    if not own:
        return
    for path in sorted(own):
        module = machine.project.module(path)
        if module is not None and any(map(module.holds, _READ)):
            roots.find_calls(machine, module, set(_READ))
    elsewhere = machine.elsewhere
    aware = any(_IN_CODE.search(elsewhere.data(path)) for path in elsewhere.files_with(_KNOWS))
    found: dict[ast.AST, list[Misuse]] = {}
    for site, misuse in _misuses(machine, aware=aware):
        found.setdefault(site.node, []).append(misuse)
    for site, target in machine.part(Compilations).given_here():
        if site.path in paths and site.node in found:
            mark = _mark(machine, site, target, tuple(dict.fromkeys(found[site.node])))
            yield MarkedBody(machine, mark, machine.torch)


def _mark(machine: Machine, site: CompileSite, target: Value, misused: tuple[Misuse, ...]) -> Mark:
    function = marking.function_of(machine, target)
    if function is None:
        given = site.node.args if isinstance(site.node, ast.Call) else []
        target = Value(Kind.EXTERNAL, FRESH, ast.unparse(given[0]) if given else "model")
    return Mark(WRAPPED, "torch.compile", target, site.path, site.offset, site.node, function, misused=misused)


def _misuses(machine: Machine, *, aware: bool) -> Iterator[tuple[CompileSite, Misuse]]:
    """What is wrong, with the application that made the wrapper; `aware` is a program that names what is inside it."""
    for one in machine.part(Compilations).states.seen:
        if isinstance(one, Testing):
            yield from _of_test(machine, one)
        elif isinstance(one, Saving) and not aware:
            yield from _of_saved(machine, one)
        elif isinstance(one, Loading) and not aware:
            yield from _of_load(machine, one)


def _made_by(machine: Machine, value: Value, at: Seen) -> CompileSite | None:
    """The application that made a wrapper; None if it comes after the use, in the same function."""
    for made in machine.part(Compilations).around(value):
        later = made.path == at.path and made.within is at.function and _line(made) >= at.span.line
        if not later:
            return made
    return None


def _line(made: CompileSite) -> int:
    return getattr(made.node, "lineno", 0) + made.offset


# -- isinstance ---------------------------------------------------------------------------------------------------


def _of_test(machine: Machine, test: Testing) -> Iterator[tuple[CompileSite, Misuse]]:
    made = _made_by(machine, test.value, test) if not _looks_inside(test) else None
    names = [_name_if_lost(machine, test.value, one) for one in test.asked]
    if made is not None and names and all(name is not None for name in names) and any(names):
        yield made, Misuse("isinstance", test.span, next(filter(None, names)))


def _looks_inside(test: Testing) -> bool:
    """Whether the code that tests takes the module out of a wrapper as well."""
    nodes = walk(test.function.node) if test.function is not None else ()
    return any(isinstance(node, ast.Attribute) and node.attr == _INSIDE for node in nodes)


def _name_if_lost(machine: Machine, wrapper: Value, asked: Value) -> str | None:
    """A class of which the module inside is an instance, and not its wrapper; "" if neither is, None if both may be."""
    if asked.kind is Kind.CLASS and asked.of_class is not None:
        if not classes.is_module(asked.of_class) or _decides_itself(machine, asked):
            return None
        inside = wrapper.of_class is not None and asked.ref in set(classes.lineage(wrapper.of_class))
        return asked.of_class.name if inside else ""
    if asked.kind is not Kind.EXTERNAL or not asked.dotted.startswith("torch.nn.") or _is_general(asked.dotted):
        return None
    bases = classes.external_bases(wrapper.of_class) if wrapper.of_class is not None else {wrapper.ref}
    lasts = {str(base).rpartition(".")[2] for base in bases}
    name = asked.dotted.rpartition(".")[2]
    return name if name in lasts else ""


def _is_general(name: str) -> bool:
    return name.rpartition(".")[2] == "Module"


def _decides_itself(machine: Machine, asked: Value) -> bool:
    """Whether a class has a say in what counts as an instance of it."""
    bases = classes.lineage(asked.of_class) if asked.of_class is not None else ()
    return any(one.keywords for one in (base.node for base in bases if not isinstance(base, str)))


# -- state --------------------------------------------------------------------------------------------------------


def _of_saved(machine: Machine, saving: Saving) -> Iterator[tuple[CompileSite, Misuse]]:
    """The state of a wrapper is written to a file, and nothing is seen that reads it into a wrapper again."""
    made = _made_by(machine, saving.state.module, saving)
    if made is None or not saving.state.is_wrapper:
        return
    again = [
        one
        for one in machine.part(Compilations).states.seen
        if isinstance(one, Loading) and one.file and one.file == saving.file
    ]
    if not any(one.is_wrapper for one in again):
        yield made, Misuse("saved", saving.state.span, other=saving.span)


def _of_load(machine: Machine, loading: Loading) -> Iterator[tuple[CompileSite, Misuse]]:
    """A state with other names than those of the module that it is loaded into."""
    states = [loading.state] if loading.state is not None else []
    if loading.file:
        saved = [
            one
            for one in machine.part(Compilations).states.seen
            if isinstance(one, Saving) and one.file == loading.file
        ]
        states += [one.state for one in saved]
    if not states or any(one.is_wrapper is loading.is_wrapper for one in states):
        return
    wrapper = loading.module if loading.is_wrapper else states[0].module
    made = _made_by(machine, wrapper, loading) or (
        _made_by(machine, wrapper, states[0]) if not loading.is_wrapper else None
    )
    if made is not None and plain_of(loading.module if not loading.is_wrapper else states[0].module):
        how = "plain-into-wrapper" if loading.is_wrapper else "wrapper-into-plain"
        yield made, Misuse(how, loading.span, strict=loading.strict, other=states[0].span)
