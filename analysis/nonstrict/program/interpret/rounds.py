"""How often loops and comprehensions around an expression run that give it another value in each round."""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING

from nonstrict.facts.loops import looping
from nonstrict.facts.memo import remembered
from nonstrict.facts.reaching import source
from nonstrict.facts.shapes import shape
from nonstrict.facts.walk import walk
from nonstrict.models.members import REMOVING, STORING
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.values import UNKNOWN, Kind
from nonstrict.program.interpret import stepping
from nonstrict.program.objects import iteration, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.program.domain.values import Value
    from nonstrict.program.interpret.stepping import Loop
    from nonstrict.program.state.frames import Frame

_LISTED = frozenset({Kind.LIST, Kind.TUPLE, Kind.ITERATOR})
#: How often a loop runs of which that is not known.
SOME = 2
#: The same for one that counts: nobody writes that for a few rounds.
MANY = 1 << 16


def rounds(frame: Frame, call: ast.AST, expression: ast.expr, counting: int = SOME) -> int:
    """How often loops around a call in a frame give an expression of it another value; 0 if none does.

    `counting` is said of loops that count up to what is not known.
    """
    around = naming.text_of(frame)
    return max(_loops(around, call, expression, frame, counting), default=0)


def _loops(
    around: ast.AST, call: ast.AST, expression: ast.expr, frame: Frame | None = None, counting: int = SOME
) -> Iterator[int]:
    """How often the loops around a call run that give an expression of it another value each time."""
    names = {node.id for node in walk(expression) if isinstance(node, ast.Name)}
    for node in looping(around):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if in_rounds(node, call) and mentions(expression, _changing(frame, node)):
                apart = tells_apart(frame, expression, _distinct_in(frame, node))
                yield turns(frame, node, counting) if apart else SOME
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) and any(
            inner is call for inner in walk(node.elt)
        ):
            for generator in node.generators:
                if _stores_any(generator.target, names):
                    apart = not generator.ifs and tells_apart(frame, expression, _stored_in(generator.target))
                    yield length(frame, generator.iter, counting) if apart else SOME


def over(frame: Frame, call: ast.AST, expression: ast.expr) -> str:
    """What is gone through, and how it is used: where both are the same in two places, so are the values."""
    loops = (node for node in looping(naming.text_of(frame)) if isinstance(node, (ast.For, ast.AsyncFor)))
    around = [loop for loop in loops if in_rounds(loop, call) and mentions(expression, _stored_in(loop.target))]
    heads = [ast.dump(part) for loop in around for part in (loop.target, loop.iter)]
    return "|".join([*heads, ast.dump(expression)]) if heads else ""


def entries_in_loop(frame: Frame, call: ast.AST, expression: ast.expr | None) -> Sequence[Value]:
    """What a loop around a call gives a variable, one after the other; none where that is not all known."""
    around = naming.text_of(frame)
    for loop in walk(around) if isinstance(expression, ast.Name) else ():
        if isinstance(loop, ast.For) and holds(loop.body, call) and _is_called(loop.target, expression):
            return iteration.entries(frame, frame.machine.evaluate(frame, loop.iter)) or ()
    return ()


def _is_called(target: ast.expr, name: ast.expr | None) -> bool:
    return isinstance(target, ast.Name) and isinstance(name, ast.Name) and target.id == name.id


def turns(frame: Frame | None, loop: Loop, counting: int = SOME) -> int:
    """How often a loop runs; one that counts and ends at a number, not more often than that."""
    number = counting if isinstance(loop, ast.While) else length(frame, loop.iter, counting)
    return min((number, *_ends(frame, loop)))


def _ends(frame: Frame | None, loop: Loop) -> Iterator[int]:
    """The numbers at which a loop ends: `while step < 5`, `if step == 5: break`."""
    tests = [(loop.test, True)] if isinstance(loop, ast.While) else []
    inside = [node for part in loop.body for node in walk(part)]
    left = (node.test for node in inside if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Break))
    tests += [(test, False) for test in left]
    changing = _distinct_in(frame, loop) if tests else set[str]()
    for test, goes_on in tests:
        if isinstance(test, ast.Compare) and len(test.comparators) == 1 and mentions(test.left, changing):
            bound = _constant(frame, test.comparators[0])
            known = isinstance(bound, (int, float))
            told = stepping.values_until(frame, loop, test, bound, goes_on=goes_on) if known else 0
            if told is None and isinstance(bound, int) and bound >= 0:
                yield max(bound + 1, SOME)
            elif told:
                yield max(told if goes_on else told + 1, SOME)


