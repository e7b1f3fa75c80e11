"""One module of the program: what each of its top-level names is bound to, and where."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.outline import Chunk, Outline
from nonstrict.facts.walk import walk
from nonstrict.facts.words import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.writers.writes import Write
    from nonstrict.text.source import Source

_GLOBAL_STATEMENT = re.compile(r"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)


class Binding(NamedTuple):
    """One binding of a top-level name.

    `kind` is `def`, `import`, `assign`, `annotation` (without a value), `element` (loop target, unpacking), `enter`
    (with) or `unknown`. For an import `module` is the dotted name as written with `level` leading dots, and `attribute`
    the imported name ("" for `import module`). `position` is the place of an element that is unpacked, if it is known.
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
    #: the writes of top-level names that were looked for
    writes: dict[str, list[Write]] = field(default_factory=dict[str, "list[Write]"])

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
        ordered: list[tuple[int, str, Binding]] = []
        shell = self.outline.shell
        ordered.extend(
            (chunk.first, chunk.name, Binding("def", None, chunk.offset, chunk=chunk)) for chunk in self.outline.chunks
        )
        _collect(shell.body, ordered, conditional=False)
        for _, name, binding in sorted(ordered, key=lambda entry: entry[0]):
            found.setdefault(name, []).append(binding)
        return found

    @cached_property
    def star_imports(self) -> list[Binding]:
        """`from … import *` statements."""
        return self.bindings.get("*", [])

    @cached_property
    def declared_global(self) -> frozenset[str]:
        """Names that some function declares `global`."""
        names = _GLOBAL_STATEMENT.findall(self.source.code) if "global" in self.source.code else []
        return frozenset(name.strip() for group in names for name in group.split(","))

    @cached_property
    def handed_on(self) -> dict[str, set[str]]:
        """For each top-level name, the names that assignments at the top level bind to an expression that holds it.

        A name that is only called hands on its result, not itself.
        """
        found: dict[str, set[str]] = {}
        for target, bindings in self.bindings.items():
            for binding in bindings:
                if binding.kind == "assign" and binding.node is not None:
                    called = {id(node.func) for node in ast.walk(binding.node) if isinstance(node, ast.Call)}
                    for node in ast.walk(binding.node):
                        if isinstance(node, ast.Name) and id(node) not in called and node.id != target:
                            found.setdefault(node.id, set()).add(target)
        return found

    def chunks_with(self, words: Iterable[str]) -> list[Chunk]:
        """The top-level definitions in whose text one of the words stands."""
        return self.chunks_at(start for start, _ in places(self.source.code, words))

    def chunks_at(self, positions: Iterable[int]) -> list[Chunk]:
        """The top-level definitions that cover some offsets into the text, in order."""
        chunks, starts = self.outline.chunks, self.outline.starts
        found: dict[int, Chunk] = {}
        for position in positions:
            index = bisect_right(starts, position) - 1
            if index >= 0 and position < starts[index] + chunks[index].length:
                found[index] = chunks[index]
        return [found[index] for index in sorted(found)]

    def outside(self, words: Iterable[str]) -> Iterator[tuple[int, int]]:
        """The ranges in which one of the words stands outside the top-level definitions: told without parsing."""
        for start, end in places(self.source.code, words):
            if not self.chunks_at([start]):
                yield start, end

    @cached_property
    def assigned_from(self) -> list[tuple[str, frozenset[str]]]:
        """The names that top-level assignments bind, each with the names that its value mentions."""
        found: list[tuple[str, frozenset[str]]] = []
        for name, bindings in self.bindings.items():
            nodes = [binding.node for binding in bindings if binding.kind == "assign" and binding.node is not None]
            mentioned = (inner.id for node in nodes for inner in walk(node) if isinstance(inner, ast.Name))
            if nodes:
                found.append((name, frozenset(mentioned)))
        return found

    def rebound(self, name: str) -> bool:
        """Whether a name is bound again after its first binding, here or by a function that declares it global."""
        bindings = self.bindings.get(name, [])
        plain = [binding for binding in bindings if not binding.conditional]
        return name in self.declared_global or len(plain) > 1

    def definition(self, binding: Binding) -> ast.AST | None:
        """The parsed definition of a `def` binding."""
        return self.outline.node(binding.chunk) if binding.chunk else binding.node


def _collect(body: list[ast.stmt], out: list[tuple[int, str, Binding]], *, conditional: bool) -> None:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.append((statement.lineno, statement.name, Binding("def", statement, conditional=conditional)))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            _imports(statement, out, conditional=conditional)
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


def _imports(statement: ast.Import | ast.ImportFrom, out: list[tuple[int, str, Binding]], *, conditional: bool) -> None:
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            name = alias.asname or alias.name
            binding = Binding("import", statement, 0, conditional, statement.module or "", alias.name, statement.level)
        elif alias.asname:
            name, binding = alias.asname, Binding("import", statement, 0, conditional, alias.name)
        else:
            name = alias.name.split(".")[0]
            binding = Binding("import", statement, 0, conditional, name)
        out.append((statement.lineno, name, binding))


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
        _bind(statement.target, Binding("element", statement.iter, 0, conditional), out)


def _bind(target: ast.expr, binding: Binding, out: list[tuple[int, str, Binding]]) -> None:
    """Bind every name of a target: unpacked ones to an element of the value."""
    if isinstance(target, ast.Name):
        out.append((target.lineno, target.id, binding))
    elif isinstance(target, (ast.Tuple, ast.List)):
        for index, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                _bind(element.value, binding._replace(kind="element", position=None), out)
            else:
                _bind(element, binding._replace(kind="element", position=index), out)
