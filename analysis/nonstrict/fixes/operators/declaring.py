"""What operators have to say of themselves: a fake, the arguments that they change, results of their own."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import after, replaced, with_argument
from nonstrict.fixes.code.lists import parameters_of as written_parameters
from nonstrict.fixes.code.names import meaning, spelled
from nonstrict.fixes.operators.fakes import Fake, fake_lines, fake_of, parameters_of, returns_of, told_by
from nonstrict.fixes.operators.observed import tensors_in, types_in
from nonstrict.program.contracts.marks.fake_arguments import untaken
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import TENSORS, Kind
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.domain.definitions import Operator

_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


# -- fakes ------------------------------------------------------------------------------------------------------------


def with_fake(context: Context) -> Iterator[Fix]:
    """Register a fake for an operator or leaf function; told from its text, or a skeleton of one."""
    found = _definition(context, context.body)
    operator = context.body.applied.operator
    if found is None or operator is None:
        return
    document, node = found
    calls = context.documents.calls(document, node)
    fake = fake_of(document, node, _tensors(context.body) | tensors_in(calls), types_in(calls), calls)
    lines = _registration(document, node, operator, context, fake)
    if lines is None:
        return
    statement, text = lines
    if operator.api != "leaf_function" and not fake.complete and fake.tensors < 0 and _several(node):
        return
    apart = [""] if isinstance(document.parent(statement), ast.ClassDef) else ["", ""]
    added = after(document, statement, [*apart, *text])
    if added is not None:
        title = f"Register a fake for `{node.name}`{told_by(fake)}"
        yield Fix(title, _how_sure(fake), (added,))


def _how_sure(fake: Fake) -> Applicability:
    if not fake.complete:
        return Applicability.DISPLAY
    return Applicability.SAFE if fake.exact else Applicability.UNSAFE


def _several(node: ast.FunctionDef) -> bool:
    """Whether a function is annotated to return something else than one tensor."""
    return node.returns is not None and last_name(node.returns) != "Tensor"


def _registration(
    document: Document, node: ast.FunctionDef, operator: Operator, context: Context, fake: Fake
) -> tuple[ast.stmt, list[str]] | None:
    """The statement behind which a fake is registered, and how."""
    declared = document.at(context.finding.span, ast.expr)
    if declared is None:
        return None
    if declared in node.decorator_list[:1]:
        return node, fake_lines(document, node, fake)
    wrapped = declared in node.decorator_list  # by `staticmethod`, say: the name is not that of the operator
    statement = node if wrapped else document.statement(declared)
    if wrapped or operator.api == "define" or not isinstance(statement, ast.Assign):
        if not operator.name or statement is None or document.block(statement) != document.block(node):
            return None
        later = max(node, statement, key=lambda one: one.lineno)
        lines = fake_lines(document, node, fake)
        registers = spelled(document, "torch.library.register_fake")
        return None if registers.edits else (later, [f'@{registers.text}("{operator.name}")', *lines[1:]])
    target = statement.targets[0]
    if statement.value is not declared or len(statement.targets) != 1 or not isinstance(target, ast.Name):
        return None
    return statement, fake_lines(document, node, fake, target.id)


def like_the_function(context: Context) -> Iterator[Fix]:
    """Make a fake take and return what its function does, as far as the text of that tells."""
    real = _definition(context, context.body)
    fakes = context.body.applied.fakes
    other = _definition(context, fakes[0]) if len(fakes) == 1 else None
    if real is None or other is None or not _holds(other[0].span(other[1]), context.finding.span):
        return
    if fakes[0].applied.target.kind is Kind.PARTIAL:
        return  # what a partial binds is not to be found in the definition
    told = None
    if fakes[0].applied.binding not in ("class", "property"):
        told = untaken(real[1].args, other[1].args, lambda: context.body.sites)
    if told is not None:
        yield from _with_parameters(context, real, other)
        return
    fake = fake_of(real[0], real[1], _tensors(context.body))
    returned = [value for value in returns_of(other[1]) if value is not None]
    renamed = _renamed(fake.result, real[1], other[1]) if fake.complete and len(returned) == 1 else None
    if renamed is None or real[0] is not other[0]:
        return
    edit = replaced(other[0], returned[0], renamed)
    yield Fix(f"Make the fake return what `{real[1].name}` returns", _how_sure(fake), (edit,))


def _with_parameters(
    context: Context, real: tuple[Document, ast.FunctionDef], other: tuple[Document, ast.FunctionDef]
) -> Iterator[Fix]:
    """Give a fake the parameters of its function, and that result too if its own reads what is not a parameter then."""
    document, node = other
    if real[0] is not document:
        return
    written = written_parameters(document, node)
    if "#" in document.code[written.opening : written.closing]:
        return
    annotated = {
        one.arg: document.text(one.annotation)
        for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if one.annotation is not None
    }
    edits = [
        Edit(document.range(written.opening, written.closing), parameters_of(document, real[1], annotated)),
    ]
    gone = set(parameter_names(node.args)) - set(parameter_names(real[1].args))
    names = {one for one in own_scope(node) if isinstance(one, ast.Name)}
    if all(one.id not in gone for one in names):
        yield Fix(f"Give the fake the parameters of `{real[1].name}`", Applicability.SAFE, tuple(edits))
        return
    fake = fake_of(real[0], real[1], _tensors(context.body))
    returned = [value for value in returns_of(node) if value is not None]
    if fake.complete and len(returned) == 1 and len(node.body) == 1:
        edits.append(replaced(document, returned[0], fake.result))
        yield Fix(f"Make the fake take and return what `{real[1].name}` does", _how_sure(fake), tuple(edits))


def _renamed(result: str, real: ast.FunctionDef, fake: ast.FunctionDef) -> str | None:
    """A result in terms of the parameters of the fake; None if it has not as many as the function."""
    mine = [one.arg for one in (*real.args.posonlyargs, *real.args.args, *real.args.kwonlyargs)]
    its = [one.arg for one in (*fake.args.posonlyargs, *fake.args.args, *fake.args.kwonlyargs)]
    if len(mine) != len(its) or fake.args.vararg is not None or fake.args.kwarg is not None:
        return None
    names = dict(zip(mine, its, strict=True))
    tree = tree_of(result, "eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return result if mine == its else ast.unparse(tree)


def _holds(outer: tuple[object, ...], inner: tuple[object, ...]) -> bool:
    path, *start = outer[:3]
    return path == inner[0] and tuple(start) <= inner[1:3] and inner[3:] <= outer[3:]


# -- changes and results ----------------------------------------------------------------------------------------------


def declare(context: Context) -> Iterator[Fix]:
    """Declare the argument that an operator changes, or return a copy of the one that it returns."""
    operator = context.body.applied.operator
    if operator is None:
        return
    here = (one for one in context.body.observed(Event.INPUT_WRITE) if one.effect.span == context.finding.span)
    seen = next((one for one in here if one.effect.place.name not in (operator.mutates or ())), None)
    if seen is None:
        yield from _cloned(context, operator)
    elif not seen.effect.place.path or operator.api == "custom_op":
        name = seen.effect.place.name
        edits = _declared(context, operator, name)
        if edits:
            yield Fix(f"Declare that `{name}` is changed", Applicability.SAFE, edits)


def declare_an_argument(context: Context) -> Iterator[Fix]:
    """Declare the first tensor of an operator as changed, so that its calls are kept."""
    seen = context.observed(Event.DROPPED)
    mark = seen.effect.value.mark if seen is not None else None
    operator = mark.operator if mark is not None else None
    if mark is None or operator is None or operator.api != "custom_op":
        return
    body = context.body.applied.implementation(mark)
    name = next((name for name, value in body.arguments.items() if value.kind in TENSORS), None)
    edits = _declared(context, operator, name) if name is not None and body.returned.kind is Kind.NONE else ()
    if edits:
        yield Fix(f"Declare `{name}` as changed, so that the call is kept", Applicability.UNSAFE, edits)


def _declared(context: Context, operator: Operator, name: str) -> tuple[Edit, ...]:
    """The edits of a declaration that add an argument to what it says to be changed."""
    document = context.documents.document(operator.path)
    if document is None or operator.node is None:
        return ()
    declared = document.at(span_of(operator.path, operator.offset, operator.node), ast.expr)
    if declared is None:
        return ()
    if not isinstance(declared, ast.Call):
        return (replaced(document, declared, f'{document.text(declared)}(mutates_args={{"{name}"}})'),)
    given = next((one.value for one in declared.keywords if one.arg == "mutates_args"), None)
    edits: list[Edit | None] = []
    if operator.schema:
        edits.append(_in_schema(document, declared, operator.schema, name))
    if given is not None:
        edits.append(_one_more(document, given, name, _parameter_names(operator)))
    elif operator.api == "leaf_function":
        edits.append(with_argument(document, declared, f'mutates_args={{"{name}"}}'))
    elif operator.api != "define":
        return ()  # `custom_op` wants both to say the same
    known = [edit for edit in edits if edit is not None]
    return tuple(known) if len(known) == len(edits) else ()


def _parameter_names(operator: Operator) -> frozenset[str]:
    """The parameters of what implements an operator; none if that is not known."""
    functions = [mark.function for mark in operator.implementations if mark.function is not None]
    return frozenset(name for function in functions for name in parameter_names(function.node.args))


def _one_more(document: Document, node: ast.expr, added: str, parameters: frozenset[str]) -> Edit | None:
    """A literal collection with one more name, without those that torch refuses as no parameter is called so."""
    name = f'"{added}"'
    empty = isinstance(node, ast.Call) and not node.args and last_name(node) in ("set", "frozenset", "tuple", "list")
    if empty or (isinstance(node, ast.Dict) and not node.keys):
        return replaced(document, node, f"{{{name}}}" if last_name(node) in ("set", "") else f"({name},)")
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return replaced(
            document, node, f"({document.text(node)}, {name})" if _names(node, parameters) else f"({name},)"
        )
    if not isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return None
    parts = [*(document.text(one) for one in node.elts if _names(one, parameters)), name]
    inner = ", ".join(parts)
    if isinstance(node, ast.Tuple):
        return replaced(document, node, f"({inner},)" if len(parts) == 1 else f"({inner})")
    return replaced(document, node, f"[{inner}]" if isinstance(node, ast.List) else f"{{{inner}}}")


def _names(node: ast.expr, parameters: frozenset[str]) -> bool:
    """Whether a string names a parameter, or a part of one such as `model.mean`; if in doubt it does."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not parameters:
        return True
    return re.split(r"[.\[]", node.value, maxsplit=1)[0].strip() in parameters