def varies_in_loop(around: ast.AST, call: ast.AST, expression: ast.expr) -> bool:
    """Whether a loop around a call gives an expression another value each time."""
    return any(True for _ in _loops(around, call, expression))


def holds(body: Sequence[ast.AST], call: ast.AST) -> bool:
    """Whether an expression stands in some statements."""
    return any(inner is call for part in body for inner in walk(part))


def in_rounds(loop: Loop, node: ast.AST) -> bool:
    """Whether a loop comes to an expression in each round: in its body, or as a target that it sets."""
    target = loop.body[0] if isinstance(loop, ast.While) else loop.target
    return holds(loop.body, node) or any(part is node for part in walk(target))


class _Loops:
    """What was found out about loops, by the frame that runs them."""

    def __init__(self) -> None:
        self.changing: dict[tuple[Frame, Loop], set[str]] = {}


def _changing(frame: Frame | None, loop: Loop) -> set[str]:
    """The variables and attributes that have another value in each round: counters, and what follows from them."""
    if frame is None:
        return _found_changing(None, loop)
    known = frame.machine.part(_Loops).changing
    if (frame, loop) not in known:
        known[frame, loop] = _found_changing(frame, loop)
    return known[frame, loop]


def _found_changing(frame: Frame | None, loop: Loop) -> set[str]:
    found = set[str]()
    if not isinstance(loop, ast.While):
        found = _stored_in(loop.target)
    inside = [node for part in loop.body for node in walk(part)]
    found |= counted_in(frame, inside)
    lengths = _lengths(loop)
    found |= lengths
    for node in inside:
        if not isinstance(node, ast.Assign):
            continue
        if (mentions(node.value, found) and not _computes(node.value)) or mentions(node.value, lengths):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def counted_in(frame: Frame | None, inside: list[ast.AST], *, apart: bool = False) -> set[str]:
    """The variables and attributes that go on from their own value by a number: `step += 1`, `lr = lr * gamma`.

    With `apart` only those that never come to a value twice.
    """
    steps = [step for node in inside if (step := stepping.step_of(frame, node)) is not None]
    counted = (one for one in steps if not (apart and stepping.may_return(frame, one, inside)))
    return {ast.unparse(one.target) for one in counted if isinstance(one.target, (ast.Name, ast.Attribute))}


def grows(loop: Loop, spelled: str) -> bool:
    """Whether every round of a loop adds to a container and takes nothing out of it."""
    runs = frozenset(_stored_in(loop.target)) if not isinstance(loop, ast.While) else frozenset[str]()
    changes = {_change_of(node, spelled, runs) for part in loop.body for node in walk(part)}
    return bool(changes & ADDING) and not changes - ADDING - {""}


def _lengths(loop: Loop) -> set[str]:
    """How the lengths of the containers are asked for that grow from round to round."""
    return remembered(loop, "_nonstrict_lengths", _found_lengths)


def _found_lengths(loop: Loop) -> set[str]:
    calls = [node for part in loop.body for node in walk(part) if isinstance(node, ast.Call)]
    asked = {ast.unparse(call) for call in calls if _is_length(call)}
    return {one for one in asked if grows(loop, one[len("len(") : -1])}


