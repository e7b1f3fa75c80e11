"""What a fix leaves without a use goes with it: imports, variables, helpers and parameters that only served old code.

A binding is left over if code that the fix takes out read it, no code that stays does, and the new code does not
mention its name. What other files may know stays: public names of modules that are no scripts.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.findings import Applicability, Edit
from nonstrict.fixes.code.documents import Document, first_line
from nonstrict.fixes.code.edits import removed
from nonstrict.fixes.code.imports import without_import
from nonstrict.fixes.code.lists import arguments_of, parameters_of, without_element
from nonstrict.fixes.code.names import dotted
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.code.scopes import Scopes
from nonstrict.fixes.uses.calls import argument
from nonstrict.text.source import SourceKind, parsed, source_from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.findings import Fix
    from nonstrict.fixes.code.scopes import Scope
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.references import Uses

_WORD = re.compile(r"[^\W\d]\w*")
_MAX_ROUNDS = 20
_Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


def without_leftovers(uses: Uses, fix: Fix) -> Fix:
    """A fix that also takes out what it leaves without a use."""
    work = _Work(uses, fix)
    for _ in range(_MAX_ROUNDS):
        known = len(work.edits)
        for document in list(work.documents):
            work.clean(document)
        if len(work.edits) == known:
            break
    return fix._replace(edits=tuple(work.joined()))


class _Work:
    """The edits of a fix, and those that follow from them."""

    def __init__(self, uses: Uses, fix: Fix) -> None:
        self.uses = uses
        self._given = tuple(dict.fromkeys(fix.edits))
        self.edits: list[Edit] = list(self._given)
        self._after: dict[str, Scopes | None] = {}
        self.unsafe = fix.applicability <= Applicability.UNSAFE
        self._words: dict[str, set[str]] = {}
        for edit in fix.edits:
            self._words.setdefault(edit.span.path, set()).update(_WORD.findall(edit.text))
        paths = dict.fromkeys(edit.span.path for edit in fix.edits)
        known = (uses.documents.document(path) for path in paths)
        self.documents = [document for document in known if document is not None]
        self._asked: set[tuple[int, str]] = set()

    def clean(self, document: Document) -> None:
        """Take out what has no use any more in a file."""
        scopes = self.uses.scopes(document)
        gone = [node for node in document.nodes if isinstance(node, ast.Name) and self.is_gone(document, node)]
        for node in gone:
            scope = scopes.binder(node, node.id)
            if self._is_written(document, scope, node.id):
                continue
            if (id(scope), node.id) not in self._asked and not self._is_used(document, scope, node.id):
                self._asked.add((id(scope), node.id))
                self.edits += self._without(document, scope, node.id)
            if not isinstance(node.ctx, ast.Load):
                self.edits += self._undeclared(document, node)
        self._hidden(document)

    def _hidden(self, document: Document) -> None:
        """Take out imports of names that the code reads as variables of functions now: as their parameters."""
        scopes = self.uses.scopes(document)
        for name in sorted(self._words.get(document.path, ())):
            imports = any(isinstance(one, _IMPORT) for one in scopes.bindings(document.tree, name))
            read = imports and any(True for _ in scopes.reads(document.tree, name))
            asked = (id(document.tree), name) in self._asked
            if read and not asked and not self._is_written(document, document.tree, name):
                self._asked.add((id(document.tree), name))
                if not scopes.texts.get(name) and not self._is_known(document, name):
                    self.edits += self._without(document, document.tree, name)

    def is_gone(self, document: Document, node: ast.AST) -> bool:
        """Whether an edit takes a node out or writes it anew."""
        start, end = document.bounds(node)
        return any(first <= start and end <= last for first, last in self._ranges(document))

    def _ranges(self, document: Document) -> Iterator[tuple[int, int]]:
        for edit in self.edits:
            span = edit.span
            if span.path == document.path and span[1:3] != span[3:]:
                yield document.offset(span.line, span.column), document.offset(span.end_line, span.end_column)

    def _is_written(self, document: Document, scope: Scope, name: str) -> bool:
        """Whether new code may read a variable; of a module, if it reads no variable of a function by that name."""
        if name not in self._words.get(document.path, ()):
            return False
        if not isinstance(scope, ast.Module) or document.source.kind is not SourceKind.PYTHON:
            return True
        known = self._afterwards(document)
        if known is None:
            return True
        return any(True for _ in known.reads(known.document.tree, name))

    def _afterwards(self, document: Document) -> Scopes | None:
        """The names of a file with the edits of the fix itself; None if it does not parse."""
        if document.path not in self._after:
            source, tree = parsed(source_from_bytes(document.path, self._text(document).encode("utf-8")))
            known = None if source.problems else Scopes(Document(source, tree), self.uses.machine)
            self._after[document.path] = known
        return self._after[document.path]

    def _text(self, document: Document) -> str:
        """A file with the edits of the fix itself."""
        code = document.code
        mine = [edit for edit in self._given if edit.span.path == document.path]
        for edit in sorted(mine, key=lambda one: one.span, reverse=True):
            span = edit.span
            start = document.offset(span.line, span.column)
            code = code[:start] + edit.text + code[document.offset(span.end_line, span.end_column) :]
        return code

    def _is_used(self, document: Document, scope: Scope, name: str) -> bool:
        """Whether code that stays may ask for a variable."""
        scopes = self.uses.scopes(document)
        if any(not self.is_gone(document, node) for node in scopes.reads(scope, name)) or scopes.texts.get(name):
            return True
        if any(name == text for text in _strings(document.nodes)) or name in _annotating(document):
            return True
        return isinstance(scope, ast.ClassDef) or (isinstance(scope, ast.Module) and self._is_known(document, name))

    def _is_known(self, document: Document, name: str) -> bool:
        """Whether another file may know a name of a module."""
        if re.split(r"[\\/]", document.path)[-1] == "__init__.py":
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
        for statement, alias in scopes.imports:
            if isinstance(statement, ast.ImportFrom) and alias.name in (name, "*"):
                package = self.uses.machine.project.absolute(statement.module or "", statement.level, scopes.module)
                if scopes.file_of(package) == path:
                    return True
        taken = any(scopes.module_at(node.value) == path for node in scopes.attributes.get(name, ()))
        return taken or bool(scopes.texts.get(name))

    # -- bindings -------------------------------------------------------------------------------------------------

    def _without(self, document: Document, scope: Scope, name: str) -> list[Edit]:
        """The edits that take the bindings of a variable out; none if one of them has to stay."""
        bindings = [one for one in self.uses.scopes(document).bindings(scope, name) if not self.is_gone(document, one)]
        declared = any(isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in document.nodes)
        if not bindings:
            return []
        if len(bindings) == 1 and isinstance(bindings[0], (ast.Import, ast.ImportFrom)):
            edit = _without_name(document, bindings[0], name)
            return [edit] if edit is not None else []
        if len(bindings) == 1 and isinstance(bindings[0], ast.arg):
            return list(self._without_parameter(document, bindings[0]))
        if isinstance(scope, ast.Module) and not (_is_script(document) or name.startswith("_")):
            bindings = [] if not _is_logger(document, bindings) else bindings
        if len(bindings) == 1 and isinstance(bindings[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
            edit = _without_function(document, bindings[0]) if self.unsafe else None
            return [edit] if edit is not None else []
        if len(bindings) == 1 and isinstance(scope, FunctionNode) and not declared:
            unnamed = _unnamed(document, bindings[0])
            if unnamed is not None:
                return [unnamed]
        if len(bindings) == 1:
            uncounted = _uncounted(document, bindings[0])
            if uncounted:
                return uncounted
        statements = [_assignment(document, one) for one in bindings]
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
        for inner in ast.walk(function):
            bound = isinstance(inner, ast.Name) and inner.id == node.id and not isinstance(inner.ctx, ast.Load)
            if bound and document.function(inner) is function and not self.is_gone(document, inner):
                return
        for inner in ast.walk(function):
            if not isinstance(inner, (ast.Global, ast.Nonlocal)) or node.id not in inner.names:
                continue
            if document.function(inner) is function and not self.is_gone(document, inner):
                edit = self._taken_out(document, inner) if len(inner.names) == 1 else _fewer(document, inner, node.id)
                if edit is not None:
                    yield edit

    # -- parameters -----------------------------------------------------------------------------------------------

    def _without_parameter(self, document: Document, parameter: ast.arg) -> Iterator[Edit]:
        """A function that does not take a parameter, and calls that do not pass it."""
        function = document.function(parameter)
        if not isinstance(function, _DEFINITION) or not self.unsafe or not _may_shrink(document, function, parameter):
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
                edits.append(_not_given(call, given, parameter.arg))
        written = parameters_of(document, function)
        edits.append(without_element(document, written, document.bounds(parameter)[0]))
        known = [edit for edit in edits if edit is not None]
        if len(known) == len(edits):
            self.documents += [call.document for call in found.calls if call.document not in self.documents]
            yield from known

    # -- the result -----------------------------------------------------------------------------------------------

    def joined(self) -> Iterator[Edit]:
        """All edits; what is inserted at the end of a line that goes takes its place."""
        edits = list(dict.fromkeys(self.edits))
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


def _strings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _annotating(document: Document) -> set[str]:
    """The words of annotations that are strings."""
    found: set[str] = set()
    for node in document.nodes:
        for field in ("annotation", "returns"):
            annotation: ast.AST | None = getattr(node, field, None)
            if annotation is not None:
                found.update(word for text in _strings(ast.walk(annotation)) for word in _WORD.findall(text))
    return found


_IMPORT = (ast.Import, ast.ImportFrom)
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _same_file(one: Edit, other: Edit) -> bool:
    return one.span.path == other.span.path


def _is_lines(edit: Edit) -> bool:
    """Whether an edit takes whole lines out."""
    return not edit.text and edit.span.column == 0 == edit.span.end_column and edit.span.line < edit.span.end_line


def _blanks(lines: list[str]) -> int:
    """How many blank lines some lines begin with."""
    return next((number for number, line in enumerate(lines) if line.strip()), len(lines))


def _ends_within(inserted: Edit, gone: Edit) -> bool:
    """Whether a text is inserted at the end of the last line that another edit takes out."""
    span, other = inserted.span, gone.span
    empty = span[1:3] == span[3:] and span.path == other.path
    return empty and not gone.text and other[3:] == (span.line + 1, 0) and other.line <= span.line and span.column > 0


def _without_name(document: Document, statement: ast.Import | ast.ImportFrom, name: str) -> Edit | None:
    """An import without a name; None where a comment says that it is there for others."""
    line = document.lines[(statement.end_lineno or statement.lineno) - 1]
    first = document.lines[statement.lineno - 1]
    guarded = any(isinstance(one, (ast.Try, ast.ExceptHandler)) for one in document.around(statement))
    if guarded or "noqa" in first or "noqa" in line or getattr(statement, "module", "") == "__future__":
        return None
    for alias in statement.names:
        if alias.asname and alias.asname == alias.name:
            return None
        if (alias.asname or alias.name) == name:
            return without_import(document, statement, alias)
    return None


def _without_function(document: Document, function: _Definition) -> Edit | None:
    """A function taken out, with the comment above it and the blank lines behind it."""
    if function.decorator_list:
        return None
    edit = removed(document, function)
    if edit is None or edit.text or document.ends_cell(document.bounds(function)[1]):
        return edit
    first = edit.span.line
    while first > 1 and document.lines[first - 2].startswith(f"{document.indentation(function)}#"):
        first -= 1
    end = document.offset(edit.span.end_line, edit.span.end_column)
    while end < len(document.code) and document.code[end] == "\n" and not document.ends_cell(end):
        end += 1
    return Edit(document.range(document.offset(first, 0), end), "")


def _assignment(document: Document, node: ast.AST) -> ast.stmt | None:
    """The statement that does nothing but bind one variable to what is computed; None if it does more."""
    statement = document.parent(node)
    if isinstance(statement, ast.Assign) and statement.targets != [node]:
        return None
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or not isinstance(node, ast.Name):
        return None
    value = statement.value
    return statement if value is None or is_pure(document, value) or _is_logger(document, [node]) else None


def _unnamed(document: Document, node: ast.AST) -> Edit | None:
    """A call whose result has no name any more, as it does more than compute; None if it can go as a whole."""
    statement = document.parent(node)
    if not isinstance(statement, ast.Assign) or statement.targets != [node]:
        return None
    start, end = document.bounds(statement)[0], document.bounds(statement.value)[0]
    plain = document.code[document.bounds(statement.targets[0])[1] : end].strip() == "="
    acts = isinstance(statement.value, ast.Call) and not is_pure(document, statement.value)
    return Edit(document.range(start, end), "") if plain and acts else None


def _uncounted(document: Document, node: ast.AST) -> list[Edit]:
    """A loop without the number that nothing asks for: `for i, x in enumerate(xs)`."""
    target = document.parent(node)
    loop = document.parent(target) if target is not None else None
    if not isinstance(loop, ast.For) or loop.target is not target or not isinstance(target, ast.Tuple):
        return []
    counted = loop.iter
    whole = isinstance(counted, ast.Call) and getattr(counted.func, "id", "") == "enumerate"
    if len(target.elts) != _PAIR or target.elts[0] is not node or not whole or not isinstance(counted, ast.Call):
        return []
    if len(counted.args) != 1 or counted.keywords or isinstance(counted.args[0], (ast.Starred, ast.GeneratorExp)):
        return []
    start, end = document.bounds(counted)
    first, last = document.bounds(counted.args[0])
    name = Edit(document.span(target), document.text(target.elts[1]))
    return [name, Edit(document.range(start, first), ""), Edit(document.range(last, end), "")]


#: The number and the element that `enumerate` gives.
_PAIR = 2


def _is_logger(document: Document, bindings: list[ast.AST]) -> bool:
    """Whether a variable is bound to a logger of the standard library, which nobody else asks for."""
    statements = [document.parent(one) for one in bindings]
    return bool(statements) and all(
        isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Call)
        and dotted(document, one.value.func) == "logging.getLogger"
        for one in statements
    )


def _is_script(document: Document) -> bool:
    """Whether a file is run, so that its names are its own: `if __name__ == "__main__":`."""
    return any(
        isinstance(one, ast.If)
        and any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(one.test))
        for one in document.tree.body
    )


def _may_shrink(document: Document, function: _Definition, parameter: ast.arg) -> bool:
    """Whether a function may lose a parameter: nobody is told of it, and no other class has a method like it."""
    arguments = function.args
    named = parameter in (*arguments.args, *arguments.kwonlyargs)
    method = isinstance(document.parent(function), ast.ClassDef)
    docstring = ast.get_docstring(function) or ""
    told = parameter.arg in _WORD.findall(docstring)
    first = bool(arguments.args) and arguments.args[0] is parameter and method
    last = arguments.kwonlyargs == [parameter] and arguments.vararg is None
    return named and not told and not first and not last and not (method and not function.name.startswith("_"))


def _not_given(call: Call, given: ast.expr, name: str) -> Edit | None:
    """A call without an argument, if the argument only computes."""
    document = call.document
    if not is_pure(document, given):
        return None
    keyword = next((one for one in call.node.keywords if one.arg == name), None)
    return without_element(document, arguments_of(document, call.node), document.bounds(keyword or given)[0])


def _fewer(document: Document, statement: ast.Global | ast.Nonlocal, name: str) -> Edit | None:
    """A declaration without one of its names."""
    names = ", ".join(one for one in statement.names if one != name)
    word = "global" if isinstance(statement, ast.Global) else "nonlocal"
    return Edit(document.span(statement), f"{word} {names}")
