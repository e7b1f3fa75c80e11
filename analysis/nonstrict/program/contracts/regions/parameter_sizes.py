"""Layers of a region whose parameters have other sizes in other objects: `[torch.compile(Expert(w)) for w in widths]`.

Dynamo guards the sizes of parameters, and compiles for each: they are not dynamic (measured on torch 2.13). Which
sizes there are is told by what the layers are made with, in the words of those who make the objects.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts import arguments
from nonstrict.facts.walk import own_scope, walk
from nonstrict.findings import Related
from nonstrict.knowledge.operators import nn_module
from nonstrict.program.contracts.regions import instances, numbers
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.discovery import constructions
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, span_of
from nonstrict.program.domain.values import NESTED_MODULES, Kind
from nonstrict.program.interpret.rounds import MANY
from nonstrict.program.objects import classes, naming
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.knowledge.operators import ModuleClass
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

#: What the table of guards calls them, and where they lie.
KIND, SOURCE = "size of a parameter", "attribute of the module"
_MADE = "made with other sizes here"
#: Several of one argument make several modules.
_SEVERAL = 2


class Sized(NamedTuple):
    """A layer that a region calls, and how many sizes a parameter of it has in the objects that the region is of."""

    seen: Observed
    number: int
    evidence: tuple[Related, ...]


class _Size(NamedTuple):
    """A number that decides on the size of a parameter: of which layer, and which of its arguments.

    `layer` is the attribute in which the module holds the layer, or what holds that; "" for the module itself.
    """

    layer: str
    argument: tuple[object, ...]
    size: ast.expr


class _Making(NamedTuple):
    """A call that makes a module, and what decides on the sizes of its parameters."""

    frame: Frame
    call: ast.Call
    sizes: Sequence[_Size]


def observed(region: Interpreted) -> Sized | None:
    """The layer with the most sizes; None where all are seen to have one, or are not known."""
    found = [
        one for one in (*_of_objects(region), *_of_makers(region), *_of_torch_module(region)) if one.number >= _SEVERAL
    ]
    return max(found, key=lambda one: one.number, default=None)


def _of_objects(region: Interpreted) -> Iterator[Sized]:
    """Of a region that is a method of several modules: the layers that it calls."""
    called = {
        layer.effect.place.path[0]: layer
        for layer in region.observed(Event.LAYER)
        if layer.effect.place.root is Root.ARGUMENT and layer.effect.place.path and not layer.in_hook
    }
    owner = region.mark.function.owner if region.mark.function is not None else None
    compiled = instances.compiled_by_constructions(region) if called and owner is not None else instances.Compiled()
    if owner is None or not compiled.several:
        return
    made = [
        _Making(frame, call, [*_layers(frame, call, NESTED_MODULES)])
        for frame, call in constructions.calls(region.machine, owner)
        if compiled.has(call)
    ]
    for attribute, layer in called.items():
        own = [one._replace(sizes=[size for size in one.sizes if size.layer == attribute]) for one in made]
        yield Sized(layer, *_number([one for one in own if one.sizes]))


def _of_makers(region: Interpreted) -> Iterator[Sized]:
    """Of a region that a function makes anew for each of its calls: the modules that this function makes for it."""
    function = region.mark.function
    around = closure_of(function) if function is not None else None
    if around is None or around.function is None or region.isolates:
        return
    called = (layer for layer in region.observed(Event.LAYER) if layer.effect.place.root is Root.CELL)
    held = {layer.effect.place.name: layer for layer in called}
    for node in walk(around.function.node):
        if isinstance(node, ast.Name) and node.id in held and isinstance(node.ctx, ast.Load):
            made = instances.construction(around.function.node, node)
            if isinstance(made, ast.Call):
                yield Sized(held[node.id], *_number([_Making(around, made, [*_layers(around, made, NESTED_MODULES)])]))


def _of_torch_module(region: Interpreted) -> Iterator[Sized]:
    """Of a region that is a module of torch, the layers in it, where several are made for it."""
    machine, mark = region.machine, region.mark
    site = machine.part(Compilations).at.get(mark.node)
    module = machine.project.module(mark.path)
    if mark.function is not None or region.isolates or site is None or module is None:
        return
    if not isinstance(mark.node, ast.Call):
        return
    frame = machine.static_frame(site.within) if site.within is not None else machine.module_frame(module)
    given = instances.compiled_by(mark.node)
    made = instances.construction(naming.text_of(frame), given) if given is not None else None
    if isinstance(made, ast.Call):
        place = AccessPath(Root.ARGUMENT, "", ast.unparse(made.func) if given is made else ast.unparse(given or made))
        effect = Effect(Event.LAYER, mark.path, mark.offset, mark.node, place, mark.target)
        seen = Observed(effect, (), in_hook=False)
        yield Sized(seen, *_number([_Making(frame, made, [*_layers(frame, made, NESTED_MODULES)])]))


_KINDS = (_of_objects, _of_makers, _of_torch_module)


def _number(made: Sequence[_Making]) -> tuple[int, tuple[Related, ...]]:
    """The most sizes that one argument of a layer has, and where the first of the modules is made."""
    told: dict[tuple[object, ...], tuple[set[int], int]] = {}
    for frame, call, sizes in made:
        for one in sizes:
            values, more = numbers.given(frame, call, one.size)
            known, others = told.get(one.argument, (set[int](), 0))
            told[one.argument] = known | values, others + more
    where = (Related(span_of(one.frame.module.path, one.frame.offset, one.call), _MADE) for one in made[:1])
    return min(max((len(known) + others for known, others in told.values()), default=0), MANY), tuple(where)


def _layers(frame: Frame, call: ast.Call, depth: int) -> Iterator[_Size]:
    """What decides on the sizes of the parameters of a module that a call makes, in the words of the text around it."""
    made = frame.machine.evaluate(frame, call.func)
    known = nn_module(made.dotted) if made.dotted else None
    if known is not None:
        yield from _of_torch(frame, call, known, depth)
    elif made.kind is Kind.CLASS and made.of_class is not None and depth:
        yield from _of_class(frame, call, made, depth)


def _of_torch(frame: Frame, call: ast.Call, known: ModuleClass, depth: int) -> Iterator[_Size]:
    if any(isinstance(one, ast.Starred) for one in call.args):
        return
    named = {one.arg: one.value for one in call.keywords}
    for name, position in known.sized:
        given = call.args[position] if position < len(call.args) else named.get(name)
        if given is not None:
            yield _Size("", (known.name, name), given)
    for at, one in enumerate(_held(call) if known.container and depth else ()):
        for inner in _layers(frame, one, depth - 1):
            yield inner._replace(argument=(at, *inner.argument))


def _held(container: ast.Call) -> Iterator[ast.Call]:
    """The modules that the text puts in a container, those of a comprehension once."""
    for given in container.args:
        listed = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
        for one in listed:
            part = one.elt if isinstance(one, (ast.ListComp, ast.GeneratorExp)) else one
            if isinstance(part, ast.Call):
                yield part


def _of_class(frame: Frame, call: ast.Call, made: Value, depth: int) -> Iterator[_Size]:
    """The layers that the constructor of a class of the program gives the attributes of the object."""
    owner = made.of_class
    constructor = classes.member(frame.machine, owner, "__init__") if owner is not None else None
    function = constructor[0].function if constructor is not None else None
    if function is None:
        return
    passed = arguments.passed(function.node, call, 1)
    inside = frame.machine.static_frame(function)
    assigned = (node for node in own_scope(function.node) if isinstance(node, ast.Assign))
    given = [(target, one.value) for one in assigned for target in one.targets if isinstance(target, ast.Attribute)]
    for target, value in given:
        for one in _layers(inside, value, depth - 1) if isinstance(value, ast.Call) else ():
            size = arguments.in_words_of(function.node, one.size, passed)
            if size is not None:
                yield _Size(f".{target.attr}", (target.attr, *one.argument), size)
