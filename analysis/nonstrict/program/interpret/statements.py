"""Statements: control flow joined, loops run until their variables settle, stores handed to `stores`."""

from __future__ import annotations

import ast
import sys
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.events import Event, Step
from nonstrict.facts import fallthrough
from nonstrict.facts.memo import remembered
from nonstrict.facts.steps import rebuilt
from nonstrict.facts.walk import walk
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.exceptions import handles
from nonstrict.program.domain.values import BOOL, NONE, UNKNOWN, Flag, Kind, Value, join
from nonstrict.program.externals import differentiation
from nonstrict.program.interpret import assignments, conditions, only_effects, settled
from nonstrict.program.interpret.expressions import evaluate, use
from nonstrict.program.objects import deciding, definition_values, iteration, strict_switch
from nonstrict.program.state import asked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.program.state.frames import Frame

_LOOP_ROUNDS = 2


def execute(frame: Frame, body: Sequence[ast.stmt]) -> None:
    """Run statements until one leaves the function."""
    for statement in body:
        if frame.done:
            return
        handler = _HANDLERS.get(type(statement))
        if handler is not None:
            handler(frame, statement)


def _expression(frame: Frame, statement: ast.Expr) -> None:
    if isinstance(statement.value, ast.Constant):
        return
    value = statement.value
    if isinstance(value, (ast.Yield, ast.Await, ast.YieldFrom)):
        evaluate(frame, value)
        return
    result = evaluate(frame, value)
    if result.kind is Kind.INSTANCE and result.dotted.endswith("set_grad_enabled"):
        frame.emit(Event.TORCH_STATE, value, value=BOOL, what="torch.set_grad_enabled")


def _assign(frame: Frame, statement: ast.Assign) -> None:
    counted = _counted(frame, statement)
    known = set(frame.summary.effects) if counted else set[tuple[object, ...]]()
    # Reading captured state into a local is not yet a use of it.
    value = evaluate(frame, statement.value)
    if counted:
        conditions.forget_counted(frame, known, counted)
    for target in statement.targets:
        assignments.store(frame, target, value, statement.value)


def _counted(frame: Frame, statement: ast.Assign) -> tuple[str, ...]:
    """The steps to what is not local and computed from what it held; empty for other assignments."""
    first = statement.targets[0]
    local = isinstance(first, ast.Name) and (frame.scope is None or first.id in frame.scope.local)
    return rebuilt(statement) if not local and not frame.static and not isinstance(first, ast.Tuple) else ()


def _annotated(frame: Frame, statement: ast.AnnAssign) -> None:
    if statement.value is not None:
        value = evaluate(frame, statement.value)
        if value.kind is Kind.UNKNOWN:
            value = frame.machine.annotated(frame, statement.annotation, FRESH)
        assignments.store(frame, statement.target, value, statement.value)
    elif isinstance(statement.target, ast.Name):
        frame.env[statement.target.id] = frame.machine.annotated(frame, statement.annotation, FRESH)


def _augmented(frame: Frame, statement: ast.AugAssign) -> None:
    assignments.augment(frame, statement)


def _return(frame: Frame, statement: ast.Return) -> None:
    value = use(frame, statement.value) if statement.value is not None else NONE
    frame.returned(statement, value)
    frame.done = True
    frame.endings.add(ast.Return)


def _raise(frame: Frame, statement: ast.Raise) -> None:
    name, raised = "", UNKNOWN
    if statement.exc is not None:
        target = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        name = getattr(target, "id", getattr(target, "attr", ""))
        raised = _raised(frame, target)
        if isinstance(statement.exc, ast.Call):
            known = set(frame.summary.effects)
            for argument in statement.exc.args:
                evaluate(frame, argument)
            conditions.forget_reads(frame, known)
    if not handles(frame.caught, name, raised):
        frame.emit(Event.RAISE, statement, value=raised, what=name)
        frame.observer.raised(frame, statement)
    frame.done = True
    frame.endings.add(ast.Return)


def _raised(frame: Frame, target: ast.expr) -> Value:
    """The class of an exception, or the exception itself, as far as a name or the attribute of a file tells it."""
    holder = target.value if isinstance(target, ast.Attribute) else target
    if not isinstance(holder, ast.Name):
        return UNKNOWN
    value = evaluate(frame, holder)
    plain = holder is target or value.kind is Kind.PYTHON_MODULE
    return evaluate(frame, target) if plain else UNKNOWN


