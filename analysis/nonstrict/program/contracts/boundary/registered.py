"""Whether, and how, a class is known to torch's pytrees: asked for classes that cross the boundary, and only then."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.pytrees import PLAIN_DECORATORS, WORDS, is_plain_base
from nonstrict.program.contracts.boundary.pytrees import Registrations
from nonstrict.program.discovery import roots
from nonstrict.program.domain import marker_words
from nonstrict.program.domain.values import NAMED_TUPLE, Kind
from nonstrict.program.objects import classes
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

_REGISTERS = re.compile(r"\b(?:" + "|".join(sorted(WORDS)) + r")\b")
#: How many helpers may stand between a registration and torch's function.
_LAYERS = 2
_METACLASSES = frozenset({"ABCMeta", "type", "EnumMeta", "EnumType"})
_NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple", NAMED_TUPLE})
_TYPED_DICTS = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def is_named_tuple(cls: Class) -> bool:
    """Whether instances are named tuples, which pytrees know without registration."""
    return any(
        (isinstance(base, str) and base in _NAMED_TUPLES)
        or (not isinstance(base, str) and any(value.dotted == NAMED_TUPLE for value in base.bases))
        for base in classes.lineage(cls)
    )


def is_typed_dict(cls: Class) -> bool:
    """Whether instances are plain dicts."""
    return bool(classes.external_bases(cls) & _TYPED_DICTS)


def registrations(machine: Machine, cls: Class) -> list[Registration] | None:
    """The registrations of a class; None if it cannot be told whether there are any."""
    found = machine.part(Registrations)
    _search(machine, cls)
    if cls in found.of:
        return None if all(one.kind == "other" for one in found.of[cls]) else found.of[cls]
    if _is_abstract(cls) or not _is_plain(machine, cls) or any(cls in classes.lineage(other) for other in found.of):
        return None
    if _handed_on(machine, cls) or _is_entry(machine, cls):
        return None
    mentions = (machine.project.module(path) for path in sorted(found.unresolved))
    if any(module is None or re.search(rf"\b{cls.name}\b", module.source.code) for module in mentions):
        return None
    return []


def is_foreign(machine: Machine, names: Iterable[str]) -> bool:
    """Whether the project registers a class from outside the program that goes by one of some names.

    Names are compared by their last part, whatever its case: knowledge says `path` where the class is `pathlib.Path`.
    """
    wanted = {name.rpartition(".")[2].lower() for name in names}
    for path, words in _files(machine, None).items():
        module = machine.project.module(path) if path not in machine.part(Registrations).searched else None
        if module is not None and any(re.search(rf"\b{name}\b", module.source.code, re.IGNORECASE) for name in wanted):
            machine.part(Registrations).searched.add(path)
            _interpret(machine, module, words)
    return any(known.rpartition(".")[2].lower() in wanted for known in machine.part(Registrations).foreign)


def _is_abstract(cls: Class) -> bool:
    """Whether what is said to be of a class is of another one, which may be registered: a protocol, or abstract."""
    if any(base.dotted.rpartition(".")[2] == "Protocol" for base in cls.bases):
        return True
    methods = (one for one in cls.node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return any(last_name(mark) == "abstractmethod" for method in methods for mark in method.decorator_list)


def _is_plain(machine: Machine, cls: Class) -> bool:
    """Whether nothing but a registration that was seen can make pytrees know a class."""
    for base in classes.lineage(cls):
        if isinstance(base, str):
            if not is_plain_base(base):
                return False
        elif not _decorated_plainly(machine, base) or _hooks_subclasses(base) or not _bases_known(base):
            return False
    return cls.module.path in machine.own_files or not machine.own_files


def _bases_known(cls: Class) -> bool:
    return all(value.kind in (Kind.CLASS, Kind.EXTERNAL) for value in cls.bases)


def _decorated_plainly(machine: Machine, cls: Class) -> bool:
    frame = closure_of(cls) or machine.module_frame(cls.module)
    for decorator in cls.node.decorator_list:
        callee = machine.evaluate(frame, decorator.func if isinstance(decorator, ast.Call) else decorator)
        known = callee.kind is Kind.EXTERNAL and callee.dotted in PLAIN_DECORATORS
        defined = _defined(callee)
        if not known and (defined is None or _may_register(defined.node)):
            return False
    return True


def _may_register(node: ast.AST) -> bool:
    """Whether a function of the program calls something that may register what it is given."""
    return any("regist" in last_name(inner).lower() for inner in walk(node) if isinstance(inner, ast.Call))


def _defined(callee: Value) -> Function | Class | None:
    """The function or class of the program that is called."""
    return callee.function or (callee.of_class if callee.kind is Kind.CLASS else None)


def _handed_on(machine: Machine, cls: Class) -> bool:
    """Whether the class's module hands it, at the top level, to a function that no file of the run defines."""
    for statement in _for_effect(cls.module.outline.shell.body):
        if not _names(statement, cls.name):
            continue
        loops = isinstance(statement, ast.For) and _names(statement.iter, cls.name)
        for call in (inner for inner in walk(statement) if isinstance(inner, ast.Call)):
            if not loops and not _passes(call, cls.name):
                continue
            callee = machine.evaluate(machine.module_frame(cls.module), call.func)
            defined = _defined(callee)
            seen = defined is not None and defined.module.path in machine.own_files
            if not seen and not (callee.kind is Kind.EXTERNAL and callee.dotted.startswith("builtins.")):
                return True
    return False


