"""Expressions: the abstract value of each, and the effects of evaluating it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Question, Step
from nonstrict.facts import shapes
from nonstrict.program.domain import constant_folding, symbols
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.effects import coarsened, hidden
from nonstrict.program.domain.values import (
    BOOL,
    BYTES,
    CONTAINERS,
    ELLIPSIS,
    NO_CONSTANT,
    NONE,
    REST,
    SETTING,
    TENSORS,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    container,
    join,
)
from nonstrict.program.externals import bound_callables, strings
from nonstrict.program.interpret import comparisons, comprehensions, conditions, object_operators
from nonstrict.program.objects import (
    asked_types,
    attributes,
    container_flow,
    deciding,
    definition_values,
    dimensions,
    dtypes,
    iteration,
    known_tensors,
    naming,
    placement,
    subscripts,
    symbolic_sizes,
)
from nonstrict.program.state.asked import about

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.program.state.frames import Frame

_MAX_ELEMENTS = 64
#: What the result of arithmetic takes over from the numbers.
#: What makes whole numbers of whole numbers.
_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_OF_NUMBERS = Flag.POINTER | Flag.SHAPE
_NO_TAINT: frozenset[object] = frozenset()


#: Expressions that may compute a tensor.
_COMPUTING = frozenset({ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript})
#: Expressions that read what is held somewhere.
_LOADING = frozenset({ast.Name, ast.Attribute, ast.Subscript})


def evaluate(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression; reading captured state is not counted until the value is used."""
    asked = frame.asked
    if asked and node in asked:
        known = asked[node]
        if known is not None and known[0] is frame.env:
            return known[1]
        value = _evaluated(frame, node)
        asked[node] = frame.env, value
        return value
    return _evaluated(frame, node)


def _evaluated(frame: Frame, node: ast.expr) -> Value:
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return UNKNOWN
    value = handler(frame, node)
    frame.hold(node, value)
    if frame.region:  # asked here too: most frames are of none
        if type(node) in _COMPUTING:
            frame.observer.computed(frame, node, value)
        if value.place.root is not Root.FRESH and type(node) in _LOADING:
            return frame.observer.loaded(frame, node, value)
    return value


