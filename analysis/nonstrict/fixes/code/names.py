"""Names from other modules as one file writes them: what a dotted name is called there, with an import if need be."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.fixes.code.imports import importing_from, with_import

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.program.objects.naming import Names


class Spelling(NamedTuple):
    """How to write a name; `edits` import what is not there yet."""

    text: str
    edits: tuple[Edit, ...] = ()


def imported(document: Document) -> Mapping[str, str]:
    """What the imports at the top level of a file bind, as dotted names."""
    return document.imported


def dotted(document: Document, node: ast.AST) -> str:
    """The dotted name that a chain of attributes stands for; "" if no import at the top level says so."""
    steps: list[str] = []
    while isinstance(node, ast.Attribute):
        steps.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    root = imported(document).get(node.id)
    return ".".join((root, *reversed(steps))) if root else ""


def meaning(document: Document) -> Names:
    """What the names of a file stand for outside the program: by its imports at the top level, builtins last."""

    def named(node: ast.AST) -> str:
        if isinstance(node, ast.Name) and hasattr(builtins, node.id) and node.id not in bound(document):
            return f"builtins.{node.id}"
        return dotted(document, node)

    return named


def spelled(document: Document, name: str) -> Spelling:
    """A public name of an importable package: by the longest import that leads to it, else by a new one.

    What a file imports from the same module by name, the new name stands beside.

    `import torch` is enough for anything below `torch`: it imports its parts, `torch._dynamo` when asked for it.
    """
    known = imported(document)
    best = max(_leading(known, name), key=lambda found: len(found[1]), default=None)
    if best is not None:
        return Spelling(best[0] + name[len(best[1]) :])
    root = name.partition(".")[0]
    module, _, last = name.rpartition(".")
    if module and is_free(document, last) and importing_from(document, module) is not None:
        edit = with_import(document, f"from {module} import {last}")
        return Spelling(last, (edit,) if edit is not None else ())
    if root in bound(document):
        # The name of the package means something else somewhere in the file, or is a local import of a function.
        alias = fresh(document, last, document.tree)
        origin = f"from {module} import {last}" if module else f"import {last}"
        edit = with_import(document, origin if alias == last else f"{origin} as {alias}")
        return Spelling(alias, (edit,) if edit is not None else ())
    edit = with_import(document, f"import {root}")
    return Spelling(name, (edit,) if edit is not None else ())


def is_importable(document: Document, package: str) -> bool:
    """Whether a file imports a package at its top level, or may: its name means nothing else anywhere in the file."""
    return package not in bound(document) or any(_leading(imported(document), package))


def _leading(known: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    for local, target in known.items():
        if name == target or name.startswith(f"{target}."):
            yield local, target


def bound(document: Document) -> frozenset[str]:
    """The names that a file binds, in whatever way and scope."""
    return document.bound


def is_free(document: Document, name: str) -> bool:
    """Whether no scope of a file has a variable or parameter of some name: an import of it hides nothing."""
    return name not in document.bound and name not in document.parameters


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def fresh(document: Document, wanted: str, user: ast.AST) -> str:
    """A name for the module that neither it nor the code that is to use the name has: perhaps with a number behind."""
    taken = {name for statement in document.tree.body for name in bindings(statement)}
    taken |= {node.id for node in ast.walk(user) if isinstance(node, ast.Name)}
    taken |= {node.arg for node in ast.walk(user) if isinstance(node, ast.arg)}
    taken |= {node.name for node in ast.walk(user) if isinstance(node, _DEFINITIONS)}
    local = (node for node in ast.walk(user) if isinstance(node, (ast.Import, ast.ImportFrom)))
    taken |= {(alias.asname or alias.name).partition(".")[0] for statement in local for alias in statement.names}
    number, name = 1, wanted
    while name in taken or keyword.iskeyword(name):
        number += 1
        name = f"{wanted}_{number}"
    return name


def bindings(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the level of a module binds there."""
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def outermost(document: Document, node: ast.AST) -> ast.stmt | None:
    """The function or class at the level of the module that holds a node."""
    around = [one for one in (node, *document.around(node)) if isinstance(one, ast.stmt)]
    last = around[-1] if around else None
    return last if isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None


def operator_name(document: Document, name: str) -> str:
    """A name for an operator that the file does not have: the file's name as the namespace."""
    stem = re.split(r"[\\/]", document.path)[-1].partition(".")[0]
    parts = re.split(r"[\\/]", document.path)
    if stem == "__init__" and len(parts) > 1:
        stem = parts[-2]
    stem = re.sub(r"\W", "_", stem)
    namespace = stem if stem.isidentifier() else f"ops_{stem}"
    number, found = 1, f"{namespace}::{name}"
    while found in document.code:
        number += 1
        found = f"{namespace}::{name}_{number}"
    return found
