"""State as code spells it: the variable that an expression begins with, its steps, and how other code writes the same.

`CONFIG.scale` in one file is `settings.CONFIG.scale` in another one, which asks the module that the first one asked:
what is bound anew there is seen.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.steps import ANY_ENTRY, entry
from nonstrict.fixes.code.imports import with_import, with_name
from nonstrict.fixes.code.names import is_free
from nonstrict.program.domain.access_paths import VIEW, AccessPath, Root

if TYPE_CHECKING:
    from nonstrict.findings import Edit
    from nonstrict.fixes.code.bindings import Scope
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.code.scopes import Scopes
    from nonstrict.fixes.uses.references import Uses

_MAX_HOPS = 8


class Spot(NamedTuple):
    """A variable of a file, and the steps from it: `.scale`, `['w']`. `scope` is what binds the variable."""

    path: str
    scope: Scope
    name: str
    steps: tuple[str, ...] = ()


class Spelled(NamedTuple):
    """An expression, and the edits that import what it needs."""

    text: str
    edits: tuple[Edit, ...] = ()


def chain(node: ast.AST) -> list[ast.expr]:
    """The parts of `a.b["k"]`, the name first: `a`, `a.b`, `a.b["k"]`; empty if it does not begin with a name."""
    found: list[ast.expr] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        found.append(node)
        node = node.value
    return [node, *reversed(found)] if isinstance(node, ast.Name) else []


def root_of(node: ast.AST) -> ast.Name | None:
    """The name that an expression begins with."""
    parts = chain(node)
    return parts[0] if parts and isinstance(parts[0], ast.Name) else None


def step(node: ast.expr) -> str:
    """The last step of a chain."""
    return f".{node.attr}" if isinstance(node, ast.Attribute) else entry(node.slice)  # type: ignore[attr-defined]


def steps_text(document: Document, node: ast.AST, count: int) -> str:
    """The last steps of a chain as they are written, without parentheses that stand around what is before them."""
    parts = chain(node)[1:]
    return "".join(_step_text(document, part) for part in parts[len(parts) - count :])


def _step_text(document: Document, node: ast.expr) -> str:
    return f".{node.attr}" if isinstance(node, ast.Attribute) else f"[{document.text(node.slice)}]"  # type: ignore[attr-defined]


def spot_of(uses: Uses, document: Document, node: ast.expr) -> Spot | None:
    """The variable and the steps that an expression names; None if it is more than names, attributes and entries.

    A name of a module that is imported is one of that module: `settings.scale`.
    """
    parts = chain(node)
    if not parts:
        return None
    scopes = uses.scopes(document)
    for index in range(len(parts) - 2, -1, -1):
        path = scopes.module_at(parts[index])
        following = parts[index + 1]
        if path and isinstance(following, ast.Attribute):
            other = uses.documents.document(path)
            steps = tuple(step(part) for part in parts[index + 2 :])
            return Spot(path, other.tree, following.attr, steps) if other is not None else None
    name = root_of(node)
    if name is None:
        return None
    return Spot(document.path, scopes.text.binder(name, name.id), name.id, tuple(step(part) for part in parts[1:]))


def origin(uses: Uses, spot: Spot) -> Spot:
    """Where a variable that is imported comes from."""
    for _ in range(_MAX_HOPS):
        document = uses.documents.document(spot.path)
        if document is None or not isinstance(spot.scope, ast.Module):
            return spot
        scopes = uses.scopes(document)
        names = {scopes.imported(node, spot.name) for node in scopes.text.bindings(spot.scope, spot.name)}
        package, _, name = (names.pop() if len(names) == 1 else "").rpartition(".")
        path = scopes.file_of(package)
        other = uses.documents.document(path) if path else None
        if other is None:
            return spot
        spot = Spot(path, other.tree, name, spot.steps)
    return spot


def is_at(uses: Uses, spot: Spot, place: AccessPath) -> bool:
    """Whether an expression reads what lives at a place of the program."""
    if spot.steps != tuple(one for one in place.path if one != VIEW):
        return False
    if place.seen_as is Root.GLOBAL:
        return isinstance(spot.scope, ast.Module) and any(
            (known.path, known.name) == (place.owner, place.name) for known in (spot, origin(uses, spot))
        )
    inside = not isinstance(spot.scope, (ast.Module, ast.ClassDef))
    return place.seen_as is Root.CELL and spot.name == place.name and inside


def is_constant(spot: Spot) -> bool:
    """Whether all keys on the way are known."""
    return ANY_ENTRY not in spot.steps


def spelled(uses: Uses, document: Document, node: ast.AST, spot: Spot, suffix: str) -> Spelled | None:
    """How code at a node writes a variable, and `suffix` behind it; None if it cannot see the variable."""
    scopes = uses.scopes(document)
    if spot.path == document.path:
        return Spelled(spot.name + suffix) if scopes.text.binder(node, spot.name) is spot.scope else None
    if not isinstance(spot.scope, ast.Module):
        return None
    first = origin(uses, spot)
    stays = not (is_rebound(uses, first) or is_rebound(uses, spot))
    known = _imported_name(uses, document, node, first) if stays else ""
    if known:
        return Spelled(known + suffix)
    for one in (spot, first) if stays else (spot,):
        module = _imported_module(uses, document, node, one.path)
        if module:
            return Spelled(f"{module}.{one.name}{suffix}")
    beside = _beside_others(uses, document, first) if stays else None
    if beside is not None:
        return Spelled(first.name + suffix, (beside,))
    for one in dict.fromkeys((first, spot) if stays else (spot,)):
        made = _new_import(uses, document, node, one.path)
        if made is not None:
            return Spelled(f"{made.text}.{one.name}{suffix}", made.edits)
    return None


def _beside_others(uses: Uses, document: Document, first: Spot) -> Edit | None:
    """One more name in an import of names from the module that defines a variable; None if the file has none."""
    scopes = uses.scopes(document)
    for statement in document.tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name != "*":
            meant = _meant(scopes, statement, statement.names[0]).rpartition(".")[0]
            if scopes.file_of(meant) == first.path and is_free(document, first.name):
                return with_name(document, statement, first.name)
    return None


def _imported_name(uses: Uses, document: Document, node: ast.AST, first: Spot) -> str:
    """The name that a file imports a variable by; "" if it does not."""
    scopes = uses.scopes(document)
    for statement, alias in scopes.text.imports:
        name = alias.asname or alias.name
        here = statement in document.tree.body and isinstance(statement, ast.ImportFrom)
        if here and scopes.text.binder(node, name) is document.tree:
            found = origin(uses, Spot(document.path, document.tree, name))
            if (found.path, found.name) == (first.path, first.name):
                return name
    return ""


def is_rebound(uses: Uses, spot: Spot) -> bool:
    """Whether something binds a variable of a module anew: then those who imported it see the old value."""
    module = uses.machine.project.module(spot.path)
    if module is None or uses.machine.mutations.is_rebound(module.place(spot.name)):
        return True
    return any(not write.steps for write in uses.machine.mutations.foreign_writes(module, spot.name)) or _is_set(
        uses, spot
    )


def _is_set(uses: Uses, spot: Spot) -> bool:
    """Whether a file sets a variable of a module that it imports, also where it does so once: `settings.SCALE = 2`."""
    for document in uses.holding(spot.name, spot.path) or ():
        scopes = uses.scopes(document)
        for node in scopes.text.attributes.get(spot.name, ()):
            if not isinstance(node.ctx, ast.Load) and scopes.module_at(node.value) == spot.path:
                return True
    return False


def _imported_module(uses: Uses, document: Document, node: ast.AST, path: str) -> str:
    """How code at a node writes a module of the project that is imported at the top level; "" if it is not."""
    scopes = uses.scopes(document)
    for statement, alias in scopes.text.imports:
        text = alias.asname or alias.name
        visible = scopes.text.binder(node, text.partition(".")[0]) is document.tree
        if statement in document.tree.body and visible and scopes.file_of(_meant(scopes, statement, alias)) == path:
            return text
    return ""


def _new_import(uses: Uses, document: Document, node: ast.AST, path: str) -> Spelled | None:
    """A module of the project by its whole name, and its import; None if that name means something else there.

    A file that imports of the project what is relative to it is given one more such import.
    """
    scopes, project = uses.scopes(document), uses.machine.project
    meant = ((one, _meant(scopes, one, alias)) for one, alias in scopes.text.imports)
    own = {one for one, name in meant if scopes.file_of(name) or scopes.file_of(name.rpartition(".")[0])}
    relative = own and all(isinstance(one, ast.ImportFrom) and one.level for one in own)
    beside = project.relative(path, scopes.module) if relative else None
    if beside is not None:
        package, name = beside
        edit = with_import(document, f"from {package} import {name}", own) if is_free(document, name) else None
        return Spelled(name, (edit,)) if edit is not None else None
    dotted = next(iter(project.spellings(path, scopes.module)), "")
    root = dotted.partition(".")[0]
    taken = any(scopes.imported(known, root) != root for known in scopes.text.bindings(document.tree, root))
    if not dotted or taken or scopes.text.binder(node, root) is not document.tree:
        return None
    edit = with_import(document, f"import {dotted}", own)
    return Spelled(dotted, (edit,)) if edit is not None else None


def _meant(scopes: Scopes, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """The dotted name of what an import imports."""
    if isinstance(statement, ast.Import):
        return alias.name
    return scopes.imported(statement, alias.asname or alias.name)
