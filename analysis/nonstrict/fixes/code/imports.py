"""Import statements: names added to those that stand there, new statements in the order of their block."""

from __future__ import annotations

import ast
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.fixes.code.documents import first_line
from nonstrict.fixes.code.edits import after, before, inserted, removed, replaced
from nonstrict.fixes.code.lists import names_of, with_element, without_element
from nonstrict.knowledge.standard_library import EVER
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document

_Import = ast.Import | ast.ImportFrom
#: The longest line of a file that has no longer ones.
_WIDTH = 88
#: The sections of import blocks, in their usual order.
_FUTURE, _STANDARD, _OTHER, _RELATIVE = range(4)


class _Key(NamedTuple):
    """Where a statement belongs: its section, `import` before `from`, then its module."""

    section: int
    is_from: bool
    module: str


def with_import(document: Document, text: str, own: Collection[ast.stmt] | None = None) -> Edit | None:
    """The edit that imports one name: in a statement that imports from the same module, else in one of its own.

    A new statement stands among the imports at the head of the file, in their order, in the block of its section.
    `own` are the statements that import modules of the project, if the new one does too: it stands among those, as what
    stands before them may say where modules of the project are, or behind all others. None if the import is there
    already.
    """
    wanted = tree_of(text).body[0]
    if not isinstance(wanted, _Import) or any(_gives(statement, wanted) for statement in document.tree.body):
        return None
    known = importing_from(document, wanted.module or "", wanted.level) if isinstance(wanted, ast.ImportFrom) else None
    if known is not None and not wanted.names[0].asname:
        return with_name(document, known, wanted.names[0].name)
    runs = list(_runs(document.tree.body))
    head = next((run for run in runs if own and any(one in own for one in run)), runs[0] if runs else [])
    if head:
        return _among(document, head, wanted, text, own) or after(document, head[-1], [text])
    return _first(document, text)


def importing_from(document: Document, module: str, level: int = 0) -> ast.ImportFrom | None:
    """The statement at the head of a file that imports names from a module; None if there is none."""
    for statement in document.tree.body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "", statement.level) == (module, level):
            return statement if statement.names[0].name != "*" else None
    return None


def without_import(document: Document, statement: _Import, alias: ast.alias) -> Edit | None:
    """The edit that takes a name out of an import."""
    if len(statement.names) == 1:
        return removed(document, statement)
    return without_element(document, names_of(document, statement), document.bounds(alias)[0])


def _gives(statement: ast.stmt, wanted: _Import) -> bool:
    """Whether a statement imports what another one does, by the same name."""
    if not isinstance(statement, type(wanted)):
        return False
    if isinstance(statement, ast.ImportFrom) and isinstance(wanted, ast.ImportFrom):
        same = (statement.module, statement.level) == (wanted.module, wanted.level)
        return same and ast.dump(wanted.names[0]) in map(ast.dump, statement.names)
    return isinstance(statement, ast.Import) and ast.dump(wanted.names[0]) in map(ast.dump, statement.names)


# -- one more name ----------------------------------------------------------------------------------------------------


def with_name(document: Document, statement: ast.ImportFrom, name: str) -> Edit:
    """One more name in a statement, in the order of the others if they have one."""
    names = [alias.name for alias in statement.names]
    places = (_place(names, name, key) for key in (_by_type, _by_letter, _by_code))
    index = next((place for place in places if place is not None), len(names))
    edit = with_element(document, names_of(document, statement), name, index)
    widest = max(_WIDTH, *map(len, document.lines))
    line = document.lines[(statement.end_lineno or statement.lineno) - 1]
    if statement.lineno != statement.end_lineno or "(" in line or len(line) + len(edit.text) <= widest:
        return edit
    written = [document.text(alias) for alias in statement.names]
    written.insert(index, name)
    listed = "".join(f"{document.step}{one},\n" for one in written)
    start = document.code[document.bounds(statement)[0] : document.bounds(statement.names[0])[0]]
    return replaced(document, statement, f"{start}(\n{listed})")


def _place(names: list[str], name: str, key: Callable[[str], tuple[int, str]]) -> int | None:
    """How many of some names in an order stand before another one; None if they have another order."""
    if sorted(names, key=key) != names:
        return None
    return sum(key(one) <= key(name) for one in names)


