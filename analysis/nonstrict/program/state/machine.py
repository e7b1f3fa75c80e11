"""The abstract interpreter's hub: holds the program and what was found out of it; its parts meet here.

What a machine does is written where all parts are known (`nonstrict.program.interpret.interpreter`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.knowledge.releases import BASE
from nonstrict.program.domain import marker_words
from nonstrict.program.domain.parts import Parts
from nonstrict.program.linking.elsewhere import Elsewhere
from nonstrict.program.linking.installed import Installed
from nonstrict.program.state.mutations_protocol import Mutations
from nonstrict.program.state.summaries import Summaries

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Collection, Mapping, Sequence

    from nonstrict.facts.outline import Chunk
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Function, Mark, Operator, Region
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.linking.project import Project
    from nonstrict.program.linking.searches import Asked, Bytes
    from nonstrict.program.state.contracts_protocol import Contracts
    from nonstrict.program.state.frames import Frame

#: A call seen in static code: where, and what is passed.
StaticCall: TypeAlias = "tuple[Frame, ast.AST, tuple[Value, ...], dict[str, Value]]"
#: How deep calls are followed from code outside traced bodies, where only values matter.
STATIC_DEPTH = 3


def _all(module: Module, chunk: Chunk) -> bool:
    return True


class Machine(Parts, ABC):
    """Interprets functions of a project; results are shared between the marked functions of one part of a run."""

    static_depth = STATIC_DEPTH

    def __init__(
        self,
        project: Project,
        contracts: Contracts,
        files: Sequence[str] = (),
        torch: tuple[int, int] = BASE,
        found: Bytes | None = None,
        mutations: type[Mutations] = Mutations,
    ) -> None:
        super().__init__()
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
        self.filled: set[AccessPath] = set()
        self.functions: dict[tuple[int, int], Function] = {}
        self.classes: dict[tuple[int, int], Class] = {}
        self.summaries = Summaries()
        #: default expressions, and those in class bodies, that are being evaluated
        self.defaults: set[ast.expr] = set()
        #: by their nodes, whether functions apply a marker or compile, by the names known when that was first asked
        self.applying: dict[ast.AST, bool] = {}
        #: definitions that are taken for marked, and by what (`nonstrict.program.contracts.marks.purity`)
        self.supposed: dict[ast.AST, str] = {}
        #: by their nodes, the functions that `torch.compile` is applied to
        self.regions: dict[ast.AST, Region] = {}
        #: by their nodes, the other objects for which such a function is compiled
        self.recompiled: dict[ast.AST, list[Region]] = {}
        #: functions that were called where the graph must not break
        self.called_strictly: set[ast.AST] = set()
        #: functions that Dynamo knows by their identity not to look into
        self.allowed: set[Function] = set()
        #: custom operators by name
        self.operators: dict[str, Operator] = {}
        #: functions as `torch.compiler.disable` returns them
        self.disabled: dict[Function, Function] = {}
        #: calls that may reach several marked functions, by the identity of the first
        self.dispatches: dict[int, list[tuple[str, int, ast.AST, Function]]] = {}
        #: calls of functions seen in static code: positional and keyword values
        self.static_calls: dict[ast.AST, list[StaticCall]] = {}
        #: those of them, as others, that run what a compiler returned
        self.compiled_calls: set[ast.AST] = set()
        #: the names by which each marked function may be called
        self.mark_names: dict[Mark, set[str]] = {}
        self.marked_names: dict[str, tuple[int, set[str]]] = {}
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
        #: by class and attribute, what its constructions give it (`nonstrict.program.discovery.constructions`)
        self.constructed: dict[tuple[Class, str], Value | None] = {}
        self.jedi = Installed(project.site_packages)
        #: machines that answered questions beside
        self._asides: list[Machine] = []
        #: who changes state
        self.mutations = mutations(self)
        contracts.attach(self)

    def anew(self) -> Machine:
        """A machine for the same program that nothing was asked of yet: it shares only what texts and the disk tell."""
        project, mutations = self.project.anew(), type(self.mutations)
        other = type(self)(project, self.contracts, self.files, self.torch, self.elsewhere.found, mutations)
        other.jedi = self.jedi.anew()
        return other

    def aside(self) -> Machine:
        """The same for a question beside: what is found out there leaves no trace here, but for what it was read of."""
        other = self.anew()
        self._asides.append(other)
        return other

    def questions(self) -> frozenset[Asked]:
        """What was asked of the texts of the run, on whose answers depends what was found."""
        return self.elsewhere.asked().union(*(other.questions() for other in self._asides))

    def read(self) -> set[str]:
        """The files that decided something: those that were loaded, asked for their texts, or could not be read."""
        own = {*self.elsewhere.consulted, *self.project.unreadable}
        own.update(module.path for module in self.project.loaded())
        return own.union(*(other.read() for other in self._asides))

    def dismiss(self) -> None:
        """Let go of all that was found out; nothing is asked of this machine any more.

        Frames, functions and values refer to each other and to the machine: only a search for garbage, in which every
        syntax tree takes part, would find them all.
        """
        for other in self._asides:
            other.dismiss()
        for holder in (vars(self.project), vars(self)):
            holder.clear()

    def replace_files(self, files: Sequence[str], changed: Collection[str]) -> set[Asked]:
        """There are other files, of which `changed` came or went: the questions whose answers that changes."""
        self.files = files
        self.own_files = frozenset(files)
        self.project.look_again(changed)
        return self.elsewhere.found.replace_files(files, changed)

    @cached_property
    def handed_open(self) -> dict[Function, None]:
        """Functions that hand a marker what their callers, or those who make their objects, give them."""
        return {}

    @cached_property
    def gradients(self) -> set[ast.AST]:
        """Functions that compute the gradients of operators: autograd gives them a context first."""
        return set()

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

    # -- what the interpreter does ------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, frame: Frame, node: ast.expr) -> Value:
        """The value of an expression, its captured reads not yet counted as uses."""

    @abstractmethod
    def execute(self, frame: Frame, body: Sequence[ast.stmt]) -> None:
        """Interpret statements in a frame."""

    @abstractmethod
    def store(self, frame: Frame, target: ast.expr, value: Value, source: ast.AST) -> None:
        """Assign to a target."""

    @abstractmethod
    def define(self, frame: Frame, node: ast.AST, offset: int) -> Value:
        """The value of a function or class definition, decorators applied."""

    @abstractmethod
    def annotated(self, frame: Frame, node: ast.AST | None, place: AccessPath) -> Value:
        """The value an annotation promises."""

    @abstractmethod
    def instance_at(self, cls: Class, place: AccessPath) -> Value:
        """An instance of a class of the program that lives at `place`."""

    @abstractmethod
    def call(
        self, frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """The result of calling a value; effects go to the frame."""

    @abstractmethod
    def enter(self, frame: Frame, node: ast.AST, manager: Value) -> Value:
        """What `with manager as …` binds; entering may have effects."""

    @abstractmethod
    def global_value(self, module: Module, name: str) -> Value:
        """What a top-level name of a module holds, at its global place; builtins last."""

    @abstractmethod
    def module_attribute(self, importer: Module, dotted: str, attribute: str) -> Value:
        """What `dotted.attribute` is, for a Python module of the project or an external one."""

    @abstractmethod
    def installed(self, dotted: str) -> Value | None:
        """The definition of something in an installed package, from its source."""

    @abstractmethod
    def fill(self, frame: Frame, table: Value) -> None:
        """A table of a top level is read: whatever the program puts into it while it is imported is there."""

    @abstractmethod
    def outside(self, external: Value, *, ask: bool = True) -> Value:
        """An external name that is used as a value: what an installed package binds it to, if that is to be had."""

    @abstractmethod
    def runs_region(self, function: Function) -> bool:
        """Whether a function calls compiled code, itself or in what it calls."""

    @abstractmethod
    def module_frame(self, module: Module) -> Frame:
        """The static frame of a module's top level."""

    @abstractmethod
    def static_frame(
        self, function: Function, receiver: Value | None = None, given: Mapping[str, Value] | None = None
    ) -> Frame:
        """A function interpreted as code outside any traced body, its arguments as its text tells, or as `given`."""
