"""What a fix leaves without a use goes with it: imports, variables, helpers and parameters that only served old code.

A binding is left over if code that the fix takes out read it, no code that stays does, and the new code does not
mention its name. What other files may know stays: public names of modules that are no scripts.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.words import identifiers
from nonstrict.findings import Applicability, Edit
from nonstrict.fixes.code.documents import Document, first_line
from nonstrict.fixes.code.edits import removed
from nonstrict.fixes.code.lists import parameters_of, without_element
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.code.scopes import Scopes
from nonstrict.fixes.uses.bindings import (
    assignment,
    fewer,
    is_logger,
    is_script,
    may_shrink,
    not_given,
    uncounted,
    unnamed,
    without_function,
    without_name,
)
from nonstrict.fixes.uses.calls import argument
from nonstrict.fixes.uses.computing import Computing
from nonstrict.text.source import SourceKind, parsed, source_from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Fix
    from nonstrict.fixes.code.bindings import Scope
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.program.contracts.marked_body import MarkedBody

_MAX_ROUNDS = 20


def without_leftovers(uses: Uses, body: MarkedBody, fix: Fix) -> Fix:
    """A fix of a finding in a marked function that also takes out what it leaves without a use."""
    work = _Work(uses, body, fix)
    for _ in range(_MAX_ROUNDS):
        known = len(work.edits)
        for document in list(work.documents):
            work.clean(document)
        if len(work.edits) == known:
            break
    return fix._replace(edits=tuple(work.joined()))


class _Work:
    """The edits of a fix, and those that follow from them."""

    def __init__(self, uses: Uses, body: MarkedBody, fix: Fix) -> None:
        self.uses = uses
        self._computing = Computing(body)
        self._given = tuple(dict.fromkeys(fix.edits))
        self.edits: list[Edit] = list(self._given)
        self._after: dict[str, tuple[int, Scopes | None]] = {}
        self.unsafe = fix.applicability <= Applicability.UNSAFE
        self._words: dict[str, set[str]] = {}
        for edit in fix.edits:
            self._words.setdefault(edit.span.path, set()).update(identifiers(edit.text))
        paths = dict.fromkeys(edit.span.path for edit in fix.edits)
        known = (uses.documents.document(path) for path in paths)
        self.documents = [document for document in known if document is not None]
        self._asked: set[tuple[Scope, str]] = set()

    def clean(self, document: Document) -> None:
        """Take out what has no use any more in a file."""
        scopes = self.uses.scopes(document)
        for node in self._gone(document):
            scope = scopes.text.binder(node, node.id)
            if (scope, node.id) not in self._asked and not self._is_used(document, scope, node.id):
                if self._is_written(document, scope, node.id):
                    continue
                self._asked.add((scope, node.id))
                self.edits += self._without(document, scope, node.id)
            if not isinstance(node.ctx, ast.Load):
                self.edits += self._undeclared(document, node)
        self._hidden(document)

    def _hidden(self, document: Document) -> None:
        """Take out imports of names that the code reads as variables of functions now: as their parameters."""
        scopes = self.uses.scopes(document)
        for name in sorted(self._words.get(document.path, ())):
            if (document.tree, name) in self._asked or not self._is_imported(scopes, name):
                continue
            if scopes.text.reads(document.tree, name) and not self._is_written(document, document.tree, name):
                self._asked.add((document.tree, name))
                if not scopes.text.texts.get(name) and not self._is_known(document, name):
                    self.edits += self._without(document, document.tree, name)

    @staticmethod
    def _is_imported(scopes: Scopes, name: str) -> bool:
        return any(isinstance(one, _IMPORT) for one in scopes.text.bindings(scopes.document.tree, name))

    def _gone(self, document: Document) -> list[ast.Name]:
        """The names that edits take out or write anew, in the order of the text."""
        gone = {name: None for start, end in self._ranges(document) for name in document.names_within(start, end)}
        return sorted(gone, key=lambda one: (one.lineno, one.col_offset))

    def is_gone(self, document: Document, node: ast.AST) -> bool:
        """Whether an edit takes a node out or writes it anew."""
        start, end = document.bounds(node)
        return any(first <= start and end <= last for first, last in self._ranges(document))

    def _ranges(self, document: Document) -> Iterator[tuple[int, int]]:
        """The parts of a file that edits take out or write anew."""
        for edit in self.edits:
            span = edit.span
            if span.path == document.path and span[1:3] != span[3:]:
                yield document.offset(span.line, span.column), document.offset(span.end_line, span.end_column)

    def _is_written(self, document: Document, scope: Scope, name: str) -> bool:
        """Whether new code may read a variable, and not one of another scope by that name."""
        if name not in self._words.get(document.path, ()):
            return False
        if isinstance(scope, ast.Module) and self._is_read_elsewhere(document, name):
            return True
        known = self._afterwards(document) if document.source.kind is SourceKind.PYTHON else None
        if known is None:
            return True
        twin = known.document.tree if isinstance(scope, ast.Module) else _twin(document, scope, known.document)
        return twin is None or bool(known.text.reads(twin, name))

    def _is_read_elsewhere(self, document: Document, name: str) -> bool:
        """Whether code around which the fix changes nothing reads a variable of the module: no need to parse anew."""
        changed = [edit.span for edit in self._given if edit.span.path == document.path]
        for node in self.uses.scopes(document).text.reads(document.tree, name):
            outer = _outermost(document, node)
            end = getattr(outer, "end_lineno", None) or getattr(outer, "lineno", 0)
            first = first_line(outer) if isinstance(outer, ast.stmt) else 1
            if not any(span.line <= end and first <= span.end_line for span in changed):
                return True
        return False

    def _afterwards(self, document: Document) -> Scopes | None:
        """The names of a file with the edits so far; None if it does not parse."""
        number, known = self._after.get(document.path, (-1, None))
        if number != len(self.edits):
            source, tree = parsed(source_from_bytes(document.path, self._text(document).encode("utf-8")))
            known = None if source.problems else Scopes(Document(source, tree), self.uses.machine)
            self._after[document.path] = (len(self.edits), known)
        return known

    def _text(self, document: Document) -> str:
        """A file with the edits so far."""
        code = document.code
        mine = [edit for edit in self._apart() if edit.span.path == document.path]
        for edit in sorted(mine, key=lambda one: one.span, reverse=True):
            span = edit.span
            start = document.offset(span.line, span.column)
            code = code[:start] + edit.text + code[document.offset(span.end_line, span.end_column) :]
        return code

    def _apart(self) -> list[Edit]:
        """The edits without those of parts that others take out."""
        return [one for one in dict.fromkeys(self.edits) if not any(_is_within(one, gone) for gone in self.edits)]

    def _is_used(self, document: Document, scope: Scope, name: str) -> bool:
        """Whether code that stays may ask for a variable."""
        text = self.uses.scopes(document).text
        if any(not self.is_gone(document, node) for node in text.reads(scope, name)) or text.texts.get(name):
            return True
        if name in text.words:
            return True
        return isinstance(scope, ast.ClassDef) or (isinstance(scope, ast.Module) and self._is_known(document, name))

    def _is_known(self, document: Document, name: str) -> bool:
        """Whether another file may know a name of a module."""
        if self.uses.scopes(document).module.is_package:
            return True
        holding = self.uses.holding(name, document.path)
        if holding is None:
            return True
        scopes = [self.uses.scopes(other) for other in holding if other is not document]
        scopes += [
            known
            for other in self.documents
            if other is not document and other.source.kind is SourceKind.PYTHON
            if (known := self._afterwards(other)) is not None
        ]
        return any(self._names(one, document.path, name) for one in scopes)

    def _names(self, scopes: Scopes, path: str, name: str) -> bool:
        """Whether a file asks another one for a name: imports it, or takes it from the module."""
        for statement, alias in scopes.text.imports:
            if isinstance(statement, ast.ImportFrom) and alias.name in (name, "*"):
                package = self.uses.machine.project.absolute(statement.module or "", statement.level, scopes.module)
                if scopes.file_of(package) == path:
                    return True
        taken = any(scopes.module_at(node.value) == path for node in scopes.text.attributes.get(name, ()))
        return taken or bool(scopes.text.texts.get(name))

    # -- bindings -------------------------------------------------------------------------------------------------

    def _without(self, document: Document, scope: Scope, name: str) -> list[Edit]:
        """The edits that take the bindings of a variable out; none if one of them has to stay."""
        text = self.uses.scopes(document).text
        bindings = [one for one in text.bindings(scope, name) if not self.is_gone(document, one)]
        declared = name in text.declared
        if not bindings:
            return []
        if len(bindings) == 1 and isinstance(bindings[0], (ast.Import, ast.ImportFrom)):
            edit = without_name(document, bindings[0], name)
            return [edit] if edit is not None else []
        if len(bindings) == 1 and isinstance(bindings[0], ast.arg):
            return list(self._without_parameter(document, bindings[0]))
        if isinstance(scope, ast.Module) and not (is_script(document) or name.startswith("_")):
            bindings = [] if not is_logger(document, bindings) else bindings
        if len(bindings) == 1 and isinstance(bindings[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
            edit = without_function(document, bindings[0]) if self.unsafe else None
            return [edit] if edit is not None else []
        if len(bindings) == 1 and isinstance(scope, FunctionNode) and not declared:
            nameless = unnamed(document, bindings[0], self._computing)
            if nameless is not None:
                return [nameless]
        if len(bindings) == 1:
            plain = uncounted(document, bindings[0])
            if plain:
                return plain
        statements = [assignment(document, one, self._computing) for one in bindings]
        if declared and any(document.function(one) is not None for one in bindings):
            return []
        edits = [self._taken_out(document, one) for one in statements if one is not None]
        return [one for one in edits if one is not None] if len(edits) == len(bindings) and all(edits) else []

    def _taken_out(self, document: Document, statement: ast.stmt) -> Edit | None:
        """A statement taken out, with conditions that then guard nothing; `pass` where a block would be empty."""
        holder = document.parent(statement)
        alone = self._is_alone(document, statement)
        pure = isinstance(holder, ast.If) and not holder.orelse and is_pure(document, holder.test)
        if alone and pure and isinstance(holder, ast.If) and not document.text(holder).startswith("elif"):
            return self._taken_out(document, holder)
        edit = removed(document, statement)
        if edit is None or not alone or edit.text or isinstance(holder, ast.Module):
            return edit
        end = document.bounds(statement)[1]
        stop = document.code.find("\n", end)
        start = document.offset(first_line(statement), 0)
        last = len(document.code) if stop < 0 else stop
        return Edit(document.range(start, last), f"{document.indentation(statement)}pass")

    def _is_alone(self, document: Document, statement: ast.stmt) -> bool:
        """Whether the other statements of a block are taken out, and nothing takes their place."""
        others = [one for one in document.block(statement) if one is not statement]
        empty = [edit.span for edit in self.edits if not edit.text.strip()]
        spans = [document.span(one) for one in others]
        return all(any(gone[:3] <= one[:3] and one[3:] <= gone[3:] for gone in empty) for one in spans)

    def _undeclared(self, document: Document, node: ast.Name) -> Iterator[Edit]:
        """`global` and `nonlocal` without the names that the function does not bind any more."""
        function = document.function(node)
        if function is None or node.id not in scope_of(function).global_names | scope_of(function).nonlocal_names:
            return
        if any(not self.is_gone(document, one) for one in _stores(document, function, node.id)):
            return
        if self._is_stored_afterwards(document, function, node.id):
            return
        for inner in ast.walk(function):
            if not isinstance(inner, (ast.Global, ast.Nonlocal)) or node.id not in inner.names:
                continue
            if document.function(inner) is function and not self.is_gone(document, inner):
                edit = self._taken_out(document, inner) if len(inner.names) == 1 else fewer(document, inner, node.id)
                if edit is not None:
                    yield edit

    def _is_stored_afterwards(self, document: Document, function: FunctionNode, name: str) -> bool:
        """Whether new code in a function may bind a name."""
        if name not in self._words.get(document.path, ()):
            return False
        known = self._afterwards(document) if document.source.kind is SourceKind.PYTHON else None
        twin = _twin(document, function, known.document) if known is not None else None
        return known is None or twin is None or any(True for _ in _stores(known.document, twin, name))

    # -- parameters -----------------------------------------------------------------------------------------------

    def _without_parameter(self, document: Document, parameter: ast.arg) -> Iterator[Edit]:
        """A function that does not take a parameter, and calls that do not pass it."""
        function = document.function(parameter)
        if not isinstance(function, _DEFINITION) or not self.unsafe or not may_shrink(document, function, parameter):
            return
        found = self.uses.of(document, function)
        if found.obstacles or found.overrides or not found.calls:
            return
        edits: list[Edit | None] = []
        for call in found.calls:
            if any(isinstance(one, ast.Starred) for one in call.node.args):
                return
            if any(one.arg is None for one in call.node.keywords) or self.is_gone(call.document, call.node):
                return
            given = argument(function, call, parameter.arg)
            if given is not None:
                edits.append(not_given(call, given, parameter.arg))
        written = parameters_of(document, function)
        edits.append(without_element(document, written, document.bounds(parameter)[0]))
        known = [edit for edit in edits if edit is not None]
        if len(known) == len(edits):
            self.documents += [call.document for call in found.calls if call.document not in self.documents]
            yield from known

    # -- the result -----------------------------------------------------------------------------------------------

    def joined(self) -> Iterator[Edit]:
        """All edits; what is inserted at the end of a line that goes takes its place."""
        edits = self._apart()
        for edit in edits:
            span = edit.span
            if not edit.text and span.column == 0 and span.end_column == 0 and span.line < span.end_line:
                inner = [one for one in edits if one is not edit and _ends_within(one, edit)]
                if inner:
                    text = "".join(one.text for one in inner).removeprefix("\n") + "\n"
                    yield Edit(span, text)
                    edits = [one for one in edits if one not in inner]
                    continue
            if not any(_ends_within(edit, other) for other in self.edits if other is not edit):
                yield self._with_blanks(edit)

    def _with_blanks(self, edit: Edit) -> Edit:
        """Lines that go, with blank lines behind them that would follow the blank lines before them."""
        document = next((one for one in self.documents if one.path == edit.span.path), None)
        if document is None or document.source.cells or not _is_lines(edit):
            return edit
        gone = {one.span.line: one.span.end_line for one in self.edits if _is_lines(one) and _same_file(one, edit)}
        first, last = edit.span.line, edit.span.end_line
        if last in gone:
            return edit  # the last one of several does it
        starts = {end: start for start, end in gone.items()}
        while first in starts:
            first = starts[first]
        above = _blanks(document.lines[: first - 1][::-1])
        below = _blanks(document.lines[last - 1 :])
        end = last + (below if above == first - 1 else min(above, below))
        touched = any(last <= one.span.line < end for one in self.edits if _same_file(one, edit) and one is not edit)
        return edit if touched else edit._replace(span=edit.span._replace(end_line=end))


_IMPORT = (ast.Import, ast.ImportFrom)
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _stores(document: Document, function: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where a function itself binds a name."""
    for inner in ast.walk(function):
        if not isinstance(inner, ast.Name) or inner.id != name or isinstance(inner.ctx, ast.Load):
            continue
        if document.function(inner) is function:
            yield inner


