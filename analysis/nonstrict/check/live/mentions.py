"""What the top-level statements of a file define, mention and may change, by name: told without interpreting anything.

From that follows which statements an edit in one of them may concern. Names are compared as words, wherever they stand
and whatever they mean: what is told is never too little, and often too much.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.facts.words import identifiers
from nonstrict.knowledge.standard_library import EVER
from nonstrict.program.mutations.calls import IN_PLACE, MUTATORS, replaces_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from nonstrict.facts.outline import Chunk, Outline

#: Attributes, and strings that may name one.
_ATTRIBUTE = re.compile(r"(?:\.\s*|[\"'])([^\W\d]\w*)")
#: What names an operator in a string, and what may declare or implement one so.
_QUOTED = re.compile(r"[\"'](?:\w+::)?(\w+)")
_DECLARES = re.compile(r"library|custom_op|triton_op|leaf_function|register_\w+|\b(?:impl|define)\b")
_OPERATORS = re.compile(r"torch\.library|custom_op|triton_op|leaf_function|\blibrary\b")
_SETTERS = frozenset({"setattr", "delattr", "__setattr__"})
_EXTERNAL = frozenset({"torch", "numpy", "functorch", "torchvision", "triton", *EVER})
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_NONE = frozenset[int]()
_ENDING = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)


class Piece(NamedTuple):
    """A top-level definition or statement; `line` is its first, from 1, `name` empty where it defines no function.

    `mentions` are words, and attributes with a dot before them; `changes` are the same for what it may bind anew or
    change. `passes` are words handed to calls, with what is called: both may be changed by that.
    `imports` tells that it imports what it defines, `external` that this is none of the project's. It changes something
    `through` a variable of its own if it stores into one that may hold what others hold.
    """

    name: str
    line: int
    defines: frozenset[str]
    mentions: frozenset[str]
    changes: frozenset[str]
    passes: frozenset[tuple[str, str]]
    imports: bool = False
    external: bool = False
    through: bool = False


def sheet_of(outline: Outline) -> tuple[Piece, ...]:
    """The pieces of a file: its definitions in order, then its other statements."""
    quoted = names_operators(outline)
    chunks = (
        _piece(chunk.name, chunk.text, chunk.node(), quoted=quoted)._replace(line=chunk.first)
        for chunk in outline.chunks
    )
    return (*chunks, *_statements(outline, quoted=quoted))


def parts_of(chunk: Chunk, *, operators: bool) -> list[Piece]:
    """A function that only runs others, as its statements: those apart that share no variable and change the same.

    What calls everything would otherwise connect everything.
    """
    node = chunk.node()
    whole = _piece(chunk.name, chunk.text, node, quoted=operators)
    if not isinstance(node, ast.FunctionDef) or any(_ends_or_nests(inner) for inner in node.body[:-1]):
        return [whole]
    header = _piece(chunk.name, "", None, quoted=False)._replace(changes=frozenset(), passes=frozenset(), through=False)
    shared = frozenset(word for word in whole.changes if word[0] != ".") | scope_of(node).local
    parts: list[Piece] = []
    for statement in node.body:
        made = _piece(chunk.name, ast.unparse(statement), statement, quoted=operators)
        joined = [part for part in parts if not part.mentions.isdisjoint(made.mentions & shared)]
        parts = [part for part in parts if part not in joined]
        parts.append(_united([*joined, made]))
    outside = " ".join(map(ast.unparse, (*node.decorator_list, node.args, *([node.returns] if node.returns else []))))
    return [header._replace(mentions=frozenset(identifiers(outside))), *parts]


def _ends_or_nests(statement: ast.stmt) -> bool:
    """Whether what follows a statement may not run, or a part of it runs later."""
    return any(isinstance(inner, (*_DEFINITION, *_ENDING)) for inner in walk(statement))


def _united(pieces: Sequence[Piece]) -> Piece:
    return Piece(
        pieces[0].name,
        0,
        frozenset[str]().union(*(piece.defines for piece in pieces)),
        frozenset[str]().union(*(piece.mentions for piece in pieces)),
        frozenset[str]().union(*(piece.changes for piece in pieces)),
        frozenset[tuple[str, str]]().union(*(piece.passes for piece in pieces)),
        through=any(piece.through for piece in pieces),
    )


def names_operators(outline: Outline) -> bool:
    """Whether a file may define operators, which others call by names in strings."""
    return _OPERATORS.search(outline.code) is not None


def edited_sheet(
    before: Sequence[Piece], outline: Outline, changed: AbstractSet[int], *, operators: bool
) -> tuple[Piece, ...]:
    """The pieces of a file in which some definitions are others than before, and everything else is the same."""
    made = list(before)
    for number in changed:
        chunk = outline.chunks[number]
        made[number] = _piece(chunk.name, chunk.text, chunk.node(), quoted=operators)
    lines = [*(chunk.first for chunk in outline.chunks), *(statement.lineno for statement in _listed(outline))]
    return tuple(
        piece if piece.line == line else piece._replace(line=line) for piece, line in zip(made, lines, strict=True)
    )


def _listed(outline: Outline) -> list[ast.stmt]:
    """The statements outside definitions; what a module offers to `*` is no use of it."""
    return [statement for statement in outline.shell.body if not _lists_names(statement)]


def _lists_names(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _statements(outline: Outline, *, quoted: bool) -> Iterator[Piece]:
    lines = outline.code.split("\n")
    for statement in _listed(outline):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        text = "\n".join(lines[first - 1 : last])
        yield _piece("", text, statement, quoted=quoted)._replace(line=first)


def _piece(name: str, text: str, node: ast.AST | None, *, quoted: bool) -> Piece:
    words = frozenset(identifiers(text))
    attributes = frozenset(f".{word}" for word in _ATTRIBUTE.findall(text))
    defines: set[str] = {name} if name else _bound(node)
    if quoted and _DECLARES.search(text):
        defines |= set(_QUOTED.findall(text))
    changes, passes = _changes(node) if node is not None else (words | attributes, frozenset[tuple[str, str]]())
    imports = isinstance(node, (ast.Import, ast.ImportFrom))
    through = node is None or (bool(name) and _stores_into_variable(node))
    external = imports and all(root in _EXTERNAL for root in _imported_from(node))
    return Piece(name, 0, frozenset(defines), words | attributes, changes, passes, imports, external, through)


def _imported_from(node: ast.AST | None) -> list[str]:
    """The first parts of the modules that an import names; "" for those of its own package."""
    if isinstance(node, ast.ImportFrom):
        return ["" if node.level else (node.module or "").partition(".")[0]]
    return [alias.name.partition(".")[0] for alias in node.names] if isinstance(node, ast.Import) else []


def _stores_into_variable(node: ast.AST) -> bool:
    """Whether a definition stores into, or changes in place, what a variable that it made of something holds."""
    made = {
        target.id
        for inner in walk(node)
        if isinstance(inner, ast.Assign) and isinstance(inner.value, (ast.Call, ast.Name, ast.Attribute, ast.Subscript))
        for target in inner.targets
        if isinstance(target, ast.Name)
    }
    stored = (inner for inner in walk(node) if isinstance(inner, (ast.Attribute, ast.Subscript)))
    return any(_root(inner) in made for inner in stored if not isinstance(inner.ctx, ast.Load)) or any(
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and inner.func.attr in MUTATORS
        and _root(inner.func) in made
        for inner in walk(node)
    )


def _bound(node: ast.AST | None) -> set[str]:
    """The names that a statement outside definitions binds, nested ones too."""
    found: set[str] = set()
    for inner in walk(node) if node is not None else ():
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(inner.name)
        elif isinstance(inner, ast.alias):
            found.add(inner.asname or inner.name.partition(".")[0])
    return found


def _changes(node: ast.AST) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    changes: set[str] = set()
    passes: set[tuple[str, str]] = set()
    for inner in walk(node):
        if isinstance(inner, (ast.Assign, ast.Delete)):
            for target in inner.targets:
                changes |= _steps(target)
        elif isinstance(inner, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor, ast.NamedExpr)):
            changes |= _steps(inner.target)
        elif isinstance(inner, ast.withitem) and inner.optional_vars is not None:
            changes |= _steps(inner.optional_vars)
        elif isinstance(inner, (ast.Global, ast.Nonlocal)):
            changes.update(inner.names)
        elif isinstance(inner, ast.Call):
            _changed_by_call(inner, changes, passes)
    return frozenset(changes), frozenset(passes)


def _changed_by_call(call: ast.Call, changes: set[str], passes: set[tuple[str, str]]) -> None:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    name = last_name(call.func)
    if isinstance(call.func, ast.Attribute) and (name in MUTATORS or IN_PLACE.fullmatch(name)):
        changes.update(_steps(call.func.value))
    if name in _SETTERS or replaces_parameters(call):
        for argument in given:
            changes.update(_steps(argument))
        changes.update(
            f".{inner.value}" for inner in given if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
        )
    if last_name(call.func) == "update" and "globals" in {last_name(inner) for inner in walk(call.func)}:
        changes.update(keyword.arg for keyword in call.keywords if keyword.arg)
        changes.update(str(inner.value) for argument in given for inner in walk(argument) if _is_text(inner))
    handed = {_root(part) for argument in given for part in _parts(argument)} - {""}
    passes.update((word, callee) for word in handed for callee in (name, _root(call.func)))
    if isinstance(call.func, ast.Attribute):
        passes.add((_root(call.func), _root(call.func)))  # a method may change what it is called on


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """An argument, and what it holds where it is a display."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for element in node.elts:
            yield from _parts(element)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _parts(value)
    else:
        yield node.value if isinstance(node, ast.Starred) else node


