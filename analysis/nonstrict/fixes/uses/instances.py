"""The calls of a module's `forward` through the module: `model(x)`, wherever an instance of its class gets.

Instances are followed from where their class is named: through variables, attributes, factories, functions that are
given nothing else, and an `nn.ModuleList` of nothing else. What else holds them without a name (`nn.Sequential`) is an
obstacle.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.fixes.uses.calls import Bound, Call, References, Way, argument
from nonstrict.fixes.uses.module_lists import Items, list_around
from nonstrict.fixes.uses.search import Search, Target
from nonstrict.fixes.uses.wrappers import keeps_parameters
from nonstrict.models.members import RETURNING_MODULE
from nonstrict.program.domain.definitions import Class, Function, Mark
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.program.domain.values import Value

#: Attributes of modules by which other code gets to call them.
_REVEALING = frozenset({"__call__", "_call_impl", "register_forward_hook", "register_forward_pre_hook"})
#: What is given a module and does not call it.
_HARMLESS = frozenset({"isinstance", "issubclass", "print", "id", "repr", "str", "hasattr"})
#: How code gets the modules that another one holds.
_PARTS = ("children()", "modules()", "_modules", "get_submodule")


class _Given(NamedTuple):
    """A parameter of a function that is given an instance; `owner` is the class whose `__init__` it is."""

    document: Document
    function: FunctionNode
    name: str
    owner: ast.ClassDef | None = None


class Instances(Search):
    """The search for the calls of the instances of some classes."""

    def __init__(self, uses: Uses, document: Document, function: FunctionNode, classes: list[Class]) -> None:
        super().__init__(uses, document, function)
        self.classes = classes
        self.given: list[_Given] = []
        #: what is put into lists, and the variables of loops over these
        self.listed: list[tuple[Document, ast.expr]] = []
        self.variables: list[ast.expr] = []

    def references(self) -> References:
        """Follow the instances of all classes, and make sure that nothing else gets where they do."""
        found = super().references()
        for one in self.given:
            calls = (
                self.uses.of(one.document, one.function) if one.owner is None else self._made(one.document, one.owner)
            )
            self.obstacles += calls.obstacles
            for call in calls.calls:
                value = argument(one.function, call, one.name)
                if value is None or not any(part in self.taken for part in ast.walk(value)):
                    self._obstacle(call.document, call.node)
        for document, node in self.listed:
            if not any(part in self.taken for part in ast.walk(node)):
                self._obstacle(document, node)
        return found._replace(obstacles=tuple(self.obstacles))

    def _made(self, document: Document, owner: ast.ClassDef) -> References:
        """The calls of a class, which are all calls of its `__init__` if no other class inherits it."""
        search = _Names(self.uses, document, owner, alone=True)
        found = search.references()
        calls = (Call(other, call, Bound(other, call)) for other, call in search.made)
        return References(tuple(calls), found.obstacles)

    def _start(self) -> None:
        for owner in self.classes:
            document = self.uses.documents.document(owner.module.path)
            span = span_of(owner.module.path, owner.offset, owner.node)
            node = document.at(span, ast.ClassDef) if document is not None else None
            if document is None or node is None or node.decorator_list:
                self._obstacle(self.document, self.function)
            else:
                self._named(document, node)

    def _named(self, document: Document, node: ast.ClassDef) -> None:
        """The instances that are made where a class is named."""
        search = _Names(self.uses, document, node)
        self.obstacles += search.references().obstacles
        for other, call in search.made:
            self._use(other, call)

    def _binds_it(self, document: Document, node: ast.AST, target: Target) -> bool:
        return isinstance(node, ast.arg) or node in self.variables or super()._binds_it(document, node, target)

    def _use(self, document: Document, node: ast.expr, way: Way | None = None) -> None:
        way = way or Way()
        whole = self._outermost(document, node)
        outer = document.parent(whole)
        made = list_around(self.uses, document, whole)
        if any(part in document.code for part in _PARTS):
            self._obstacle(document, node)
        elif made is not None:
            self.taken.append(node)
            self._listed(document, *made)
        elif isinstance(outer, ast.Call) and outer.func is whole:
            self.taken.append(node)
            self._call(document, outer, way._replace(bound=Bound(document, whole)))
        elif isinstance(outer, (ast.Call, ast.keyword)):
            self.taken.append(node)
            self._given(document, outer if isinstance(outer, ast.Call) else document.parent(outer), whole)
        elif isinstance(outer, ast.Attribute):
            self.taken.append(node)
            if outer.attr in _REVEALING or not isinstance(outer.ctx, (ast.Load, ast.Store)):
                self._obstacle(document, outer)
        else:
            super()._use(document, node, way)

    def _listed(self, document: Document, call: ast.Call, parts: list[ast.expr]) -> None:
        """A list of modules holds instances."""
        search = Items(self.uses, document, call)
        self.obstacles += search.references().obstacles
        self.listed += ((document, part) for part in parts)
        for other, node in search.items:
            if isinstance(node, ast.Name):
                self.variables.append(node)
                self._add(other, self.uses.scopes(other).text.binder(node, node.id), node.id)
            else:
                self._use(other, node)

    def _given(self, document: Document, call: ast.AST | None, whole: ast.expr) -> None:
        """A function of the program is given an instance."""
        if not isinstance(call, ast.Call) or last_name(call.func) in _HARMLESS:
            return
        callee = self._called(document, call)
        name = _parameter(callee.function, call, whole, bound=callee.owner is not None) if callee is not None else ""
        if callee is None or not name:
            self._obstacle(document, call)
        elif (given := callee._replace(name=name)) not in self.given:
            self.given.append(given)
            self._add(given.document, given.function, name)

    def _called(self, document: Document, call: ast.Call) -> _Given | None:
        """The function of the program that a call calls, or the `__init__` of the class."""
        value: Value = self.uses.value(document, call.func)
        made: object = value.ref.function if value.kind is Kind.MARKED and isinstance(value.ref, Mark) else value.ref
        if not isinstance(made, (Function, Class)) or value.kind not in (Kind.FUNCTION, Kind.MARKED, Kind.CLASS):
            return None
        other = self.uses.documents.document(made.module.path)
        span = span_of(made.module.path, made.offset, made.node)
        node = other.at(span, ast.FunctionDef, ast.Lambda, ast.ClassDef) if other is not None else None
        if other is None or node is None:
            return None
        if not isinstance(node, ast.ClassDef):
            return _Given(other, node, "")
        init = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
        plain = init is not None and not init.decorator_list and not node.decorator_list
        return _Given(other, init, "", node) if init is not None and plain else None

    def _wrapper(self, document: Document, node: ast.expr) -> ast.expr | None:
        outer = document.parent(node)
        if isinstance(outer, ast.Attribute) and outer.attr in RETURNING_MODULE:
            call = document.parent(outer)
            return call if isinstance(call, ast.Call) and call.func is outer else None
        if isinstance(outer, ast.Call) and outer.func is not node:
            return outer if keeps_parameters(self.uses, document, outer, node, self.span) else None
        return None


class _Names(Search):
    """The search for the uses of the name of a class; `made` are the calls that make instances."""

    def __init__(self, uses: Uses, document: Document, node: ast.ClassDef, *, alone: bool = False) -> None:
        """Begin with the definition; `alone` says that no other class may inherit it."""
        super().__init__(uses, document, node)
        self.owner = node
        self.alone = alone
        self.made: list[tuple[Document, ast.Call]] = []

    def _start(self) -> None:
        scope = next(self.uses.scopes(self.document).text.scopes(self.owner))
        self._add(self.document, scope, self.owner.name)

    def _use(self, document: Document, node: ast.expr, way: Way | None = None) -> None:
        outer = document.parent(node)
        self.taken.append(node)
        if isinstance(outer, ast.Call) and outer.func is node:
            self.made.append((document, outer))
        elif isinstance(outer, ast.Call) and last_name(outer.func) in (*_HARMLESS, "super"):
            return
        elif isinstance(outer, ast.Assign) and outer.value is node:
            self._assigned(document, outer, way or Way())
        elif isinstance(outer, ast.ClassDef) and not self.alone and isinstance(document.parent(outer), ast.Module):
            return
        elif not (_is_annotation(document, node) or isinstance(outer, ast.Attribute)):
            self._obstacle(document, node)


def _is_annotation(document: Document, node: ast.AST) -> bool:
    inner = node
    for outer in document.around(node):
        if isinstance(outer, (ast.arg, ast.AnnAssign)):
            return inner is outer.annotation
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return inner is outer.returns
        inner = outer
    return False


def _parameter(function: FunctionNode, call: ast.Call, given: ast.expr, *, bound: bool) -> str:
    """The parameter that an argument of a call is for, if it is a plain one."""
    for keyword in call.keywords:
        if keyword.value is given:
            return keyword.arg or ""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    index = call.args.index(given) + bound if given in call.args else len(names)
    spread = any(isinstance(one, ast.Starred) for one in call.args)
    return names[index] if index < len(names) and not spread else ""
