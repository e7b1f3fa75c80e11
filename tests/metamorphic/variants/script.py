"""Programs as scripts are written: in `main()`, with objects from factories, handed through constructors."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING

from tests.metamorphic.variants.program import (
    Definition,
    Program,
    bound_otherwise,
    indented,
    looks_at_its_names,
    names,
    stored,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.metamorphic.variants.program import Edit


def driver_in_main(program: Program) -> str | None:
    """The statements behind the last definition are those of `main()`."""
    tail = _tail(program)
    if not tail or "main" in {node.name for node in program.tree.body if isinstance(node, Definition)}:
        return None
    start = program.lines_of(tail[0])[0]
    lines = program.text.split("\n")
    body = "\n".join(lines[start - 1 :])
    shared = sorted(_bound_by(tail) & _needed_before(program, tail))
    declared = f"    global {', '.join(shared)}\n" if shared else ""
    head = "\n".join(lines[: start - 1])
    return f"{head}\n\ndef main():\n{declared}{indented(body)}\n\n\nmain()\n"


def all_in_main(program: Program) -> str | None:
    """Everything but the imports is in `main()`: globals become variables that functions capture."""
    start = program.after_imports()
    if not start or looks_at_its_names(program.tree) or not _fits_in_a_function(program):
        return None
    lines = program.text.split("\n")
    body = "\n".join(_merged(program)[start:]).replace("global ", "nonlocal ")
    body = body.replace('if __name__ == "__main__":', "if True:")
    body = re.sub(r"\bmain\(", "inner_main(", body)
    return "\n".join(lines[:start]) + f"\n\n\ndef main():\n{indented(body)}\n\n\nmain()\n"


def _merged(program: Program) -> list[str]:
    """The lines of a module, the body of its own `main()` in place of the call where nothing else stands for that."""
    lines = program.text.split("\n")
    found = [one for one in program.tree.body if isinstance(one, ast.FunctionDef) and one.name == "main"]
    calls = [one for one in program.tree.body if isinstance(one, ast.Expr) and ast.unparse(one) == "main()"]
    if len(found) != 1 or len(calls) != 1 or program.text.count("main(") != 2 or not _is_plain(found[0], program):
        return lines
    main, call = found[0], calls[0]
    body = textwrap.dedent("\n".join(lines[main.body[0].lineno - 1 : main.end_lineno])).split("\n")
    before, after = lines[: main.lineno - 1], lines[main.end_lineno : call.lineno - 1]
    blank = [""] * (main.end_lineno - main.lineno + 1 if main.end_lineno else 0)
    return [*before, *blank, *after, *body, *lines[call.end_lineno :]]


def _is_plain(main: ast.FunctionDef, program: Program) -> bool:
    """Whether the body of a function means the same outside: nothing is given, returned or called otherwise there."""
    own = {node.id for node in ast.walk(main) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    definitions = [one for one in program.tree.body if isinstance(one, Definition)]
    taken = {one.name for one in definitions}.union(
        _bound_by([one for one in program.tree.body if one not in definitions])
    )
    leaves = any(isinstance(node, (ast.Return, ast.Global, ast.Nonlocal)) for node in ast.walk(main))
    plain = not main.args.args and not main.decorator_list and not leaves
    return plain and main.body[0].lineno > main.lineno and own.isdisjoint(taken)


def chained(program: Program) -> str | None:
    """Modules are moved where they are made: `Net().to("cpu")`."""
    return _made_otherwise(program, lambda made, _: f'{made}.to("cpu").requires_grad_(True)', _is_module(program))


def by_factory(program: Program) -> str | None:
    """Objects are made by a function."""
    own = _own_classes(program)
    factories: dict[str, str] = {}

    def make(made: str, call: ast.Call) -> str:
        name = f"make_{len(factories)}"
        given = [f"a{index}" for index in range(len(call.args))]
        keywords = [f"{keyword.arg}={keyword.arg}" for keyword in call.keywords]
        parameters = ", ".join([*given, *(keyword.arg or "" for keyword in call.keywords)])
        callee = made[: made.index("(")]
        result = f"{callee}({', '.join([*given, *keywords])})"
        factories[name] = f"def {name}({parameters}):\n    made = {result}\n    return made\n"
        return f"{name}({made[made.index('(') + 1 :]}"

    def is_made(call: ast.Call) -> bool:
        plain = not any(isinstance(argument, ast.Starred) for argument in call.args)
        named = all(keyword.arg for keyword in call.keywords)
        return plain and named and (_is_module(program)(call) or _class_of(call) in own)

    changed = _made_otherwise(program, make, is_made)
    start = program.after_imports()
    if changed is None or not start:
        return None
    lines = changed.split("\n")
    return "\n\n\n".join(["\n".join(lines[:start]), *factories.values(), "\n".join(lines[start:])])


def through_constructor(program: Program) -> str | None:
    """Objects are handed to a constructor, and taken from the attribute that keeps them."""
    own = _own_classes(program)
    changed = _made_otherwise(
        program,
        lambda made, _: f"Holder({made}).held",
        lambda call: _is_module(program)(call) or _class_of(call) in own,
    )
    start = program.after_imports()
    if changed is None or not start:
        return None
    lines = changed.split("\n")
    holder = "class Holder:\n    def __init__(self, held):\n        self.held = held\n"
    return "\n\n\n".join(["\n".join(lines[:start]), holder, "\n".join(lines[start:])])


def _tail(program: Program) -> list[ast.stmt]:
    """The statements of the module behind its last definition or import."""
    body = program.tree.body
    kept = [index for index, node in enumerate(body) if isinstance(node, (*Definition, ast.Import, ast.ImportFrom))]
    tail = body[kept[-1] + 1 :] if kept else []
    nested = any(isinstance(node, (*Definition, ast.Global)) for statement in tail for node in ast.walk(statement))
    guarded = any(name.id == "__name__" for statement in tail for name in names(statement))
    return [] if nested or guarded else tail


def _bound_by(statements: list[ast.stmt]) -> set[str]:
    tree = ast.Module(statements, [])
    return stored(tree) | bound_otherwise(tree)


def _needed_before(program: Program, tail: list[ast.stmt]) -> set[str]:
    """The names that the module binds, or its definitions read, before its last statements."""
    before = [node for node in program.tree.body if node not in tail]
    definitions = [node for node in before if isinstance(node, Definition)]
    bound = _bound_by([node for node in before if not isinstance(node, Definition)])
    declared = {name for node in ast.walk(program.tree) if isinstance(node, ast.Global) for name in node.names}
    read = {name.id for node in definitions for name in names(node)}
    return bound | declared | read | {node.name for node in definitions}


def _fits_in_a_function(program: Program) -> bool:
    """Whether the module means the same in a function: what is declared global is bound by the module itself."""
    bound: set[str] = set()
    for statement in program.tree.body:
        if isinstance(statement, Definition):
            bound.add(statement.name)
        else:
            bound |= stored(statement)
    declared = {name for node in ast.walk(program.tree) if isinstance(node, ast.Global) for name in node.names}
    return declared <= bound and "*" not in bound_otherwise(program.tree) and "__file__" not in program.text


def _made_otherwise(
    program: Program, write: Callable[[str, ast.Call], str], wanted: Callable[[ast.Call], bool]
) -> str | None:
    edits: list[Edit] = [
        program.replacing(call, write(program.segment(call), call)) for call in _makings(program) if wanted(call)
    ]
    return program.edited(edits) if edits else None


def _makings(program: Program) -> Iterator[ast.Call]:
    """Calls whose results the module, or its `main`, gives a name."""
    bodies = [program.tree.body]
    bodies += [node.body for node in program.tree.body if isinstance(node, ast.FunctionDef) and node.name == "main"]
    for body in bodies:
        for statement in body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                yield statement.value


def _class_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _own_classes(program: Program) -> set[str]:
    """The classes of a module that are made by being called, and whose name is bound once."""
    classes = [node.name for node in program.tree.body if isinstance(node, ast.ClassDef)]
    return {name for name in classes if classes.count(name) == 1} - stored(program.tree)


def _is_module(program: Program) -> Callable[[ast.Call], bool]:
    """Tells of a call whether it makes a module: a layer of torch, or a class derived from `nn.Module` in the file."""
    modules = {
        node.name
        for node in program.tree.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("nn.Module") for base in node.bases)
    } & _own_classes(program)

    def tells(call: ast.Call) -> bool:
        if _class_of(call) in modules:
            return True
        spelled = ast.unparse(call.func).split(".")
        return spelled[-2:-1] == ["nn"] and spelled[-1][:1].isupper() and spelled[-1] not in ("Parameter", "Buffer")

    return tells
