"""Cuts a module into its top-level statements without parsing it, so that only reached functions are parsed.

`ast.parse` costs nine seconds for a million lines; finding the lines that start a top-level statement costs a
fiftieth of that. A function or class is parsed when something asks for it, the rest of the module (the *shell*:
imports, assignments, conditionals) at once with the definitions blanked out. Where a cut turns out wrong (the pieces
do not parse), the outline is rebuilt from one exact parse of the whole file.
"""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from nonstrict.facts.beginnings import Beginning, beginning, calls_for_effect, names_bound
from nonstrict.facts.execution import is_main_guard
from nonstrict.facts.grafting import grafted
from nonstrict.facts.strings import LongString, in_comment, in_text, long_strings
from nonstrict.facts.words import places
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

#: A form feed before a statement counts as nothing, as for Python.
_START = re.compile(
    r"^\f*(?:(?P<at>@)|(?P<def>(?:async[ \t]+)?def[ \t]+(?P<function>\w+))|class[ \t]+(?P<class>\w+)"
    r"|(?!(?:else|elif|except|finally)\b)[^\s#)\]}])",
    re.MULTILINE,
)
_NOWHERE = (sys.maxsize, sys.maxsize)
#: How often the name of such a function stands in its file.
_NAMED_AND_CALLED = 2
#: A word before a parenthesis.
_CALLED = re.compile(r"\b([^\W\d]\w*)[ \t]*\(")
#: What functions declare to be variables of others.
_GLOBAL = re.compile(r"\bglobal[ \t]+([\w, \t]+)")
#: Text inside a triple-quoted string that could be mistaken for the start of a statement.
_SUSPECT = re.compile(r"\n\f*[^\s#)\]}]")


@dataclass(slots=True)
class Chunk:
    """A top-level function or class with its decorators: lines `first` to `last` (from 1, inclusive).

    Its text is `code` from `start` to `end`, not held a second time.
    """

    name: str
    first: int
    last: int
    code: str
    start: int
    end: int
    is_class: bool
    #: line offset of the nodes: add it to their line numbers
    offset: int = 0
    parsed: Definition | None = field(default=None, repr=False)
    broken: bool = False

    @property
    def text(self) -> str:
        """The text, decorators included."""
        return self.code[self.start : self.end]

    @property
    def length(self) -> int:
        """The number of characters of the text."""
        return self.end - self.start

    def node(self) -> Definition | None:
        """The parsed definition; None if the text of the chunk does not parse."""
        if self.parsed is None and not self.broken:
            self.parsed = _definition(self.text)
            self.broken = self.parsed is None
        return self.parsed

    def keep(self, seen: Definition) -> None:
        """Keep the tree of a look that was worth it, so that the definition is one object from here on."""
        if not self.broken:
            self.parsed = seen


