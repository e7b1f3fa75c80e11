"""Whether code of the project goes on using an object after it was handed to a function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import FunctionNode
from nonstrict.facts.targets import last_name
from nonstrict.fixes.uses.calls import argument
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects.parameters import default_nodes

if TYPE_CHECKING:
    from nonstrict.fixes.code.bindings import Scope
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.references import Uses

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp)
_MAKERS = frozenset({"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "copy", "deepcopy"})
#: What looks into an object, or changes it, and does not keep it.
_LOOKS = (ast.Attribute, ast.Subscript, ast.Compare)
#: How many callers up is asked.
_HOPS = 4


def is_used_afterwards(
    uses: Uses, document: Document, function: FunctionNode, parameter: str, hops: int = _HOPS
) -> bool:
    """Whether a caller uses what it passed for a parameter after the call, or may do so as it keeps it elsewhere."""
    known = uses.of(document, function)
    if known.obstacles or (known.calls and (not hops or parameter in default_nodes(function.args))):
        return True
    return any(_goes_on(uses, function, call, parameter, hops) for call in known.calls)


def _goes_on(uses: Uses, function: FunctionNode, call: Call, parameter: str, hops: int) -> bool:
    first = next((one.arg for one in (*function.args.posonlyargs, *function.args.args)), "")
    bound = call.bound.node if call.bound is not None and first == parameter else None
    given = bound or argument(function, call, parameter)
    if not isinstance(given, ast.Name):
        return given is None or not _is_made(uses, call.document, given)
    scopes, caller = uses.scopes(call.document), call.document.function(call.node)
    scope = scopes.text.binder(given, given.id)
    if scope is not (caller or call.document.tree):
        return True
    if any(_is_behind(call, read, caller) for read in scopes.text.reads(scope, given.id) if read is not given):
        return True
    return _is_kept_by_binding(uses, call, scope, given.id, hops)


def _is_behind(call: Call, read: ast.Name, caller: FunctionNode | None) -> bool:
    """Whether a variable is read after a call, or its object was handed on before."""
    document = call.document
    if document.function(read) is not caller or document.bounds(read) > document.bounds(call.node):
        return True
    return not isinstance(document.parent(read), _LOOKS)


def _is_kept_by_binding(uses: Uses, call: Call, scope: Scope, name: str, hops: int) -> bool:
    """Whether a variable has an object that was there before: the caller's own argument, or one that is kept."""
    document = call.document
    loops = {id(outer) for outer in document.around(call.node) if isinstance(outer, _LOOPS)}
    for binding in uses.scopes(document).text.bindings(scope, name):
        if isinstance(binding, ast.arg) and isinstance(scope, FunctionNode):
            if loops or is_used_afterwards(uses, document, scope, name, hops - 1):
                return True
            continue
        statement = document.parent(binding)
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        anew = {id(outer) for outer in document.around(binding)}
        if value is None or not loops <= anew or not _is_made(uses, document, value):
            return True
    return False


def _is_made(uses: Uses, document: Document, node: ast.expr) -> bool:
    """Whether an expression makes an object of its own."""
    if not isinstance(node, ast.Call):
        return isinstance(node, _DISPLAYS)
    return last_name(node) in _MAKERS or uses.value(document, node.func).kind is Kind.CLASS
