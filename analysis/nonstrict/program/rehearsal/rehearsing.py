"""A file of the program, rehearsed from its first statement to its last, as Python would run it as a script."""

from __future__ import annotations

import ast
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, cast

from nonstrict.facts.execution import is_main_guard
from nonstrict.facts.walk import walk
from nonstrict.program.rehearsal import calling, defining, expressions, layers, loaders, members, statements
from nonstrict.program.rehearsal.stage import GivenUpError, RaisedError, Stage
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Compiled,
    Definition,
    External,
    Instance,
    Scope,
    Tensor,
    plain_dict,
)
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.linking.project import Project
    from nonstrict.program.rehearsal.stage import Given
    from nonstrict.program.rehearsal.things import Thing

#: How many statements and expressions a rehearsal goes through.
MOST = 150_000
_END = object()
#: So many characters of a file cost as much as a statement: they are parsed.
_TEXT = 4


class Rehearsed(NamedTuple):
    """What the calls of compiled functions were given, in order, and whether the file was gone through to its end."""

    given: tuple[Given, ...]
    complete: bool


def is_script(module: Module) -> bool:
    """Whether a file does something when it is run, other than to define and to import."""
    return any(_acts(module, one) for one in module.outline.shell.body)


def _acts(module: Module, statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.For, ast.While, ast.With)):
        return True
    if isinstance(statement, ast.If):
        return is_main_guard(statement) or any(_acts(module, one) for one in (*statement.body, *statement.orelse))
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)) else None
    called = (node.func for node in walk(value) if isinstance(node, ast.Call)) if value is not None else ()
    return any(isinstance(one, ast.Name) and one.id in module.own_names | _RUNS for one in called)


#: Functions of Python that show what a file computes.
_RUNS = frozenset({"print"})


def rehearse(project: Project, module: Module, most: int = MOST) -> Rehearsed:
    """Go through a file as a script, and through what it imports of the project; `most` is what that may cost."""
    stage = _Rehearsal(project, most)
    try:
        stage.enter(module, "__main__")
    except (GivenUpError, RaisedError, RecursionError, MemoryError):
        return Rehearsed(tuple(stage.given), complete=False)
    except (statements.ReturnSignal, statements.BreakSignal, statements.ContinueSignal):  # outside of what they leave
        return Rehearsed(tuple(stage.given), complete=False)
    return Rehearsed(tuple(stage.given), complete=True)


class _Rehearsal(Stage):
    """A stage on which the parts meet."""

    def __init__(self, project: Project, most: int) -> None:
        super().__init__(most)
        self._project = project
        self._modules: dict[str, Scope] = {}

    def enter(self, module: Module, name: str) -> Scope:
        """The variables of a module, gone through once."""
        if module.path in self._modules:
            return self._modules[module.path]
        self.spend(len(module.source.code) // _TEXT)
        scope = Scope({"__name__": name}, None, None, module.path)
        self._modules[module.path] = scope
        try:
            body = tree_of(module.source.code).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return scope
        for _ in self.run(body, scope):
            pass
        return scope

    def evaluate(self, node: ast.expr, scope: Scope) -> Thing:
        return expressions.evaluate(self, node, scope)

    def run(self, body: Sequence[ast.stmt], scope: Scope) -> Iterator[Thing]:
        return statements.run(self, body, scope)

    def call(
        self, callee: Thing, positional: Sequence[Thing], keywords: Mapping[str, Thing], node: ast.AST, scope: Scope
    ) -> Thing:
        return calling.call(self, callee, positional, keywords, node, scope)

    def member(self, thing: Thing, name: str) -> Thing:
        return members.member(self, thing, name)

    def keep(self, thing: Thing, name: str, value: Thing) -> None:
        members.keep(self, thing, name, value)

    def put(self, holder: Instance, key: Thing, value: Thing) -> None:
        members.put(self, holder, key, value)

    def define(self, node: ast.AST, scope: Scope) -> Thing:
        return defining.define(self, node, scope)

    def iterate(self, thing: Thing) -> Iterator[Thing] | None:
        found = self._entries(thing)
        return self._counted(found) if found is not None else None

    def _counted(self, entries: Iterator[Thing]) -> Iterator[Thing]:
        while True:
            self.spend()
            try:
                one = next(entries, _END)
            except (
                ArithmeticError,
                TypeError,
                ValueError,
            ) as error:  # of an iterator of Python, or one that runs already
                raise RaisedError(type(error).__name__) from None
            if one is _END:
                return
            yield one

    def _entries(self, thing: Thing) -> Iterator[Thing] | None:
        if isinstance(thing, range):
            return iter(thing)
        if issubclass(type(thing), (list, tuple, deque, set, frozenset)):
            return iter([*cast("Collection[Thing]", thing)])
        if (table := plain_dict(thing)) is not None:
            return iter(list(table))
        if isinstance(thing, str):
            return iter(cast("list[Thing]", list(thing)))
        if isinstance(thing, Tensor):
            return _rows(self, thing)
        if isinstance(thing, Compiled):
            return self.iterate(thing.target)
        if isinstance(thing, Instance):
            return self._iterated(thing)
        if isinstance(thing, Definition):
            return iter([one for one in thing.names.values() if isinstance(one, Instance) and one.of is thing])
        return cast("Iterator[Thing]", thing) if hasattr(thing, "__next__") else None

    def _iterated(self, thing: Instance) -> Iterator[Thing] | None:
        if loaders.is_loader(thing):
            return loaders.batches(self, thing)
        if isinstance(thing.of, Definition) and thing.of.member("__iter__") is not UNKNOWN:
            found = self.call(members.member(self, thing, "__iter__"), (), {}, self.here, self.nowhere)
            return self.iterate(found) if found is not thing else None
        if layers.is_module(thing):
            held = layers.entries(thing)
            return iter(list(held) if layers.base_of(thing) == "ModuleDict" else list(held.values()))
        if isinstance(thing.of, Definition) and thing.of.member("__getitem__") is not UNKNOWN:
            number = loaders.length(self, thing) if thing.of.member("__len__") is not UNKNOWN else None
            return (loaders.entry(self, thing, at) for at in range(number)) if number is not None else None
        return None

    def imported(self, dotted: str, level: int, scope: Scope) -> Thing:
        importer = self._project.module(scope.path)
        if importer is None:
            return External(dotted)
        whole = self._project.absolute(dotted, level, importer)
        path = self._project.find(whole, importer)
        module = self._project.module(path) if path is not None else None
        return self.enter(module, whole) if module is not None else External(whole)


def _rows(stage: Stage, tensor: Tensor) -> Iterator[Thing] | None:
    """The rows of a tensor, one by one."""
    if not tensor.shape or tensor.shape[0] > MOST:
        return None
    return iter([expressions.entry(stage, tensor, at) for at in range(tensor.shape[0])])
