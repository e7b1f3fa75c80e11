"""Custom operators and leaf functions: how they are declared, what implements them, what stands in while compiling.

Source: `torch/library.py`, `torch/_library/custom_ops.py` and `torch/_dynamo/decorators.py` of torch 2.13.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.knowledge.devices import DEVICES
from nonstrict.knowledge.markers import MARKERS
from nonstrict.program.contracts.marks import marking
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import Operator
from nonstrict.program.domain.references import ExternalMethod, Partial
from nonstrict.program.domain.values import NO_CONSTANT, NONE, UNKNOWN, Kind, Value
from nonstrict.program.linking.schemas import Inferred, names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: Marker kinds whose functions run when the compiled code runs, unseen by the compiler.
KINDS = frozenset({"leaf", "custom-op"})
#: What `torch.library.Library(...)` is an instance of.
LIBRARY = "torch.library.Library"
LIBRARIES = frozenset({LIBRARY, "torch.library._scoped_library"})
#: What gives an operator its gradient, as a function and as a method of the operator.
REGISTER_AUTOGRAD = "torch.library.register_autograd"
_DECLARING = frozenset({"custom_op", "triton_op", "leaf_function"})
_FAKES = frozenset({"register_fake", "impl_abstract", "_register_fake"})
#: How many arguments stand before the function.
_FUNCTION_AT = {"leaf_function": 0, "register_fake": 1, "impl_abstract": 1, "custom_op": 1, "triton_op": 1}
_CALLABLE = frozenset({Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL, Kind.CLASS, Kind.MARKED, Kind.OBJECT})
#: What registers an effect with an operator by a private function of torch.
_EFFECTFUL = "_register_effectful_op"
#: Tags of operators that return what they change.
_IN_PLACE = re.compile(r"\b(?:inplace|out)\b")
_TAKING_CONTEXT = frozenset({"backward", "setup_context"})
_EMPTY = frozenset({"set", "frozenset", "tuple", "list", "dict"})


# -- declarations and registrations through functions -------------------------------------------------------------


def apply(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """The result of calling a function of `torch.library`, or `leaf_function`."""
    api = name.rpartition(".")[2]
    keywords = _with_literals(node, keywords)
    given = keywords.get(MARKERS[name].argument)
    start = _FUNCTION_AT.get(api, 2)
    target = given or next((value for value in positional[start:] if value.kind in _CALLABLE), None)
    if api == "define":
        _define(frame, node, positional)
        return UNKNOWN
    if frame.region and api in _DECLARING and target is not None:
        marking.applied_inside(frame, node, name, target)
    if target is None:
        unknown = any(value.kind is Kind.UNKNOWN for value in positional[start:])
        factory = Value(Kind.EXTERNAL, FRESH, name)
        rest = Partial(factory, tuple(positional), tuple(keywords.items()))
        return UNKNOWN if unknown and api not in _FAKES else Value(Kind.PARTIAL, FRESH, rest)
    if api in _DECLARING:
        return _declared(frame, node, name, target, positional, keywords)
    if api in _FAKES:
        _add_fake(frame.machine, _named(frame.machine, positional[0] if positional else UNKNOWN), target)
    elif api == "register_kernel":
        _add_implementation(frame, node, name, _named(frame.machine, positional[0] if positional else UNKNOWN), target)
    elif len(positional) > 1 and positional[0].dotted in LIBRARIES:
        key = positional[2] if len(positional) > 2 and positional[2] is not target else UNKNOWN
        _implement(frame, node, name, _in_library(frame.machine, positional[0], positional[1]), target, key)
    else:
        _implement(frame, node, name, _named(frame.machine, positional[0]), target, positional[1])
    return target


def _declared(
    frame: Frame, node: ast.AST, name: str, target: Value, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """The operator that `custom_op`, `triton_op` or `leaf_function` makes of a function."""
    api = name.rpartition(".")[2]
    marked = marking.marked_value(frame, node, name, target, positional)
    text = positional[0].const if api != "leaf_function" and positional else NO_CONSTANT
    for alternative in marked.alternatives():
        if alternative.mark is None or alternative.mark.operator is not None:
            continue
        mark = alternative.mark
        operator = _operator(frame.machine, text if isinstance(text, str) else "")
        if operator.api:
            operator = Operator(operator.name)  # declared in several places: each by itself
        operator.api, operator.path, operator.offset, operator.node = api, mark.path, mark.offset, mark.node
        operator.mutates = _declared_mutations(keywords)
        operator.schema = _text(keywords.get("schema"))
        operator.inplace = keywords.get("tags", UNKNOWN).const == "inplace"
        operator.traced = api == "triton_op"
        operator.effectful = frame.module.holds(_EFFECTFUL)
        if operator.schema:
            operator.mutates = _mutated_in(operator.schema)
        operator.implementations.append(mark)
        mark.operator = operator
    return marked


def _define(frame: Frame, node: ast.AST, positional: Sequence[Value]) -> None:
    """`torch.library.define("ns::name", "(Tensor x) -> Tensor")`."""
    name, schema = (_text(value) for value in (*positional, UNKNOWN, UNKNOWN)[:2])
    if "::" in name and schema:
        _declare_schema(frame, node, name, schema)


def _declare_schema(frame: Frame, node: ast.AST, name: str, schema: str) -> None:
    operator = _operator(frame.machine, name.partition(".")[0])
    path, offset, at = frame.application or (frame.module.path, frame.offset, node)
    operator.api, operator.path, operator.offset, operator.node = "define", path, offset, at
    operator.schema = schema
    operator.mutates = _mutated_in(schema)


def _declare_inferred(frame: Frame, node: ast.AST, name: str, schema: Inferred) -> None:
    operator = _operator(frame.machine, name)
    path, offset, at = frame.application or (frame.module.path, frame.offset, node)
    operator.api, operator.path, operator.offset, operator.node = "define", path, offset, at
    operator.mutates, operator.inferred = schema.mutates, True


# -- methods ------------------------------------------------------------------------------------------------------


def method(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    """The result of a method of an operator or of a `Library`; None if it is none that matters here."""
    if receiver.kind is Kind.MARKED:
        return _of_operator(frame, node, receiver, name, positional, keywords)
    if name == "define" and positional:
        text, namespace, inferred = _text(positional[0]), receiver.const, positional[0].const
        if isinstance(inferred, Inferred) and isinstance(namespace, str) and inferred.name:
            _declare_inferred(frame, node, f"{namespace}::{inferred.name}", inferred)
            return UNKNOWN
        bare = text.partition("(")[0].strip()
        if isinstance(namespace, str) and bare:
            _declare_schema(frame, node, f"{namespace}::{bare}", text)
        return Value(Kind.STRING, const=bare) if bare else UNKNOWN
    if name in ("impl", "_register_fake") and len(positional) > 1:
        operator = _in_library(frame.machine, receiver, positional[0])
        target = positional[1]
        if name == "_register_fake":
            _add_fake(frame.machine, operator, target)
        else:
            key = positional[2] if len(positional) > 2 else keywords.get("dispatch_key", UNKNOWN)
            _implement(frame, node, f"{LIBRARY}.impl", operator, target, key)
        return UNKNOWN
    return None


def _of_operator(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    operator = receiver.mark.operator if receiver.mark is not None else None
    if operator is None:
        return None
    if name == "register_effect":
        operator.effectful = True
        return UNKNOWN
    if name == "register_autograd":
        return register_gradient(frame, node, name, [UNKNOWN, *positional], keywords)
    if name not in ("register_fake", "register_kernel"):
        return None
    given = [*positional, *(value for key, value in keywords.items() if key in ("fn", "fake_impl"))]
    target = next((value for value in given if value.kind in _CALLABLE), None)
    if target is None:
        if name == "register_fake":
            operator.fakes_unknown = operator.fakes_unknown or bool(given)
            return UNKNOWN
        method = Value(Kind.EXTERNAL_METHOD, receiver.place, ExternalMethod(receiver, name))
        return Value(Kind.PARTIAL, FRESH, Partial(method, tuple(positional), tuple(keywords.items())))
    if name == "register_fake":
        _add_fake(frame.machine, operator, target)
    else:
        _add_implementation(frame, node, "torch.library.register_kernel", operator, target)
    return target


def register_gradient(
    frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """`register_autograd(operator, backward, setup_context=...)`: autograd calls both functions with a context."""
    given = [*positional[1:2], *(value for key, value in keywords.items() if key in _TAKING_CONTEXT)]
    for value in given:
        for alternative in value.alternatives():
            function = marking.function_of(frame.machine, alternative)
            if function is not None:
                frame.machine.gradients.add(function.node)
    return NONE


def library(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """What `torch.library.Library(namespace, kind)` makes."""
    namespace = positional[0].const if positional else NO_CONSTANT
    return Value(Kind.INSTANCE, FRESH, LIBRARY, namespace if isinstance(namespace, str) else NO_CONSTANT)


# -- what belongs to an operator ----------------------------------------------------------------------------------


def _implement(frame: Frame, node: ast.AST, name: str, operator: Operator | None, target: Value, key: Value) -> None:
    text = key.const if isinstance(key.const, str) else ""
    if text == "Meta":
        _add_fake(frame.machine, operator, target)
    elif text.lower() in DEVICES or (operator is not None and operator.inferred and key.const is NO_CONSTANT):
        _add_implementation(frame, node, name, operator, target)
    elif operator is not None and not text.startswith(("Autograd", "Autocast")):
        operator.traced = True


def _add_implementation(frame: Frame, node: ast.AST, name: str, operator: Operator | None, target: Value) -> None:
    if operator is None:
        return
    marked = marking.marked_value(frame, node, name, target, [])
    for alternative in marked.alternatives():
        if alternative.mark is not None and alternative.mark.operator is None:
            alternative.mark.operator = operator
            operator.implementations.append(alternative.mark)


def _add_fake(machine: Machine, operator: Operator | None, target: Value) -> None:
    if operator is None:
        return
    for alternative in target.alternatives():
        if alternative.kind is Kind.NONE:
            continue
        function = marking.function_of(machine, alternative)
        if function is None:
            operator.fakes_unknown = True
        elif all(marking.function_of(machine, fake) is not function for fake in operator.fakes):
            operator.fakes.append(alternative)


def _named(machine: Machine, value: Value) -> Operator | None:
    """The operator that a value stands for: its name, the object that `custom_op` returned, `torch.ops.ns.name`."""
    if value.mark is not None:
        return value.mark.operator
    if isinstance(value.const, str):
        return _operator(machine, value.const.partition(".")[0])
    if value.kind is Kind.EXTERNAL and value.dotted.startswith("torch.ops."):
        parts = value.dotted.split(".")
        return _operator(machine, f"{parts[2]}::{parts[3]}") if len(parts) > 3 else None
    return None


def _in_library(machine: Machine, made: Value, name: Value) -> Operator | None:
    text = _text(name)
    if "::" in text or not text:
        return _named(machine, name)
    namespace = made.const
    return _operator(machine, f"{namespace}::{text.partition('.')[0]}") if isinstance(namespace, str) else None


def _operator(machine: Machine, name: str) -> Operator:
    """The operator with a name; one without a name is new each time."""
    if not name:
        return Operator("")
    return machine.operators.setdefault(name, Operator(name))


# -- literals -----------------------------------------------------------------------------------------------------


def _with_literals(node: ast.AST, keywords: dict[str, Value]) -> dict[str, Value]:
    """Keywords with the literal values of `mutates_args` and `tags`, which a decorator is given before its function."""
    if not isinstance(node, ast.Call):
        return keywords
    found = dict(keywords)
    for keyword in node.keywords:
        if keyword.arg == "mutates_args":
            found["mutates_args"] = Value(Kind.SET, const=_mutated(keyword.value, keywords))
        elif keyword.arg == "tags" and _IN_PLACE.search(ast.unparse(keyword.value)):
            found["tags"] = Value(Kind.SETTING, const="inplace")
    return found


def _mutated(node: ast.expr, keywords: dict[str, Value]) -> frozenset[str] | None:
    """The names of `mutates_args`, as they are written, or as a helper was given them."""
    written, given = literal_names(node), keywords.get("mutates_args")
    return written if written is not None or given is None else names_in(given)


def literal_names(node: ast.expr) -> frozenset[str] | None:
    """The strings of a literal tuple, list, set or string; None if it is anything else."""
    if isinstance(node, ast.Constant):
        return frozenset({node.value}) if isinstance(node.value, str) else None
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        names = [element.value for element in node.elts if isinstance(element, ast.Constant)]
        texts = [name for name in names if isinstance(name, str)]
        return frozenset(texts) if len(texts) == len(node.elts) else None
    if isinstance(node, ast.Dict):
        return frozenset() if not node.keys else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _EMPTY and not node.args:
        return frozenset()
    return None


def _declared_mutations(keywords: dict[str, Value]) -> frozenset[str] | None:
    given = keywords.get("mutates_args")
    if given is None:
        return frozenset()
    if given.kind is not Kind.SET or given.const is NO_CONSTANT:
        return None
    names: frozenset[str] | None = given.const  # as `_with_literals` made it
    return None if names is None or "unknown" in names else names


def _mutated_in(schema: str) -> frozenset[str]:
    """The parameters that a schema declares as written: `Tensor(a!) out`."""
    inside = schema.partition("->")[0]
    found: set[str] = set()
    for part in inside[inside.find("(") + 1 :].split(","):
        if "!)" in part:
            found.add(part.partition("!)")[2].strip(" ?[])").partition("=")[0].split(" ")[-1])
    return frozenset(found)


def _text(value: Value | None) -> str:
    return value.const if value is not None and isinstance(value.const, str) else ""