def _for_effect(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements outside functions that call something or loop, in branches too."""
    for statement in body:
        if isinstance(statement, (ast.Expr, ast.For)):
            yield statement
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            yield from _for_effect(statement.body)
            yield from _for_effect(getattr(statement, "orelse", []))
            for handler in getattr(statement, "handlers", []):
                yield from _for_effect(handler.body)


def _is_entry(machine: Machine, cls: Class) -> bool:
    """Whether a statement enters a class into a table whose entries are registered, by its name or by a decorator."""
    tables = machine.part(Registrations).tables
    if not tables:
        return False
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(tables))) + r")\b")
    if any(last_name(decorator) in tables for decorator in cls.node.decorator_list):
        return True
    for path in _files(machine, cls.module):
        module = machine.project.module(path)
        if module is None or cls.name not in module.source.code or not pattern.search(module.source.code):
            continue
        statements = [*module.outline.shell.body]
        statements += [node for chunk in module.chunks_with(tables) if (node := module.outline.node(chunk)) is not None]
        for statement in statements:
            found = {name for node in walk(statement) if (name := getattr(node, "attr", getattr(node, "id", "")))}
            if cls.name in found and not tables.isdisjoint(found):
                return True
    return False


def _passes(call: ast.Call, name: str) -> bool:
    """Whether a call is given a class itself, and not only an object of it."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    constructed = {inner.func for part in given for inner in walk(part) if isinstance(inner, ast.Call)}
    return any(
        isinstance(inner, ast.Name) and inner.id == name and inner not in constructed
        for part in given
        for inner in walk(part)
    )


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(node))


def _hooks_subclasses(cls: Class) -> bool:
    """Whether a class may register those derived from it."""
    for keyword in cls.node.keywords:
        if keyword.arg == "metaclass" and last_name(keyword.value) not in _METACLASSES:
            return True
    for statement in cls.node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init_subclass__":
            return _may_register(statement)
    return False


# -- where classes are registered ---------------------------------------------------------------------------------


def _search(machine: Machine, cls: Class) -> None:
    """Interpret what registers classes in the files that mention a class by name."""
    for path, words in _files(machine, cls.module).items():
        if path in machine.part(Registrations).searched:
            continue
        module = machine.project.module(path)
        if module is not None and (module is cls.module or cls.name in module.source.code):
            machine.part(Registrations).searched.add(path)
            _interpret(machine, module, words)


def _interpret(machine: Machine, module: Module, words: frozenset[str]) -> None:
    roots.run_shell(machine, module, set(words))
    for chunk in module.chunks_with(words):
        node = module.outline.node(chunk)
        if node is not None and marker_words.applies(node, words):
            roots.evaluate_chunk(machine, module, chunk, node, set(words))


def _files(machine: Machine, own: Module | None) -> dict[str, frozenset[str]]:
    """The files that hold a registration, or a call of a helper that registers what it is given, with the words."""
    found = machine.part(Registrations).files
    if found is None:
        found = machine.part(Registrations).files = {}
        words = set(WORDS)
        for path in machine.elsewhere.holding(words):
            found[path] = WORDS
        for _ in range(_LAYERS):
            helpers = set[str]().union(*(_helpers(machine, path, words) for path in found)) - words
            if not helpers:
                break
            words |= helpers
            for path in (*found, *machine.elsewhere.holding(helpers)):
                found[path] = frozenset(words)
        for owner, methods in _registering_methods(machine, [*found], words).items():
            # Where the class is known: methods have names such as `register`, which say little elsewhere.
            for path in machine.elsewhere.holding({owner}):
                found[path] = found.get(path, frozenset()) | methods
    if own is not None and own.path not in found and _REGISTERS.search(own.source.code):
        found[own.path] = WORDS | _helpers(machine, own.path, set(WORDS))
    return found


