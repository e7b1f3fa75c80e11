"""`self.scale = nonstrict_trace(lambda x: x * factor)` becomes one function of the module that gets the factor.

Each instance has a marked function of its own, and Dynamo runs the graph of the first one for all of them. What they
differ in is kept by the instance, and passed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.targets import last_name
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.captures.enclosed import captured_values
from nonstrict.fixes.code.edits import before, removed, replaced, with_argument
from nonstrict.fixes.code.names import bindings, fresh, outermost
from nonstrict.fixes.uses.spots import root_of
from nonstrict.knowledge.operators import is_module_member
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.values import Value

#: What an instance may keep: parameters and modules would be registered.
_KEPT = frozenset({Kind.NUMBER, Kind.BOOL, Kind.STRING, Kind.TENSOR})
_PASSED = _KEPT | {Kind.PARAMETER}


class _Made(NamedTuple):
    """`self.name = marker(lambda ...)` in `method`, a method of `owner`."""

    document: Document
    lambda_: ast.Lambda
    marker: ast.Call
    statement: ast.Assign
    name: str
    method: ast.FunctionDef
    owner: ast.ClassDef


def share_between_instances(context: Context) -> Iterator[Fix]:
    """Make one marked function of the lambdas of all instances."""
    made = _made(context)
    if made is None:
        return
    document = made.document
    values = captured_values(context, document, made.lambda_)
    calls = _calls(context, made)
    receiver = made.method.args.args[0].arg
    if not values or not calls or not all(_may_be_kept(made, receiver, *one) for one in values.items()):
        return
    outer = outermost(document, made.owner)
    taken = [name.removeprefix(f"{receiver}.") for name in values]
    parameters = [*(one.arg for one in made.lambda_.args.args), *taken]
    if outer is None or len(set(parameters)) != len(parameters) or not _reads_module_only(made, {receiver, *taken}):
        return
    above = document.tree.body[: document.tree.body.index(outer)]
    marker = root_of(made.marker.func)
    if marker is None or marker.id not in {one for statement in above for one in bindings(statement)}:
        return
    # Not with two underscores in front: within a class such a name would mean another one.
    name = fresh(document, made.name.lstrip("_") or "marked", outer)
    text = _body(made, receiver)
    if "\n" in text or "\n" in document.text(made.marker.func):
        return
    function = f"def {name}({', '.join(parameters)}):"
    lines = [f"@{document.text(made.marker.func)}", function, f"{document.step}return {text}", "", ""]
    kept = [f"{receiver}.{one} = {one}" for one in values if "." not in one and not _keeps(made, receiver, one)]
    edits = [before(document, outer, lines), _kept_instead(made, kept)]
    for call in calls:
        own = document.text(call.func.value) if isinstance(call.func, ast.Attribute) else receiver
        edits.append(replaced(document, call.func, name))
        edits.append(with_argument(document, call, ", ".join(f"{own}.{one}" for one in taken)))
    known = [edit for edit in edits if edit is not None]
    if len(known) == len(edits):
        yield Fix(f"Mark one function `{name}` for all instances", Applicability.UNSAFE, tuple(known))


def _body(made: _Made, receiver: str) -> str:
    """What the lambda returns, with names in place of attributes of the instance."""
    text = made.document.text(made.lambda_.body)
    start = made.document.bounds(made.lambda_.body)[0]
    reads = [
        made.document.bounds(one)
        for one in ast.walk(made.lambda_.body)
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == receiver
    ]
    for first, last in sorted(reads, reverse=True):
        text = text[: first - start] + text[first - start : last - start].rpartition(".")[2] + text[last - start :]
    return text


def _made(context: Context) -> _Made | None:
    function = context.body.mark.function
    found = context.definition(function) if function is not None else None
    document, node = found if found is not None else (None, None)
    if document is None or not isinstance(node, ast.Lambda):
        return None
    marker = document.parent(node)
    statement = document.parent(marker) if marker is not None else None
    method = document.function(node)
    if not isinstance(marker, ast.Call) or marker.args != [node] or marker.keywords:
        return None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.value is not marker:
        return None
    target = statement.targets[0]
    owner = document.parent(method) if method is not None else None
    if not isinstance(method, ast.FunctionDef) or method.name != "__init__" or not isinstance(owner, ast.ClassDef):
        return None
    if not isinstance(target, ast.Attribute) or not method.args.args or not _is_name(target.value, method):
        return None
    plain = node.args
    odd = plain.posonlyargs or plain.kwonlyargs or plain.vararg or plain.kwarg or plain.defaults or not plain.args
    if odd or statement not in method.body:
        return None
    return _Made(document, node, marker, statement, target.attr, method, owner)


def _is_name(node: ast.expr, method: ast.FunctionDef) -> bool:
    return isinstance(node, ast.Name) and bool(method.args.args) and node.id == method.args.args[0].arg


def _calls(context: Context, made: _Made) -> list[ast.Call] | None:
    """The calls of the attribute, all by methods of the class on their own object; None if it has other uses."""
    uses = context.documents.uses
    documents = uses.holding(made.name, made.document.path)
    if documents is None:
        return None
    found: list[ast.Call] = []
    for document in dict.fromkeys([made.document, *documents]):
        if any(node.value == made.name for node in document.of(ast.Constant)):
            return None
        for node in uses.scopes(document).text.attributes.get(made.name, ()):
            if node is made.statement.targets[0]:
                continue
            call = document.parent(node)
            method = document.function(node)
            known = isinstance(method, ast.FunctionDef) and document.parent(method) is made.owner
            own = isinstance(method, ast.FunctionDef) and known and _is_name(node.value, method)
            if not own or not isinstance(call, ast.Call) or call.func is not node:
                return None
            if call.keywords or len(call.args) != len(made.lambda_.args.args):
                return None
            if any(isinstance(one, (ast.Starred, ast.GeneratorExp)) for one in call.args):
                return None
            found.append(call)
    return found


def _may_be_kept(made: _Made, receiver: str, name: str, value: Value) -> bool:
    """Whether the instance keeps a value, or can: a parameter of `__init__` that stays what it is, under its name."""
    owner, _, attribute = name.rpartition(".")
    if attribute and owner:
        return owner == receiver and all(one.kind in _PASSED for one in value.alternatives())
    if any(one.kind not in _KEPT for one in value.alternatives()):
        return False
    arguments = made.method.args
    parameters = {one.arg for one in (*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs)}
    rebound = any(isinstance(one, ast.Name) and one.id == name and _stores(one) for one in ast.walk(made.method))
    taken = any(one.attr == name for one in made.document.of(ast.Attribute))
    bound = any(getattr(one, "name", "") == name for one in made.owner.body)
    free = (not taken and not bound and not is_module_member(name)) or _keeps(made, receiver, name)
    return name in parameters and not rebound and free and not name.startswith("__")


def _stores(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _keeps(made: _Made, receiver: str, name: str) -> bool:
    """Whether `__init__` keeps a parameter as the attribute of that name, and nothing else sets this one."""
    stores = [
        node for node in made.document.of(ast.Attribute) if node.attr == name and not isinstance(node.ctx, ast.Load)
    ]
    if len(stores) != 1:
        return False
    statement = made.document.parent(stores[0])
    return (
        isinstance(statement, ast.Assign)
        and statement in made.method.body
        and len(statement.targets) == 1
        and isinstance(statement.value, ast.Name)
        and statement.value.id == name
        and isinstance(stores[0].value, ast.Name)
        and stores[0].value.id == receiver
    )


def _kept_instead(made: _Made, lines: list[str]) -> Edit | None:
    """The statement that made the function, replaced by what keeps its values."""
    document = made.document
    if not lines:
        return removed(document, made.statement)
    return replaced(document, made.statement, f"\n{document.indentation(made.statement)}".join(lines))


def _reads_module_only(made: _Made, values: set[str]) -> bool:
    """Whether the lambda reads what it captures, its parameters and names of the module that no class shadows."""
    own = {one.arg for one in made.lambda_.args.args}
    names = {one.id for one in ast.walk(made.lambda_.body) if isinstance(one, ast.Name)} - own - values
    nested = any(isinstance(one, (ast.Lambda, ast.NamedExpr, ast.comprehension)) for one in ast.walk(made.lambda_.body))
    around = [one for one in made.document.around(made.lambda_) if isinstance(one, ast.FunctionDef)]
    local = {name for one in around for name in scope_of(one).local}
    used = {last_name(made.marker.func)} | names
    return not nested and not used & local and not own & values and "__class__" not in names
