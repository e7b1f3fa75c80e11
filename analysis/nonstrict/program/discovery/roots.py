"""Finds the functions that markers are applied to, and the calls of them, in the files of a project."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import deque
from contextlib import nullcontext
from typing import TYPE_CHECKING

from nonstrict.facts import targets
from nonstrict.facts.hooks import OF_MODULES
from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import FunctionNode
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import children, walk
from nonstrict.knowledge.markers import MARKERS, WRAPPABLE, compiles, makes_operators, traces_exports
from nonstrict.program.discovery.aliases import NAMING, aliases, made_by, makers, renamed
from nonstrict.program.discovery.exports import Applied, Exports
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.marker_words import COMMON_WORDS, LIBRARY_WORDS, OPERATOR_WORDS, TRACING_WORDS, applies
from nonstrict.program.objects import classes, definition_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from collections.abc import Set as AbstractSet
    from contextlib import AbstractContextManager

    from nonstrict.facts.outline import Chunk
    from nonstrict.program.domain.definitions import Class, Function, Mark
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.linking.elsewhere import Use
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: Marker kinds whose bodies are looked at.
TRACED_KINDS = frozenset({"nonstrict", "in-graph", "constant-result", "make-fx"})
#: Where the receiver of a method lives that is interpreted without a caller.
_SELF = AccessPath(Root.ARGUMENT, "", "self")
#: The last part of every spelling of these markers.
WORDS = frozenset(name.rpartition(".")[2] for name, marker in MARKERS.items() if marker.kind in TRACED_KINDS)
_DECLARING = ("custom_op", "triton_op", "leaf_function")
#: What compiles a region.
REGION_WORDS = frozenset(name.rpartition(".")[2] for name, marker in MARKERS.items() if marker.kind == "compiled")
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def discover(
    machine: Machine,
    module: Module,
    words: AbstractSet[str] = WORDS,
    applying: AbstractSet[str] = frozenset(),
    losing: Callable[[Chunk | None], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Evaluate whatever in a module applies a marker; the marks are then in `machine.marks`.

    `words` are markers and what wraps them, `applying` what else applies one. `losing` is entered for the code outside
    definitions, and for each definition.
    """
    code = module.source.code
    if not traces_exports(code):
        words = words - COMMON_WORDS
    if not any(True for _ in _applications(module, words | applying)):
        return
    machine.begin()
    names = {*words, *applying, *aliases(machine, module, words), *_applying_too(machine, module, applying)}
    names |= makers(module, applying, methods=True)
    machine.words |= names - COMMON_WORDS
    with losing(None):
        run_shell(machine, module, names)
    exact = module.outline.exact
    promising = list(_promising(machine, module, names))
    if promising:
        # Where definitions were cut wrongly, they or the rest of the module do not parse, and all are cut anew.
        _ = module.outline.shell
        if module.outline.exact != exact:
            promising = list(_promising(machine, module, names))
    for chunk, node in promising:
        machine.begin()
        with losing(chunk):
            evaluate_chunk(machine, module, chunk, node, names)


def marking(machine: Machine, module: Module) -> set[str]:
    """The names by which a module may mark a function that stays callable, or have one marked where it lies."""
    meant = machine.part(Exports).meant_in(machine.project, module)
    words = WRAPPABLE | (meant.marking - meant.compiling)
    return {*words, *aliases(machine, module, words)}


def _applying_too(machine: Machine, module: Module, applying: AbstractSet[str]) -> set[str]:
    """The top-level names that hold what applies markers, or what it returned."""
    found = renamed(machine, module, applying)
    return found | made_by(machine, module, found | applying)


def _hooking(module: Module) -> set[str]:
    """The words of statements outside functions that decide what modules do when called: they register hooks."""
    return {*OF_MODULES, *(chunk.name for chunk in module.chunks_with(OF_MODULES))}


def _promising(machine: Machine, module: Module, names: AbstractSet[str]) -> Iterator[tuple[Chunk, ast.AST]]:
    """The top-level definitions in which a marker is applied to something that the program may define."""
    for chunk in module.chunks_at(_applications(module, names)):
        if not machine.concerns(module, chunk) or not _compiles_or_marks(chunk.text, names - REGION_WORDS):
            continue
        node = module.outline.glimpse(chunk)
        handed = names - TRACING_WORDS
        meant = names if node is None else names | targets.held_as(node, names)
        if node is not None and applies(node, meant) and targets.promising(node, meant, handed, module.own_names):
            chunk.keep(node)
            yield chunk, node