class Outline:
    """The top-level statements of one module."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.exact = False
        self._starts: list[int] | None = None
        self._beginnings: tuple[Beginning, ...] = ()
        self._long, self._closed = long_strings(code)
        #: by word, where it stands
        self._places: dict[str, tuple[tuple[int, int], ...]] = {}
        #: by word, the numbers of the definitions in which it stands, and where it stands outside all
        self._lying: dict[str, tuple[frozenset[int], tuple[tuple[int, int], ...]]] = {}

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The top-level definitions, and those of functions by which the script begins (`facts.beginnings`)."""
        whole = self._cut()
        if not self._may_begin(whole):
            return whole
        try:
            shell = tree_of(self._without(whole))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return whole
        return self._opened(whole, shell)

    @cached_property
    def beginnings(self) -> tuple[Beginning, ...]:
        """The functions by which the script begins, their bodies counted as statements of the module."""
        _ = self.chunks
        return self._beginnings

    @cached_property
    def shell(self) -> ast.Module:
        """The module without the bodies of its top-level definitions, with right line numbers."""
        if self.beginnings:
            return self.__dict__["shell"]
        try:
            return tree_of(self._shell_text())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.rebuild()
            return self.__dict__["shell"]

    @property
    def starts(self) -> list[int]:
        """Offsets of the top-level definitions into the text, in order."""
        if self._starts is None:
            self._starts = [chunk.start for chunk in self.chunks]
        return self._starts

    @property
    def strings(self) -> list[LongString]:
        """The strings of several lines; none where the text is broken, so that where they end is not sure."""
        return self._long if self._closed and not self.exact else []

    def places(self, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        """The ranges in which one of the words stands as a whole identifier, but not in comments and long strings."""
        for word in words:
            yield from self._of(word)

    def places_in(self, chunk: Chunk, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        """The same in the text of one definition."""
        for word in words:
            found = self._of(word)
            if found:
                yield from found[bisect_left(found, (chunk.start,)) : bisect_left(found, (chunk.end,))]

    def chunks_with(self, words: Iterable[str]) -> list[Chunk]:
        """The top-level definitions in whose text one of the words stands, as `places` says."""
        numbers = frozenset[int]().union(*(self._lies(word)[0] for word in words))
        return [self.chunks[number] for number in sorted(numbers)]

    def outside(self, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        """The ranges, as `places` says, in which one of the words stands outside the top-level definitions."""
        for word in words:
            yield from self._lies(word)[1]

    def covering(self, position: int) -> int:
        """The number of the top-level definition that covers an offset into the text; -1 if none does."""
        index = bisect_right(self.starts, position) - 1
        return index if index >= 0 and position < self.starts[index] + self.chunks[index].length else -1

    def _lies(self, word: str) -> tuple[frozenset[int], tuple[tuple[int, int], ...]]:
        known = self._lying.get(word)
        if known is None:
            numbered = [(self.covering(start), (start, end)) for start, end in self._of(word)]
            inside = frozenset(number for number, _ in numbered if number >= 0)
            known = self._lying[word] = inside, tuple(place for number, place in numbered if number < 0)
        return known

    def _of(self, word: str) -> tuple[tuple[int, int], ...]:
        found = self._places.get(word)
        if found is None:
            found = self._places[word] = tuple(self._found(word)) if word in self.code else ()
        return found

    def _found(self, word: str) -> Iterator[tuple[int, int]]:
        strings = self.strings
        for start, end in places(self.code, (word,)):
            if not in_text(strings, start) and not in_comment(self.code, start):
                yield start, end

    def node(self, chunk: Chunk) -> Definition | None:
        """The definition of a chunk; rebuilds the outline if the cut was wrong."""
        node = chunk.node()
        if node is None and not self.exact:
            self.rebuild()
            same = (other for other in self.chunks if other.name == chunk.name)
            nearest = min(same, key=lambda other: abs(other.first - chunk.first), default=None)
            if nearest is not None:
                # Whoever holds the wrong piece adds its offset to the lines of the right tree.
                chunk.parsed, chunk.offset = nearest.parsed, nearest.offset
            return chunk.parsed
        return node

    def glimpse(self, chunk: Chunk) -> Definition | None:
        """As `node`, for a look at a definition that mostly is not needed again: its tree is not kept."""
        seen = _definition(chunk.text) if chunk.parsed is None and not chunk.broken else None
        return seen or self.node(chunk)

    def take_over(self, other: Outline) -> None:
        """Use the trees of an earlier state of the module wherever the text is the same: an edit changes one piece."""
        if self.exact or other.exact:
            return
        known = {chunk.text: chunk for chunk in other.chunks if chunk.parsed is not None or chunk.broken}
        for chunk in self.chunks:
            # Each tree once: functions are told apart by their trees, even where their text is the same.
            same = known.pop(chunk.text, None)
            if same is not None:
                chunk.parsed, chunk.broken = same.parsed, same.broken
            elif chunk.is_class and chunk.parsed is None:
                chunk.parsed = other.graft(chunk)
        if "shell" in other.__dict__ and self._shell_text() == other._shell_text():
            self.__dict__["shell"] = other.shell

    def graft(self, edited: Chunk) -> Definition | None:
        """The tree of a class that is one of these after an edit in one method; None where that is not to be had."""
        for chunk in self.chunks:
            if chunk.name == edited.name and isinstance(chunk.parsed, ast.ClassDef):
                return grafted(chunk.parsed, chunk.text, edited.text)
        return None

    def parses(self) -> bool:
        """Whether every piece parses; then so does the whole, which is not parsed for that."""
        if self.exact:
            return False
        if not self.beginnings and "shell" not in self.__dict__:
            try:
                self.__dict__["shell"] = tree_of(self._shell_text())
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return False
        return all(chunk.node() is not None for chunk in self.chunks)

    def rebuild(self) -> None:
        """Cut exactly, by parsing everything, without what does not parse."""
        from nonstrict.text.repair import parse, repair

        self.exact = True
        self._starts = None
        self._places.clear()
        self._lying.clear()
        tree = parse(self.code) or repair(self.code).tree
        whole = list[Chunk]()
        rest: list[ast.stmt] = []
        lines = [*self._line_starts[:-1], len(self.code) + 1]
        for statement in tree.body:
            if isinstance(statement, Definition):
                first = min([statement.lineno, *(d.lineno for d in statement.decorator_list)])
                last = statement.end_lineno or statement.lineno
                start, end = lines[first - 1], lines[last] - 1
                is_class = isinstance(statement, ast.ClassDef)
                piece = Chunk(statement.name, first, last, self.code, start, end, is_class, first - 1)
                piece.parsed = ast.increment_lineno(statement, 1 - first)
                whole.append(piece)
            else:
                rest.append(statement)
        shell = self.__dict__["shell"] = ast.Module(rest, [])
        self._beginnings = ()
        self.__dict__.pop("beginnings", None)
        self.__dict__["chunks"] = self._opened(whole, shell) if self._may_begin(whole) else whole

    def _cut(self) -> list[Chunk]:
        code = self.code
        # Strings in which a line starts like a statement.
        hidden = [(start, end) for start, end, _ in self._long if _SUSPECT.search(code, start, end)]
        starts: list[tuple[int, str, bool]] = []  # offset, name ("" for other statements), is class
        decorated = -1
        inside = iter(hidden)
        low, high = next(inside, _NOWHERE)
        for match in _START.finditer(code):
            position = match.start()
            while position >= high:
                low, high = next(inside, _NOWHERE)
            if low < position:
                continue
            if match["at"]:
                decorated = position if decorated < 0 else decorated
                continue
            name = match["function"] or match["class"] or ""
            starts.append((decorated if decorated >= 0 and name else position, name, bool(match["class"])))
            decorated = -1
        return self._chunks(starts)

    def _chunks(self, starts: list[tuple[int, str, bool]]) -> list[Chunk]:
        code, chunks = self.code, list[Chunk]()
        line, seen = 1, 0
        if not starts:
            return chunks
        ends = [start for start, _, _ in starts[1:]] + [len(code)]
        for (start, name, is_class), end in zip(starts, ends, strict=True):
            if not name:
                continue
            line += code.count("\n", seen, start)
            seen = start
            last = line + code[start:end].rstrip().count("\n")
            chunks.append(Chunk(name, line, last, code, start, end, is_class, line - 1))
        return chunks

    def _may_begin(self, whole: list[Chunk]) -> bool:
        """Whether a word that stands before a parenthesis outside definitions is the name of one."""
        functions = {chunk.name for chunk in whole if not chunk.is_class}
        position = 0
        for start, end in [*((chunk.start, chunk.end) for chunk in whole), (len(self.code), 0)]:
            if any(match[1] in functions for match in _CALLED.finditer(self.code, position, start)):
                return True
            position = end
        return False

    def _opened(self, whole: list[Chunk], shell: ast.Module) -> list[Chunk]:
        """The definitions, in place of functions by which the script begins those that they hold."""
        calls = calls_for_effect(shell)
        taken = {name.strip() for match in _GLOBAL.finditer(self.code) for name in match[1].split(",")}
        taken |= names_bound(shell) | {chunk.name for chunk in whole}
        made: list[Chunk] = []
        body = list(shell.body)
        found: list[Beginning] = []
        for chunk in whole:
            call = calls.get(chunk.name)
            opened = self._opening(chunk, call, taken) if call is not None else None
            if call is None or opened is None:
                made.append(chunk)
                continue
            taken |= opened.names
            found.append(opened)
            made += (self._inner(definition) for definition in opened.definitions)
            body = list(_with_called(body, call, opened.statements))
        if found:
            self._beginnings = tuple(found)
            self.__dict__["shell"] = ast.Module(body, [])
        return made

    def _opening(self, chunk: Chunk, call: ast.Call, taken: set[str]) -> Beginning | None:
        if sum(1 for _ in self.places([chunk.name])) != _NAMED_AND_CALLED:
            return None
        node = _definition(chunk.text)
        return beginning(ast.increment_lineno(node, chunk.first - 1), chunk.first, call, taken) if node else None

    def _inner(self, node: Definition) -> Chunk:
        """The chunk of a definition within a function by which the script begins, whose lines are those of the file."""
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        last = node.end_lineno or node.lineno
        start, end = self._line_starts[first - 1], self._line_starts[last]
        piece = Chunk(node.name, first, last, self.code, start, end, isinstance(node, ast.ClassDef), first - 1)
        piece.parsed = ast.increment_lineno(node, 1 - first)
        return piece

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.code)), len(self.code)]

    def _shell_text(self) -> str:
        return self._without(self.chunks)

    def _without(self, chunks: Iterable[Chunk]) -> str:
        pieces: list[str] = []
        position = 0
        for chunk in chunks:
            pieces.append(self.code[position : chunk.start])
            pieces.append("\n" * self.code.count("\n", chunk.start, chunk.end))
            position = chunk.end
        pieces.append(self.code[position:])
        return "".join(pieces)


def _definition(text: str) -> Definition | None:
    """The definition that a text is; None if it does not parse, or is more than that."""
    try:
        body = tree_of(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body[0] if len(body) == 1 and isinstance(body[0], Definition) else None


def _with_called(body: Iterable[ast.stmt], call: ast.Call, called: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, before the one with a call those that it runs; a call that is one by itself does nothing more."""
    for statement in (part for one in body for part in _split_before(one, call)):
        inner = list(ast.walk(statement))
        if call in inner:
            yield from called
            for one in inner:
                if isinstance(one, ast.Expr) and one.value is call:
                    one.value = ast.copy_location(ast.Constant(None), call)
        yield statement


def _split_before(statement: ast.stmt, call: ast.Call) -> Iterator[ast.stmt]:
    """A statement; `if __name__ == "__main__":` in two where something runs in it before a call."""
    if isinstance(statement, ast.If) and is_main_guard(statement) and not statement.orelse:
        before = next((place for place, one in enumerate(statement.body) if call in ast.walk(one)), 0)
        if before:
            yield ast.copy_location(ast.If(statement.test, statement.body[:before], []), statement)
            rest = ast.If(statement.test, statement.body[before:], [])
            yield ast.copy_location(rest, statement.body[before])
            return
    yield statement
