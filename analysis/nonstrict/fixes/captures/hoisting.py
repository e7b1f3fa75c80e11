"""Move what differs from call to call to the caller, which passes it: random numbers, the clock, the environment.

The expression moves out of compiled code altogether: in a region most of these break the graph, nothing guards the
others, and Dynamo cannot pass on what a region draws (`NameError: name 'random_value_0' is not defined`, measured on
torch 2.13.0).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.scopes import FunctionNode
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.captures import draws
from nonstrict.fixes.captures.draw_order import comes_first
from nonstrict.fixes.captures.passable import MARKERS, annotation_of, is_accepted, usable
from nonstrict.fixes.code.edits import alone, removed, replaced
from nonstrict.fixes.code.names import spelled as name_spelled
from nonstrict.fixes.uses import traced
from nonstrict.fixes.uses.signatures import Passing, home, passed
from nonstrict.fixes.uses.spots import Spelled, chain, root_of, spelled, spot_of
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.fixes.uses.signatures import Change, Extended
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Value

#: Parameters of one kind are numbered up to this.
_MAX_SAME = 4
_CONDITIONAL = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try, ast.Match, ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def hoist(context: Context) -> Iterator[Fix]:
    """Evaluate an expression in the callers and pass what it gives; or have torch draw."""
    seen = _subject(context)
    document = context.documents.document(seen.effect.path) if seen is not None else None
    node = document.at(seen.effect.span, ast.expr) if seen is not None and document is not None else None
    if seen is None or document is None or node is None:
        return
    if context.body.marker in MARKERS:
        yield from _passed(context, seen, document, node)
    drawn = draws.in_torch(context.documents.uses, document, node)
    if drawn is not None and context.body.marker != "constant-result":
        made, text = drawn
        yield Fix(f"Use `{text}`", Applicability.UNSAFE, (replaced(document, made, text),))


def hoist_break(context: Context) -> Iterator[Fix]:
    """Evaluate what breaks the graph of a region in its callers, and pass what it gives."""
    seen, document = context.observed(Event.BREAK), context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    if seen is None or seen.in_hook or document is None or node is None:
        return
    whole = _widest(context, document, node)
    if whole is None or not is_unconditional(document, whole, document.function(whole)):
        return
    if draws.measures(context.documents.uses, document, whole):
        return
    found = _hoisted(context, document, whole)
    if found is not None:
        title = f"Compute `{document.text(whole)}` in the caller and pass it"
        yield Fix(title, Applicability.UNSAFE, found)


def _passed(context: Context, seen: Observed, document: Document, node: ast.expr) -> Iterator[Fix]:
    whole = _widest(context, document, node)
    if whole is None or not is_unconditional(document, whole, document.function(whole)):
        return
    uses = context.documents.uses
    asked = seen.effect.event is Event.AMBIENT
    if not asked and not _varies_freely(uses, document, whole):
        return
    asked = asked or draws.is_clock(uses, document, node)
    if draws.measures(uses, document, whole):
        return
    found = _hoisted(context, document, whole)
    if found is not None:
        title = f"{'Read' if asked else 'Draw'} `{document.text(whole)}` in the caller and pass it"
        yield Fix(title, Applicability.UNSAFE, found)


def _varies_freely(uses: Uses, document: Document, node: ast.expr) -> bool:
    """Whether torch compiles once for all the values that an expression gives.

    A number stays symbolic where tensors are computed from it in every call; else each value is compiled for, and with
    `fullgraph=True` more than eight fail (measured on torch 2.13.0). So does each string.
    """
    kinds = {one.kind for one in draws.value_of(uses, document, node).alternatives()}
    if kinds <= {Kind.BOOL, Kind.TENSOR}:
        return True
    function, bound = document.function(node), _bound(document.parent(node), node)
    reads = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == bound] if function else []
    reads = [one for one in reads if isinstance(one.ctx, ast.Load)]
    known = reads if bound else [node]
    computed = all(_is_operand(document.parent(one)) for one in known)
    return kinds == {Kind.NUMBER} and computed and any(is_unconditional(document, one, function) for one in known)


def _is_operand(outer: ast.AST | None) -> bool:
    return isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Add, ast.Sub, ast.Mult, ast.Div))


def _subject(context: Context) -> Observed | None:
    """What is drawn or asked at the expression of the finding; None if it happens in a hook."""
    found = context.observed(Event.RANDOM, Event.AMBIENT)
    return found if found is not None and not found.in_hook and not found.effect.place.captured else None


# -- the expression ---------------------------------------------------------------------------------------------------


def _widest(context: Context, document: Document, node: ast.expr) -> ast.expr | None:
    """The largest expression around a draw that torch takes as an argument, and that depends on nothing local."""
    best: ast.expr | None = None
    current: ast.AST | None = node
    uses = context.documents.uses
    while isinstance(current, ast.expr) and _is_independent(uses, document, current):
        if _is_passed(context, draws.value_of(uses, document, current)):
            best = current
        current = document.parent(current)
        if not (current is not None and draws.is_computed(uses, document, current)):
            break
    return best if not isinstance(document.parent(best or node), ast.Expr) else None


def _is_passed(context: Context, value: Value) -> bool:
    """Whether a value can be passed."""
    kinds = {one.kind for one in value.alternatives()}
    return kinds <= {Kind.NUMBER, Kind.BOOL, Kind.TENSOR, Kind.STRING} and is_accepted(context, value)


def _is_independent(uses: Uses, document: Document, node: ast.expr) -> bool:
    """Whether an expression is made of top-level names only, and can stand elsewhere."""
    scopes = uses.scopes(document)
    for part in ast.walk(node):
        if isinstance(part, (ast.Lambda, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, *_COMPREHENSIONS)):
            return False
        if isinstance(part, ast.Name) and scopes.text.binder(part, part.id) is not document.tree:
            return False
    return not any(isinstance(outer, ast.JoinedStr) for outer in document.around(node))


def is_unconditional(document: Document, node: ast.AST, function: FunctionNode | None) -> bool:
    """Whether an expression is evaluated once each time that a function is called."""
    inner = node
    for outer in document.around(node):
        if isinstance(inner, ast.stmt) and _may_be_left(document, inner):
            return False
        if outer is function:
            return not isinstance(outer, ast.Lambda) or inner is outer.body
        if isinstance(outer, (*FunctionNode.__args__, *_COMPREHENSIONS)):
            return False
        if isinstance(outer, ast.IfExp) and inner is not outer.test:
            return False
        if isinstance(outer, ast.BoolOp) and inner is not outer.values[0]:
            return False
        if isinstance(outer, _CONDITIONAL) and inner is not getattr(outer, "test", getattr(outer, "iter", None)):
            return False
        if isinstance(outer, ast.While):
            return False
        inner = outer
    return False


def _may_be_left(document: Document, statement: ast.stmt) -> bool:
    """Whether the block may be left before a statement."""
    block = document.block(statement)
    before = block[: block.index(statement)] if statement in block else []
    return any(isinstance(node, (ast.Return, ast.Continue, ast.Break)) for one in before for node in ast.walk(one))


# -- the change -------------------------------------------------------------------------------------------------------


class _Passing(Passing):
    """What an expression gives is passed; callers outside of compiled code evaluate it."""

    def __init__(
        self, context: Context, document: Document, node: ast.expr, name: str, bound_by: ast.stmt | None
    ) -> None:
        self.uses = context.documents.uses
        annotation = annotation_of(draws.value_of(self.uses, document, node))
        functions = traced.in_bodies(context) | traced.in_regions(context)
        super().__init__(name, annotation, functions, bound_by)
        self.document = document
        self.node = node
        self.callers: set[FunctionNode] = set()

    def written(self, function: Extended, call: Call) -> Spelled | None:
        return _written(self.uses, self.document, self.node, call)

    def agrees(self, function: Extended, call: Call, caller: Extended) -> bool:
        """A function on the way gets one value: it has to call once what needs it."""
        first = caller.node not in self.callers
        self.callers.add(caller.node)
        return first and is_unconditional(call.document, call.node, caller.node)


def _hoisted(context: Context, document: Document, node: ast.expr) -> tuple[Edit, ...] | None:
    uses = context.documents.uses
    if not comes_first(context, document, node):
        return None
    statement = document.parent(node)
    bound = _bound(statement, node)
    for name in (*(usable(bound) if bound else ()), *_numbered(draws.name_of(uses, document, node))):
        gone = statement if name == bound and isinstance(statement, ast.stmt) else None
        passing = _Passing(context, document, node, name, gone)
        holder = home(uses, document, node, passing)
        if holder is None or document.function(node) is not holder.node:
            return None  # a nested function may be called any number of times
        change = passed(uses, document, node, passing)
        if change is not None:
            return _complete(change, removed(document, gone) if gone is not None else alone(document, node, name))
    return None


def _complete(change: Change, edit: Edit | None) -> tuple[Edit, ...] | None:
    return (*change.edits, edit) if edit is not None else None


def _bound(statement: ast.AST | None, node: ast.expr) -> str:
    """The variable that an expression is assigned to, and nothing else is done with it."""
    if not isinstance(statement, ast.Assign) or statement.value is not node or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in range(2, _MAX_SAME + 1):
        yield f"{name}_{number}"


def _written(uses: Uses, document: Document, node: ast.expr, call: Call) -> Spelled | None:
    """The expression as the function around a call writes it."""
    start = document.bounds(node)[0]
    text, edits, position = "", list[Edit](), start
    for part in _outermost_chains(node):
        known = _spelled(uses, document, part, call)
        if known is None:
            return None
        begin, end = document.bounds(part)
        text += document.code[position:begin] + known.text
        edits += known.edits
        position = end
    text += document.code[position : document.bounds(node)[1]]
    conversion = draws.conversion(uses, document, node)
    return Spelled(f"{conversion}({text})" if conversion else text, tuple(edits))


def _outermost_chains(node: ast.expr) -> list[ast.expr]:
    """The names in an expression, with the attributes behind them, in the order of the text."""
    found: list[ast.expr] = []
    pending: list[ast.AST] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, (ast.Name, ast.Attribute)) and chain(part) and not _subscripts(part):
            found.append(part)
        else:
            pending.extend(ast.iter_child_nodes(part))
    return sorted(found, key=lambda part: (part.lineno, part.col_offset))


def _subscripts(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Subscript) for part in ast.walk(node))


def _spelled(uses: Uses, document: Document, node: ast.expr, call: Call) -> Spelled | None:
    """A name of the file as the function around a call writes it."""
    root = root_of(node)
    if root is None:
        return None
    scopes = uses.scopes(call.document)
    if call.document is document:
        visible = scopes.text.binder(call.node, root.id) is document.tree
        return Spelled(document.text(node)) if visible else None
    if draws.is_builtin(uses, document, root):
        hidden = scopes.text.binder(call.node, root.id) is not call.document.tree
        taken = any(True for _ in scopes.text.bindings(call.document.tree, root.id))
        return None if hidden or taken else Spelled(root.id)
    dotted = uses.scopes(document).dotted(node)
    if dotted and not uses.scopes(document).module_at(root):
        known = name_spelled(call.document, dotted)
        first = known.text.partition(".")[0]
        visible = scopes.text.binder(call.node, first) is call.document.tree
        return Spelled(known.text, known.edits) if visible else None
    spot = spot_of(uses, document, node)
    return spelled(uses, call.document, call.node, spot, "".join(spot.steps)) if spot is not None else None
