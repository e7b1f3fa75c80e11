"""The checks of Python code: which conditions an error stands under, and what has to become of them.

`assert x.ndim == 2`, `if n % 32: raise ValueError(...)`, `if ok: return` before a `raise`, and a helper that is given
the condition (`torch._check(n > 0)`) are all one thing here: conditions with the answer that the error would not have
followed. They are read where the error was raised, with the values that the names had there.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType, TracebackType

#: How far a condition is followed to the call that passed it.
_CALLS_UP = 3
_LEAVING = (ast.Return, ast.Continue, ast.Break)
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Place(NamedTuple):
    """Where something is evaluated: in which function, and what names have which values there."""

    code: CodeType
    globals: dict[str, Any]
    locals: Mapping[str, Any]

    @classmethod
    def of(cls, frame: FrameType) -> Place:
        """The place of a frame."""
        return cls(frame.f_code, frame.f_globals, frame.f_locals)

    def value(self, expression: ast.expr) -> Any:
        """What an expression is there; `MISSING` where it raises."""
        try:
            code = compile(ast.fix_missing_locations(ast.Expression(expression)), "<check>", "eval")
            return eval(code, self.globals, dict(self.locals))  # the code under test itself  # noqa: S307
        except Exception:  # the program's own expression may raise anything  # noqa: BLE001
            return MISSING


class Missing:
    """What an expression is that cannot be evaluated."""


MISSING = Missing()


class Asked(NamedTuple):
    """A relation that a check asked for in vain; a plain condition asks to be `True`, or `False`."""

    place: Place
    relation: type[ast.cmpop]
    left: ast.expr
    right: ast.expr


def failed_checks(error: BaseException) -> list[Asked]:
    """The relations that would have kept an error from being raised, of the innermost function that has some."""
    traces = list(_traces(error.__traceback__))
    for depth, trace in enumerate(reversed(traces)):
        tests = _conditions(trace.tb_frame.f_code, trace.tb_lineno)
        place = Place.of(trace.tb_frame)
        callers = traces[: len(traces) - 1 - depth]
        found = [asked for test, wanted in tests for asked in _unmet(place, test, wanted, callers[-_CALLS_UP:])]
        if found:
            return found
    return []


def _traces(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


@functools.lru_cache(maxsize=512)
def _conditions(code: CodeType, line: int) -> tuple[tuple[ast.expr, bool], ...]:
    """The conditions under which a line raises, each with the answer that keeps it from that."""
    tree = function_of(code)
    return tuple(_above(tree.body, line)) if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()


def _above(body: list[ast.stmt], line: int) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions above the `raise` or the `assert` on a line of a block, the nearest first."""
    for number, statement in enumerate(body):
        if not statement.lineno <= line <= _end(statement):
            continue
        if isinstance(statement, ast.Assert):
            yield statement.test, True
        elif isinstance(statement, ast.Raise):
            guards = [one for one in body[:number] if isinstance(one, ast.If) and isinstance(one.body[-1], _LEAVING)]
            yield from ((guard.test, True) for guard in reversed(guards))
        elif isinstance(statement, ast.If):
            for branch, taken in ((statement.body, True), (statement.orelse, False)):
                inner = list(_above(branch, line))
                yield from inner
                if inner or any(isinstance(one, ast.Raise) and one.lineno <= line <= _end(one) for one in branch):
                    yield statement.test, not taken
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _above(getattr(statement, name, []), line)


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _unmet(place: Place, test: ast.expr, wanted: bool, callers: list[TracebackType]) -> Iterator[Asked]:
    """The relations in a condition that have to change for it to be as wanted."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _unmet(place, test.operand, not wanted, callers)
    elif isinstance(test, ast.BoolOp):
        for each in test.values:
            value = place.value(each)
            if isinstance(value, Missing) or bool_of(value) is not wanted:
                yield from _unmet(place, each, wanted, callers)
    elif isinstance(test, ast.Compare):
        operands = [test.left, *test.comparators]
        for operator, left, right in zip(test.ops, operands, operands[1:], strict=False):
            relation = type(operator) if wanted else _NEGATED[type(operator)]
            if len(test.ops) == 1 or bool_of(place.value(ast.Compare(left, [operator], [right]))) is not wanted:
                yield Asked(place, relation, left, right)
    elif (assigned := assigned_to(place, test)) is not None:
        yield from _unmet(place, assigned, wanted, callers)
    elif isinstance(test, ast.Name) and callers and (passed := _passed(place, test.id, callers[-1])) is not None:
        yield from _unmet(*passed, wanted, callers[:-1])
    elif isinstance(test, ast.Call) and (answered := _answering(place, test)) is not None:
        yield from _unmet(*answered, wanted, [])
    elif isinstance(test, ast.Call) and len(test.args) == 1 and place.value(test.args[0]) is place.value(test):
        yield from _unmet(place, test.args[0], wanted, callers)
    else:
        yield Asked(place, ast.Is, test, ast.Constant(wanted))


def _answering(place: Place, call: ast.Call) -> tuple[Place, ast.expr] | None:
    """What a function returns that does nothing else but check, where it does."""
    called = place.value(call.func)
    function, code = getattr(called, "__func__", called), _code_of(called)
    tree = function_of(code) if code is not None else None
    body = [one for one in getattr(tree, "body", ()) if not _is_text(one)] if isinstance(tree, ast.FunctionDef) else []
    *before, last = body or [None]
    checks = all(isinstance(one, ast.Assert) for one in before)
    if not checks or not isinstance(last, ast.Return) or last.value is None or call.keywords:
        return None
    own = [called.__self__] if function is not called else []
    try:
        bound = inspect.signature(function).bind(*own, *(place.value(each) for each in call.args))
    except (TypeError, ValueError):
        return None
    bound.apply_defaults()
    return Place(function.__code__, function.__globals__, bound.arguments), last.value


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def bool_of(value: object) -> bool | None:
    """The truth value of something; None where it has none."""
    try:
        return bool(value)
    except Exception:  # a tensor of many elements, or what the program defines  # noqa: BLE001
        return None


def assigned_to(place: Place, expression: ast.expr) -> ast.expr | None:
    """What a local name was bound to, where it is bound once: `n` of `b, n = x.shape` is `x.shape[1]`."""
    if not isinstance(expression, ast.Name):
        return None
    bound = _bindings(place.code).get(expression.id, ())
    return bound[0] if len(bound) == 1 else None


@functools.lru_cache(maxsize=256)
def _bindings(code: CodeType) -> Mapping[str, tuple[ast.expr | None, ...]]:
    """What the local names of a function are bound to; parameters and what loops bind are bound to nothing told."""
    found: dict[str, tuple[ast.expr | None, ...]] = {}

    def bind(target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            found[target.id] = (*found.get(target.id, ()), value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = any(isinstance(each, ast.Starred) for each in target.elts)
            for n, each in enumerate(target.elts):
                item = None if value is None or starred else _item(value, n)
                bind(each.value if isinstance(each, ast.Starred) else each, item)

    tree = function_of(code)
    if isinstance(tree, _FUNCTIONS):
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]:
            bind(ast.Name(name, ast.Store()), None)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assign):
            for target in node.targets:
                bind(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            bind(node.target, node.value)
        elif isinstance(node, (ast.For, ast.comprehension, ast.AugAssign)):
            bind(node.target, None)
    return found


def _item(value: ast.expr, number: int) -> ast.expr:
    if isinstance(value, (ast.Tuple, ast.List)) and number < len(value.elts):
        return value.elts[number]
    return ast.Subscript(value, ast.Constant(number), ast.Load())


def _passed(place: Place, name: str, caller: TracebackType) -> tuple[Place, ast.expr] | None:
    """The argument that the calling frame passed for a parameter."""
    parameters = place.code.co_varnames[: place.code.co_argcount]
    tree, above = function_of(caller.tb_frame.f_code), Place.of(caller.tb_frame)
    if name not in parameters or tree is None:
        return None
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    calls = (node for node in calls if node.lineno <= caller.tb_lineno <= (node.end_lineno or node.lineno))
    of_code = [node for node in calls if _code_of(above.value(node.func)) is place.code]
    if len(of_code) != 1:
        return None
    named = next((each.value for each in of_code[0].keywords if each.arg == name), None)
    position = parameters.index(name) - inspect.ismethod(above.value(of_code[0].func))
    given = named or (of_code[0].args[position] if position < len(of_code[0].args) else None)
    return None if given is None else (above, given)


def _code_of(called: object) -> CodeType | None:
    code = getattr(getattr(called, "__func__", called), "__code__", None)
    return code if isinstance(code, CodeType) else None


@functools.lru_cache(maxsize=512)
def function_of(code: CodeType) -> ast.AST | None:
    """The syntax tree of the function that a code object is of, with the lines of its file; None without source."""
    found = _functions(code.co_filename, code.co_firstlineno)
    return next((node for node in found if getattr(node, "name", "<lambda>") == code.co_name), None)


def _functions(path: str, line: int) -> list[ast.AST]:
    return _functions_by_line(path).get(line, [])


@functools.lru_cache(maxsize=64)
def _functions_by_line(path: str) -> Mapping[int, list[ast.AST]]:
    """The functions of a file by the line on which their code begins, at the first decorator."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            decorators: list[Any] = getattr(node, "decorator_list", [])
            found.setdefault(min([node.lineno, *(one.lineno for one in decorators)]), []).append(node)
    return found