def _assert(frame: Frame, statement: ast.Assert) -> None:
    if settled.truth(frame, statement.test) is False:
        frame.done = True
        return
    if not frame.observer.asserted(frame, statement):
        conditions.decide(frame, statement.test, checks=True, refuses=True)
    frame.env = conditions.narrowed(frame, statement.test, frame.env, truth=True)


def _if(frame: Frame, statement: ast.If) -> None:
    frame.asked = asked.about(statement.test)
    verdict = conditions.trace_verdict(frame, statement)
    if verdict is not None:
        frame.asked = {}
        known = set(frame.summary.effects)
        execute(frame, statement.body if verdict else statement.orelse)
        conditions.forget_output(frame, known)
        _untraced(frame, statement.orelse if verdict else statement.body)
        return
    verdict = conditions.settled_truth(frame, statement.test)
    if verdict is False and frame.region and conditions.marks_what_it_asks(frame, statement):
        verdict = None  # the first call comes by
    if verdict is None:
        _undecided(frame, statement)
        return
    frame.asked = {}
    execute(frame, statement.body if verdict else statement.orelse)


def _untraced(frame: Frame, block: Sequence[ast.stmt]) -> None:
    """Note the calls of marked functions in a block that runs only where nothing is traced."""
    for node in (node for one in block if frame.static for node in walk(one) if isinstance(node, ast.Call)):
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            for callee in evaluate(frame, node.func).alternatives():
                if callee.mark is not None:
                    callee.mark.apart.add(node)


def _undecided(frame: Frame, statement: ast.If) -> None:
    """A branch that depends on what is not known: both ways are looked at."""
    checks, refuses = not conditions.computes(statement), conditions.refuses(statement)
    settled = frame.summary.settled
    known = set(settled)
    conditions.decide(frame, statement.test, checks=checks, refuses=refuses)
    frame.asked = {}
    drawn = settled - known
    settled -= drawn
    verdict = conditions.none_verdict(frame, statement.test)
    if verdict is not None:
        execute(frame, statement.body if verdict else statement.orelse)
    else:
        _both(frame, statement)
    if (drawn or frame.summary.recorded) and only_effects.does_only_effects(frame.summary, statement):
        frame.summary.idle.update(effect.key for effect in only_effects.asked(frame.summary, statement))
    else:
        settled |= drawn


def _both(frame: Frame, statement: ast.If) -> None:
    before = frame.env
    frame.branches += 1
    frame.env = conditions.narrowed(frame, statement.test, dict(before), truth=True)
    _way(frame, statement.body)
    branches = [(frame.env, frame.done)]
    frame.env, frame.done = conditions.narrowed(frame, statement.test, dict(before), truth=False), False
    _way(frame, statement.orelse)
    branches.append((frame.env, frame.done))
    if not any(isinstance(block[-1], ast.Return) for block in (statement.body, statement.orelse) if block):
        frame.branches -= 1  # what follows a branch that returns is conditional too
    frame.merge(branches)


def _way(frame: Frame, block: list[ast.stmt]) -> None:
    """One of the two ways behind a condition."""
    known = set(frame.summary.effects) if frame.region and block and isinstance(block[-1], ast.Raise) else None
    execute(frame, block)
    if known is not None:
        conditions.forget_uses(frame, known)


def _loop(frame: Frame, run: Callable[[], None]) -> None:
    """Run a loop body until the variables settle, at most twice; zero rounds are possible too."""
    if frame.region:
        _unrolled_by_dynamo(frame, run)
        return
    before, surely = dict(frame.env), frame.surely
    yielded = len(frame.yields.items) if frame.yields is not None else 0
    for _ in range(_LOOP_ROUNDS):
        entry, frame.surely = dict(frame.env), frame.branches
        run()
        frame.done = False
        frame.merge([(entry, False), (frame.env, False)])
        if frame.env == entry:
            break
    frame.surely = surely
    if frame.yields is not None and len(frame.yields.items) > yielded:
        frame.in_order, frame.yields.items = False, {}
    frame.merge([(before, False), (frame.env, False)])
    for name, start in before.items():
        if start.kind is Kind.NONE and name in frame.env:  # what is known of an attribute may be forgotten
            frame.env[name] = _filled(frame.env[name])


