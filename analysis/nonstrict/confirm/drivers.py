"""Finds in a file what sets a function going: a function without parameters, the main guard, or the file's top level.

A driver is cut down to the statements that have to do with the function: those that call it (through whatever calls
it), those that make the arguments, and those that change what it reads. Printing, plotting and saving stay out.
"""

from __future__ import annotations

import ast
import builtins
import enum
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.operator_names import operator_called
from nonstrict.confirm.slices import (
    Statement,
    bound,
    called,
    changed,
    imported_names,
    loaded,
    slice_for,
)
from nonstrict.facts.execution import is_main_guard

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from collections.abc import Set as AbstractSet

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_LIKELY = ("main", "test", "run", "demo", "example", "check", "bench")
#: Functions whose calls as statements only tell something.
_TELLING = frozenset({"print", "pprint", "display", "breakpoint", "input", "exit", "quit"})
_BUILT_IN = frozenset(dir(builtins))
MAX_DRIVERS = 6
#: Kinds of drivers that call the function itself, by which the agent makes a region of its own.
DIRECT = frozenset({"calls", "traced", "source", "returned"})
#: Those whose `given` are specifications of calls, or what makes their arguments.
GIVEN = DIRECT - {"source"}


class Source(enum.Enum):
    """Where the arguments of a marked function or of a region come from, in the order in which they are looked for."""

    SETTINGS = "settings"
    RECORDS = "records"
    DIRECTIVE = "directive"
    PROGRAM = "program"
    """What the function's own file passes: an entry point, its main guard, its top level."""
    TESTS = "tests"
    CALLERS = "callers"
    """What another file of the project passes."""
    DOCSTRING = "docstring"
    SEARCH = "search"

    __hash__ = object.__hash__


class Driver(NamedTuple):
    """How a program is set going.

    `kind` is `function` (call `name`), `test` (run the test `name` as its runner would), `block` or `guard` (executing
    the kept statements is all), `calls` (call `name` with given arguments), `traced` (the same for what `make_fx` makes
    of it), `returned` (the same for a function that only returns what it does) or `source` (execute an example that
    calls `name`). `kept` are positions of top-level statements, `dropped` the positions (line, column) of statements
    left out inside them; `idle` are those of them that go on with results, and are no checks. `given` is the JSON of
    the calls, or the text of the example; what is called with them is compiled by itself if it is `plain`, else called
    in a region. `source` says where they come from.
    """

    kind: str
    name: str
    kept: frozenset[int]
    dropped: frozenset[tuple[int, int]] = frozenset()
    given: str = ""
    plain: bool = False
    source: Source = Source.PROGRAM
    idle: frozenset[tuple[int, int]] = frozenset()


def drivers_of(
    statements: list[Statement], targets: Iterable[str], through: frozenset[str] = frozenset()
) -> list[Driver]:
    """The drivers that reach one of some top-level names of a file, the likeliest first.

    `through` are names of modules: a call through one of them may reach a target, mentioning it says nothing. Functions
    that only give a target to their callers are no drivers: they call none.
    """
    reaching = reaching_names(statements, frozenset(targets))
    giving = giving_names(statements, reaching, through) - frozenset(targets)
    found: list[tuple[int, int, Driver]] = []
    for index, statement in enumerate(statements):
        node = statement.node
        if isinstance(node, ast.FunctionDef) and is_entry(node) and node.name in reaching - giving:
            kept = slice_for(statements, [node.name]).kept
            dropped = dropped_in(node.body, statements, (reaching | through) - {node.name})
            driver = Driver("function", node.name, kept, dropped, idle=idle_in(node.body, dropped))
            found.append((_rank(node.name), index, driver))
        elif isinstance(node, ast.If) and is_main_guard(node) and _mentions(node, reaching):
            kept = slice_for(statements, (), [index]).kept
            dropped = dropped_in(node.body, statements, reaching | through)
            driver = Driver("guard", "the main guard", kept, dropped, idle=idle_in(node.body, dropped))
            found.append((3, index, driver))
    own = [index for index, s in enumerate(statements) if _calls_at_top(s, reaching, giving)]
    if own:
        found.append((1, own[0], Driver("block", "the top level", slice_for(statements, (), own).kept, frozenset())))
    return [driver for _, _, driver in sorted(found, key=lambda entry: entry[:2])][:MAX_DRIVERS]


def _rank(name: str) -> int:
    return 0 if name.lstrip("_").startswith(_LIKELY) else 2


def is_entry(node: ast.FunctionDef) -> bool:
    """Whether a function can be called as it stands."""
    return not _required(node) and not node.decorator_list


