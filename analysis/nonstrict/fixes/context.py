"""What a fix may look at: the marked function of a finding, and the text and tree of any file of the program."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import FunctionNode
from nonstrict.fixes.code.documents import Document, first_line
from nonstrict.fixes.operators.observed import Call, call_of
from nonstrict.fixes.recordings import Recordings, nothing
from nonstrict.fixes.uses.references import Uses
from nonstrict.program.domain.effects import span_of
from nonstrict.text.source import SourceKind, parsed

if TYPE_CHECKING:
    from nonstrict.events import Event
    from nonstrict.findings import Finding
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.state.machine import Machine


class Documents:
    """The files that fixes looked at, each parsed once."""

    def __init__(
        self,
        machine: Machine,
        known: dict[str, Document | None] | None = None,
        recordings: Recordings = nothing,
    ) -> None:
        """Begin with what is `known` of the same texts to others, and add to it; `recordings` are asked when needed."""
        self.machine = machine
        self._recordings = recordings
        self._known: dict[str, Document | None] = known if known is not None else {}

    @cached_property
    def uses(self) -> Uses:
        """The uses of functions in all files of the run."""
        return Uses(self)

    def document(self, path: str) -> Document | None:
        """A file that can be edited; None if it cannot be read, does not parse, or is not part of the project."""
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def calls(self, document: Document, function: ast.FunctionDef) -> tuple[Call, ...]:
        """The recorded calls of a function at the level of a module, as far as they fit its parameters."""
        if not isinstance(document.parent(function), ast.Module) or document.source.kind is not SourceKind.PYTHON:
            return ()
        lines = (first_line(function), function.end_lineno or function.lineno)
        found = self._recordings(document.path, document.code, function.name, lines)
        calls = (call_of(function, one.arguments, one.result) for one in found)
        return tuple(call for call in calls if call is not None)

    def _read(self, path: str) -> Document | None:
        module = self.machine.project.module(path)
        if module is None or path not in self.machine.elsewhere.found.own:
            return None
        source, tree = parsed(module.source)
        return None if source.problems else Document(source, tree)


class Context:
    """A finding, the marked function it was made for, and the way to the text around."""

    def __init__(self, documents: Documents, body: MarkedBody, finding: Finding) -> None:
        self.documents = documents
        self.machine = documents.machine
        self.body = body
        self.finding = finding

    @property
    def document(self) -> Document | None:
        """The file that the finding lies in."""
        return self.documents.document(self.finding.span.path)

    def observed(self, *events: Event) -> Observed | None:
        """The effect that the finding was made of, if it is of some kinds."""
        span, cause = self.finding.span, self.finding.cause
        here = (seen for seen in self.body.observed(*events) if seen.effect.span == span)
        return next((seen for seen in here if cause in (None, seen.effect.cause)), None)

    def definition(self, function: Function) -> tuple[Document, FunctionNode] | None:
        """The definition of a function or lambda, in the tree of its file as a whole."""
        document = self.documents.document(function.module.path)
        span = span_of(function.module.path, function.offset, function.node)
        node = document.at(span, *FunctionNode.__args__) if document is not None else None
        return (document, node) if document is not None and node is not None else None

    def class_definition(self, owner: Class) -> tuple[Document, ast.ClassDef] | None:
        """The definition of a class, in the tree of its file as a whole."""
        document = self.documents.document(owner.module.path)
        span = span_of(owner.module.path, owner.offset, owner.node)
        node = document.at(span, ast.ClassDef) if document is not None else None
        return (document, node) if document is not None and node is not None else None