def _filled(value: Value) -> Value:
    """A variable that a loop fills: the None before it is a start, not what is handed on; it may be asked for still."""
    kept = tuple(one for one in value.alternatives() if one.kind is not Kind.NONE)
    if value.kind is not Kind.UNION or not kept:
        return value
    optional = tuple(one._replace(flags=one.flags | Flag.OPTIONAL) for one in kept)
    return value.with_alternatives(optional) if len(kept) > 1 else optional[0].with_taint(value.taint)


def _unrolled_by_dynamo(frame: Frame, run: Callable[[], None]) -> None:
    """The first rounds of a loop one after the other: what is a number before it may be a tensor in the second.

    A loop that does nothing is not what a region is compiled for.
    """
    rounds: list[tuple[dict[str, Value], bool]] = []
    for _ in range(_LOOP_ROUNDS):
        entry = dict(frame.env)
        run()
        frame.done = False
        rounds.append((dict(frame.env), False))
        if frame.env == entry:
            break
    frame.merge(rounds)


def _for(frame: Frame, statement: ast.For | ast.AsyncFor) -> None:
    iterable = use(frame, statement.iter)
    frame.sink(iterable)
    frame.observer.looped_over(frame, statement.iter, iterable)
    if _unrolled(frame, statement, iterable):
        return
    element = iteration.elements_of(frame, statement.iter, iterable)

    def run() -> None:
        assignments.store(frame, statement.target, element, statement.iter)
        execute(frame, statement.body)

    _loop(frame, run)
    execute(frame, statement.orelse)


def _unrolled(frame: Frame, statement: ast.For | ast.AsyncFor, iterable: Value) -> bool:
    """Run a loop over what is known one by one for each entry: markers may be applied to it, objects made of it."""
    values = iteration.known(frame, iterable)
    if values is None or (frame.region and not iteration.differ(values)):
        return False
    around, fallthrough, surely = frame.branches, frame.endings, frame.surely
    frame.endings = set()
    for value in values:
        frame.surely = frame.branches
        assignments.store(frame, statement.target, value, statement.iter)
        execute(frame, statement.body)
        if frame.done and ast.Continue not in frame.endings:
            break
        frame.done = False
        # Whether there is a next round is open once one may have been the last.
        frame.branches = around + (frame.region and bool(frame.endings - {ast.Continue}))
    else:
        execute(frame, statement.orelse)
    frame.done = frame.done and ast.Return in frame.endings and ast.Break not in frame.endings
    frame.branches, frame.endings, frame.surely = around, fallthrough | (frame.endings & {ast.Return}), surely
    return True


def _while(frame: Frame, statement: ast.While) -> None:
    def run() -> None:
        conditions.decide(frame, statement.test)
        execute(frame, statement.body)

    _loop(frame, run)
    execute(frame, statement.orelse)


def _with(frame: Frame, statement: ast.With | ast.AsyncWith) -> None:
    previous, strict, differentiates = frame.caught, frame.strict, frame.differentiates
    for item in statement.items:
        manager = evaluate(frame, item.context_expr)
        told = strict_switch.setting(manager)
        frame.strict = frame.strict if told is None else told
        frame.differentiates = frame.differentiates and not differentiation.is_off(manager)
        entered = frame.machine.enter(frame, item.context_expr, manager)
        if item.optional_vars is not None:
            assignments.store(frame, item.optional_vars, entered, item.context_expr)
        frame.caught = (*frame.caught, *fallthrough.suppressed(item.context_expr))
    suppresses = frame.caught != previous
    before = dict(frame.env) if suppresses else frame.env
    execute(frame, statement.body)
    frame.caught, frame.strict, frame.differentiates = previous, strict, differentiates
    if suppresses:
        # What follows runs too after an exception, from wherever it came.
        frame.merge([(before, False), (frame.env, frame.done)])


def _try(frame: Frame, statement: ast.Try) -> None:
    names = tuple(name for handler in statement.handlers for name in _caught_names(handler.type))
    previous = frame.caught
    before = dict(frame.env)
    frame.caught = (*previous, *names)
    execute(frame, statement.body)
    frame.caught = previous
    if not frame.done:
        execute(frame, statement.orelse)
    branches = [(frame.env, frame.done)]
    during = dict(before)
    for name, value in frame.env.items():
        during[name] = join(before.get(name), value)
    # Dynamo traces a handler only if something is raised.
    for handler in statement.handlers if not frame.region else ():
        frame.env, frame.done = dict(during), False
        if handler.name:
            frame.env[handler.name] = UNKNOWN
        execute(frame, handler.body)
        branches.append((frame.env, frame.done))
    frame.merge(branches)
    left = frame.done
    frame.done = False
    execute(frame, statement.finalbody)
    frame.done = frame.done or left


