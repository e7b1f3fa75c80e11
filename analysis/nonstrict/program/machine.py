"""The abstract interpreter's hub: holds the program, wires the parts that depend on each other, memoises calls."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from nonstrict.facts.execution import entries
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.steps import ANY_ENTRY
from nonstrict.findings import Rebinding
from nonstrict.knowledge.graph_breaks import OLDEST
from nonstrict.program import (
    classes,
    context_managers,
    decorating,
    definition_values,
    differentiation,
    globals_of,
    invoke,
    marker_words,
    parameters,
    requested_fixtures,
    running,
    stores,
)
from nonstrict.program import expressions as _expressions
from nonstrict.program import statements as _statements
from nonstrict.program.annotations import promised_value
from nonstrict.program.effects import Summary
from nonstrict.program.frames import Frame
from nonstrict.program.installed import Installed
from nonstrict.program.places import Origin, Place
from nonstrict.program.summaries import Summaries
from nonstrict.program.together import Together
from nonstrict.program.values import Kind, Value
from nonstrict.program.writers import foreign_writes, late, namespace_writes, own_methods, reached, resolving, writes
from nonstrict.program.writers.elsewhere import Elsewhere
from nonstrict.program.writers.found_writes import FoundWrites

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from nonstrict.facts.outline import Chunk
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts import Contracts
    from nonstrict.program.definitions import Class, Function, Mark, Operator, Region
    from nonstrict.program.generics import Registered
    from nonstrict.program.modules import Module
    from nonstrict.program.project import Project
    from nonstrict.program.write import Write
    from nonstrict.program.writers.elsewhere import Asked, Bytes
    from nonstrict.program.writers.members import Put

#: A call seen in static code: where, and what is passed.
StaticCall: TypeAlias = "tuple[Frame, ast.AST, tuple[Value, ...], dict[str, Value]]"
Part = TypeVar("Part")
#: How deep calls are followed from code outside traced bodies, where only values matter.
STATIC_DEPTH = 3


def _all(module: Module, chunk: Chunk) -> bool:
    return True


class Machine:
    """Interprets functions of a project; results are shared between the marked functions of one part of a run."""

    static_depth = STATIC_DEPTH

    def __init__(
        self,
        project: Project,
        contracts: Contracts,
        files: Sequence[str] = (),
        torch: tuple[int, int] = OLDEST,
        found: Bytes | None = None,
    ) -> None:
        self.project = project.spelling(files)
        self.models = project.models
        #: what is known of markers, operators and regions
        self.contracts = contracts
        #: the release of torch that the program runs with, which decides what breaks a graph
        self.torch = torch
        #: the files of the run, which may hold writers of captured state
        self.files = files
        self.marks: dict[tuple[object, ...], Mark] = {}
        self.globals: dict[tuple[str, str], Value | None] = {}
        #: tables at the top level that were asked for what decorators put into them
        self.filled: set[Place] = set()
        self.functions: dict[tuple[int, int], Function] = {}
        self.classes: dict[tuple[int, int], Class] = {}
        self.summaries = Summaries()
        #: default expressions, and those in class bodies, that are being evaluated
        self.defaults: set[ast.expr] = set()
        #: by their nodes, whether functions apply a marker or compile, by the names known when that was first asked
        self.applying: dict[ast.AST, bool] = {}
        #: definitions that are taken for marked, and by what (`nonstrict.program.marks.purity`)
        self.supposed: dict[ast.AST, str] = {}
        #: by their nodes, the functions that `torch.compile` is applied to
        self.regions: dict[ast.AST, Region] = {}
        #: by their nodes, the other objects for which such a function is compiled
        self.recompiled: dict[ast.AST, list[Region]] = {}
        #: functions that were called where the graph must not break
        self.called_strictly: set[ast.AST] = set()
        #: functions that Dynamo knows by their identity not to look into
        self.allowed: set[Function] = set()
        #: what is registered with generic functions (`nonstrict.program.generics`)
        self.generics: dict[Function, list[Registered]] = {}
        #: custom operators by name
        self.operators: dict[str, Operator] = {}
        #: functions as `torch.compiler.disable` returns them
        self.disabled: dict[Function, Function] = {}
        #: calls that may reach several marked functions, by the identity of the first
        self.dispatches: dict[int, list[tuple[str, int, ast.AST, Function]]] = {}
        #: calls of functions seen in static code: positional and keyword values
        self.static_calls: dict[ast.AST, list[StaticCall]] = {}
        #: the names by which each marked function may be called
        self.mark_names: dict[Mark, set[str]] = {}
        self.marked_names: dict[str, tuple[int, set[str]]] = {}
        #: writes of attributes by name, in the modules loaded so far
        self.attribute_writes: dict[str, list[Write]] = {}
        #: evidence from the whole project (`nonstrict.program.writers`)
        self.found_writes = FoundWrites()
        #: names by which markers are applied
        self.words: set[str] = set(marker_words.ALL_WORDS)
        #: what was interpreted outside traced bodies: by path, the names of definitions and the lines of statements
        self.evaluated: set[tuple[str, str | int]] = set()
        #: whether a definition may have to do with what is looked at: others are not searched for calls and marks
        self.concerns: Callable[[Module, Chunk], bool] = _all
        #: marked functions whose calls in other files were looked for
        self.sought: set[Mark] = set()
        #: by path, of how many regions of a module the calls were looked for
        self.sought_regions: dict[str, int] = {}
        self.elsewhere = Elsewhere(project, files, found)
        self.own_files = frozenset(files)
        #: by class and attribute, what the constructions of the class give it (`nonstrict.program.marks.constructions`)
        self.constructed: dict[tuple[Class, str], Value | None] = {}
        self._reaching: dict[tuple[str, str], list[Write]] = {}
        self._foreign: dict[tuple[str, str], list[Write]] = {}
        self._stored: dict[tuple[str, ...], Value | None] = {}
        self._installed: dict[str, Value | None] = {}
        self._outside: dict[tuple[str, bool], Value] = {}
        self.jedi = Installed(project.site_packages)
        self._members: dict[tuple[tuple[str, ...], str, str], Value] = {}
        self._frames: dict[str, Frame] = {}
        self._static: dict[tuple[object, ...], Frame] = {}
        self._parts: dict[type, object] = {}

    def anew(self) -> Machine:
        """A machine for the same program that nothing was asked of yet: it shares only what texts and the disk tell."""
        other = Machine(self.project.anew(), self.contracts, self.files, self.torch, self.elsewhere.found)
        other.jedi = self.jedi.anew()
        return other

    def replace_files(self, files: Sequence[str], changed: Collection[str]) -> set[Asked]:
        """There are other files, of which `changed` came or went: the questions whose answers that changes."""
        self.files = files
        self.own_files = frozenset(files)
        self.project.look_again(changed)
        return self.elsewhere.found.replace_files(files, changed)

    def part(self, kind: type[Part]) -> Part:
        """The one object of a class that those above the interpreter keep here, made when first asked for."""
        if kind not in self._parts:
            self._parts[kind] = kind()
        return cast("Part", self._parts[kind])

    def keep(self, part: object) -> None:
        """Take an object for the one of its class."""
        self._parts[type(part)] = part

    # The methods below let parts that need one another call through the hub, without an import cycle.

    def evaluate(self, frame: Frame, node: ast.expr) -> Value:
        """The value of an expression, its captured reads not yet counted as uses."""
        return _expressions.evaluate(frame, node)

    def execute(self, frame: Frame, body: Sequence[ast.stmt]) -> None:
        """Interpret statements in a frame."""
        if frame.function is not None and body is getattr(frame.function.node, "body", None):
            decorating.enter(frame)
        _statements.execute(frame, body)

    def store(self, frame: Frame, target: ast.expr, value: Value, source: ast.AST) -> None:
        """Assign to a target."""
        stores.store(frame, target, value, source)

    def define(self, frame: Frame, node: ast.AST, offset: int) -> Value:
        """The value of a function or class definition, decorators applied."""
        return definition_values.define(frame, node, offset)

    def annotated(self, frame: Frame, node: ast.AST | None, place: Place) -> Value:
        """The value an annotation promises."""
        return promised_value(frame, node, place)

    def instance_at(self, cls: Class, place: Place) -> Value:
        """An instance of a class of the program that lives at `place`."""
        return classes.instance_at(self, cls, place)

    def call(
        self, frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """The result of calling a value; effects go to the frame."""
        if frame.differentiates:
            return differentiation.call(invoke.call, frame, node, callee, positional, keywords)
        return invoke.call(frame, node, callee, positional, keywords)

    def enter(self, frame: Frame, node: ast.AST, manager: Value) -> Value:
        """What `with manager as …` binds; entering may have effects."""
        return context_managers.enter(frame, node, manager)

    def global_value(self, module: Module, name: str) -> Value:
        """What a top-level name of a module holds, at its global place; builtins last."""
        return globals_of.value(self, module, name)

    def module_attribute(self, importer: Module, dotted: str, attribute: str) -> Value:
        """What `dotted.attribute` is, for a Python module of the project or an external one."""
        key = (self.project.folders_of(importer), dotted, attribute)
        found = self._members.get(key)
        if found is None:
            found = globals_of.member(self, importer, dotted, attribute)
            if found.kind is not Kind.UNKNOWN:
                self._members[key] = found
        return found

    def stored_in(self, place: Place, attribute: str) -> Value | None:
        """What the module of a global object or container stores in it: under an attribute, or at a step to an item."""
        key = (place.owner, place.name, attribute)
        if key not in self._stored:
            self._stored[key] = None
            module = self.project.module(place.file)
            if module is not None:
                self._stored[key] = late.stored_values(self, module, place.name, attribute)
        return self._stored[key]

    def rebindings(self, module: Module, name: str) -> list[Value]:
        """The values that functions of a module give a top-level name."""
        return late.rebindings(self, module, name)

    def put_later(self, place: Place, attribute: str = "") -> Value | None:
        """What is put under a top-level name where its module has None, or under an attribute of what it holds."""
        key = (place.owner, place.name, attribute, "later")
        if key not in self._stored:
            self._stored[key] = None
            module = self.project.module(place.file)
            if module is not None:
                self._stored[key] = late.put_later(self, module, place.name, attribute)
        return self._stored[key]

    def foreign_writes(self, module: Module, name: str) -> list[Write]:
        """The writes of a top-level name in other files of the run; searched for once."""
        key = (module.path, name)
        if key not in self._foreign:
            self._foreign[key] = []
            found = foreign_writes.foreign_writes(self, module, name)
            self._foreign[key] = self._resolved(module, name, found)
        return self._foreign[key]

    def writes_told(self, module: Module, name: str) -> list[Write]:
        """The writes of a top-level name in its module, of methods of the program those that their bodies make."""
        return self._resolved(module, name, writes.writes_of(self, module, name))

    def _resolved(self, module: Module, name: str, found: list[Write]) -> list[Write]:
        found = list(self.seen_through(found))
        called = any(isinstance(write.node, ast.Call) or write.steps for write in found)
        return list(own_methods.resolved(self, self.global_value(module, name), found)) if called else found

    def seen_through(self, found: Iterable[Write]) -> Iterator[Write]:
        """Writes that texts suggest, those by calls with what the calls really change."""
        return resolving.resolved(self, found)

    @cached_property
    def handed_open(self) -> dict[Function, None]:
        """Functions that hand a marker what their callers, or those who make their objects, give them."""
        return {}

    @cached_property
    def together(self) -> Together:
        """What was found out of which files run together."""
        return Together()

    @cached_property
    def _changes(self) -> dict[Function, tuple[tuple[str, ...], ...]]:
        return {}

    @cached_property
    def gradients(self) -> set[ast.AST]:
        """Functions that compute the gradients of operators: autograd gives them a context first."""
        return set()

    def changes_by(self, method: Function) -> tuple[tuple[str, ...], ...]:
        """The steps that lead from its receiver to what a method changes; interpreted once."""
        if method not in self._changes:
            self._changes[method] = ()
            self._changes[method] = own_methods.changes_by(self, method)
        return self._changes[method]

    def writes_reaching(self, module: Module, name: str) -> list[Write]:
        """The writes of what a top-level name leads to that begin with another name; searched for once."""
        key = (module.path, name)
        if key not in self._reaching:
            self._reaching[key] = []
            through_modules = namespace_writes.rebindings(self, module, name)
            found = [*self.seen_through(reached.writes_reaching(self, module, name)), *through_modules]
            self._reaching[key] = found
        return self._reaching[key]

    @cached_property
    def _reaching_abroad(self) -> dict[tuple[str, str], list[Write]]:
        return {}

    def writes_reaching_abroad(self, module: Module, name: str) -> list[Write]:
        """The same in other files, which begin with what they import; searched for once."""
        key = (module.path, name)
        if key not in self._reaching_abroad:
            self._reaching_abroad[key] = []
            self._reaching_abroad[key] = list(self.seen_through(reached.writes_reaching_abroad(self, module, name)))
        return self._reaching_abroad[key]

    def is_written(self, place: Place, *, rebound: bool | None = None) -> bool:
        """Whether code of the project was seen to bind a global anew, or to change what it holds; None is either."""
        found = writes.writers(self, place)
        return any(rebound in (None, isinstance(writer, Rebinding)) for writer in found)

    def installed(self, dotted: str) -> Value | None:
        """The definition of something in an installed package, from its source."""
        if dotted not in self._installed:
            self._installed[dotted] = None
            self._installed[dotted] = globals_of.installed(self, dotted)
        return self._installed[dotted]

    def outside(self, external: Value, *, ask: bool = True) -> Value:
        """An external name that is used as a value: what an installed package binds it to, if that is to be had."""
        key = (external.dotted, ask)
        if key not in self._outside:
            self._outside[key] = external
            self._outside[key] = globals_of.held_outside(self, external, ask=ask)
        return self._outside[key]

    @cached_property
    def _running(self) -> dict[FunctionNode, bool]:
        return {}

    def runs_region(self, function: Function) -> bool:
        """Whether a function calls compiled code, itself or in what it calls."""
        if function.node not in self._running:
            self._running[function.node] = False
            self._running[function.node] = running.runs_region(self, function)
        return self._running[function.node]

    def put_on(self, holder: Class | Module, name: str) -> tuple[Put, ...]:
        """What the program puts under an attribute of a class, or a top-level name of a module."""
        from nonstrict.program.writers import members

        return members.on(self, holder, name)

    def exchanges(self, cls: Class, name: str) -> tuple[Put, ...]:
        """The functions that the program puts in place of a member that a class has."""
        from nonstrict.program.writers import members

        return members.exchanges(self, cls, name)

    @cached_property
    def derived(self) -> dict[Class, tuple[Class, ...]]:
        """By class, those that derive from it; looked for once."""
        return {}

    def is_rebound(self, place: Place) -> bool:
        """Whether a global name is bound more than once, other than by alternatives before anything runs."""
        module = self.project.module(place.file) if place.origin is Origin.GLOBAL else None
        return module is not None and writes.rebinds(self, module, place.name)

    def attribute_writes_of(self, owner: Class, attribute: str) -> list[Write]:
        """Where an attribute of the objects of a class is put anew, in the files that use the class."""
        from nonstrict.program.writers import attribute_writes

        return attribute_writes.of_class(self, owner, attribute)

    def is_replaced(self, place: Place) -> bool:
        """Whether something else is put at a known entry or attribute of a global: also a function, on a class."""
        if not all(put.by.sets_up for put in self.found_writes.put_at.get(place, ())):
            return True
        module = self.project.module(place.file)
        return module is not None and any(
            write.steps and ANY_ENTRY not in write.steps and not write.building and writes.concerns(write, place)
            for write in writes.writes_of(self, module, place.name)
        )

    def taint(self, frame: Frame, node: ast.AST, index: int, drawn: Value) -> None:
        """An argument is changed in place by chance: the variable carries that from here on."""
        argument = node.args[index] if isinstance(node, ast.Call) and index < len(node.args) else None
        if isinstance(argument, ast.Name) and argument.id in frame.env:
            held = frame.env[argument.id]
            frame.env[argument.id] = held.with_pending(held.pending | drawn.pending)
            return
        frame.settle(drawn)

    def may_mark(self, node: ast.AST) -> bool:
        """Whether a function applies a marker, or compiles, by one of the names known for that."""
        if node not in self.applying:
            self.applying[node] = marker_words.applies(node, self.words)
        return self.applying[node]

    def marks_inside(self, node: FunctionNode) -> bool:
        """Whether the body of a function applies a marker, or compiles: its decorators do not count."""
        return any(map(self.may_mark, node.body if isinstance(node.body, list) else [node.body]))

    def begin(self) -> None:
        """A new marked function is interpreted: it gets a budget of its own."""
        self.summaries.begin()

    # -- frames ---------------------------------------------------------------------------------------------------

    def module_frame(self, module: Module) -> Frame:
        """The static frame of a module's top level."""
        frame = self._frames.get(module.path)
        if frame is None:
            frame = Frame(self, module, 0, Summary(module.name), static=True)
            self._frames[module.path] = frame
        return frame

    def static_frame(
        self, function: Function, receiver: Value | None = None, given: Mapping[str, Value] | None = None
    ) -> Frame:
        """A function interpreted as code outside any traced body, its arguments as its text tells, or as `given`."""
        key = (id(function), id(receiver.heap) if receiver is not None else 0, bool(given))
        frame = self._static.get(key)
        if frame is None:
            frame = Frame(
                self,
                function.module,
                function.offset,
                Summary(function.qualname),
                function=function,
                scope=scope_of(function.node),
                static=True,
            )
            self._static[key] = frame
            top = function.owner is None and function.closure is None
            frame.at_module_level = top and function.name in entries(function.module.outline.shell)
            known = {**requested_fixtures.given(frame, function, receiver), **(given or {})}
            frame.env.update(parameters.of_marked(frame, function, known, receiver))
            invoke.run(self, frame)
        return frame