def _by_letter(name: str) -> tuple[int, str]:
    return 0, name.lower()


def _by_code(name: str) -> tuple[int, str]:
    return 0, name


def _by_type(name: str) -> tuple[int, str]:
    """Constants before classes before the rest, as isort and ruff sort names."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower()


# -- one more statement -----------------------------------------------------------------------------------------------


def _runs(body: Sequence[ast.stmt]) -> Iterator[list[_Import]]:
    """The imports of a module, divided where something else stands between them."""
    for importing, statements in groupby(body, key=lambda one: isinstance(one, _Import)):
        if importing:
            yield [one for one in statements if isinstance(one, _Import)]


def _key(statement: _Import) -> _Key:
    is_from = isinstance(statement, ast.ImportFrom)
    module = (statement.module or "") if isinstance(statement, ast.ImportFrom) else statement.names[0].name
    root = module.partition(".")[0]
    section = _STANDARD if root in EVER else _OTHER
    if isinstance(statement, ast.ImportFrom) and statement.level:
        section = _RELATIVE
    return _Key(_FUTURE if root == "__future__" else section, is_from, module.lower())


def _among(
    document: Document, head: list[_Import], wanted: _Import, text: str, own: Collection[ast.stmt] | None
) -> Edit | None:
    """A statement in its place among others; None if it cannot stand on a line of its own there."""
    key = _key(wanted)
    blocks = _blocks(document, head)
    fitting = [block for block in blocks if any(_key(one).section == key.section for one in block)]
    if not fitting:
        return _as_block(document, head, key, text)
    of_project = [one for one in head if own and one in own and _key(one).section == key.section]
    if own is not None and not of_project:
        return after(document, fitting[-1][-1], [text])
    block = of_project or [one for one in fitting[0] if _key(one).section == key.section]
    mixed = sorted(block, key=_regardless) == block and sorted(block, key=_key) != block
    larger = (one for one in block if (_regardless(one) > _regardless(wanted) if mixed else _key(one) > key))
    following = next(larger, None)
    return _above(document, following, [text]) if following is not None else after(document, block[-1], [text])


def _above(document: Document, statement: _Import, lines: list[str]) -> Edit | None:
    """Lines above a statement and the comment on it; a comment at the head of the file is on the file."""
    first = statement.lineno
    while first > 1 and document.lines[first - 2].startswith("#"):
        first -= 1
    known = before(document, statement, lines)
    if first in (1, statement.lineno) or known is None:
        return known
    return inserted(document, document.offset(first, 0), known.text)


def _as_block(document: Document, head: list[_Import], key: _Key, text: str) -> Edit | None:
    """A statement as a block of its own, between those of the sections around."""
    lower = [one for one in head if _key(one).section < key.section]
    if not lower:
        return _above(document, head[0], [text, ""])
    last = lower[-1].end_lineno or lower[-1].lineno
    apart = [""] if last < len(document.lines) and document.lines[last].strip() else []
    return after(document, lower[-1], ["", text, *apart])


def _regardless(statement: _Import) -> str:
    """The place of a statement where `import` and `from` are sorted together."""
    return _key(statement).module


def _blocks(document: Document, head: list[_Import]) -> list[list[_Import]]:
    """Import statements as blank lines part them."""
    found: list[list[_Import]] = [[head[0]]]
    for last, statement in pairwise(head):
        between = document.lines[(last.end_lineno or last.lineno) : statement.lineno - 1]
        if any(not line.strip() for line in between):
            found.append([])
        found[-1].append(statement)
    return found


def _first(document: Document, text: str) -> Edit | None:
    """The first import of a file: behind its docstring."""
    body = document.tree.body
    head_end = 1 if body and ast.get_docstring(document.tree, clean=False) is not None else 0
    if head_end < len(body):
        following = body[head_end]
        above = document.lines[first_line(following) - 2] if first_line(following) > 1 else ""
        apart = ["", ""] if isinstance(following, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else [""]
        return before(document, following, [*([""] if above.strip() and head_end else []), text, *apart])
    return after(document, body[-1], ["", text]) if body else inserted(document, 0, f"{text}\n")
