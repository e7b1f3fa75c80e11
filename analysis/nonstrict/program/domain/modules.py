"""One module of the program: what each of its top-level names is bound to, and where."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.outline import Chunk, Outline
from nonstrict.facts.strings import is_code
from nonstrict.facts.walk import walk
from nonstrict.facts.words import CALLED, HANDED_ON, is_applied
from nonstrict.program.domain.access_paths import AccessPath, Root, owned_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.text.source import Source

#: Not tied to the start of the line: a pattern that begins with a literal is found many times faster.
_GLOBAL_STATEMENT = re.compile(r"(global|nonlocal)[ \t]+([\w, \t]+)")


class Reached(NamedTuple):
    """What an import reaches of the project.

    `named` are modules with the expressions as written: `import a.b` reaches `a` and `a.b`, `from . import b as c`
    reaches `c`. `run` are the files that it runs: of `from a.b import c` those of `a`, `a.b`, and a module `c`.
    `source` is the file that `from a.b import c` takes `c` from.
    """

    named: tuple[tuple[tuple[str, ...], str], ...]
    run: tuple[str, ...]
    source: str | None = None


class Binding(NamedTuple):
    """One binding of a top-level name.

    `kind` is `def`, `import`, `assign`, `annotation` (without a value), `element` (unpacking), `round` (loop target),
    `enter` (with) or `unknown`. For an import `module` is the dotted name as written with `level` leading dots, and
    `attribute` the imported name ("" for `import module`). `position` is the place of an element that is unpacked, if
    it is known.
    `conditional` bindings may or may not happen.
    """

    kind: str
    node: ast.AST | None = None
    offset: int = 0
    conditional: bool = False
    module: str = ""
    attribute: str = ""
    level: int = 0
    position: int | None = None
    chunk: Chunk | None = None
    annotation: ast.expr | None = None


@dataclass(eq=False)
class Module:
    """A file of the program, under the dotted name by which the project imports it."""

    path: str
    name: str
    is_package: bool
    source: Source
    #: names whose calls in this module were looked for
    searched: set[str] = field(default_factory=set[str])
    _holding: dict[str, bool] = field(default_factory=dict[str, bool])

    def holds(self, text: str) -> bool:
        """Whether the text of the file has some characters; searched once."""
        if text not in self._holding:
            self._holding[text] = text in self.source.code
        return self._holding[text]

    def anew(self) -> Module:
        """The same module, nothing searched in it yet; what its text says is taken over.

        An outline that was cut anew half-way, as something did not parse, starts over.
        """
        other = Module(self.path, self.name, self.is_package, self.source)
        outline = self.__dict__.get("outline")
        if outline is not None and not outline.exact:
            other.__dict__.update((name, fact) for name, fact in self.__dict__.items() if name not in other.__dict__)
        return other

    @cached_property
    def outline(self) -> Outline:
        """The top-level statements."""
        return Outline(self.source.code)

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """The bindings of each top-level name, in order."""
        found: dict[str, list[Binding]] = {}
        ordered = [*_bound_outside(self.outline.shell)]  # first: it may cut the outline anew
        definitions = [
            (chunk.first, chunk.name, Binding("def", None, chunk.offset, chunk=chunk)) for chunk in self.outline.chunks
        ]
        for _, name, binding in sorted([*definitions, *ordered], key=lambda entry: entry[0]):
            found.setdefault(name, []).append(binding)
        return found

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The top-level names that may hold something of the program: all but what is imported from torch."""
        return frozenset(
            name
            for name, bindings in self.bindings.items()
            if any(one.kind != "import" or one.module.partition(".")[0] != "torch" for one in bindings)
        )

    @property
    def bound_outside(self) -> dict[str, tuple[Binding, ...]]:
        """The bindings of top-level names by statements other than definitions that begin in the first column."""
        return remembered(self.outline.shell, "_nonstrict_outside", _grouped)

    @cached_property
    def star_imports(self) -> list[Binding]:
        """`from … import *` statements."""
        return self.bindings.get("*", [])

    @cached_property
    def declared_global(self) -> frozenset[str]:
        """Names that some function declares `global`; of a function by which the script begins, `nonlocal`."""
        code = self.source.code
        found = [match for match in _GLOBAL_STATEMENT.finditer(code) if _is_indented(code, match.start())]
        declared = {(match[1], name.strip()) for match in found for name in match[2].split(",")}
        return frozenset(name for how, name in declared if how == "global" or self._beginning(name))

    def _beginning(self, name: str) -> str:
        """The function by which the script begins that binds a name; "" if the module does."""
        return next((one.name for one in self.outline.beginnings if name in one.names), "")

    def place(self, name: str) -> AccessPath:
        """Where a name of the module's namespace lives."""
        return AccessPath(Root.GLOBAL, owned_by(self.path, self._beginning(name)), name)

    def around(self, line: int) -> str:
        """What stands before the names of functions at a line: `main.<locals>.` within one by which a script begins."""
        return next((f"{one.name}.<locals>." for one in self.outline.beginnings if one.covers(line)), "")

    @property
    def handed_on(self) -> dict[str, set[str]]:
        """For each name, the names that assignments at the top level bind to an expression that holds it.

        `ops.coarse` holds `coarse`. A name that is only called hands on its result, not itself.
        """
        return remembered(self.outline.shell, "_nonstrict_handed_on", _handed_on)

    def members_holding(self, name: str) -> set[str]:
        """The attributes that bodies of top-level classes bind to an expression that holds a name."""
        bodies = (self.outline.node(chunk) for chunk in self.chunks_with({name}) if chunk.is_class)
        held = (remembered(node, "_nonstrict_handed_on", _handed_on) for node in bodies if node is not None)
        return set[str]().union(*(found.get(name, ()) for found in held))

    def attributes_made_of(self, name: str) -> set[str]:
        """The attributes that functions bind to what is made of a name: `self.blocks = ModuleList([Block()])`."""
        nodes = (self.outline.node(chunk) for chunk in self.chunks_with({name}))
        made = (remembered(node, "_nonstrict_attributes_made_of", _attributes) for node in nodes if node is not None)
        return set[str]().union(*(found.get(name, ()) for found in made))

    def chunks_with(self, words: Iterable[str]) -> list[Chunk]:
        """The top-level definitions in whose text one of the words stands, comments and long strings left out."""
        return self.outline.chunks_with(words)

    def applications(self, called: Iterable[str], handed: Iterable[str]) -> Iterator[int]:
        """Where a word may be applied: before a parenthesis or in a decorator, `handed` ones also as values."""
        code, strings = self.source.code, self.outline.strings
        for words, follows in ((called, CALLED), (handed, HANDED_ON)):
            for start, end in self.outline.places(words):
                if is_applied(code, start, end, follows) and is_code(code, strings, start):
                    yield start

    def places_in(self, chunk: Chunk, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Where one of the words stands in a top-level definition, as offsets into the text of the module."""
        return self.outline.places_in(chunk, words)

    def chunks_at(self, positions: Iterable[int]) -> list[Chunk]:
        """The top-level definitions that cover some offsets into the text, in order."""
        found = {index for position in positions if (index := self.outline.covering(position)) >= 0}
        return [self.outline.chunks[index] for index in sorted(found)]

    def outside(self, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        """The ranges in which one of the words stands outside the top-level definitions: told without parsing."""
        return self.outline.outside(words)

    @property
    def assigned_from(self) -> dict[str, set[str]]:
        """For each name, the names that top-level assignments bind to a value that mentions it."""
        return remembered(self.outline.shell, "_nonstrict_assigned_from", _assigned_from)

    def rebound(self, name: str) -> bool:
        """Whether a name is bound again after its first binding, here or by a function that declares it global."""
        bindings = self.bindings.get(name, [])
        plain = [binding for binding in bindings if not binding.conditional]
        return name in self.declared_global or len(plain) > 1

    def definition(self, binding: Binding) -> ast.AST | None:
        """The parsed definition of a `def` binding."""
        return self.outline.node(binding.chunk) if binding.chunk else binding.node


#: Kinds of bindings to what an expression gives: itself, one of its elements, what entering it gives.
_OF_VALUES = frozenset({"assign", "element", "round", "enter"})


def _bound_outside(shell: ast.AST) -> tuple[tuple[int, str, Binding], ...]:
    """The lines, names and bindings of statements outside definitions."""
    return remembered(shell, "_nonstrict_bound", _find_bound)


def _find_bound(shell: ast.AST) -> tuple[tuple[int, str, Binding], ...]:
    found: list[tuple[int, str, Binding]] = []
    _collect(getattr(shell, "body", []), found, conditional=False)
    return tuple(found)


def _grouped(shell: ast.Module) -> dict[str, tuple[Binding, ...]]:
    found: dict[str, list[Binding]] = {}
    for _, name, binding in sorted(_bound_outside(shell), key=lambda entry: entry[0]):
        found.setdefault(name, []).append(binding)
    return {name: tuple(bindings) for name, bindings in found.items()}


def _assigned(shell: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that are bound to a value or to a part of one, each with the value."""
    for _, name, binding in _bound_outside(shell):
        if binding.kind in _OF_VALUES and binding.node is not None:
            yield name, binding.node


def _handed_on(shell: ast.AST) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for target, value in _assigned(shell):
        called = {id(node.func) for node in walk(value) if isinstance(node, ast.Call)}
        for node in walk(value):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else target
            if name != target and id(node) not in called:
                found.setdefault(name, set()).add(target)
    return found


def _attributes(definition: ast.AST) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in walk(definition):
        targets = node.targets if isinstance(node, ast.Assign) else []
        names = {target.attr for target in targets if isinstance(target, ast.Attribute)}
        for inner in walk(node) if names else ():
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
                found.setdefault(inner.func.id, set()).update(names)
    return found


def _assigned_from(shell: ast.Module) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, value in _assigned(shell):
        for node in walk(value):
            if isinstance(node, ast.Name):
                found.setdefault(node.id, set()).add(name)
    return found


def _is_indented(code: str, position: int) -> bool:
    """Whether only white space stands before a position in its line, and some does."""
    before = code[code.rfind("\n", 0, position) + 1 : position]
    return bool(before) and not before.strip(" \t")


def _collect(body: list[ast.stmt], out: list[tuple[int, str, Binding]], *, conditional: bool) -> None:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.append((statement.lineno, statement.name, Binding("def", statement, conditional=conditional)))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            out.extend(imported(statement, conditional=conditional))
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.With)):
            _targets(statement, out, conditional=conditional)
        for nested in _blocks(statement):
            _collect(nested, out, conditional=not isinstance(statement, ast.With))


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    blocks += [handler.body for handler in getattr(statement, "handlers", [])]
    blocks += [case.body for case in getattr(statement, "cases", [])]
    return [block for block in blocks if block]