def use(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression that is really used: reads of captured state are effects."""
    return frame.consume(node, evaluate(frame, node)) if type(node) in _HANDLERS else UNKNOWN


def _constant(frame: Frame, node: ast.Constant) -> Value:
    value = node.value
    if value is None:
        return NONE
    if isinstance(value, bool):
        return Value(Kind.BOOL, FRESH, const=value)
    if isinstance(value, (int, float, complex)):
        return Value(Kind.NUMBER, FRESH, const=value)
    if isinstance(value, str):
        return Value(Kind.STRING, FRESH, const=value)
    return Value(Kind.STRING, ref=BYTES) if isinstance(value, bytes) else Value(Kind.SETTING, ref=ELLIPSIS)


def _name(frame: Frame, node: ast.Name) -> Value:
    return frame.lookup(node.id)


def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    known = frame.refinement(node) if frame.refined else None
    return known or attributes.load(frame, node, evaluate(frame, node.value), node.attr)


def _call(frame: Frame, node: ast.Call) -> Value:
    callee = evaluate(frame, node.func)
    frame.observer.callee_evaluated(frame, node)
    positional: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            spread = evaluate(frame, argument.value)
            positional.extend(_spread(frame, spread))
        else:
            positional.append(evaluate(frame, argument))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif value.heap is not None:
            named = {key: item for key, item in value.heap.items.items() if isinstance(key, str)}
            keywords.update({key: subscripts.entry(frame, value, key, item) for key, item in named.items()})
        if keyword.arg is None and not container_flow.is_complete(value) and bound_callables.takes_options(callee):
            keywords[REST] = UNKNOWN
    return frame.machine.call(frame, node, callee, positional, keywords)


def _spread(frame: Frame, value: Value) -> list[Value]:
    if value.heap is None:
        return []
    in_place = value.kind is Kind.LIST and value.heap.loose is None and not value.heap.open
    if (value.kind is Kind.TUPLE or in_place) and value.heap.items:
        keys = sorted(key for key in value.heap.items if isinstance(key, int))
        if in_place and not frame.region and symbols.of(value):
            return [value.heap.items[key] for key in keys]  # how many there are follows from data
        return [subscripts.entry(frame, value, key, value.heap.items[key]) for key in keys]
    element = value.heap.element
    if element is None:
        return []
    if all(member.kind is Kind.MODULE for member in element.alternatives()):
        return value.heap.members()
    return [subscripts.entry(frame, value, NO_CONSTANT, element)]


def _binary(frame: Frame, node: ast.BinOp) -> Value:
    left, right = use(frame, node.left), use(frame, node.right)
    told = frame.observer.operated(frame, node, left, right)
    return operate(frame, node, left, right, node.op) if told is None else told


def operate(frame: Frame, node: ast.AST, left: Value, right: Value, operator: ast.operator) -> Value:
    """The result of a binary operator."""
    if left.kind is Kind.OBJECT or right.kind is Kind.OBJECT:
        result = object_operators.result(frame, node, left, right, operator)
        if result is not None:
            return result
    formats = left.kind is Kind.STRING and isinstance(operator, ast.Mod)
    if (left.kind in TENSORS or right.kind in TENSORS) and not formats:
        return _tensor_arithmetic(frame, left, right, operator)
    taint = left.taint | right.taint
    if left.kind is Kind.STRING and isinstance(operator, (ast.Mod, ast.Add, ast.Mult)):
        return strings.combined(frame, node, left, right, operator)
    if left.kind in CONTAINERS or left.kind is Kind.TUPLE:
        rows = [iteration.known(frame, side) for side in (left, right)] if isinstance(operator, ast.Add) else [None]
        if None not in rows and not frame.branches:
            return container(left.kind, *(entry for row in rows for entry in row or ())).with_taint(taint)
        taken = [container_flow.taken(frame, side) for side in (left, right)]
        elements = [heap.element for heap in taken if heap.element is not None]
        made = container(left.kind, *elements).with_taint(taint)
        if made.heap is not None:
            heaps = [heap for heap in (left.heap, right.heap) if heap is not None]
            made.heap.unsure = frame.branches > 0 or any(heap.unsure for heap in heaps)
        return made
    if left.kind is Kind.NUMPY or right.kind is Kind.NUMPY:
        # A tensor and an array make a tensor.
        others = {member.kind for member in (*left.alternatives(), *right.alternatives())}
        return UNKNOWN.with_taint(taint) if others & {Kind.UNKNOWN, *TENSORS} else Value(Kind.NUMPY, taint=taint)
    if left.kind in _NUMERIC and right.kind in _NUMERIC:
        return _arithmetic(frame, left, right, operator)
    if left.kind is Kind.UNION or right.kind is Kind.UNION:
        members = (*left.alternatives(), *right.alternatives())
        if any(member.kind in TENSORS for member in members):
            return _tensor_arithmetic(frame, left, right, operator)
    return UNKNOWN.with_taint(taint)


def _arithmetic(frame: Frame, left: Value, right: Value, operator: ast.operator) -> Value:
    """The result of an operator on numbers."""
    if isinstance(operator, ast.BitOr) and True in (left.const, right.const):
        return Value(Kind.BOOL, FRESH, const=True)
    is_rebound = frame.machine.mutations.is_rebound
    known = constant_folding.computed(is_rebound, operator, left, right) if frame.region or frame.static else None
    if known is not None:
        return known.with_taint(left.taint | right.taint)
    taint = _guarded(operator, left, right) if frame.region else symbols.arithmetic(operator, left, right)
    whole = isinstance(operator, _WHOLE) and left.is_whole and right.is_whole
    real = isinstance(operator, ast.Div) or left.is_real or right.is_real
    flags = ((left.flags | right.flags) & _OF_NUMBERS) | (Flag.WHOLE if whole else Flag.FLOATING if real else Flag.NONE)
    if (left.flags | right.flags) & Flag.LITERAL:
        flags |= known_tensors.literals(left, right)
    return Value(Kind.NUMBER, FRESH, flags=flags, taint=taint)


def _guarded(operator: ast.operator, left: Value, right: Value) -> frozenset[object]:
    """What a number of a region carries that is computed of two."""
    taint = left.taint | right.taint
    return coarsened(taint) if isinstance(operator, (ast.FloorDiv, ast.Mod, ast.BitAnd, ast.RShift)) else hidden(taint)


def _tensor_arithmetic(frame: Frame, left: Value, right: Value, operator: ast.operator) -> Value:
    """An elementwise result: sizes of tensors live on, Python numbers are consumed."""
    taint = _NO_TAINT
    flags = Flag.NONE
    for operand in (left, right):
        frame.sink(operand)
        if operand.kind in TENSORS:
            taint |= operand.taint
            flags |= operand.flags & (Flag.ATTACHED | Flag.FLOATING)
    flags |= Flag.BOOLEAN if dtypes.stays_boolean(operator, left, right) else Flag.NONE
    product = isinstance(operator, ast.MatMult)
    flags |= placement.elementwise((left, right)) | (Flag.NONE if product else dimensions.broadcast((left, right)))
    if taint and not frame.region:
        taint = symbolic_sizes.product(left, right) if product else symbolic_sizes.elementwise((left, right))
    return Value(Kind.TENSOR, FRESH, flags=flags | known_tensors.literals(left, right), taint=taint)


def _unary(frame: Frame, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        conditions.decide(frame, node.operand)
        verdict = frame.observer.truth(frame, node.operand)
        if frame.static and naming.is_chain(node.operand):
            verdict = constant_folding.truth(frame.machine.mutations.is_rebound, evaluate(frame, node.operand))
        answer = BOOL if verdict is None else BOOL._replace(const=not verdict)
        return answer.with_taint(_of_plain(frame, node.operand)) if frame.region else answer
    value = use(frame, node.operand)
    if value.kind in TENSORS:
        known = Flag.NONE if frame.region else known_tensors.literals(value)
        return Value(Kind.TENSOR, FRESH, flags=value.flags & ~Flag.LITERAL | known, taint=value.taint)
    if (told := frame.observer.operated(frame, node, value)) is not None:
        return told
    if value.kind is Kind.NUMBER and isinstance(node.op, ast.USub) and isinstance(value.const, (int, float)):
        return Value(Kind.NUMBER, FRESH, const=-value.const, taint=value.taint)
    if value.taint and isinstance(node.op, ast.USub) and not frame.region:
        value = value.with_taint(symbols.negated(value))
    return value.at(FRESH) if value.kind in (Kind.NUMBER, Kind.BOOL) else UNKNOWN.with_taint(value.taint)


def _of_plain(frame: Frame, node: ast.expr) -> frozenset[object]:
    """What a number or truth value carries."""
    value = evaluate(frame, node)
    return value.taint if value.kind in _NUMERIC else _NO_TAINT


def _boolean(frame: Frame, node: ast.BoolOp) -> Value:
    found: Value | None = None
    last = len(node.values) - 1
    saved = frame.env
    guarded = False  # one of the alternatives holds exactly while the compiler traces
    for index, part in enumerate(node.values):
        value = evaluate(frame, part)
        guarded = guarded or (isinstance(node.op, ast.Or) and bool(value.flags & Flag.TRACE_GUARD))
        verdict = frame.observer.truth_of(frame, value)
        if verdict is not None and index < last:
            if verdict is isinstance(node.op, ast.Or):
                found = join(found, value)
                break
            continue
        if index < last:
            deciding.on_value(frame, part, frame.consume(part, value))
            frame.env = conditions.narrowed(frame, part, dict(frame.env), truth=isinstance(node.op, ast.And))
        if isinstance(node.op, ast.Or) and value.kind is Kind.NONE and index < last:
            continue
        found = join(found, value)
    if frame.env is not saved:
        new = {name: value for name, value in frame.env.items() if name not in saved}
        frame.env = {**saved, **new}
    if guarded and found is not None and found.kind is Kind.BOOL:
        return found._replace(flags=found.flags | Flag.TRACE_GUARD)
    return found or UNKNOWN


_NUMERIC = (Kind.NUMBER, Kind.BOOL)


def _conditional(frame: Frame, node: ast.IfExp) -> Value:
    test = node.test
    around, frame.asked = frame.asked, about(test)
    chosen = _chosen(frame, test)
    frame.asked = around
    if chosen is not None:
        return evaluate(frame, node.body if chosen else node.orelse)
    saved = frame.env
    frame.env = conditions.narrowed(frame, test, dict(saved), truth=True)
    first = evaluate(frame, node.body)
    frame.env = conditions.narrowed(frame, test, dict(saved), truth=False)
    second = evaluate(frame, node.orelse)
    frame.env = saved
    if frame.opaque and shapes.is_copy_or(naming.names_at(frame), node.body, node.orelse):
        return first if first.place == FRESH else second
    return join(first, second)


def _chosen(frame: Frame, test: ast.expr) -> bool | None:
    """Which of two values a condition chooses; where that is open, what it reads decides."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    asked = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    if isinstance(asked, (ast.Call, ast.Name)) and evaluate(frame, asked).flags & Flag.TRACE_GUARD:
        frame.emit(Event.QUERY, asked, what=conditions.trace_question(asked), how=Question.COMPILING)
        return not negated
    verdict = conditions.settled_truth(frame, test)
    if verdict is None:
        conditions.decide(frame, test)
    return verdict


def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    base = evaluate(frame, node.value)
    key = index(frame, node.slice, base)
    if asked_types.asks_for_type(key):
        frame.emit(Event.QUERY, node.slice, key.place, key, ast.unparse(node.slice), how=Question.CLASS)
    return subscripts.subscript(frame, node, base, key)


def index(frame: Frame, node: ast.expr, base: Value = UNKNOWN) -> Value:
    """The value of a subscript of something; numbers that bound a slice decide a size."""
    if isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper, node.step):
            if bound is not None:
                value = use(frame, bound)
                frame.observer.bounded(frame, bound, base, value)
                frame.sink(value)
                frame.sized(value)
                if value.is_tensor and not (frame.region or frame.static or value.flags & Flag.LITERAL):
                    frame.emit(Event.ESCAPE, bound, value.place, value, "using a tensor as a Python integer")
        return SETTING
    return use(frame, node)


