"""Applications of `torch.compile`: what each is given, and what it returns.

That is a function that stands for the one it was given, or another module around a module. The wrapper of a module
(`OptimizedModule`, `torch/_dynamo/eval_frame.py` of torch 2.13) hands on every attribute that `nn.Module` does not
have: methods that it is asked for run on the module inside, uncompiled. For values this is a flag: wrapper and module
share what they hold, and are told apart.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.discarded import is_statement
from nonstrict.facts.running_order import order_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS
from nonstrict.program.contracts.regions.states import States
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.definitions import Compiled, CompileOptions, CompileSite
from nonstrict.program.domain.values import UNKNOWN, AbstractObject, Flag, Kind, Value, join
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import StaticCall

_OPEN = frozenset({Kind.UNKNOWN, Kind.EXTERNAL_METHOD, Kind.INSTANCE})
_WRAPPED = frozenset({Kind.MODULE, Kind.FUNCTION, Kind.BOUND})
#: What `Module.compile` takes. Source: `torch/nn/modules/module.py` and the signature of `torch.compile` of torch 2.13.
_OPTIONS = frozenset(CompileOptions._fields)
_NO_OPTIONS = CompileOptions()


class Compilations:
    """The applications that the interpreter came to, by their nodes, and by what the modules hold that they wrap.

    `states` is what is done with the state of modules, `compilers` the functions that stand where torch has a compiler,
    `bound_later` what methods bind attributes of their object to, `calls` are those of wrappers of modules of torch, by
    the application that makes the wrapper.
    """

    def __init__(self) -> None:
        self.at: dict[ast.AST, CompileSite] = {}
        self._around: dict[int, list[tuple[AbstractObject, CompileSite]]] = {}
        self.states = States()
        self.compilers: set[ast.AST] = set()
        self.bound_later: dict[tuple[Class, str], Value | None] = {}
        self.calls: dict[ast.AST, list[StaticCall]] = {}

    def every(self) -> Iterator[CompileSite]:
        """The applications, also those that the interpreter comes to while they are looked at."""
        told: set[ast.AST] = set()
        while new := self.at.keys() - told:
            told |= new
            yield from [self.at[node] for node in self.at if node in new]

    def site(self, frame: Frame, node: ast.AST) -> CompileSite:
        """The application at a node in the text that a frame runs."""
        if node not in self.at:
            self.at[node] = CompileSite(frame.module.path, frame.offset, node, within=frame.function)
        return self.at[node]

    def wrap(self, site: CompileSite, given: Value) -> None:
        """An application makes wrappers."""
        for alternative in given.alternatives():
            if alternative.heap is not None:
                self._around.setdefault(id(alternative.heap), []).append((alternative.heap, site))

    def around(self, module: Value) -> list[CompileSite]:
        """The applications that made a wrapper for a module."""
        known = self._around.get(id(module.heap), []) if module.heap is not None else []
        return [made for _, made in known]

    def hands_on(self, site: CompileSite) -> bool:
        """Whether an application is what a function does with its arguments that stands where torch has a compiler."""
        if site.given is None or site.given.place.root is not Root.ARGUMENT or site.compiled:
            return False
        return site.within is not None and site.within.node in self.compilers

    def given_here(self) -> Iterator[tuple[CompileSite, Value]]:
        """The applications to what the text around them gives, with that."""
        yield from ((site, site.target) for site in self.at.values() if site.target is not None)

    def replaced(self, name: str, value: Value) -> None:
        """Something is put where torch has what is called so: what then is called hands on what it is given.

        Its calls are told as those of torch's own compiler.
        """
        if name in MARKERS and MARKERS[name].kind == "compiled":
            functions = (one.function for one in value.alternatives() if one.function is not None)
            self.compilers.update(one.node for one in functions)


# -- what is compiled ---------------------------------------------------------------------------------------------


def applied(frame: Frame, node: ast.AST, function: Function, options: CompileOptions) -> None:
    """A compiler was given a function; of options that differ from one time to the next, none is known."""
    path, offset, at = frame.application or (frame.module.path, frame.offset, node)
    compiled = frame.machine.part(Compilations).site(frame, node).compiled
    for number, one in enumerate(compiled):
        if one.function.node is function.node and one.node is at:
            compiled[number] = one._replace(options=one.options.common(options))
            return
    compiled.append(Compiled(path, offset, at, function, options))


def open_to(frame: Frame, node: ast.AST, given: Value) -> None:
    """A compiler was given something of which no function is known; None says that nothing is compiled."""
    frame.machine.part(Compilations).site(frame, node).given = given


def may_be_of_module(frame: Frame, node: ast.AST) -> bool:
    """Whether a call gives what `Module.compile` takes, perhaps handed on, and takes nothing: that returns None."""
    if not isinstance(node, ast.Call) or not all(isinstance(given, ast.Starred) for given in node.args):
        return False
    around = naming.text_of(frame)
    return all(keyword.arg in (None, *_OPTIONS) for keyword in node.keywords) and is_statement(around, node)


# -- what becomes of it -------------------------------------------------------------------------------------------


def wrapper(frame: Frame, node: ast.AST, target: Value, options: CompileOptions = _NO_OPTIONS) -> Value:
    """What `torch.compile` returns for what it is given: of a module its wrapper."""
    site = _note(frame, node, target)
    if site is not None:
        site.options = options
        frame.machine.part(Compilations).wrap(site, target)
    return _flagged(target)


def of_unknown(frame: Frame, node: ast.AST, factory: Value) -> Value:
    """The same where nothing is known of what is compiled: the value has an identity of its own."""
    made = factory.partial
    given = next(iter(made.positional), dict(made.keywords).get("model", None)) if made is not None else None
    if given is None or not any(one.kind in _OPEN for one in given.alternatives()):
        return factory
    known = frame.machine.part(Compilations).at.get(node)
    held = known.target.heap if known is not None and known.target is not None else None
    heap = held or AbstractObject()
    wrapper(frame, node, UNKNOWN._replace(heap=heap))
    return factory._replace(flags=factory.flags | Flag.COMPILED, heap=heap)


def is_put_in_place(frame: Frame, node: ast.AST, function: Function) -> bool:
    """Whether what is compiled takes the place of the method: `self.forward = torch.compile(self.forward)`."""
    if function.owner is None:
        return False
    around = naming.text_of(frame)
    made = (
        one for one in walk(around) if isinstance(one, ast.Assign) and any(inner is node for inner in walk(one.value))
    )
    targets = (target for one in made for target in one.targets)
    return any(isinstance(target, ast.Attribute) and target.attr == function.name for target in targets)


def called(frame: Frame, node: ast.AST, module: Value, positional: Sequence[Value], keywords: dict[str, Value]) -> None:
    """A module of torch is called, perhaps through its wrapper."""
    if frame.static and module.flags & Flag.COMPILED:
        known = frame.machine.part(Compilations)
        for site in known.around(module):
            if isinstance(node, ast.Call) and order_of(naming.text_of(frame)).is_bound_later(node.func, site.node):
                continue  # under the name that the wrapper has later
            known.calls.setdefault(site.node, []).append((frame, node, tuple(positional), dict(keywords)))


def in_place(frame: Frame, node: ast.AST, module: Value) -> None:
    """`module.compile()` is called: the module stays what it is."""
    site = _note(frame, node, module)
    if site is not None:
        site.in_place = True


def _note(frame: Frame, node: ast.AST, target: Value) -> CompileSite | None:
    """The application to what the text around it gives, with that."""
    if not frame.static or (frame.application is not None and frame.application[2] is not node):
        return None
    site = frame.machine.part(Compilations).site(frame, node)
    site.target = join(site.target, target)
    return site


def _flagged(target: Value) -> Value:
    if target.kind is Kind.UNION:
        return target.with_alternatives(map(_flagged, target.alternatives()))
    return target._replace(flags=target.flags | Flag.COMPILED) if target.kind in _WRAPPED else target