def imported(
    statement: ast.Import | ast.ImportFrom, *, conditional: bool = False
) -> Iterator[tuple[int, str, Binding]]:
    """What an import binds: the line, the name, the binding."""
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            name = alias.asname or alias.name
            binding = Binding("import", statement, 0, conditional, statement.module or "", alias.name, statement.level)
        elif alias.asname:
            name, binding = alias.asname, Binding("import", statement, 0, conditional, alias.name)
        else:
            name = alias.name.split(".")[0]
            binding = Binding("import", statement, 0, conditional, name)
        yield statement.lineno, name, binding


def _targets(
    statement: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor | ast.With,
    out: list[tuple[int, str, Binding]],
    *,
    conditional: bool,
) -> None:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            _bind(target, Binding("assign", statement.value, 0, conditional), out)
    elif isinstance(statement, ast.AnnAssign):
        if statement.value is not None:
            made = Binding("assign", statement.value, 0, conditional, annotation=statement.annotation)
        else:
            made = Binding("annotation", statement.annotation, 0, conditional=True)
        _bind(statement.target, made, out)
    elif isinstance(statement, ast.AugAssign):
        _bind(statement.target, Binding("unknown", statement, 0, conditional=True), out)
    elif isinstance(statement, ast.With):
        for item in statement.items:
            if item.optional_vars is not None:
                _bind(item.optional_vars, Binding("enter", item.context_expr, 0, conditional), out)
    else:
        _bind(statement.target, Binding("round", statement.iter, 0, conditional), out)


def _bind(target: ast.expr, binding: Binding, out: list[tuple[int, str, Binding]]) -> None:
    """Bind every name of a target: unpacked ones to an element of the value."""
    if isinstance(target, ast.Name):
        out.append((target.lineno, target.id, binding))
    elif isinstance(target, (ast.Tuple, ast.List)):
        kind = "unknown" if binding.position is not None else "round" if binding.kind == "round" else "element"
        for index, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                _bind(element.value, binding._replace(kind="unknown"), out)
            else:
                _bind(element, binding._replace(kind=kind, position=index), out)
