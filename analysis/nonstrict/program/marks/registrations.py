"""Where else in a project a fake may be registered for an operator: all that the text of its files tells.

Asked only for operators whose own code shows no fake. Any mention of the operator in a registration counts.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from nonstrict.program.machine import Machine
    from nonstrict.program.marks.operators import Operator
    from nonstrict.program.modules import Module
    from nonstrict.program.project import Project

#: What registers a fake, or makes one unnecessary.
_WORDS = frozenset(
    {
        "register_fake",
        "_register_fake",
        "impl_abstract",
        "register_meta",
        "impl_meta",
        "meta_impl",
        "register_torch_dispatch",
        "register_shape",
    }
)
_KEYS = frozenset({"Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "default"})
_LIBRARY_CALLS = frozenset({"impl", "impl_"})
_TEXT = re.compile(r"register_fake|impl_abstract|register_meta|impl_meta|meta_impl|['\"]Meta['\"]|Composite|_dispatch")
_LAYERS = 2


class Mentions(NamedTuple):
    """What registrations in a project mention: identifiers and strings, prefixes of computed names, files."""

    words: set[str]
    prefixes: set[str]
    open_files: set[str]


def elsewhere(machine: Machine, operator: Operator, names: AbstractSet[str]) -> bool:
    """Whether a fake may be registered for an operator anywhere in the files of the run; `names` are its variables."""
    searches = machine.elsewhere.found
    if searches.fakes is None:
        # Texts alone tell. The modules that are read for it do not become known to one of several machines only.
        searches.fakes = _mentioned(machine.project.anew(), machine.files)
    found = searches.fakes
    wanted = {*names, operator.name, operator.bare, f"{operator.bare}.default"} - {""}
    if wanted & found.words or operator.path in found.open_files:
        return True
    return any(operator.name.startswith(prefix) for prefix in found.prefixes)


def _mentioned(project: Project, run: Sequence[str]) -> Mentions:
    found = Mentions(set(), set(), set())
    files = [path for path in run if _TEXT.search(_text(project, path))]
    modules = [module for path in files if (module := project.module(path)) is not None]
    registrars: set[str] = set()
    for module in modules:
        for statement in _top_level(module, _TEXT):
            registrars |= _read(module, statement, _WORDS, found)
    for _ in range(_LAYERS):
        if not registrars:
            break
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(registrars))) + r")\b")
        following: set[str] = set()
        for path in run:
            module = project.module(path) if pattern.search(_text(project, path)) else None
            if module is not None:
                for statement in _top_level(module, pattern):
                    following |= _read(module, statement, registrars, found)
        registrars = following - registrars
    return found


def _text(project: Project, path: str) -> str:
    overlay = project.overlays.get(path)
    if overlay is not None:
        return overlay.code
    try:
        with open(path, encoding="utf-8", errors="replace") as handle:
            return handle.read()
    except OSError:
        return ""


def _top_level(module: Module, pattern: re.Pattern[str]) -> Iterator[ast.AST]:
    yield from module.outline.shell.body
    for chunk in module.outline.chunks:
        if pattern.search(chunk.text):
            node = module.outline.node(chunk)
            if node is not None:
                yield node


def _read(module: Module, statement: ast.AST, words: AbstractSet[str], found: Mentions) -> set[str]:
    """Collect what registrations in a statement mention; the functions that register what they are given."""
    registrars: set[str] = set()
    calls = list(_registrations(statement, words))
    if not calls:
        return registrars
    parameters, loop_variables, literal = _parameters(statement), _loop_variables(statement), _literal_loops(statement)
    for call in calls:
        for part in _parts(call):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found.words.add(part.value)
            elif isinstance(part, ast.JoinedStr) and (spelled := _spelled(part, literal)):
                found.words.update(spelled)
            elif isinstance(part, ast.JoinedStr):
                first = part.values[0] if part.values else None
                prefix = first.value if isinstance(first, ast.Constant) else ""
                if isinstance(prefix, str) and prefix:
                    found.prefixes.add(prefix)
                else:
                    found.open_files.add(module.path)
            elif isinstance(part, ast.Name):
                found.words.update((part.id, *literal.get(part.id, ())))
                if part.id in parameters:
                    registrars.add(getattr(statement, "name", ""))
                elif part.id in loop_variables and part.id not in literal:
                    found.open_files.add(module.path)
            elif isinstance(part, ast.Attribute):
                found.words.add(part.attr)
    return registrars - {""}


def _registrations(statement: ast.AST, words: AbstractSet[str]) -> Iterator[ast.AST]:
    """Calls and decorators that register a fake."""
    for inner in walk(statement):
        if isinstance(inner, ast.Call):
            if last_name(inner.func) in words or (
                last_name(inner.func) in _LIBRARY_CALLS and any(_is_key(argument) for argument in _given(inner))
            ):
                yield inner
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            registering = [decorator for decorator in inner.decorator_list if last_name(decorator) in words]
            yield from registering
            if registering:
                # A decorator of the project may register a fake for the function below it.
                yield ast.Name(inner.name, ast.Load())


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in _KEYS


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The names and strings of a registration, not those in the body of a function that it is given."""
    pending: list[ast.AST] = [node]
    while pending:
        current = pending.pop()
        yield current
        if not isinstance(current, (ast.Lambda, ast.JoinedStr)):
            pending.extend(ast.iter_child_nodes(current))


def _parameters(statement: ast.AST) -> set[str]:
    found: set[str] = set()
    for inner in walk(statement):
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = inner.args
            found |= {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return found


def _loop_variables(statement: ast.AST) -> set[str]:
    loops = (inner for inner in walk(statement) if isinstance(inner, (ast.For, ast.comprehension)))
    return {name.id for loop in loops for name in walk(loop.target) if isinstance(name, ast.Name)}


def _literal_loops(statement: ast.AST) -> dict[str, list[str]]:
    """The variables of loops over nothing but literal strings, each with these; none that is bound otherwise too."""
    found: dict[str, list[str]] = {}
    bound = Counter(
        node.id for node in walk(statement) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    loops = (node for node in walk(statement) if isinstance(node, (ast.For, ast.comprehension)))
    for target, over in ((loop.target, loop.iter) for loop in loops):
        if isinstance(over, (ast.Tuple, ast.List, ast.Set)) and isinstance(target, ast.Name):
            texts = [one.value for one in over.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if len(texts) == len(over.elts) and bound[target.id] == 1:
                found[target.id] = texts
    return found


def _spelled(node: ast.JoinedStr, literal: dict[str, list[str]]) -> list[str]:
    """The strings that an f-string gives, if it holds nothing but variables of loops over literals."""
    found = [""]
    for part in node.values:
        texts: list[str] = []
        if isinstance(part, ast.FormattedValue):
            plain = isinstance(part.value, ast.Name) and part.format_spec is None and part.conversion == -1
            texts = literal.get(part.value.id, []) if isinstance(part.value, ast.Name) and plain else []
        else:
            texts = [part.value] if isinstance(part, ast.Constant) and isinstance(part.value, str) else []
        found = [start + text for start in found for text in texts]
    return found