def words_in(code: str) -> frozenset[str]:
    """The words by which a module's text may apply a marker, compile a region or make an operator."""
    found = WORDS
    if compiles(code):
        found |= REGION_WORDS
    if makes_operators(code):
        found |= OPERATOR_WORDS | LIBRARY_WORDS
    elif any(word in code for word in _DECLARING):
        found |= OPERATOR_WORDS
    return found


def compilers(machine: Machine, module: Module) -> frozenset[str]:
    """The names by which a module may compile regions; none if it does not."""
    if not compiles(module.source.code):
        return frozenset()
    return REGION_WORDS | renamed(machine, module, REGION_WORDS)


def compiling(module: Module, words: AbstractSet[str]) -> tuple[bool, list[Chunk]]:
    """Whether a module may compile regions outside its definitions by some names, and the definitions in which."""
    outside = any(True for _ in module.outside(words))
    chunks = module.chunks_at(_applications(module, words))
    return outside, [chunk for chunk in chunks if _compiles_or_marks(chunk.text, words - REGION_WORDS)]


def _compiles_or_marks(text: str, names: AbstractSet[str]) -> bool:
    """Whether a definition compiles a region or mentions a marker: most that hold the word `compile` do neither."""
    return any(name in text for name in names) or compiles(text)


def exported(machine: Machine, module: Module, known: Applied | None = None) -> Applied:
    """Names by which other modules may apply a marker: aliases and wrappers that this module defines.

    `known` are the names of other modules that do so, the markers' own if it is not given.
    """
    meant = known if known is not None else Applied(WRAPPABLE)
    words, applying, compiling = meant.marking, meant.applying, meant.compiling
    if compiles(module.source.code):
        compiling = compiling | REGION_WORDS
    told = WORDS | words | compiling | applying
    marks = frozenset(aliases(machine, module, words - compiling)) - told
    marking = frozenset(aliases(machine, module, words | compiling)) - told if compiling else marks
    found = frozenset(_applying_too(machine, module, applying) | makers(module, applying)) - told - marking
    return Applied(marking, found, marking - marks)


def _applications(module: Module, names: Iterable[str]) -> Iterator[int]:
    """Where in a module's text a marker may be applied by one of the names."""
    names = frozenset(names)
    return module.applications(names & TRACING_WORDS, names - TRACING_WORDS)


def run_shell(machine: Machine, module: Module, names: set[str]) -> None:
    """Evaluate the bindings and run the statements outside functions that mention one of the names."""
    if not any(True for _ in module.outside(names)):
        return
    frame = machine.module_frame(module)
    bound, statements = remembered(module.outline.shell, "_nonstrict_index", lambda _: _shell_index(module))
    for name in sorted({name for word in names for name in bound.get(word, ())}):
        machine.global_value(module, name)
    chosen = {id(statement): statement for word in names for statement in statements.get(word, ())}
    for statement in sorted(chosen.values(), key=lambda statement: (statement.lineno, statement.col_offset)):
        saved = dict(frame.env)
        machine.evaluated.add((module.path, statement.lineno))
        machine.execute(frame, [statement])
        frame.env, frame.done = saved, False


def _shell_index(module: Module) -> tuple[dict[str, list[str]], dict[str, list[ast.stmt]]]:
    """For each word outside functions: the names whose bindings mention it, and the statements for effect that do."""
    bound: dict[str, list[str]] = {}
    for name, bindings in module.bound_outside.items():
        for binding in bindings:
            if binding.node is not None and binding.kind != "import":
                for word in _words(binding.node):
                    bound.setdefault(word, []).append(name)
    statements: dict[str, list[ast.stmt]] = {}
    for statement in _expressions(module.outline.shell.body):
        for word in _words(statement):
            statements.setdefault(word, []).append(statement)
    return bound, statements


def outside_imports(module: Module, names: AbstractSet[str]) -> bool:
    """Whether a statement outside definitions, and no import, mentions one of some names."""
    if not any(True for _ in module.outside(names)):
        return False
    statements = (one for one in module.outline.shell.body if not isinstance(one, (ast.Import, ast.ImportFrom)))
    return any(not names.isdisjoint(_words(statement)) for statement in statements)


def _words(node: ast.AST) -> set[str]:
    """Names that are read, attributes, and strings in a part of a module."""
    found: set[str] = set()
    for inner in walk(node):
        field = NAMING.get(type(inner))
        if field is not None:
            word = getattr(inner, field)
            if isinstance(word, str):
                found.add(word)
    return found