def _is_length(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len" and len(node.args) == 1


#: Methods after which a container has more entries; a dict grows by others only where the key is a new one.
ADDING = STORING - {"setdefault", "update", "__setitem__"}


def _change_of(node: ast.AST, spelled: str, runs: frozenset[str]) -> str:
    """What a node does to a container: the method that it calls; "" for nothing. `runs` differs from round to round."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changes = node.func.attr in ADDING or node.func.attr in REMOVING
        return node.func.attr if changes and ast.unparse(node.func.value) == spelled else ""
    if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == spelled:
        return "extend" if isinstance(node.value, (ast.List, ast.Tuple)) else "changed"
    if isinstance(node, ast.Assign) and any(ast.unparse(target) == spelled for target in node.targets):
        added = isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add)
        return "extend" if added and mentions(node.value, {spelled}) else "changed"
    stored = (
        [target for target in node.targets if isinstance(target, ast.Subscript)] if isinstance(node, ast.Assign) else []
    )
    if any(ast.unparse(target.value) == spelled and _is_new(target.slice, runs) for target in stored):
        return "add"
    deleted = isinstance(node, ast.Delete) and any(mentions(target, {spelled}) for target in node.targets)
    return "changed" if deleted else ""


def _is_new(key: ast.expr, runs: frozenset[str]) -> bool:
    """Whether a key is another one in every round: the loop's variable, or text or a tuple that holds it."""
    if isinstance(key, ast.JoinedStr):
        return any(_is_new(part.value, runs) for part in key.values if isinstance(part, ast.FormattedValue))
    if isinstance(key, ast.Tuple):
        return any(_is_new(part, runs) for part in key.elts)
    return isinstance(key, ast.Name) and key.id in runs


def _distinct_in(frame: Frame | None, loop: Loop) -> set[str]:
    """Of the variables and attributes that change from round to round, those that never have the same value twice."""
    inside = [node for part in loop.body for node in walk(part)]
    found = _stored_in(loop.target) if not isinstance(loop, ast.While) else set[str]()
    found |= counted_in(frame, inside, apart=True)
    given = [node for node in inside if isinstance(node, ast.Assign) and stepping.step_of(frame, node) is None]
    for node in given:
        if tells_apart(frame, node.value, found):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in given:
        if not tells_apart(frame, node.value, found):
            found -= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


_BOUNDS = frozenset({"builtins.min", "builtins.max"})
#: Bases and exponents with which powers of several numbers are one number.
_FLAT = frozenset({None, 0, 1, -1})


def tells_apart(frame: Frame | None, node: ast.expr, distinct: set[str]) -> bool:
    """Whether an expression surely has another value where some variables have: it is one, or writes one into text."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node) in distinct
    if isinstance(node, (ast.JoinedStr, ast.Tuple)):
        return any(
            tells_apart(frame, part, distinct)
            for part in (node.values if isinstance(node, ast.JoinedStr) else node.elts)
        )
    if isinstance(node, ast.FormattedValue):
        return tells_apart(frame, node.value, distinct)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        fixed = not all(mentions(side, distinct) for side in sides)
        added = isinstance(node.op, (ast.Add, ast.Sub)) and fixed
        written = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
        known = [_constant(frame, side) for side in sides]
        scaled = isinstance(node.op, (ast.Mult, ast.Div)) and any(known)
        raised = isinstance(node.op, ast.Pow) and any(constant not in _FLAT for constant in known)
        kept = added or written or scaled or raised or _is_ratio(frame, node)
        return any(tells_apart(frame, side, distinct) for side in sides) if kept else False
    if isinstance(node, ast.Call):
        if frame is not None and naming.names_at(frame)(node.func) in _BOUNDS:
            return _is_bounded(frame, node, distinct)
        writes = isinstance(node.func, ast.Attribute) and node.func.attr == "format"
        named = getattr(node.func, "id", "")
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            return tells_apart(frame, node.func.value, distinct)
        keeps = writes or named in ("str", "repr", "float") or (bool(named) and _makes_object(frame, node.func))
        return keeps and any(tells_apart(frame, part, distinct) for part in node.args)
    return False


def _is_bounded(frame: Frame | None, node: ast.Call, distinct: set[str]) -> bool:
    """Whether a fraction goes on up to a bound, as rates that warm up do: `min(1.0, step / 1000)`."""
    varying = [part for part in node.args if mentions(part, distinct)]
    fine = [one for one in varying if any(_divides(inner) for inner in walk(one))]
    return len(node.args) > len(varying) == len(fine) == 1 and tells_apart(frame, fine[0], distinct)


def _divides(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _is_ratio(frame: Frame | None, node: ast.BinOp) -> bool:
    """Whether something is divided by itself, with another number added to each: `(1 + n) / (10 + n)`."""
    sums = [_as_sum(frame, side) for side in (node.left, node.right)]
    (one, above), (other, below) = sums
    return _divides(node) and one == other != "" and above != below


def _as_sum(frame: Frame | None, node: ast.expr) -> tuple[str, float]:
    """What is added to which expression, "" where that is not known."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return ("", 0) if isinstance(node, ast.BinOp) else (ast.unparse(node), 0)
    for one, other in ((node.left, node.right), (node.right, node.left)):
        known = _constant(frame, other)
        if isinstance(known, (int, float)):
            return ast.unparse(one), known
    return "", 0


def _makes_object(frame: Frame | None, function: ast.expr) -> bool:
    """Whether a class of the program is called: what its objects are given tells them apart."""
    return frame is not None and frame.machine.evaluate(frame, function).kind is Kind.CLASS


def _stored_in(target: ast.expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def _computes(node: ast.expr) -> bool:
    """Whether an expression calls something other than a conversion: what that gives is not known."""
    calls = (inner for inner in walk(node) if isinstance(inner, ast.Call))
    return any(getattr(call.func, "id", "") not in ("str", "float", "abs", "max", "min") for call in calls)


def mentions(node: ast.expr, spelled: set[str]) -> bool:
    """Whether an expression has a part that is one of some variables, attributes and lengths."""
    parts = (inner for inner in walk(node) if isinstance(inner, (ast.Name, ast.Attribute)) or _is_length(inner))
    return bool(spelled) and any(ast.unparse(inner) in spelled for inner in parts)


def _stores_any(target: ast.expr, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in walk(target))


def length(frame: Frame | None, iterable: ast.expr, counting: int = SOME) -> int:
    """How many elements a loop runs over, `counting` for a range with bounds that are not known; at least some."""
    if isinstance(iterable, (ast.List, ast.Tuple, ast.Set)):
        calls = [element for element in iterable.elts if isinstance(element, ast.Call)]  # another object each
        return len({ast.dump(element) for element in iterable.elts if element not in calls}) + len(calls)
    if isinstance(iterable, (ast.ListComp, ast.GeneratorExp)) and not any(one.ifs for one in iterable.generators):
        return prod(length(frame, one.iter, counting) for one in iterable.generators)
    if isinstance(iterable, ast.Call):
        name = getattr(iterable.func, "id", "")
        if name == "range" and iterable.args:
            return _counted(frame, iterable.args, counting)
        if name in ("enumerate", "sorted", "list", "reversed", "tuple") and iterable.args:
            return length(frame, iterable.args[0], counting)
        if name == "zip" and iterable.args:
            return min(length(frame, part, counting) for part in iterable.args)
    made = source(naming.text_of(frame), iterable) if frame is not None else iterable
    if made is not iterable:
        return length(frame, made, counting)
    if frame is not None and isinstance(iterable, ast.Call) and (rows := _of_tensor(frame, iterable)) is not None:
        return max(_counted(frame, [rows], counting), SOME)
    held = frame.machine.evaluate(frame, iterable) if frame is not None else UNKNOWN
    if held.heap is None or held.heap.loose is not None or held.heap.open:
        return SOME
    if held.kind is Kind.DICT:
        return max(len(held.heap.items), SOME)
    return max(_different(held.heap.items.values()), SOME) if held.kind in _LISTED else SOME


def _of_tensor(frame: Frame, made: ast.Call) -> ast.expr | None:
    """How many rows a tensor has that is made there, as itself or as a list of its numbers: `.tolist()`."""
    listed = isinstance(made.func, ast.Attribute) and made.func.attr == "tolist"
    tensor = made.func.value if listed and isinstance(made.func, ast.Attribute) else made
    sizes = shape(naming.names_at(frame), naming.text_of(frame), tensor)
    return sizes[0] if sizes else None


def _counted(frame: Frame | None, bounds: list[ast.expr], counting: int) -> int:
    """How many numbers a range has."""
    told = [frame.machine.evaluate(frame, bound).const if frame is not None else _literal(bound) for bound in bounds]
    whole = [bound for bound in told if isinstance(bound, int)]
    return len(range(*whole)) if len(whole) == len(bounds) and 0 not in whole[2:] else counting


def _constant(frame: Frame | None, node: ast.expr) -> float | str | None:
    """The number or text that an expression is; None where it is not known to be one."""
    known = frame.machine.evaluate(frame, node).const if frame is not None else _literal(node)
    return known if isinstance(known, (int, float, str)) else None


def _literal(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _different(entries: Iterable[Value]) -> int:
    """How many of some entries surely differ, or are not known to be the same."""
    constants = [key_of(value) for value in entries]
    return len(set(constants) - {None}) + constants.count(None)