def _helpers(machine: Machine, path: str, words: set[str]) -> set[str]:
    """By which other names a file registers: functions that are given classes, methods, renamed imports, tables."""
    module = machine.project.module(path)
    if module is None:
        return set()
    found = _renamed(module, words)
    for chunk in module.chunks_with(words):
        node = None if chunk.is_class else module.outline.node(chunk)
        if (
            isinstance(node, ast.FunctionDef)
            and (node.args.args or node.args.vararg)
            and marker_words.applies(node, words)
        ):
            found.add(chunk.name)
    tables = _tables(module, words)
    machine.part(Registrations).tables |= tables
    return found | tables


def _renamed(module: Module, words: set[str]) -> set[str]:
    """The top-level names that stand for what registers: `from … import register_dataclass as reg`, `reg = …`."""
    if not any(re.search(rf"\b{word}[\"']?\)?\s+as\b|=[^=\n]*\b{word}\b", module.source.code) for word in words):
        return set()
    found: set[str] = set()
    for name, bindings in module.bindings.items():
        for binding in bindings:
            renamed = binding.kind == "import" and binding.attribute in words and name != binding.attribute
            if renamed or (binding.kind == "assign" and binding.node is not None and _stands_for(binding.node, words)):
                found.add(name)
    return found - words


def _stands_for(node: ast.AST, words: set[str]) -> bool:
    """Whether a value may be one of some functions: the name, `getattr(pytree, "name", None)`, one of two."""
    if isinstance(node, ast.IfExp):
        return _stands_for(node.body, words) or _stands_for(node.orelse, words)
    if isinstance(node, ast.BoolOp):
        return any(_stands_for(value, words) for value in node.values)
    if isinstance(node, ast.Call):
        texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return last_name(node) == "getattr" and not words.isdisjoint(texts)
    return isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) in words


def _registering_methods(machine: Machine, paths: Iterable[str], words: set[str]) -> dict[str, frozenset[str]]:
    """By class, the class methods and static methods that register the class that they are called on or given."""
    found: dict[str, frozenset[str]] = {}
    for module in map(machine.project.module, paths):
        for chunk in module.chunks_with(words) if module is not None else ():
            cls = module.outline.node(chunk) if module is not None and chunk.is_class else None
            methods = [one for one in cls.body if isinstance(one, ast.FunctionDef)] if cls is not None else []
            names = frozenset(method.name for method in methods if _registers(method, words))
            if names:
                found[chunk.name] = found.get(chunk.name, frozenset()) | names
    return found


def _registers(method: ast.FunctionDef, words: set[str]) -> bool:
    marks = {last_name(decorator) for decorator in method.decorator_list}
    given = bool(method.args.args or method.args.vararg)
    return given and bool(marks & {"classmethod", "staticmethod"}) and marker_words.applies(method, words)


def _tables(module: Module, words: set[str]) -> set[str]:
    """The top-level tables over which a loop registers something, and the functions that mention these."""
    found: set[str] = set()
    statements: list[ast.AST] = [*module.outline.shell.body]
    statements += [node for chunk in module.chunks_with(words) if (node := module.outline.node(chunk)) is not None]
    for statement in statements:
        for loop in (node for node in walk(statement) if isinstance(node, (ast.For, ast.comprehension))):
            whole = loop if isinstance(loop, ast.For) else statement
            if not marker_words.applies(whole, words):
                continue
            names = {node.id for node in walk(loop.iter) if isinstance(node, ast.Name)}
            found |= {name for name in names & module.bindings.keys() if _is_table(module, name)}
    return found | {chunk.name for chunk in module.chunks_with(found)} if found else found


def _is_table(module: Module, name: str) -> bool:
    """Whether a name is bound to an empty container, to be filled elsewhere."""
    made = (binding.node for binding in module.bindings[name] if binding.kind == "assign")
    return any(
        (isinstance(node, ast.Dict) and not node.keys)
        or (isinstance(node, (ast.List, ast.Tuple)) and not node.elts)
        or (isinstance(node, ast.Call) and not node.args)
        for node in made
    )