def _in_schema(document: Document, declared: ast.AST, schema: str, name: str) -> Edit | None:
    """The string of a schema in which an argument is declared as changed."""
    letter = next(letter for letter in "abcdefghijklmnopqrstuvwxyz" if f"({letter}" not in schema)
    pattern = re.compile(rf"\bTensor(?=\??\s+{re.escape(name)}\b)")
    for node in ast.walk(declared):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and schema in node.value:
            text = document.text(node)
            if len(pattern.findall(text)) == 1:
                return replaced(document, node, pattern.sub(f"Tensor({letter}!)", text))
    return None


def _cloned(context: Context, operator: Operator) -> Iterator[Fix]:
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    if document is None or node is None:
        return
    text = document.text(node)
    copied = f"{text}.clone()" if isinstance(node, _PLAIN) else f"({text}).clone()"
    if _returns_parts(context):
        copied = _copied_parts(document, node)
    refused = operator.api == "custom_op"
    sure = Applicability.SAFE if refused else Applicability.UNSAFE
    yield Fix(f"Return a copy: `{copied}`", sure, (replaced(document, node, copied),))


def _copied_parts(document: Document, node: ast.expr) -> str:
    """A list of copies, without a list that is made for it."""
    if isinstance(node, ast.ListComp) and isinstance(node.elt, _PLAIN):
        (first, last), end = document.bounds(node), document.bounds(node.elt)[1]
        return f"{document.code[first:end]}.clone(){document.code[end:last]}"
    made = isinstance(node, ast.Call) and meaning(document)(node.func) in ("builtins.list", "builtins.tuple")
    if made and isinstance(node, ast.Call) and len(node.args) == 1 and not isinstance(node.args[0], ast.GeneratorExp):
        node = node.args[0]
    return f"[part.clone() for part in {document.text(node)}]"


def _returns_parts(context: Context) -> bool:
    """Whether the expression of a finding is all that is returned, and holds several tensors."""
    applied = context.body.applied
    whole = any(applied.span_of(node) == context.finding.span for node in applied.returned())
    return whole and any(value.kind in (Kind.TUPLE, Kind.LIST) for value in context.body.returned.alternatives())


# -- the function -----------------------------------------------------------------------------------------------------


def _definition(context: Context, body: MarkedBody) -> tuple[Document, ast.FunctionDef] | None:
    """The definition of an operator's function, with results that are told by `return` alone."""
    found = context.definition(body.mark.function) if body.mark.function is not None else None
    node = found[1] if found is not None else None
    if found is None or not isinstance(node, ast.FunctionDef):
        return None
    document = found[0]
    yields = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in own_scope(node))
    arguments = node.args
    return None if yields or arguments.vararg is not None or arguments.kwarg is not None else (document, node)


def _tensors(body: MarkedBody) -> frozenset[str]:
    return frozenset(name for name, value in body.arguments.items() if value.kind in TENSORS)