def _twin(document: Document, scope: Scope, other: Document) -> Scope | None:
    """The function of a file as it is in another text of the file; None if several have its name."""
    if not isinstance(scope, _DEFINITION):
        return None
    name = _qualified(document, scope)
    before = [one for one in document.nodes if isinstance(one, _DEFINITION) and _qualified(document, one) == name]
    after = [one for one in other.nodes if isinstance(one, _DEFINITION) and _qualified(other, one) == name]
    return after[0] if len(before) == len(after) == 1 else None


def _qualified(document: Document, definition: ast.AST) -> list[str]:
    """The names of a function and of the functions and classes around it."""
    around = (definition, *document.around(definition))
    return [one.name for one in around if isinstance(one, (*_DEFINITION, ast.ClassDef))]


def _outermost(document: Document, node: ast.AST) -> ast.AST:
    """The outermost function around a node, within which all names keep their meaning; the statement if none is."""
    functions = [one for one in document.around(node) if isinstance(one, _DEFINITION)]
    return functions[-1] if functions else document.statement(node) or document.tree


def _same_file(one: Edit, other: Edit) -> bool:
    return one.span.path == other.span.path


def _is_lines(edit: Edit) -> bool:
    """Whether an edit takes whole lines out."""
    return not edit.text and edit.span.column == 0 == edit.span.end_column and edit.span.line < edit.span.end_line


def _blanks(lines: list[str]) -> int:
    """How many blank lines some lines begin with."""
    return next((number for number, line in enumerate(lines) if line.strip()), len(lines))


def _is_within(edit: Edit, gone: Edit) -> bool:
    """Whether what an edit writes anew is part of what another one takes out."""
    span, other = edit.span, gone.span
    apart = span == other or not _same_file(edit, gone) or gone.text or span[1:3] == span[3:]
    return not apart and other[1:3] <= span[1:3] and span[3:] <= other[3:]


def _ends_within(inserted: Edit, gone: Edit) -> bool:
    """Whether a text is inserted at the end of the last line that another edit takes out."""
    span, other = inserted.span, gone.span
    empty = span[1:3] == span[3:] and span.path == other.path
    return empty and not gone.text and other[3:] == (span.line + 1, 0) and other.line <= span.line and span.column > 0