def _required(node: ast.FunctionDef) -> bool:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    return len(positional) > len(arguments.defaults) or any(default is None for default in arguments.kw_defaults)


def reaching_names(statements: list[Statement], targets: frozenset[str]) -> frozenset[str]:
    """The top-level names from which a target is reached: what mentions it, what mentions that, and so on."""
    reaching = set(targets)
    grown = True
    while grown:
        grown = False
        for statement in statements:
            if is_main_guard(statement.node) or not statement.loads & reaching:
                continue
            fresh = statement.binds - reaching
            if fresh:
                reaching |= fresh
                grown = True
    return frozenset(reaching)


def giving_names(
    statements: list[Statement], reaching: frozenset[str], through: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Those of the names that are functions which do nothing with what reaches a target but return it."""
    functions = [s.node for s in statements if isinstance(s.node, ast.FunctionDef) and s.node.name in reaching]
    names, giving = reaching | through, set[str]()
    while fresh := {one.name for one in functions if _only_gives(one, names, giving)} - giving:
        giving |= fresh
    return frozenset(giving)


def _only_gives(node: ast.FunctionDef, names: frozenset[str], giving: AbstractSet[str]) -> bool:
    parts = [part for statement in node.body for part in ast.walk(statement)]
    values = [part.value for part in parts if isinstance(part, ast.Return) and part.value is not None]
    within = {id(part) for value in values for part in ast.walk(value)}
    used = [part for part in parts if isinstance(part, ast.Name) and part.id in names]
    returned = all(id(part) in within for part in used)
    return bool(used) and returned and all(_is_given(value, names, giving) for value in values)


def _is_given(value: ast.expr, names: frozenset[str], giving: AbstractSet[str]) -> bool:
    """Whether the value of an expression is what it mentions of some names, or holds it, and nothing calls that."""
    if not _mentions(value, names):
        return True
    if isinstance(value, ast.Call):
        arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
        gives = isinstance(value.func, ast.Name) and value.func.id in giving
        return gives and not any(_mentions(one, names) for one in arguments)
    if isinstance(value, ast.Attribute):
        return _is_given(value.value, names, giving)
    if isinstance(value, (ast.Tuple, ast.List, ast.Dict, ast.IfExp, ast.BoolOp)):
        inner = (one for one in ast.iter_child_nodes(value) if isinstance(one, ast.expr))
        return all(_is_given(one, names, giving) for one in inner)
    return isinstance(value, ast.Name)


def _writers(statements: list[Statement], state: frozenset[str]) -> frozenset[str]:
    """The names from which a function is reached that binds or changes one of some names."""
    functions = (s.node for s in statements if isinstance(s.node, _FUNCTIONS))
    return reaching_names(statements, frozenset(node.name for node in functions if _written(node) & state))


def _written(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names of outer scopes that a function declares or changes the values of."""
    declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
    own = {name for statement in node.body for name in bound(statement)} - declared
    return declared | ({name for statement in node.body for name in changed(statement)} - own)


def _mentions(node: ast.AST, names: frozenset[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _calls_at_top(statement: Statement, reaching: frozenset[str], giving: frozenset[str]) -> bool:
    """Whether a top-level statement itself calls something that reaches the target, and not only to have it."""
    node = statement.node
    if isinstance(node, _DEFINITIONS) or is_main_guard(node):
        return False
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)) else None
    if value is not None and _is_given(value, reaching, giving):
        return False
    return any(isinstance(part, ast.Call) and called(part) in reaching for part in _own_parts(node))


def _own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that run when it does."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_DEFINITIONS, ast.Lambda)):
            yield from _own_parts(child)


def dropped_in(
    body: list[ast.stmt], statements: list[Statement], reaching: frozenset[str]
) -> frozenset[tuple[int, int]]:
    """The statements of a block that have nothing to do with the names that reach the target and what these read.

    Checks of results are among them: one that fails would hide the calls after it.
    """
    simple = list(_simple_statements(body))
    foreign = (imported_names(statements) | _BUILT_IN) - reaching
    state = slice_for(statements, {name for part in body for name in loaded(part)} & reaching).names
    calling = set(reaching | _writers(statements, state))
    headers = list(_headers(body))
    needed = set(reaching | state).union(*(read for read, _ in headers))
    variables = _environments([*_simple_statements(body), *(one.node for one in statements)])
    kept: set[int] = set()
    grown = True
    while grown:
        grown = False
        # What goes through something needed, or is opened by it, stands for it: `for step in (first, second): step(x)`.
        opened = frozenset[str]().union(*(made for read, made in headers if read & (calling - foreign)))
        calling |= opened
        needed |= opened
        for statement in simple:
            if id(statement) in kept:
                continue
            checked = _checked(statement)
            if (
                any(_mentions(one, reaching) or _runs(one, calling - foreign) for one in checked)
                if checked
                else _relevant(statement, calling, needed) or _sets_variable(statement, variables)
            ):
                kept.add(id(statement))
                own = set(loaded(statement)) | set(bound(statement))
                calling |= own
                needed |= own
                grown = True
    return frozenset((s.lineno, s.col_offset) for s in simple if id(s) not in kept)


def idle_in(body: list[ast.stmt], dropped: Collection[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Those of some statements left out of a block that neither check results nor only tell them."""
    return frozenset(
        (one.lineno, one.col_offset)
        for one in _simple_statements(body)
        if (one.lineno, one.col_offset) in dropped
        and not _checked(one)
        and not (isinstance(one, ast.Expr) and _is_telling(one.value))
    )


def _environments(imports: Iterable[ast.stmt]) -> frozenset[str]:
    """The expressions that stand for the environment variables, which code in any file may read."""
    found: set[str] = set()
    for alias, source in (
        (one, getattr(node, "module", None)) for node in imports for one in getattr(node, "names", ())
    ):
        if isinstance(alias, ast.alias) and (source, alias.name) == (None, "os"):
            found.add(f"{alias.asname or alias.name}.environ")
        elif isinstance(alias, ast.alias) and (source, alias.name) == ("os", "environ"):
            found.add(alias.asname or alias.name)
    return frozenset(found)


def _sets_variable(statement: ast.stmt, environments: frozenset[str]) -> bool:
    """Whether a statement sets or deletes environment variables."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    stored = (
        one for one in ast.walk(statement) if isinstance(one, ast.Subscript) and not isinstance(one.ctx, ast.Load)
    )
    holders = [one.value for one in stored]
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        holders.append(call.func.value)
    return any(ast.unparse(one) in environments for one in holders)


def _checked(statement: ast.stmt) -> list[ast.expr]:
    """What a check of results looks at; empty for other statements."""
    if isinstance(statement, ast.Assert):
        return [statement.test]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return []
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if not name.startswith("assert") or name.startswith(("assertRaises", "assertWarns", "assertLogs")):
        return []
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _simple_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of the blocks in it that hold no blocks themselves."""
    for statement in body:
        blocks: list[list[ast.stmt]] = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        handlers: list[list[ast.stmt]] = [handler.body for handler in getattr(statement, "handlers", [])]
        if isinstance(statement, _DEFINITIONS) or not any(blocks):
            yield statement
            continue
        for block in (*blocks, *handlers):
            yield from _simple_statements(block)


def _headers(body: list[ast.stmt]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """What conditions, loops and contexts read, and what they bind; they stay whatever becomes of their blocks."""
    for part in (part for statement in body for part in _own_parts(statement)):
        if isinstance(part, ast.With):
            read, made = [item.context_expr for item in part.items], [item.optional_vars for item in part.items]
        elif isinstance(part, ast.For):
            read, made = [part.iter], [part.target]
        elif isinstance(part, (ast.If, ast.While)):
            read, made = [part.test], []
        else:
            continue
        binding = (name for one in made if one is not None for name in bound(one))
        yield frozenset(name for one in read for name in loaded(one)), frozenset(binding)


def _relevant(statement: ast.stmt, calling: set[str], needed: set[str]) -> bool:
    """Whether a statement calls one of some names, or makes or changes something needed; what only tells does not."""
    if isinstance(
        statement, (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Return, ast.Break, ast.Continue)
    ):
        return True
    if isinstance(statement, (ast.Pass, ast.Raise)):
        return True
    if isinstance(statement, ast.Expr) and _is_telling(statement.value):
        return any(_calls(part, calling) for part in ast.walk(statement))
    if set(bound(statement)) & needed or set(changed(statement)) & needed:
        return True
    return any(_calls(part, calling) for part in ast.walk(statement))


def _is_telling(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TELLING


def _runs(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression calls one of some names."""
    return any(isinstance(part, ast.Call) and called(part) in names for part in ast.walk(node))


def _calls(node: ast.AST, needed: set[str]) -> bool:
    """Whether a node is a call of something needed, or a call that is given something needed."""
    if not isinstance(node, ast.Call):
        return False
    name = called(node)
    if name in _TELLING:
        return False
    if name in needed or operator_called(node) in needed:
        return True
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(isinstance(part, ast.Name) and part.id in needed for argument in given for part in ast.walk(argument))
