"""Conditions: what deciding on a value means, and what is known in the branches."""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING

from nonstrict.events import Decision, Event, Question
from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.walk import own_scope, walk
from nonstrict.knowledge.markers import TRACE_QUESTIONS
from nonstrict.knowledge.operators import BASE_MODULE
from nonstrict.program.domain import refinements
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import NONE, PRIMITIVES, TENSOR, TENSORS, UNKNOWN, Flag, Kind, Value, join
from nonstrict.program.interpret import decided, settled
from nonstrict.program.objects import deciding
from nonstrict.program.objects.annotations import instance_of, promised_value
from nonstrict.program.objects.classes import bare_instance, lineage
from nonstrict.program.objects.naming import dotted, is_chain, names_in
from nonstrict.program.state.frames import Frame
from nonstrict.truth import of_condition

if TYPE_CHECKING:
    from collections.abc import Callable


#: Classes of which the text does not tell what their instances are.
_NOT_TOLD = frozenset({Kind.UNKNOWN, Kind.INSTANCE, Kind.OBJECT})
_SHOWN = frozenset({Event.READ, Event.QUERY})
#: Uses of what a region is given.
_USES = frozenset({Event.GUARD, Event.FLOAT})
#: Reads of Python state.
_COUNTED = frozenset({Event.READ, Event.ATTRIBUTE})


def decide(frame: Frame, node: ast.expr, *, checks: bool = False, refuses: bool = False) -> None:
    """A branch, loop or assertion depends on an expression.

    `checks` says that it only decides whether to go on or to tell something, `refuses` that it does so by raising.
    """
    if isinstance(node, ast.BoolOp):
        around = frame.branches
        for part in node.values:
            verdict = frame.observer.truth(frame, part)
            if verdict is None:
                decide(frame, part, checks=checks, refuses=refuses)
                frame.branches += frame.region  # what follows is asked only if this does not decide
            elif verdict is isinstance(node.op, ast.Or):
                break
        frame.branches = around
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        decide(frame, node.operand, checks=checks, refuses=refuses)
        return
    value = frame.consume(node, frame.machine.evaluate(frame, node))
    deciding.on_value(frame, node, value, refuses=refuses)
    by_data = any(effect.event is Event.ESCAPE for effect in value.taint)
    if value.flags & Flag.SHAPE and not by_data and not frame.static and not frame.region:
        frame.emit(Event.SHAPE, node, how=Decision.CHECK if checks else Decision.BRANCH)


def trace_verdict(frame: Frame, statement: ast.If) -> bool | None:
    """For a condition that only asks whether the compiler traces, which branch is traced; None for any other.

    A branch that computes is reported; one that only logs, warns or raises is how such a question is meant.
    """
    asked: list[ast.expr] = []

    def judge(part: ast.expr) -> bool | None:
        if not isinstance(part, (ast.Call, ast.Name)) or not _asks_for_tracing(frame, part):
            return None
        asked.append(part)
        return True

    verdict = of_condition(statement.test, judge)
    if verdict is not None and computes(statement) and not _only_leaves(frame, statement):
        frame.emit(Event.QUERY, asked[0], what=trace_question(asked[0]), how=Question.COMPILING)
    return verdict


def _asks_for_tracing(frame: Frame, asked: ast.expr) -> bool:
    """Whether an expression asks if the compiler traces: itself, or as a function of the program without parameters.

    Code that is not traced does not follow such functions: what they return there is told as a region sees it.
    """
    if frame.machine.evaluate(frame, asked).flags & Flag.TRACE_GUARD:
        return True
    if not (frame.static and isinstance(asked, ast.Call)) or asked.args or asked.keywords:
        return False
    callee = frame.machine.evaluate(frame, asked.func)
    if callee.function is None or parameter_names(callee.function.node.args):
        return False
    names = names_in(frame.machine, callee.function)
    inside = (node for node in own_scope(callee.function.node) if isinstance(node, ast.Call))
    if not any(names(call.func) in TRACE_QUESTIONS for call in inside):
        return False
    tracing = Frame(
        frame.machine, frame.module, frame.offset, Summary("question"), observer=frame.machine.contracts.observer
    )
    return bool(frame.machine.call(tracing, asked, callee, [], {}).flags & Flag.TRACE_GUARD)


def _only_leaves(frame: Frame, statement: ast.If) -> bool:
    """Whether a function that returns nothing is left early: what it checks or logs is not meant for tracing."""
    blocks = [block for block in (statement.body, statement.orelse) if block]
    leaves = all(isinstance(block[-1], ast.Return) and len(block) == 1 for block in blocks)
    function = frame.function
    if not leaves or function is None:
        return False
    returns = (node for node in own_scope(function.node) if isinstance(node, ast.Return))
    return all(node.value is None or getattr(node.value, "value", ...) is None for node in returns)


