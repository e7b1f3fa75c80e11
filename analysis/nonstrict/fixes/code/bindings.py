"""Whose a name is: the scope that binds it as seen from a place in a file. The text alone tells that."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.words import identifiers
from nonstrict.text.source import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.fixes.code.documents import Document
    from nonstrict.text.source import Source

#: Calls by which code reaches a function by its name, as text.
_BY_NAME = frozenset({"getattr", "setattr", "delattr", "hasattr", "attrgetter", "methodcaller", "patch", "object"})
#: What has annotations, and what binds names.
_ANNOTATED: tuple[type[ast.AST], ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.arg, ast.AnnAssign)
_BINDING: tuple[type[ast.AST], ...] = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Name, ast.arg),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
#: What has names of its own.
Scope: TypeAlias = "ast.Module | ast.ClassDef | FunctionNode | _Comprehension"


class Bindings:
    """The names of one file: where each stands, and whose it is there; found out once for all who ask."""

    def __init__(self, document: Document) -> None:
        self.document = document
        #: by name and scope, what was asked for: a name such as `x` is one in each function of a file
        self._read: dict[str, dict[Scope, list[ast.Name]]] = {}
        self._owned: dict[str, dict[Scope, list[ast.AST]]] = {}

    @cached_property
    def names(self) -> dict[str, list[ast.Name]]:
        """By name, where it is read, bound or deleted."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.document.of(ast.Name):
            found.setdefault(node.id, []).append(node)
        return found

    @cached_property
    def attributes(self) -> dict[str, list[ast.Attribute]]:
        """By their last name, the attributes that are read, set or deleted."""
        found: dict[str, list[ast.Attribute]] = {}
        for node in self.document.of(ast.Attribute):
            found.setdefault(node.attr, []).append(node)
        return found

    @cached_property
    def texts(self) -> dict[str, list[ast.AST]]:
        """By a name, what reaches it as text: `getattr(pkg, "scale")`, `patch("pkg.scale")`, `globals()["scale"]`.

        So do magics of a notebook, which are no part of the tree: `%timeit scale(x)`.
        """
        found: dict[str, list[ast.AST]] = {}
        for node in self.document.of(ast.Call, ast.Subscript):
            for name in _named_as_text(node):
                found.setdefault(name, []).append(node)
        for name in _named_in_magics(self.document.source):
            found.setdefault(name, []).append(self.document.tree)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """The texts of all strings, and each word of those that annotate: any of them may be a name."""
        strings = set(_strings(self.document.of(ast.Constant)))
        for node in self.document.of(*_ANNOTATED):
            for field in ("annotation", "returns"):
                annotation: ast.AST | None = getattr(node, field, None)
                if annotation is not None:
                    strings.update(word for text in _strings(ast.walk(annotation)) for word in identifiers(text))
        return frozenset(strings)

    @cached_property
    def declared(self) -> frozenset[str]:
        """The names that any function declares as variables of others: `global` and `nonlocal`."""
        statements = self.document.of(ast.Global, ast.Nonlocal)
        return frozenset(name for node in statements for name in node.names)

    @cached_property
    def imports(self) -> list[tuple[ast.Import | ast.ImportFrom, ast.alias]]:
        """What import statements import, wherever they stand."""
        return [(node, alias) for node in self.document.of(ast.Import, ast.ImportFrom) for alias in node.names]

    # -- scopes ---------------------------------------------------------------------------------------------------

    def scopes(self, node: ast.AST) -> Iterator[Scope]:
        """The scopes that a name is looked up in at a node, the innermost first."""
        inner, direct = node, True
        for outer in self.document.around(node):
            if isinstance(outer, FunctionNode):
                if _runs_in(outer, inner):
                    yield outer
                    direct = False
            elif isinstance(outer, ast.ClassDef):
                if direct and inner in outer.body:
                    yield outer
                    direct = False
            elif isinstance(outer, _Comprehension):
                yield outer
            inner = outer
        yield self.document.tree

    def binder(self, node: ast.AST, name: str) -> Scope:
        """The scope whose variable a name is at a node; the module where no function or class around binds it."""
        for scope in self.scopes(node):
            if isinstance(scope, FunctionNode):
                known = scope_of(scope)
                if name in known.global_names:
                    return self.document.tree
                if name in known.local:
                    return scope
            elif isinstance(scope, ast.ClassDef):
                if self.bindings(scope, name):
                    return scope
            elif isinstance(scope, _Comprehension) and any(
                isinstance(part, ast.Name) and part.id == name
                for generator in scope.generators
                for part in ast.walk(generator.target)
            ):
                return scope
        return self.document.tree

    def functions(self, node: ast.AST) -> list[FunctionNode]:
        """The functions in whose bodies a node stands, the innermost first."""
        return [scope for scope in self.scopes(node) if isinstance(scope, FunctionNode)]

    def reads(self, scope: Scope, name: str) -> Sequence[ast.Name]:
        """Where a variable of a scope is read."""
        if name not in self._read:
            found: dict[Scope, list[ast.Name]] = {}
            for node in self.names.get(name, ()):
                if isinstance(node.ctx, ast.Load):
                    found.setdefault(self.binder(node, name), []).append(node)
            self._read[name] = found
        return self._read[name].get(scope, ())

    def bindings(self, scope: Scope, name: str) -> Sequence[ast.AST]:
        """What binds a variable of a scope: definitions, imports, parameters, names that are assigned."""
        if name not in self._owned:
            found: dict[Scope, list[ast.AST]] = {}
            for node in self._binding.get(name, ()):
                found.setdefault(self._owner(node, name), []).append(node)
            self._owned[name] = found
        return self._owned[name].get(scope, ())

    def _owner(self, node: ast.AST, name: str) -> Scope:
        """The scope whose variable a definition, an import, a parameter or an assigned name binds."""
        if isinstance(node, ast.arg):
            return self.document.function(node) or self.document.tree
        walrus = isinstance(self.document.parent(node), ast.NamedExpr)
        for scope in self.scopes(node):
            if isinstance(scope, FunctionNode):
                if name in scope_of(scope).global_names:
                    break
                if name in scope_of(scope).nonlocal_names:
                    continue
            if not (walrus and isinstance(scope, _Comprehension)):
                return scope
        return self.document.tree

    @cached_property
    def _binding(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = {}
        for node in self.document.of(*_BINDING):
            for name in _bound_by(node):
                found.setdefault(name, []).append(node)
        return found


def _runs_in(function: FunctionNode, part: ast.AST) -> bool:
    """Whether a part of a function runs when it is called: not its decorators, defaults and annotations."""
    return part is function.body if isinstance(function, ast.Lambda) else part in function.body


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a node by itself binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
    elif isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        if node.name:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _strings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _named_as_text(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and last_name(node.func) in _BY_NAME:
        texts = (one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str))
        yield from {name for text in texts for name in (text, text.rpartition(".")[2])}
    elif isinstance(node, ast.Subscript) and (name := _entry_of_namespace(node)):
        yield name


def _named_in_magics(source: Source) -> set[str]:
    if source.kind is not SourceKind.NOTEBOOK or "%" not in source.text:
        return set()
    pairs = zip(source.file_lines, source.lines_as_read, strict=False)
    return {word for line, code in pairs if line != code and "%" in line for word in identifiers(line)}


def _entry_of_namespace(node: ast.Subscript) -> str:
    """The name that `globals()["scale"]` or `module.__dict__["scale"]` means."""
    base = node.value
    called = isinstance(base, ast.Call) and last_name(base.func) in ("globals", "vars", "locals")
    held = isinstance(base, ast.Attribute) and base.attr == "__dict__"
    key = node.slice
    return key.value if (called or held) and isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
