"""Regions that compile one method of several objects, or a function that another makes for each call of it.

Of a function Dynamo has one cache, whoever the object is, and whatever the cells hold (measured on torch 2.13).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.reaching import source
from nonstrict.facts.scopes import is_as_passed, receiver_of
from nonstrict.facts.walk import walk
from nonstrict.models.members import RETURNING_MODULE
from nonstrict.program.contracts.boundary import repeated, varying
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.discovery import callers, constructions, roots
from nonstrict.program.discovery.sites import Passing
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.rounds import MANY, holds, varies_in_loop
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import CompileSite


class Compiled(NamedTuple):
    """The objects that a region is compiled for: those that some expressions make, or any of its class."""

    constructions: frozenset[ast.AST] = frozenset()
    any_of_class: bool = False

    @property
    def several(self) -> bool:
        """Whether there may be more than one."""
        return self.any_of_class or len(self.constructions) > 1

    def has(self, construction: ast.AST) -> bool:
        """Whether what an expression makes is among them."""
        return self.any_of_class or construction in self.constructions


def is_kept_apart(region: Interpreted, place: AccessPath) -> bool:
    """Whether a place lies in the object of a method that each application compiles for its own object alone."""
    function = region.mark.function
    if function is None or not region.isolates or region.mark.target.kind is Kind.FUNCTION:
        return False
    return bool(place.path) and region.parameter_at(place) == receiver_of(function.node)


def told_apart(region: Interpreted, place: AccessPath) -> list[Passing]:
    """What the constructions of the objects give the attribute at a place; none where the region is of one object.

    Of a variable of the function that makes the region, what the calls of that function pass for it.
    """
    if place.root is Root.CELL:
        return _given_to_maker(region, place) if not region.isolates else []
    function = region.mark.function
    owner = function.owner if function is not None else None
    if function is None or owner is None or place.root is not Root.ARGUMENT or len(place.path) != 1:
        return []
    compiled = compiled_by_constructions(region)
    if region.parameter_at(place) != receiver_of(function.node) or not compiled.several:
        return []
    made = constructions.constructions(region.machine, owner, place.path[0][1:])
    return [Passing(one.frame, one.node, one.value, one.expression) for one in made if compiled.has(one.node)]


def _given_to_maker(region: Interpreted, place: AccessPath) -> list[Passing]:
    """What calls pass the function that makes and compiles the region, for the parameter that a place is.

    What compiles it stands in that function, and may count where it is called, or around such a call.
    """
    machine, function = region.machine, region.mark.function
    around = closure_of(function) if function is not None else None
    maker = around.function if around is not None else None
    if maker is None or place.path or not is_as_passed(maker.node, place.name):
        return []
    given = list(callers.passings(machine, maker, place.name))
    if region.mark.node in {*walk(maker.node), *(one.node for one in given)}:
        return given
    compiled = {*walk(region.mark.node)}
    return [one for one in given if one.node in compiled]


def number_of_values(region: Interpreted, made: list[Passing]) -> int:
    """How many values constructions give an attribute."""
    return varying.distinct(region.machine, made, MANY)


def compiled_by_constructions(region: Interpreted) -> Compiled:
    """Which objects a method is compiled for: any by a decorator, in a loop, or by each object for itself."""
    function = region.mark.function
    if region.mark.target.kind is Kind.FUNCTION:
        return Compiled(any_of_class=True)
    if region.isolates:
        return Compiled()  # each application has compilations of its own
    sites = region.machine.part(Compilations).at.values()
    made = [site for site in sites if any(one.function is function for one in site.compiled)]
    if any(_applies_to_several(region, site) for site in made):
        return Compiled(any_of_class=True)
    return Compiled(frozenset(one for site in made if (one := _made_for(region, site)) is not None))


def _made_for(region: Interpreted, site: CompileSite) -> ast.expr | None:
    """What makes the object that an application of the compiler is given."""
    module = region.machine.project.module(site.path)
    given = compiled_by(site.node) if isinstance(site.node, ast.Call) else None
    if module is None or given is None:
        return None
    return construction(roots.function_around(module, site.node, site.offset) or module.outline.shell, given)


def construction(around: FunctionNode | ast.Module, given: ast.expr) -> ast.expr:
    """The call that makes the module that an expression gives: behind variables, and methods that return it."""
    made = source(around, given)
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in RETURNING_MODULE:
        made = source(around, made.func.value)
    return made


def _applies_to_several(region: Interpreted, site: CompileSite) -> bool:
    module = region.machine.project.module(site.path)
    given = compiled_by(site.node) if isinstance(site.node, ast.Call) else None
    if module is None or given is None:
        return False
    around = roots.function_around(module, site.node, site.offset)
    holder = given.value if isinstance(given, ast.Attribute) else None
    if around is not None and isinstance(holder, ast.Name) and _is_receiver_in(region, around, holder.id):
        return True
    text = around or module.outline.shell
    made = construction(text, given)
    here = around is not None and isinstance(made, ast.Call) and holds([around], made)
    if site.within is not None and here and repeated.calls(region.machine, site.within, MANY) > 1:
        return True
    return any(varies_in_loop(text, site.node, one) for one in (given, made))


def _is_receiver_in(region: Interpreted, around: FunctionNode, name: str) -> bool:
    """Whether a name is the object in a method of the class whose method is compiled."""
    function = region.mark.function
    methods = function.owner.node.body if function is not None and function.owner is not None else []
    return around in methods and receiver_of(around) == name


def compiled_by(application: ast.Call) -> ast.expr | None:
    """What is compiled: `block` of `torch.compile(block)` and of `block.compile()`."""
    plain = next((one for one in application.args if not isinstance(one, ast.Starred)), None)
    return plain or (application.func.value if isinstance(application.func, ast.Attribute) else None)
