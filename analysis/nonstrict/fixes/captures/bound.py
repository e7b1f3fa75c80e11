"""Pass in every call what `functools.partial` binds, instead of binding it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.captures.given import Given, written
from nonstrict.fixes.captures.passable import MARKERS, depends_on_mode, is_accepted, may_be_none, subject_of
from nonstrict.fixes.code.edits import replaced, with_argument
from nonstrict.fixes.code.lists import arguments_of, index_at, with_element
from nonstrict.fixes.uses import traced
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import UNKNOWN, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.calls import Call

_PARTIAL = "functools.partial"


class _Partial(NamedTuple):
    """A call of `functools.partial`, and the arguments that calls are to pass: all from `first` on, or `keyword`."""

    document: Document
    node: ast.Call
    first: int
    keyword: ast.keyword | None

    @property
    def moved(self) -> list[ast.expr]:
        """The expressions that calls are to pass."""
        return [self.keyword.value] if self.keyword is not None else self.node.args[self.first :]


def pass_bound(context: Context) -> Iterator[Fix]:
    """Have callers pass an argument that a partial binds, and those that it binds behind it."""
    seen = subject_of(context)
    function, target = context.body.mark.function, context.body.mark.target
    if seen is None or context.body.marker not in MARKERS or seen.effect.place.root is not Root.DEFAULT:
        return
    if function is None or target.partial is None or target.partial.function.function is None:
        return
    names = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
    partial = _partial(context, seen.effect.place.name, names)
    if partial is None or not _may_move(context, partial, names):
        return
    edits = _edits(context, partial, names)
    if edits is not None:
        moved = " and ".join(f"`{name}`" for name in _moved_names(partial, names))
        yield Fix(f"Pass {moved} in every call", Applicability.UNSAFE, edits)


def _partial(context: Context, name: str, names: list[str]) -> _Partial | None:
    """The partial that was marked, and what it binds a parameter to."""
    mark = context.body.mark
    document = context.documents.document(mark.path)
    marker = document.at(span_of(mark.path, mark.offset, mark.node), ast.Call) if document is not None else None
    given = [*marker.args, *(keyword.value for keyword in marker.keywords)] if marker is not None else []
    node = _made(context, document, given[0]) if document is not None and len(given) == 1 else None
    if document is None or node is None or any(isinstance(one, ast.Starred) for one in node.args):
        return None
    keyword = next((one for one in node.keywords if one.arg == name), None)
    index = names.index(name) + 1 if name in names else 0
    bound = keyword is not None or 0 < index < len(node.args)
    plain = all(one.arg is not None for one in node.keywords)
    return _Partial(document, node, index, keyword) if bound and plain else None


def _made(context: Context, document: Document, node: ast.expr) -> ast.Call | None:
    """The call that makes a partial: the expression, or what its variable is set to once."""
    scopes = context.documents.uses.scopes(document)
    if isinstance(node, ast.Name):
        bindings = list(scopes.text.bindings(scopes.text.binder(node, node.id), node.id))
        statement = document.parent(bindings[0]) if len(bindings) == 1 else None
        node = statement.value if isinstance(statement, ast.Assign) else node
    if isinstance(node, ast.Call) and scopes.dotted(node.func) == _PARTIAL and node.args:
        return node if not isinstance(node.args[0], ast.Call) else None
    return None


def _moved_names(partial: _Partial, names: list[str]) -> list[str]:
    if partial.keyword is not None:
        return [partial.keyword.arg or ""]
    return names[partial.first - 1 : len(partial.node.args) - 1]


def _may_move(context: Context, partial: _Partial, names: list[str]) -> bool:
    """Whether torch takes what callers are to pass."""
    values = [context.body.arguments.get(name, UNKNOWN) for name in _moved_names(partial, names)]
    modules = [one for value in values for one in value.alternatives() if one.kind is Kind.MODULE]
    if any(map(depends_on_mode, modules)) and not context.body.mode_guarded:
        return False
    return all(is_accepted(context, value) and not may_be_none(context, value) for value in values)


def _edits(context: Context, partial: _Partial, names: list[str]) -> tuple[Edit, ...] | None:
    uses = context.documents.uses
    found = uses.of(partial.document, partial.node)
    if found.obstacles or not found.calls:
        return None
    bodies = traced.in_bodies(context)
    edits: list[Edit] = []
    for call in found.calls:
        inside = any(call.document.span(one) in bodies for one in uses.scopes(call.document).text.functions(call.node))
        passed = _passed(context, partial, call, names)
        if inside or passed is None:
            return None
        edits += passed
    # What of the partial goes needs no other text.
    whole = partial.document.span(partial.node)
    kept = (one for one in edits if one.span.path != whole.path or not whole[1:3] < one.span[1:3] < whole[3:])
    return (*dict.fromkeys(kept), *_without(partial))


def _passed(context: Context, partial: _Partial, call: Call, names: list[str]) -> list[Edit] | None:
    """The edits by which a call passes what the partial bound."""
    if partial.keyword is not None and any(one.arg == partial.keyword.arg for one in call.node.keywords):
        return []
    texts: list[str] = []
    edits: list[Edit] = []
    for name, node in zip(_moved_names(partial, names), partial.moved, strict=True):
        known = written(context.documents.uses, call, Given(partial.document, node, name))
        if known is None:
            return None
        texts.append(known.text)
        edits += known.edits
    if partial.keyword is not None:
        return [*edits, with_argument(call.document, call.node, f"{partial.keyword.arg}={texts[0]}")]
    return [*edits, with_element(call.document, arguments_of(call.document, call.node), ", ".join(texts), 0)]


def _without(partial: _Partial) -> Iterator[Edit]:
    """The partial without what callers pass; the function itself if it binds nothing else."""
    document, node = partial.document, partial.node
    if len(partial.moved) == len(node.args) - 1 + len(node.keywords):
        yield replaced(document, node, document.text(node.args[0]))
        return
    moved = partial.keyword if partial.keyword is not None else partial.node.args[partial.first]
    known = arguments_of(document, node)
    index = index_at(known, document.bounds(moved)[0])
    if index is not None:
        last = known.elements[index + len(partial.moved) - 1]
        yield Edit(document.range(known.elements[index - 1].end, last.end), "")