def _expressions(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements outside functions that do more than bind a name: a binding is evaluated when its name is."""
    for statement in body:
        if isinstance(statement, (ast.Expr, ast.For, ast.While)):
            yield statement
        elif isinstance(statement, ast.Assign):
            if any(not isinstance(target, ast.Name) for target in statement.targets):
                yield statement
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            yield from (ast.copy_location(ast.Expr(value), value) for value in _in_head(statement))
            yield from _expressions(statement.body)
            yield from _expressions(getattr(statement, "orelse", []))
            for handler in getattr(statement, "handlers", []):
                yield from _expressions(handler.body)


def _in_head(statement: ast.If | ast.Try | ast.With) -> list[ast.expr]:
    """The expressions in the head of a statement."""
    if isinstance(statement, ast.With):
        return [item.context_expr for item in statement.items]
    return [statement.test] if isinstance(statement, ast.If) else []


def evaluate_chunk(machine: Machine, module: Module, chunk: Chunk, node: ast.AST, names: set[str]) -> None:
    """Define a function or class and interpret the parts of it that mention a name, or what holds it there."""
    names = names | targets.held_as(node, names)
    frame = machine.module_frame(module)
    machine.evaluated.add((module.path, chunk.name))
    machine.global_value(module, chunk.name)
    machine.define(frame, node, chunk.offset)
    if isinstance(node, ast.ClassDef):
        _evaluate_class(machine, frame, node, chunk.offset, names)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        _evaluate_function(machine, frame, node, chunk.offset, names, None)


def _evaluate_class(machine: Machine, frame: Frame, node: ast.ClassDef, offset: int, names: set[str]) -> None:
    cls = definition_values.class_of(frame, node, offset)
    for statement in node.body:
        if not applies(statement, names):
            continue
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            classes.own_member(machine, cls, statement.name)
            receiver = classes.instance_at(machine, cls, _SELF)
            _evaluate_function(machine, frame, statement, offset, names, (cls, receiver))
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    classes.own_member(machine, cls, target.id)
        elif isinstance(statement, ast.ClassDef):
            _evaluate_class(machine, frame, statement, offset, names)


def _evaluate_function(
    machine: Machine,
    frame: Frame,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    offset: int,
    names: set[str],
    owner: tuple[Class, Value] | None,
) -> None:
    """Interpret a function in which a name is applied; `owner` is the class of a method, and an instance of it."""
    if not any(applies(statement, names) for statement in node.body):
        return
    cls, receiver = owner if owner is not None else (None, None)
    function = definition_values.function_of(frame, node, offset, cls)
    run = machine.static_frame(function, receiver if function.binding in ("", "property") else None)
    for inner in _nested(node):
        if isinstance(inner, ast.ClassDef):
            if applies(inner, names):
                _evaluate_class(machine, run, inner, offset, names)
        else:
            _evaluate_function(machine, run, inner, offset, names, None)


def _nested(node: ast.AST) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, ...]:
    """The functions and classes that a function defines, those in others left out."""
    return remembered(node, "_nonstrict_nested", _find_nested)


def _find_nested(node: ast.AST) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, ...]:
    found: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = []
    pending = deque(children(node))
    while pending:
        current = pending.popleft()
        if isinstance(current, _DEFINITION):
            found.append(current)
        else:
            pending.extend(children(current))
    return tuple(found)


# -- calls of marked functions ------------------------------------------------------------------------------------


def find_calls(machine: Machine, module: Module, names: set[str]) -> None:
    """Interpret the functions of a module that mention one of the names, so that their calls are seen."""
    wanted = names - module.searched
    if not wanted:
        return
    module.searched |= wanted
    with machine.summaries.aside():
        run_shell(machine, module, wanted | _hooking(module))
    for chunk in module.chunks_with(wanted):
        node = module.outline.node(chunk) if machine.concerns(module, chunk) else None
        if node is not None and applies(node, wanted):
            with machine.summaries.aside():
                evaluate_chunk(machine, module, chunk, node, wanted)


def names_in(machine: Machine, path: str) -> set[str]:
    """The names of all marked functions of a file: who asks for the calls of one will ask for those of another."""
    count, names = machine.marked_names.get(path, (0, set[str]()))
    if count != len(machine.marks):
        marks = list(machine.marks.values())[count:]
        names |= set[str]().union(*(names_of(machine, mark) for mark in marks if mark.path == path))
        machine.marked_names[path] = (len(machine.marks), names)
    return names


def names_of(machine: Machine, mark: Mark) -> set[str]:
    """The names by which code may call what a marker returned."""
    if mark not in machine.mark_names:
        machine.mark_names[mark] = _names_of(machine, mark)
    return machine.mark_names[mark]


def _names_of(machine: Machine, mark: Mark) -> set[str]:
    names: set[str] = set()
    if mark.function is not None and mark.function.name != "<lambda>":
        names.add(mark.function.name)
    if mark.operator is not None and mark.operator.bare:
        names.add(mark.operator.bare)
    module = machine.project.module(mark.path)
    if module is None:
        return names
    line = getattr(mark.node, "lineno", 0) + mark.offset
    for statement, offset in around(module, line):
        for inner in walk(statement):
            if isinstance(inner, (ast.Assign, ast.AnnAssign)) and inner.value is not None:
                end = (inner.end_lineno or 0) + offset
                if inner.lineno + offset <= line <= end:
                    targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                    names |= {last_name(target) for target in targets} - {""}
    return names | handed_on(module, names)


def handed_on(module: Module, names: set[str]) -> set[str]:
    """Top-level names, and attributes of classes, that hold one of the given ones: `kernels = {"sum": total}`."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        new = (module.handed_on.get(name, set()) | module.members_holding(name)) - found - names
        found |= new
        pending.extend(new)
    return found


def around(module: Module, line: int) -> Iterator[tuple[ast.AST, int]]:
    """The top-level statements that cover a line, with their line offset."""
    body, chunks = _by_line(module), module.outline.chunks
    # Statements that share a line begin on it.
    index = bisect_right(body, line, key=lambda statement: statement.lineno)
    for statement in reversed(body[:index]):
        if (statement.end_lineno or 0) < line:
            break
        yield statement, 0
    index = bisect_right(chunks, line, key=lambda chunk: chunk.first) - 1
    if index >= 0 and line <= chunks[index].last:
        node = module.outline.node(chunks[index])
        if node is not None:
            yield node, chunks[index].offset


def function_around(module: Module, node: ast.AST, offset: int) -> FunctionNode | None:
    """The innermost function that holds a node, which is parsed `offset` lines below the start of its file."""
    for statement, _ in around(module, getattr(node, "lineno", 0) + offset):
        for inner in reversed([*walk(statement)]):
            if isinstance(inner, FunctionNode) and any(part is node for part in walk(inner)):
                return inner
    return None


def _by_line(module: Module) -> list[ast.stmt]:
    """The statements outside definitions in the order of the text: those of a function stand where it is called."""
    return remembered(
        module.outline.shell, "_nonstrict_by_line", lambda shell: sorted(shell.body, key=lambda one: one.lineno)
    )


def settled_marks(machine: Machine) -> list[Mark]:
    """The marks to look at: one made by a factory counts as its real calls made it, if any were seen."""
    for mark in list(machine.marks.values()):
        seek_factory_calls(machine, mark)
    return kept_marks(machine)


def seek_factory_calls(machine: Machine, mark: Mark) -> None:
    """Look for the calls of the factory that made a marked function, if one did and no call of it is known."""
    closure = mark.function.closure if mark.function is not None else None
    if closure is None or closure.caller is not None:
        return
    for factory in factories(mark):
        find_calls(machine, factory.module, {factory.name})
        own = {factory.name} if factory.owner is not None else set[str]()
        for use in uses(machine, factory):
            find_calls(machine, use.module, {use.name} | handed_on(use.module, {use.name}) | own)


def factories(mark: Mark) -> Iterator[Function]:
    """The functions in which a marked function is defined, the innermost first."""
    closure = mark.function.closure if mark.function is not None else None
    while closure is not None and closure.function is not None:
        yield closure.function
        closure = closure.function.closure


def uses(machine: Machine, function: Function) -> list[Use]:
    """The other files that import a top-level function, or the class of a method."""
    exported = function.owner.name if function.owner is not None else function.name
    if function.closure is not None or exported not in function.module.bindings:
        return []
    return machine.elsewhere.users(function.module, exported)


def kept_marks(machine: Machine) -> list[Mark]:
    """The marks without those that stand for calls of a factory which were seen since."""
    called: set[tuple[int, str]] = set()
    for mark in machine.marks.values():
        closure = mark.function.closure if mark.function is not None else None
        if mark.function is not None and closure is not None and closure.caller is not None:
            called.add((id(mark.function.node), mark.kind))
    kept: list[Mark] = []
    for mark in machine.marks.values():
        closure = mark.function.closure if mark.function is not None else None
        alone = mark.function is not None and closure is not None and closure.caller is None
        if not alone or mark.function is None or (id(mark.function.node), mark.kind) not in called:
            kept.append(mark)
    return kept
