"""The search for the uses of a function: the variables and attributes that hold it, and what is done with these.

Names are followed through imports, other names, re-exports, markers and wrappers that leave the parameters as they
are, attributes, and factories that return the function. What is not a call, and what may be a use, is
an obstacle: a signature is changed only if there is none.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import own_scope
from nonstrict.fixes.uses.calls import Bound, Call, Kept, Made, References, Way
from nonstrict.fixes.uses.wrappers import is_function, keeps_parameters, keeps_signature
from nonstrict.program.domain.values import UNKNOWN

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Span
    from nonstrict.fixes.code.bindings import Scope
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.program.domain.definitions import Class

#: What may give code a module that no import statement names.
_DYNAMIC = ("importlib", "__import__", "sys.modules")
#: Attributes of a function through which it is called, or its parameters are asked for.
_REVEALING = frozenset(
    {
        *("__call__", "__wrapped__", "__code__", "__defaults__", "__kwdefaults__", "__signature__", "__get__"),
        *("__func__", "register_fake", "register_kernel", "register_autograd", "register_multi_grad_hook"),
    }
)


class Target(NamedTuple):
    """A variable that holds the function, or a bound method."""

    path: str
    scope: Scope
    name: str
    way: Way


_DIRECT = Way()


class Search:
    """The search for the uses of one function."""

    def __init__(self, uses: Uses, document: Document, function: FunctionNode | ast.Call | ast.ClassDef) -> None:
        self.uses = uses
        self.document = document
        self.function = function
        self.span = document.span(function)
        self.calls: list[Call] = []
        self.obstacles: list[Span] = []
        self.targets: list[Target] = []
        self.overrides: tuple[tuple[Document, FunctionNode], ...] = ()
        #: the expressions that were found to be the function
        self.taken: list[ast.AST] = []

    def references(self) -> References:
        """Follow the function through the variables that hold it."""
        self._start()
        done = 0
        while done < len(self.targets) and not self.obstacles:
            self._follow(self.targets[done])
            done += 1
        unique = {id(call.node): call for call in self.calls}
        return References(tuple(unique.values()), tuple(self.obstacles), self.overrides)

    def _start(self) -> None:
        if isinstance(self.function, (ast.expr, ast.ClassDef)):
            if isinstance(self.function, ast.expr):
                self._use(self.document, self.function)
            return
        if not self._keeps_signature(self.function):
            self._obstacle(self.document, self.function)
            return
        owner = self.document.parent(self.function)
        if isinstance(owner, ast.ClassDef):
            self._methods(owner, self.function)
            return
        if self.document.function(self.function) is None and self._held_by_class():
            self._obstacle(self.document, self.function)
            return
        scope = next(self.uses.scopes(self.document).text.scopes(self.function))
        self._add(self.document, scope, self.function.name)

    def _keeps_signature(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether callers of the decorated function pass what it takes."""
        scopes = self.uses.scopes(self.document)
        made = UNKNOWN
        if isinstance(next(scopes.text.scopes(function)), ast.Module):
            made = self.uses.machine.global_value(scopes.module, function.name)
        stays = is_function(made, self.span)
        return all(keeps_signature(self.uses, self.document, one, stays=stays) for one in function.decorator_list)

    def _held_by_class(self) -> bool:
        return any(isinstance(outer, ast.ClassDef) for outer in self.document.around(self.function))

    def _methods(self, owner: ast.ClassDef, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        found = self.uses.methods.uses_of(self.document, owner, function)
        self.obstacles += found.obstacles
        for document, node in found.accesses:
            receiver = self.uses.methods.bound(document, function, node)
            self._use(document, node, Way(Bound(document, receiver) if receiver is not None else None))
        self.overrides = tuple((one.document, one.node) for one in found.family if one.node is not function)
        for document, definition in self.overrides:
            if not all(keeps_signature(self.uses, document, one, stays=False) for one in definition.decorator_list):
                self._obstacle(document, definition)
        self._by_name_anywhere(function.name)
        for one in found.family:
            # In the class itself the method is a variable: `fast = torch.compile(slow)`.
            around = one.document.parent(one.node)
            if isinstance(around, ast.ClassDef):
                for node in self.uses.scopes(one.document).text.reads(around, function.name):
                    self._obstacle(one.document, node)
        if function.name == "forward" and not self.obstacles:
            self._called_as_modules(function, self.uses.methods.modules_with(found.family))

    def _called_as_modules(self, function: FunctionNode, classes: list[Class] | None) -> None:
        """`module(x)` calls the `forward` of the module."""
        if classes is None:
            self._obstacle(self.document, function)
            return
        found = self.uses.of_instances(self.document, function, classes)
        self.calls += found.calls
        self.obstacles += found.obstacles

    # -- variables ------------------------------------------------------------------------------------------------

    def _add(self, document: Document, scope: Scope, name: str, way: Way = _DIRECT) -> None:
        known = self._target(document.path, scope, name)
        if known is None:
            self.targets.append(Target(document.path, scope, name, way))
        elif known.way != way:
            self._obstacle(document, document.tree)  # one variable for what several factories made

    def _target(self, path: str, scope: Scope, name: str) -> Target | None:
        return next((known for known in self.targets if known[:3] == (path, scope, name)), None)

    def _follow(self, target: Target) -> None:
        document = self.uses.documents.document(target.path)
        if document is None:
            return
        scopes = self.uses.scopes(document)
        for node in scopes.text.bindings(target.scope, target.name):
            if not self._binds_it(document, node, target):
                self._obstacle(document, node)
        for node in scopes.text.reads(target.scope, target.name):
            self._use(document, node, target.way)
        if isinstance(target.scope, ast.Module):
            self._by_name(document, target.name)
            others = self.uses.holding(target.name, target.path)
            if others is None:
                self._obstacle(document, self.function if target.path == self.document.path else document.tree)
            for other in others or ():
                if other is not document:
                    self._elsewhere(other, target)

    def _binds_it(self, document: Document, node: ast.AST, target: Target) -> bool:
        """Whether a binding of a variable binds the function that is looked for, and no other one."""
        if node is self.function:
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            dotted = self.uses.scopes(document).imported(node, target.name)
            package, _, name = dotted.rpartition(".")
            path = self.uses.scopes(document).file_of(package)
            return any(path == known.path and name == known.name for known in self.targets)
        statement = document.parent(node)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            # What stands for a function that could not be imported is not called.
            return statement.value.value is None and document is not self.document
        return isinstance(statement, ast.Assign) and any(
            isinstance(part, ast.expr) and self._holds(document, statement, part) for part in ast.walk(statement.value)
        )

    def _holds(self, document: Document, statement: ast.Assign, part: ast.expr) -> bool:
        """Whether a part of what is assigned is the function, and nothing but wrappers stand around it."""
        known = part is self.function or part in self.taken
        if isinstance(part, ast.Name):
            scope = self.uses.scopes(document).text.binder(part, part.id)
            known = self._target(document.path, scope, part.id) is not None
        elif isinstance(part, ast.Attribute) and not known:
            path = self.uses.scopes(document).module_at(part.value)
            known = any(path == target.path and part.attr == target.name for target in self.targets)
        return known and self._outermost(document, part) is statement.value

    def _elsewhere(self, document: Document, target: Target) -> None:
        """The uses in another file of what a module holds at its top level."""
        scopes = self.uses.scopes(document)
        for node, alias in scopes.text.imports:
            if isinstance(node, ast.ImportFrom) and alias.name in (target.name, "*"):
                package = scopes.machine.project.absolute(node.module or "", node.level, scopes.module)
                if scopes.file_of(package) == target.path:
                    name = target.name if alias.name == "*" else alias.asname or alias.name
                    self._add(document, next(scopes.text.scopes(node)), name, target.way)
        for attribute in scopes.text.attributes.get(target.name, ()):
            path = scopes.module_at(attribute.value)
            if path == target.path:
                self._use(document, attribute, target.way)
            elif not path and self._may_be_module(document, attribute.value):
                self._obstacle(document, attribute)
        self._by_name(document, target.name)

    def _may_be_module(self, document: Document, node: ast.expr) -> bool:
        """Whether an object of which nothing is known may be a module that was imported by its name as text."""
        if not any(word in document.code for word in _DYNAMIC) or self.uses.scopes(document).dotted(node):
            return False
        return not (isinstance(node, ast.Name) and node.id in ("self", "cls"))

    def _by_name(self, document: Document, name: str) -> None:
        """Uses of the name as text: `getattr(module, "scale")`, `patch("pkg.module.scale")`."""
        for node in self.uses.scopes(document).text.texts.get(name, ()):
            self._obstacle(document, node)

    def _by_name_anywhere(self, name: str) -> None:
        for document in self.uses.holding(name) or ():
            self._by_name(document, name)

    # -- uses -----------------------------------------------------------------------------------------------------

    def _use(self, document: Document, node: ast.expr, way: Way = _DIRECT) -> None:
        """What is done with an expression that is the function, or the method of an object."""
        self.taken.append(node)
        whole = self._outermost(document, node)
        outer = document.parent(whole)
        if isinstance(outer, ast.Call) and outer.func is whole:
            self._call(document, outer, way)
        elif isinstance(outer, ast.Assign) and outer.value is whole:
            self._assigned(document, outer, way)
        elif isinstance(outer, ast.Attribute):
            if outer.attr in _REVEALING or not isinstance(outer.ctx, ast.Load):
                self._obstacle(document, outer)
        elif isinstance(outer, ast.Return):
            self._returned(document, outer, way)
        elif not isinstance(outer, ast.Expr):
            self._obstacle(document, whole)

    def _call(self, document: Document, call: ast.Call, way: Way) -> None:
        spread = any(isinstance(argument, ast.Starred) for argument in call.args)
        # Python before 3.12 does not tell where something in a formatted string stands.
        spread = spread or any(isinstance(outer, ast.JoinedStr) for outer in document.around(call))
        if spread or any(keyword.arg is None for keyword in call.keywords):
            self._obstacle(document, call)
        else:
            self.calls.append(Call(document, call, *way))

    def _assigned(self, document: Document, statement: ast.Assign, way: Way) -> None:
        for target in statement.targets:
            scope = self.uses.scopes(document).text.binder(target, target.id) if isinstance(target, ast.Name) else None
            if isinstance(target, ast.Name) and scope is not None and not isinstance(scope, ast.ClassDef):
                self._add(document, scope, target.id, way)
            elif isinstance(target, ast.Attribute) and way.kept is None:
                self._kept(document, target, way)
            else:
                self._obstacle(document, target)

    def _kept(self, document: Document, target: ast.Attribute, way: Way) -> None:
        """The function is kept in an attribute that nothing else is kept in."""
        found = self.uses.methods.uses_of_attribute(document, target)
        self.obstacles += found.obstacles
        self._by_name_anywhere(target.attr)
        for other, node in found.accesses:
            if isinstance(node.ctx, ast.Load):
                self._use(other, node, way._replace(kept=Kept(document, target.value, node.value)))
            elif node is not target:
                self._obstacle(other, node)

    def _returned(self, document: Document, statement: ast.Return, way: Way) -> None:
        """A factory returns the function: what its calls give is the function too."""
        factory = document.function(statement)
        hidden = way.bound is not None or way.kept is not None
        if not isinstance(factory, ast.FunctionDef) or hidden or not _only_returns(factory, statement):
            self._obstacle(document, statement)
            return
        found = self.uses.of(document, factory)
        self.obstacles += found.obstacles
        if not found.calls or found.overrides:
            self._obstacle(document, statement)
        for call in found.calls:
            self._use(call.document, call.node, way._replace(made=(*way.made, Made(factory, call))))

    def _outermost(self, document: Document, node: ast.expr) -> ast.expr:
        """The expression around an expression that has the same value but for wrappers: `torch.compile(f)` of `f`."""
        while (outer := self._wrapper(document, node)) is not None:
            node = outer
        return node

    def _wrapper(self, document: Document, node: ast.expr) -> ast.expr | None:
        outer = document.parent(node)
        if isinstance(outer, ast.keyword):
            outer = document.parent(outer)
        if isinstance(outer, ast.Call):
            return outer if outer.func is not node and self._wraps(document, outer, node) else None
        if isinstance(outer, ast.IfExp):
            return outer if outer.test is not node and self._either(document, outer) else None
        return None

    def _wraps(self, document: Document, call: ast.Call, node: ast.expr) -> bool:
        return keeps_parameters(self.uses, document, call, node, self.span)

    def _either(self, document: Document, choice: ast.IfExp) -> bool:
        """Whether both sides of a choice are the function: `nonstrict_trace(f) if available else f`."""
        return all(self._is_it(document, side) for side in (choice.body, choice.orelse))

    def _is_it(self, document: Document, node: ast.expr) -> bool:
        while isinstance(node, ast.Call) and node.args:
            if not self._wraps(document, node, node.args[0]):
                return False
            node = node.args[0]
        if not isinstance(node, ast.Name):
            return node is self.function
        scope = self.uses.scopes(document).text.binder(node, node.id)
        return self._target(document.path, scope, node.id) is not None

    def _obstacle(self, document: Document, node: ast.AST) -> None:
        self.obstacles.append(document.span(node))


def _only_returns(function: ast.FunctionDef, statement: ast.Return) -> bool:
    """Whether a function ends with a statement, and returns nothing else."""
    ends = [node for node in own_scope(function) if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom))]
    return ends == [statement] and function.body[-1] is statement