def _steps(node: ast.AST) -> set[str]:
    """What a target leads through: `a` and `.b` of `a.b[0]`, all of them of a tuple."""
    found: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, (ast.Tuple, ast.List)):
            pending.extend(current.elts)
        elif isinstance(current, ast.Attribute):
            found.add(f".{current.attr}")
            pending.append(current.value)
        elif isinstance(current, ast.Subscript):
            if _is_text(current.slice):
                found.add(str(current.slice.value))  # `globals()["name"]`
            pending.append(current.value)
        elif isinstance(current, ast.Starred):
            pending.append(current.value)
        elif isinstance(current, ast.Name):
            found.add(current.id)
    return found


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


class Mentions:
    """The pieces of some files, by what they define, mention and change.

    Each is known by its number, and is made of parts, mostly one, that are looked at one by one.
    """

    def __init__(self, pieces: Iterable[Sequence[Piece]]) -> None:
        """Index the pieces, each told as its parts."""
        self._parts: list[Piece] = []
        self._number: list[int] = []
        self._of: list[list[int]] = []
        self._defining: dict[str, set[int]] = {}
        self._mentioning: dict[str, set[int]] = {}
        self._changing: dict[str, set[int]] = {}
        #: the words of both: most that are mentioned are defined elsewhere
        self._leading: set[str] = set()
        #: what a part changes as far as another may see it: attributes, and names at the top level
        self._changes: list[frozenset[str]] = []
        for number, parts in enumerate(pieces):
            self._of.append([])
            for part in parts:
                self._enter(number, part)
        self._own = frozenset(word for part in self._parts if not part.external for word in part.defines)
        for part, piece in enumerate(self._parts):
            self._enter_changes(part, piece)

    def __len__(self) -> int:
        return len(self._of)

    def add(self, number: int, piece: Piece) -> None:
        """A piece is something else now; what it was counts on, which makes for more than there is, never for less."""
        self._enter_changes(self._enter(number, piece), piece)

    def _enter(self, number: int, piece: Piece) -> int:
        part = len(self._parts)
        self._parts.append(piece)
        self._number.append(number)
        self._of[number].append(part)
        _enter(self._defining, piece.defines, part)
        self._leading |= piece.defines
        _enter(self._mentioning, piece.mentions, part)
        return part

    def _enter_changes(self, part: int, piece: Piece) -> None:
        self._changes.append(self._seen_changes(piece))
        _enter(self._changing, self._changes[part], part)
        self._leading |= self._changes[part]

    def parts(self, numbers: Iterable[int]) -> set[int]:
        """The parts of some pieces."""
        return {part for number in numbers for part in self._of[number]}

    def numbers(self, parts: Iterable[int]) -> set[int]:
        """The pieces that some parts belong to."""
        return {self._number[part] for part in parts}

    def _seen_changes(self, piece: Piece) -> frozenset[str]:
        changes = frozenset(word for word in piece.changes if word[0] == "." or word in self._defining)
        passed = (pair for pair in piece.passes if pair[0] in self._own)
        changes = changes.union(word for pair in passed for word in pair if word in self._own)
        if piece.through:
            near = [self._parts[part] for word in piece.mentions for part in self._defining.get(word, ())]
            changes = changes.union(*(one.mentions & self._own for one in (piece, *near)))
        return changes

    def below(self, start: Iterable[int]) -> set[int]:
        """The parts that some parts lead to: what they mention, and what changes what they mention."""
        return self._closed(start, self._leads_to)

    def above(self, start: Iterable[int]) -> set[int]:
        """The parts that lead to some parts."""
        return self._closed(start, self._led_from)

    def used_by(self, start: Iterable[int]) -> set[int]:
        """The parts that some parts mention, directly or through others."""
        return self._closed(start, self._mentioned)

    def users(self, start: Iterable[int], among: AbstractSet[int]) -> set[int]:
        """The parts that mention some parts, directly or through others."""
        return self._closed(start, lambda number: (mentioning & among for mentioning in self._mention(number)))

    def _leads_to(self, number: int) -> Iterator[AbstractSet[int]]:
        for word in self._parts[number].mentions & self._leading:
            yield self._defining.get(word, _NONE)
            yield self._changing.get(word, _NONE)

    def _led_from(self, number: int) -> Iterator[AbstractSet[int]]:
        for word in (*self._parts[number].defines, *self._changes[number]):
            yield self._mentioning.get(word, _NONE)

    def _mentioned(self, number: int) -> Iterator[AbstractSet[int]]:
        for word in self._parts[number].mentions & self._leading:
            yield self._defining.get(word, _NONE)

    def _mention(self, number: int) -> Iterator[AbstractSet[int]]:
        for word in self._parts[number].defines:
            yield self._mentioning.get(word, _NONE)

    def _closed(self, start: Iterable[int], following: Callable[[int], Iterator[AbstractSet[int]]]) -> set[int]:
        found = set(start)
        pending = list(found)
        while pending:
            new = set[int]().union(*following(pending.pop())) - found
            found |= new
            pending.extend(new)
        return found


def _enter(index: dict[str, set[int]], words: Iterable[str], number: int) -> None:
    for word in words:
        index.setdefault(word, set()).add(number)
