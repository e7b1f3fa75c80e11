"""How the subject of a finding is changed from outside: by which name, in which module."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.confirm.import_names import name_from
from nonstrict.confirm.programs import Change, Program
from nonstrict.confirm.slices import imported_names, statements_of
from nonstrict.findings import ENVIRONMENT
from nonstrict.rules.expectation import Trait

if TYPE_CHECKING:
    from collections.abc import Collection

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.findings import Subject


def change_of(
    program: Program, suspect: Suspect, files: Collection[str] = (), *, direct: bool = False
) -> Change | None:
    """How the subject of a finding can be changed from outside; None where nothing is known of it.

    `files` are the user's files that the program loads: where there are several, the agent tells globals apart by their
    modules (`nonstrict_agent.observe.state.module_roots`). `direct` says that the region is the function itself, and
    has its arguments.
    """
    subject = suspect.subject
    if subject is None:
        return None
    path = tuple(step for step in subject.path if step != "~")
    if subject.origin == "cell":
        return Change(subject.name, path, "", "in-place")
    if subject.origin == ENVIRONMENT:
        return Change(subject.name, (), "", ENVIRONMENT)
    if subject.origin == "receiver":
        # Where the module of a region is kept by the agent: under the name of its class.
        return Change(suspect.function.rpartition(".")[0], path, "", "rebind")
    if subject.origin == "argument" and suspect.has(Trait.OF_MODES) and direct:
        place = position_of(program, suspect, subject.name)
        return None if place is None else Change(f"argument {place + 1}", path, "", "mode")
    if subject.origin != "global":
        return None
    how = "mode" if suspect.has(Trait.OF_MODES) else "rebind"
    owning = _owner(program, suspect, subject, rebinds=how == "rebind" and not path)
    owner = name_from(program.path, program.text, owning)
    reached = how == "mode" or path
    name = f"{owner}.{subject.name}" if reached and len(set(files)) > 1 else subject.name
    return Change(name, path, owner, how)


def position_of(program: Program, suspect: Suspect, name: str) -> int | None:
    """The position of a parameter of the function that a finding is about; None where it has no such parameter."""
    own = (node for node in ast.walk(program.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    marked = [node for node in own if node.name == suspect.function.rpartition(".")[2]]
    names = [one.arg for node in marked for one in (*node.args.posonlyargs, *node.args.args)]
    return names.index(name) if len(marked) == 1 and name in names else None


def _owner(program: Program, suspect: Suspect, subject: Subject, *, rebinds: bool) -> str:
    """The file of the module whose variable a subject is.

    A variable that is imported is set where it was defined, by those who set it; what it holds is the same everywhere.
    """
    statements = statements_of(program.tree)
    bound = {name for statement in statements for name in statement.binds}
    own = bound - imported_names(statements) if rebinds else bound
    writers = {path for path, _ in suspect.writers}
    if subject.name in own or len(writers) != 1:
        return program.path
    return next(iter(writers))
