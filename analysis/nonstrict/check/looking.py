"""What an examination looked at, as it is told to users: compiled regions, those that it could not read among them."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.coverage import Break, Callee, Looked, Option, Part, Region
from nonstrict.events import Construct, Event
from nonstrict.findings import Related
from nonstrict.program.contracts.marked_body import described
from nonstrict.program.contracts.regions import calls, graphs, sites
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.contracts.regions.region import CompiledRegion
from nonstrict.program.contracts.regions.switched_off import switched_off
from nonstrict.program.contracts.regions.torch_modules import TorchModule
from nonstrict.program.discovery import callers
from nonstrict.program.domain.definitions import GuardFilter, Told
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.misapplied import OF_APPLICATIONS
from nonstrict.program.domain.values import Kind
from nonstrict.rules import recompiling
from nonstrict.rules.constructs import construct
from nonstrict.rules.purity import unseen_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict.findings import Span
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.domain.definitions import Compiled, CompileOptions, CompileSite, Function
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

    #: What is compiled, and where.
    _Key = tuple[Function | None, ast.AST]


#: Why nothing is compiled, by what becomes of what the compiler returns (`Wasted.how`).
_WASTED = {
    "dropped": "the result of `torch.compile` is unused",
    "rebound": "the result of `torch.compile` is bound to a parameter, and nothing calls it there",
    "unused": "nothing calls the result of `torch.compile`",
    "member": "only methods of the compiled module are called",
    "of-torch": "Dynamo compiles no module of torch that is compiled in place",
    "in-place": "only `forward` is called, which stays uncompiled",
}


class Examination(NamedTuple):
    """What was looked at, and what is told of each region that was."""

    looked: Looked
    regions: dict[MarkedBody, tuple[Region, ...]]


def looked_at(machine: Machine, paths: Iterable[str], bodies: Iterable[MarkedBody], *, details: bool) -> Examination:
    """The regions that are compiled in some files, and the marked functions among the bodies that were looked at."""
    bodies = list(bodies)
    marked = (body for body in bodies if body.mark.function is not None and body.marker not in OF_APPLICATIONS)
    marks = frozenset(body.marked_at for body in marked)
    wasted = {body.mark.node: body.mark.wasted.how for body in bodies if body.mark.wasted is not None}
    known = {(one.mark.function, one.mark.node): one for one in bodies if isinstance(one, CompiledRegion)}
    of_torch = {one.mark.node: one for one in bodies if isinstance(one, TorchModule)}
    told: list[Region] = []
    regions: dict[MarkedBody, list[Region]] = {}
    for site in machine.part(Compilations).every():
        module = of_torch.get(site.node)
        seen_here = _told(machine, site, known, details=details) if module is None else [_of_torch(module, site)]
        for body, seen in seen_here:
            why = seen.wasted or (_WASTED.get(wasted.get(site.node, ""), "") if seen.function else "")
            region = seen.uncompiled._replace(wasted=why) if why else seen
            told.append(region)
            if body is not None:
                regions.setdefault(body, []).append(region)
    looked = Looked((*told, *_not_reached(machine, set(paths))), marks)
    return Examination(looked, {body: tuple(found) for body, found in regions.items()})


def _told(
    machine: Machine, site: CompileSite, known: Mapping[_Key, CompiledRegion], *, details: bool
) -> Iterator[tuple[CompiledRegion | None, Region]]:
    """What an application compiles that the interpreter came to."""
    at = span_of(site.path, site.offset, site.node)
    for compiled in site.compiled:
        off = _switched_off(machine, compiled)
        body = known.get(_key(machine, compiled)) if not off else None
        yield body, _region(machine, at, compiled, body if details else None)._replace(wasted=off)
    told = site.compiled or machine.part(Compilations).hands_on(site)
    why = "" if told else sites.unknown(site, site.node)
    given = site.given
    if why:
        yield None, Region(at, at, missed=why)
    elif not told and given is not None and given.kind is Kind.MODULE:
        yield None, Region(at, at, given.dotted.rpartition(".")[2])  # one of torch, whose calls are not known


def _of_torch(body: TorchModule, site: CompileSite) -> tuple[MarkedBody, Region]:
    """A module of torch, of which no function of the program tells: one graph, as far as it is known."""
    at = span_of(site.path, site.offset, site.node)
    callers = tuple(_calling((node, frame) for frame, node, _, _ in calls.of(body)))
    options = tuple(_options(site.options))
    told = Region(at, at, body.function, options=options, whole=body.fullgraph, graphs=(1, 1), callers=callers)
    return body, told._replace(varying=tuple(_varying(body)))


def _switched_off(machine: Machine, compiled: Compiled) -> str:
    """What keeps torch from compiling a function; "" where it compiles, or may."""
    if compiled.options.disable is True:
        return "`disable=True`"
    switch = switched_off(machine, compiled.path, compiled.offset, compiled.node)
    if switch is None:
        return ""
    place = span_of(switch.path, switch.offset, switch.node)
    where = (
        f"on line {place.line}" if place.path == compiled.path else f"in {os.path.basename(place.path)}:{place.line}"
    )
    return f"`{ast.unparse(switch.node)}` {where} switches compilation off"


def _not_reached(machine: Machine, paths: set[str]) -> Iterator[Region]:
    """The applications in the text of files that the interpreter did not come to."""
    for path in sorted(paths):
        module = machine.project.module(path)
        for offset, one in sites.in_module(machine, module) if module is not None else ():
            if one.node not in machine.part(Compilations).at:
                at = span_of(path, offset, one.node)
                yield Region(at, at, missed=sites.unknown(None, one.node))


def _key(machine: Machine, compiled: Compiled) -> _Key:
    """The region that is looked at for an application: the first one of a function speaks for those like it."""
    node = compiled.function.node
    first = machine.regions.get(node)
    alike = [region for region in (first, *machine.recompiled.get(node, ())) if region is not None]
    own = next((region for region in alike if region.node is compiled.node), first)
    return (own.function, own.node) if own is not None else (None, compiled.node)


def _region(machine: Machine, site: Span, compiled: Compiled, region: CompiledRegion | None) -> Region:
    function = compiled.function
    span = span_of(compiled.path, compiled.offset, compiled.node)
    defined = span_of(function.module.path, function.offset, function.node)
    told = Region(span, site, function.qualname, defined, options=tuple(_options(compiled.options)))
    if region is None:
        return told
    return told._replace(
        whole=region.fullgraph,
        graphs=(region.graphs.least, region.graphs.most),
        parts=tuple(map(_part, region.graphs.parts)),
        breaks=tuple(_breaks(region)),
        callers=tuple(_callers(machine, compiled)),
        marked=tuple(_marked(region)),
        unseen=tuple(_unseen(region)),
        varying=tuple(_varying(region)),
    )


def _varying(body: MarkedBody) -> Iterator[Related]:
    """What a region is compiled again for."""
    found = sorted(body.recompilations, key=lambda one: one.seen.effect.span)
    yield from dict.fromkeys(Related(one.seen.effect.span, recompiling.told(one)) for one in found)


def _options(told: CompileOptions) -> Iterator[Option]:
    """The options that a region is given, or may be."""
    for name in told._fields:
        value: object = getattr(told, name)
        if name == "options" and isinstance(told.options, tuple):
            yield Option(name, entries=tuple(_option(inner, held) for inner, held in told.options))
        elif value is not Told.NOT_GIVEN:
            yield _option(name, value)


def _option(name: str, value: object) -> Option:
    return Option(name, known=False) if isinstance(value, (Told, GuardFilter)) else Option(name, value)


def _part(part: graphs.Part) -> Part:
    """A part of a region: the lines from the first expression to the last."""
    path, offset = part.function.module.path, part.function.offset
    first, last = span_of(path, offset, part.first), span_of(path, offset, part.last)
    span = first._replace(end_line=last.end_line, end_column=last.end_column)
    cause = construct(part.seen) if part.seen is not None else f"`{part.callee}()`" if part.callee else ""
    return Part(part.kind, part.function.qualname, span, part.depth, part.sure, cause, part.around)


def _breaks(region: CompiledRegion) -> Iterator[Break]:
    """What breaks the graph, in the order of the text."""
    for seen in region.observed(Event.BREAK):
        known = region.graph_break(seen)
        if known is not None or seen.effect.how is Construct.NATIVE:
            conditional = seen.effect.conditional or any(edge.conditional for edge in seen.chain)
            named = known.id if known is not None else None
            stops = region.given_up(seen)
            yield Break(seen.effect.span, construct(seen), named or "", conditional, stops, region.chain(seen)[1:])


def _callers(machine: Machine, compiled: Compiled) -> Iterator[Related]:
    """The calls of a compiled function that were seen in code outside any trace."""
    yield from _calling((node, frame) for frame, node, _, _ in callers.seen_calls(machine, compiled.function))


def _calling(calls: Iterable[tuple[ast.AST, Frame]]) -> Iterator[Related]:
    """The functions and modules in which some calls stand."""
    for node, frame in dict(calls).items():
        caller = frame.function.qualname if frame.function is not None else frame.module.name
        yield Related(span_of(frame.module.path, frame.offset, node), f"`{caller}`")


def _marked(region: CompiledRegion) -> Iterator[Callee]:
    """The calls of marked functions in a region."""
    for seen in region.observed(Event.CALLED):
        mark = seen.effect.value.mark
        if mark is not None:
            yield Callee(seen.effect.span, described(mark), span_of(mark.path, mark.offset, mark.node))


def _unseen(region: MarkedBody) -> Iterator[Related]:
    """What a region does that was not looked into."""
    yield from (Related(unseen.span, unseen.message) for unseen in unseen_of(region))