def _slice(frame: Frame, node: ast.Slice) -> Value:
    return index(frame, node)


def _tuple(frame: Frame, node: ast.Tuple) -> Value:
    return _literal(frame, Kind.TUPLE, node.elts)


def _list(frame: Frame, node: ast.List) -> Value:
    return _literal(frame, Kind.LIST, node.elts)


def _set(frame: Frame, node: ast.Set) -> Value:
    return _literal(frame, Kind.SET, node.elts)


def _literal(frame: Frame, kind: Kind, elements: list[ast.expr]) -> Value:
    heap = AbstractObject()
    taint: frozenset[object] = _NO_TAINT
    constant = True
    for element in elements[:_MAX_ELEMENTS]:
        value = frame.consume(element, evaluate(frame, element)) if not frame.static else evaluate(frame, element)
        if isinstance(element, ast.Starred):
            spread = iteration.known(frame, value) if kind is not Kind.SET and not heap.open else None
            for one in spread or ():
                heap.store(len(heap.items), one)
            constant = False
            if spread is not None:
                continue
            heap.open = True  # how many they are is not known, nor where the others are
            heap.loose = heap.element = join(heap.element, iteration.elements_of(frame, element, value))
            continue
        constant = constant and (value.const is not NO_CONSTANT or bool(value.flags & Flag.LITERAL))
        heap.store(NO_CONSTANT if kind is Kind.SET or heap.open else len(heap.items), value)
        taint |= value.taint if frame.region else symbols.beside(value)
    heap.open = heap.open or len(elements) > _MAX_ELEMENTS
    flags = Flag.LITERAL if constant else Flag.NONE
    return Value(kind, FRESH, heap=heap, flags=flags, taint=taint)


