"""Which files of the project an import leads to, and how code behind it may write what they hold."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import statements_in
from nonstrict.program.domain.modules import Reached

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.linking.project import Project


def imports_in(node: ast.AST) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The import statements in a part of a module."""
    return remembered(node, "_nonstrict_imports", _find_imports)


def _find_imports(node: ast.AST) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(inner for inner in statements_in(node) if isinstance(inner, (ast.Import, ast.ImportFrom)))


def imports_of(user: Module, word: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a file: those outside functions, and those in functions whose text holds a word."""
    yield from imports_in(user.outline.shell)
    yield from imports_in_functions(user, word)


def imports_in_functions(user: Module, word: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports in those functions of a file whose text holds a word."""
    for chunk in user.chunks_with((word,)):
        if any(True for _ in user.places_in(chunk, ("import",))):
            node = user.outline.node(chunk)
            if node is not None:
                yield from imports_in(node)


def reached(project: Project, user: Module, statement: ast.Import | ast.ImportFrom) -> Reached:
    """What an import in a file reaches; looked up once, until files come or go."""
    known = project.reached
    if statement not in known:
        known[statement] = _reached(project, user, statement)
    return known[statement]


def _reached(project: Project, user: Module, statement: ast.Import | ast.ImportFrom) -> Reached:
    if isinstance(statement, ast.ImportFrom):
        dotted = project.absolute(statement.module or "", statement.level, user)
        inside = (f"{dotted}.{alias.name}" if dotted else alias.name for alias in statement.names)
        found = zip(statement.names, (project.find(one, user) for one in inside), strict=True)
        named = [((alias.asname or alias.name,), path) for alias, path in found if path is not None]
        around = _files(project, user, dotted)
        run = (*(path for _, path in named), *(path for path in around if path is not None))
        return Reached(tuple(named), run, around[-1])
    named, run = list[tuple[tuple[str, ...], str]](), list[str]()
    for alias in statement.names:
        parts, files = alias.name.split("."), _files(project, user, alias.name)
        run += (path for path in files if path is not None)
        written = [(alias.asname,)] if alias.asname else [tuple(parts[:count]) for count in range(1, len(parts) + 1)]
        reachable = files[-1:] if alias.asname else files
        named += ((one, path) for one, path in zip(written, reachable, strict=True) if path is not None)
    return Reached(tuple(named), tuple(run))


def _files(project: Project, user: Module, dotted: str) -> list[str | None]:
    """The files of a module and the packages around it, the outermost first."""
    parts = dotted.split(".")
    return [project.find(".".join(parts[:count]), user) for count in range(1, len(parts) + 1)]


def modules_imported(project: Project, user: Module, statement: ast.Import | ast.ImportFrom) -> tuple[str, ...]:
    """The files of the project that an import runs."""
    return reached(project, user, statement).run


def spellings(
    project: Project, user: Module, imports: Iterable[ast.Import | ast.ImportFrom], source: Module, name: str
) -> set[tuple[str, ...]]:
    """How code behind some imports may write a top-level name of a module: `("settings", "mode")`, `("CACHE",)`."""
    found: set[tuple[str, ...]] = set()
    for statement in imports:
        known = reached(project, user, statement)
        found.update((*prefix, name) for prefix, path in known.named if path == source.path)
        if known.source == source.path:
            found.update((alias.asname or name,) for alias in statement.names if alias.name in (name, "*"))
    return found


def stem_of(path: str) -> bytes:
    """The last part of the name by which a file is imported."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    stem = name.rpartition(".")[0]
    return (folder.rpartition("/")[2] if stem == "__init__" else stem).encode("utf-8", "surrogateescape")
