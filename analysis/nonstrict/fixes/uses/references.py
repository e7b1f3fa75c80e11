"""All uses of a function in the files of a run: the calls, and whatever else is done with it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.fixes.code.scopes import Scopes
from nonstrict.fixes.uses.calls import References
from nonstrict.fixes.uses.instances import Instances
from nonstrict.fixes.uses.methods import Methods
from nonstrict.fixes.uses.search import Search
from nonstrict.program.domain.values import UNKNOWN

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Documents
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

#: A name that more files hold is too common to be followed.
_MAX_FILES = 200


class Uses:
    """Looks for the uses of functions; each is looked for once."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        #: what it evaluates leaves no trace in the machine that made the findings
        self.machine: Machine = documents.machine.aside()
        #: sets of functions, for `nonstrict.fixes.uses.traced`
        self.traced: dict[object, frozenset[Span]] = {}
        self._scopes: dict[str, Scopes] = {}
        self._known: dict[ast.AST, References] = {}
        self.methods = Methods(self)

    def scopes(self, document: Document) -> Scopes:
        """The names of a file."""
        if document.path not in self._scopes:
            self._scopes[document.path] = Scopes(document, self.machine)
        return self._scopes[document.path]

    def value(self, document: Document, node: ast.expr) -> Value:
        """What an expression of a file is, if it is made of top-level names only."""
        scopes = self.scopes(document)
        names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
        if any(scopes.text.binder(name, name.id) is not document.tree for name in names):
            return UNKNOWN
        return self.machine.evaluate(self.machine.module_frame(scopes.module), node)

    def holding(self, word: str, path: str = "") -> list[Document] | None:
        """The files of the run that hold a word; None if these are too many, or if one cannot be looked into.

        With `path` only those that import that module, or a package it lies in, or name it as text.
        """
        elsewhere = self.documents.machine.elsewhere
        sought = word.encode("utf-8", "surrogateescape")
        paths = elsewhere.holding([word])
        if path:
            dotted = self.machine.project.name_of(path)[1].encode("utf-8", "surrogateescape").split(b".")
            importing = {path}.union(*(elsewhere.importing(part) for part in dotted))
            named = b"%s.%s" % (dotted[-1], sought)
            paths = [one for one in paths if one in importing or _mentions(elsewhere.data(one), named)]
        documents = [self.documents.document(one) for one in paths[:_MAX_FILES]]
        known = [document for document in documents if document is not None]
        return known if len(known) == len(paths) else None

    def of(self, document: Document, function: FunctionNode | ast.Call) -> References:
        """The uses of a function, method or lambda, or of the function that a call returns."""
        if function not in self._known:
            # What calls itself is asked for while it is looked for.
            self._known[function] = References((), (document.span(function),))
            self._known[function] = Search(self, document, function).references()
        return self._known[function]

    def of_instances(self, document: Document, function: FunctionNode, classes: list[Class]) -> References:
        """The calls of the instances of some classes, whose `forward` is a function."""
        return Instances(self, document, function, classes).references()


def _mentions(data: bytes, named: bytes) -> bool:
    """Whether a file names a function as text, or imports what lies around it without its name."""
    return named in data or b"from ." in data