def trace_question(asked: ast.expr) -> str:
    """How a question whether the compiler traces is asked, also where a variable holds the answer."""
    return ast.unparse(asked) if isinstance(asked, ast.Call) else "torch.compiler.is_compiling()"


def forget_output(frame: Frame, known: set[tuple[object, ...]]) -> None:
    """Output behind a question whether the compiler traces is meant for tracing."""
    effects = frame.summary.effects
    for key in [key for key, effect in effects.items() if key not in known and effect.event is Event.IO]:
        del effects[key]


def forget_reads(frame: Frame, known: set[tuple[object, ...]]) -> None:
    """What the message of an exception shows decides no result."""
    effects = frame.summary.effects
    for key in [key for key, effect in effects.items() if key not in known and effect.event in _SHOWN]:
        if effects[key].event is Event.QUERY or effects[key].value.kind in PRIMITIVES:
            del effects[key]


def forget_uses(frame: Frame, known: set[tuple[object, ...]]) -> None:
    """What is used where nothing but an exception follows: a call of a region that goes on does not come there."""
    effects = frame.summary.effects
    for key in [key for key, effect in effects.items() if key not in known and effect.event in _USES]:
        del effects[key]


def forget_counted(frame: Frame, known: set[tuple[object, ...]], steps: tuple[str, ...]) -> None:
    """What a captured number held decides only what it holds next, which the store tells."""
    effects = frame.summary.effects
    for key in [key for key, effect in effects.items() if key not in known and effect.event in _COUNTED]:
        place, value = effects[key].place, effects[key].value
        if place.name == steps[0] and place.path == steps[1 : 1 + len(place.path)] and value.kind not in TENSORS:
            del effects[key]


def settled_truth(frame: Frame, test: ast.expr) -> bool | None:
    """Which branch of a region Dynamo takes, or a script with the objects that it makes; None where that is open."""
    if frame.static:
        return settled.truth(frame, test)
    verdict = frame.observer.truth(frame, test)
    verdict = settled.constant(frame, test) if verdict is None else verdict
    return decided.truth(frame, test) if verdict is None else verdict


def marks_what_it_asks(frame: Frame, statement: ast.If) -> bool:
    """Whether an attribute is set by the branch alone that asks for it: `if self.fn is None: self.fn = mark(f)`."""
    test = statement.test
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Attribute):
        return False
    held = frame.machine.evaluate(frame, test.left).alternatives()
    marks = [value.mark for value in held]
    inside = {id(node) for one in statement.body for node in walk(one)}
    return all(mark is not None and id(mark.node) in inside for mark in marks)


def none_verdict(frame: Frame, test: ast.expr) -> bool | None:
    """Which branch runs for `x is None` where a local variable surely is None, and for `x` where it is a callable."""
    if isinstance(test, ast.Name):
        return True if frame.scope is not None and decided.is_callable(frame.env.get(test.id, UNKNOWN)) else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return None
    operator, right = test.ops[0], test.comparators[0]
    if not isinstance(operator, (ast.Is, ast.IsNot)) or not isinstance(right, ast.Constant) or right.value is not None:
        return None
    scope, name = frame.scope, test.left.id
    held = frame.env.get(name, UNKNOWN) if scope is not None and name in scope.local else UNKNOWN
    if held.kind is not Kind.NONE and not decided.is_callable(held):
        return None
    return (held.kind is Kind.NONE) is isinstance(operator, ast.Is)


def refuses(statement: ast.If) -> bool:
    """Whether a branch does nothing but raise."""
    return all(isinstance(inner, (ast.Raise, ast.Pass)) for inner in statement.body) and not statement.orelse


def computes(statement: ast.If) -> bool:
    """Whether a branch binds or returns something."""
    kept = (ast.Expr, ast.Raise, ast.Pass, ast.Assert, ast.Import, ast.ImportFrom)
    if refuses(statement):
        return False
    return any(not isinstance(inner, kept) for inner in (*statement.body, *statement.orelse))