def _caught_names(node: ast.expr | None) -> list[str]:
    if node is None:
        return [""]
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    return [getattr(part, "id", getattr(part, "attr", "")) for part in nodes]


def _match(frame: Frame, statement: ast.Match) -> None:
    subject = use(frame, statement.subject)
    if any(isinstance(part, ast.MatchValue) for case in statement.cases for part in walk(case.pattern)):
        deciding.on_value(frame, statement.subject, subject)
    before = dict(frame.env)
    branches: list[tuple[dict[str, Value], bool]] = [(before, False)]
    certain = True  # so far all cases are known not to match
    for case in statement.cases:
        verdict = _matches(frame, statement.subject, case)
        if verdict is False:
            continue
        frame.env, frame.done = dict(before), False
        if verdict and certain:
            execute(frame, case.body)
            return
        certain = False
        if isinstance(case.pattern, ast.MatchClass):
            asked = remembered(case.pattern, "_nonstrict_asked", partial(_as_question, statement.subject))
            use(frame, asked)
            frame.env = conditions.narrowed(frame, asked, frame.env, truth=True)
        for part in walk(case.pattern):
            name = getattr(part, "name", None)
            if isinstance(name, str):
                frame.env[name] = UNKNOWN
        frame.branches += 1
        execute(frame, case.body)
        frame.branches -= 1
        branches.append((frame.env, frame.done))
        if verdict:
            break
    frame.merge(branches)


def _matches(frame: Frame, subject: ast.expr, case: ast.match_case) -> bool | None:
    """Whether a case of constants, or one for whatever is left, is the one that runs; None where that is open."""
    verdict = _equals(frame, subject, case.pattern)
    return verdict if case.guard is None or verdict is False else None


def _equals(frame: Frame, subject: ast.expr, pattern: ast.pattern) -> bool | None:
    if isinstance(pattern, ast.MatchOr):
        verdicts = [_equals(frame, subject, part) for part in pattern.patterns]
        return True if True in verdicts else None if None in verdicts else False
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
        return True
    if not isinstance(pattern, ast.MatchValue) or not isinstance(pattern.value, ast.Constant):
        return None
    asked = remembered(pattern, "_nonstrict_equals", partial(_as_comparison, subject))
    return conditions.settled_truth(frame, asked)


def _as_comparison(subject: ast.expr, pattern: ast.MatchValue) -> ast.Compare:
    """`case "gate":` as `subject == "gate"`."""
    asked = ast.Compare(subject, [ast.Eq()], [pattern.value])
    return ast.fix_missing_locations(ast.copy_location(asked, pattern))


def _as_question(subject: ast.expr, pattern: ast.MatchClass) -> ast.Call:
    """`case C():` as `isinstance(subject, C)`."""
    asked = ast.Call(ast.Name("isinstance", ast.Load()), [subject, pattern.cls], [])
    return ast.fix_missing_locations(ast.copy_location(asked, pattern))


def _definition(frame: Frame, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    if isinstance(statement, ast.ClassDef):
        frame.observer.came_to(frame, statement, Step.CLASS_DEFINITION)
    frame.env[statement.name] = UNKNOWN
    frame.env[statement.name] = definition_values.define(frame, statement, frame.offset)


def _import(frame: Frame, statement: ast.Import) -> None:
    for alias in statement.names:
        name = alias.asname or alias.name.split(".")[0]
        dotted = alias.name if alias.asname else name
        frame.env[name] = Value(Kind.PYTHON_MODULE, FRESH, dotted)


def _import_from(frame: Frame, statement: ast.ImportFrom) -> None:
    machine = frame.machine
    dotted = machine.project.absolute(statement.module or "", statement.level, frame.module)
    for alias in statement.names:
        if alias.name != "*":
            frame.env[alias.asname or alias.name] = machine.module_attribute(frame.module, dotted, alias.name)


def _delete(frame: Frame, statement: ast.Delete) -> None:
    for target in statement.targets:
        assignments.delete(frame, target)


def _leave(frame: Frame, statement: ast.stmt) -> None:
    frame.done = True
    frame.endings.add(type(statement))
    if frame.branches > frame.surely:
        frame.surely = -1


_HANDLERS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Delete: _delete,
    ast.Continue: _leave,
    ast.Break: _leave,
}
if sys.version_info >= (3, 11):
    _HANDLERS[ast.TryStar] = _try