def _starred(frame: Frame, node: ast.Starred) -> Value:
    return use(frame, node.value)


_DICT = Value(Kind.DICT)


def _dict(frame: Frame, node: ast.Dict) -> Value:
    heap = AbstractObject()
    taint: frozenset[object] = _NO_TAINT
    for key, item in zip(node.keys[:_MAX_ELEMENTS], node.values[:_MAX_ELEMENTS], strict=True):
        name = use(frame, key) if key is not None else UNKNOWN
        if key is not None:
            frame.observer.entry_stored(frame, key, _DICT, name)
        value = use(frame, item)
        frame.sink(name)
        taint |= value.taint if frame.region else symbols.beside(value)
        if key is None:
            spread = container_flow.taken(frame, value)
            heap.items.update(spread.items)
            heap.open = heap.open or value.heap is None or value.heap.open or spread.loose is not None
            if spread.element is not None:
                heap.element = join(heap.element, spread.element)
            continue
        heap.items.pop(name.const, None)  # the last one of a key counts
        heap.store(name.const, value)
    return Value(Kind.DICT, FRESH, heap=heap, taint=taint)


def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    return Value(Kind.FUNCTION, FRESH, definition_values.function_of(frame, node, frame.offset))


def _walrus(frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(frame, node.value)
    frame.hold(node.target, value)
    frame.assign(node.target.id, value, node)
    return value


def _yield(frame: Frame, node: ast.Yield | ast.YieldFrom) -> Value:
    if frame.yields is None:
        frame.observer.yielded(frame, node)
    if node.value is not None:
        value = use(frame, node.value)
        frame.yields = heap = frame.yields or AbstractObject()
        whole = isinstance(node, ast.YieldFrom)
        found = iteration.known(frame, value) if whole else [value]
        frame.in_order = frame.in_order and frame.static and not frame.branches and found is not None
        heap.items = dict(enumerate([*heap.items.values(), *(found or ())])) if frame.in_order else {}
        heap.element = join(heap.element, iteration.elements_of(frame, node, value) if whole else value)
    return UNKNOWN


def _await(frame: Frame, node: ast.Await) -> Value:
    frame.observer.came_to(frame, node, Step.AWAIT)
    return use(frame, node.value)


_HANDLERS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: comparisons.compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.ListComp: comprehensions.made,
    ast.SetComp: comprehensions.made,
    ast.GeneratorExp: comprehensions.made,
    ast.DictComp: comprehensions.made,
    ast.Starred: _starred,
    ast.Lambda: _lambda,
    ast.JoinedStr: strings.joined,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Await: _await,
}