def narrowed(frame: Frame, test: ast.expr, env: dict[str, Value], *, truth: bool) -> dict[str, Value]:
    """The variables in a branch: `is None`, `is not None`, `isinstance`, and plain truth rule alternatives out."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrowed(frame, test.operand, env, truth=not truth)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) != truth:
            return _either(env, [narrowed(frame, part, dict(env), truth=truth) for part in test.values])
        for part in test.values:
            env = narrowed(frame, part, env, truth=truth)
        return env
    if isinstance(test, ast.Compare) and _differ(test, truth=truth):
        _tell_apart(env, test.left, test.comparators[0])
        _tell_apart(env, test.comparators[0], test.left)
    if isinstance(test, ast.Compare) and _with_none(test):
        wanted = isinstance(test.ops[0], (ast.Is, ast.Eq)) == truth
        _keep_present(frame, env, _asked(frame, env, test.left), lambda value: (value.kind is Kind.NONE) == wanted)
    if isinstance(test, (ast.Name, ast.Attribute, ast.NamedExpr)) and truth:
        _keep_present(frame, env, _asked(frame, env, test), lambda value: value.kind is not Kind.NONE)
    asked = _asked_types(frame, test)
    if asked is not None:
        _narrow_instance(frame, *asked, env, truth=truth)
    return env


def _either(env: dict[str, Value], cases: list[dict[str, Value]]) -> dict[str, Value]:
    """What is known where one of several conditions holds: of a variable, what each of them tells."""
    for name, known in list(env.items()):
        told = [case.get(name, UNKNOWN) for case in cases]
        if all(value is not known for value in told):
            env[name] = reduce(join, told)
    return env


def _asked_types(frame: Frame, test: ast.expr) -> tuple[ast.expr, list[Value], list[str]] | None:
    """What is asked for its type, and for which: `isinstance(x, (list, tuple))`, `type(x) is list`, `is_tensor(x)`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Is, ast.Eq)):
        left = test.left if isinstance(test.left, ast.Call) and len(test.left.args) == 1 else None
        subject = left.args[0] if left is not None and dotted(frame, left.func) == "builtins.type" else None
        classes = test.comparators
    elif not isinstance(test, ast.Call) or not test.args:
        return None
    elif getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2:
        subject, given = test.args
        classes = given.elts if isinstance(given, ast.Tuple) else _either_class(given)
    elif dotted(frame, test.func) == "torch.is_tensor":
        return test.args[0], [TENSOR], ["torch.Tensor"]
    else:
        return None
    if subject is None:
        return None
    return (
        subject,
        [_instance_of(frame, one) for one in classes],
        [ast.unparse(one) for one in classes],
    )


def _instance_of(frame: Frame, node: ast.expr) -> Value:
    """An instance of what a type is compared with; what its constructor does is looked at once there is one."""
    if not is_chain(node):
        return promised_value(frame, node, FRESH)
    named = frame.machine.evaluate(frame, node)
    if named.kind is Kind.CLASS and named.of_class is not None:
        return bare_instance(named.of_class, FRESH)
    return instance_of(frame, named, FRESH)


def _either_class(node: ast.expr) -> list[ast.expr]:
    """The classes of `int | float`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_either_class(node.left), *_either_class(node.right)]
    return [node]


def _asked(frame: Frame, env: dict[str, Value], node: ast.expr) -> str:
    """The name among the variables of what a condition asks for; attributes are put among them for that."""
    if isinstance(node, ast.NamedExpr):
        return node.target.id
    key = refinements.key_of(node)
    if isinstance(node, ast.Attribute) and key and key not in env and (frame.static or frame.region):
        held = frame.machine.evaluate(frame, node)
        if held.kind in (Kind.UNION, Kind.NONE):
            env[key] = held
            frame.refined = True
    return key


def _differ(test: ast.Compare, *, truth: bool) -> bool:
    """Whether a comparison has told that two objects are not the same one."""
    return len(test.ops) == 1 and isinstance(test.ops[0], ast.Is if not truth else ast.IsNot)


def _tell_apart(env: dict[str, Value], left: ast.expr, right: ast.expr) -> None:
    """A tensor in a variable is not the argument that another one holds: then it was made here."""
    if not isinstance(left, ast.Name) or not isinstance(right, ast.Name):
        return
    value, other = env.get(left.id, UNKNOWN), env.get(right.id, UNKNOWN)
    if other.place.root is not Root.ARGUMENT or other.place.path or other.flags & Flag.MAYBE:
        return
    if value.kind is Kind.TENSOR and value.place == other.place and value.flags & Flag.MAYBE:
        env[left.id] = value.at(FRESH)._replace(flags=value.flags & ~Flag.MAYBE)
    _keep(env, left.id, lambda one: one.kind not in TENSORS or one.place != other.place)


def _with_none(test: ast.Compare) -> bool:
    right = test.comparators[0]
    return len(test.ops) == 1 and isinstance(right, ast.Constant) and right.value is None


def _narrow_instance(
    frame: Frame, subject: ast.expr, types: list[Value], names: list[str], env: dict[str, Value], *, truth: bool
) -> None:
    name = _asked(frame, env, subject)
    value = env.get(name)
    if value is None:
        return
    asked = types[0].at(value.place)
    if len(types) > 1 and not (asked.is_tensor and asked.ref is not None):
        _narrow_to_any(env, name, types, truth=truth)
        return
    if asked.kind is Kind.UNKNOWN or asked.kind is Kind.INSTANCE:
        # A class that is not known; a tensor that is one of its instances has attributes of its own.
        asked = Value(Kind.TENSOR, value.place, names[0]) if _tensor_in(value) else asked
    if asked.kind is Kind.UNKNOWN or asked.kind is Kind.INSTANCE:
        return
    if not truth:
        _keep(env, name, lambda member: not _covers(asked, member))
        return
    tensor = _tensor_in(value) if asked.is_tensor and asked.ref is not None else None
    if value.kind is Kind.UNKNOWN or tensor is not None or _inherits(asked, value):
        place = tensor.place if tensor is not None else asked.place
        made = frame.machine.instance_at(asked.of_class, place) if asked.of_class is not None else asked.at(place)
        env[name] = made.with_taint(value.taint)
    elif value.kind in (Kind.UNION, Kind.NONE):
        _keep(env, name, lambda member: member.kind is asked.kind or (member.is_tensor and asked.is_tensor))
        _as_asked(frame, env, name, asked)


def _as_asked(frame: Frame, env: dict[str, Value], name: str, asked: Value) -> None:
    """What a variable may hold of a class from which the one that is asked for is derived is of that one."""
    value = env[name]
    cls = asked.of_class
    if cls is None or not any(_inherits(asked, member) for member in value.alternatives()):
        return
    told = [
        frame.machine.instance_at(cls, member.place) if _inherits(asked, member) else member
        for member in value.alternatives()
    ]
    env[name] = reduce(join, told).with_taint(value.taint)


def _inherits(asked: Value, value: Value) -> bool:
    """Whether the class that is asked for is derived from the one that an object is known to be of."""
    cls = asked.of_class
    return cls is not None and value.of_class is not cls and (value.of_class or value.dotted) in lineage(cls)


def _narrow_to_any(env: dict[str, Value], name: str, types: list[Value], *, truth: bool) -> None:
    """One of several classes is asked for; where some of them is not known, only what surely is an instance is told."""
    if not truth:
        _keep(env, name, lambda member: not any(_covers(asked, member) for asked in types))
        return
    if env[name].kind is not Kind.UNION or any(asked.kind in _NOT_TOLD for asked in types):
        return
    kinds = {asked.kind for asked in types}
    if Kind.NUMBER in kinds:
        kinds.add(Kind.BOOL)
    tensors = any(asked.is_tensor for asked in types)
    _keep(env, name, lambda member: member.kind in kinds or (member.is_tensor and tensors) or member.kind in _NOT_TOLD)


def _tensor_in(value: Value) -> Value | None:
    """The plain tensor that a value is or may be."""
    return next((member for member in value.alternatives() if member.is_tensor and member.ref is None), None)


def _covers(asked: Value, member: Value) -> bool:
    """Whether whatever a member may be is surely an instance of the class that is asked for."""
    return member.kind is asked.kind and asked.ref in (None, BASE_MODULE, member.ref)


def _keep_present(frame: Frame, env: dict[str, Value], name: str, wanted: Callable[[Value], bool]) -> None:
    """Rule out alternatives; what an attribute was set to, its place still tells code that is not traced."""
    before = env.get(name)
    _keep(env, name, wanted)
    if frame.static and before is not None and before.kind is Kind.NONE and env[name].kind is Kind.UNKNOWN:
        env[name] = UNKNOWN.at(before.place)


def _keep(env: dict[str, Value], name: str, wanted: Callable[[Value], bool]) -> None:
    """Rule out the alternatives of a variable that are not wanted; an attribute was set to something else then."""
    value = env.get(name)
    if value is not None and value.kind is Kind.NONE and "." in name and not wanted(value):
        env[name] = UNKNOWN
    if value is not None and value.flags & Flag.OPTIONAL and not wanted(NONE):
        env[name] = value = value._replace(flags=value.flags & ~Flag.OPTIONAL)
    if value is not None and value.kind is Kind.UNKNOWN and not wanted(NONE):
        env[name] = value._replace(flags=value.flags | Flag.GIVEN)
    if value is None or value.kind is not Kind.UNION:
        return
    given = 0 if wanted(NONE) else Flag.GIVEN
    left = tuple(
        one._replace(flags=one.flags | given) if one.kind is Kind.UNKNOWN else one
        for one in value.alternatives()
        if wanted(one)
    )
    if len(left) == 1:
        env[name] = left[0].with_taint(value.taint)
    elif left:
        env[name] = value.with_alternatives(left)
