"""Which calls change what they are called on, or given, as far as their text tells."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from nonstrict.facts.steps import is_namespace, namespace_of
from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import torch_function
from nonstrict.models.library import SHIPPED
from nonstrict.models.members import CHANGING, CHANGING_ANY, CHANGING_ARRAYS
from nonstrict.program.domain.write import How

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULE_WRITERS = frozenset({"load_state_dict", "register_buffer", "register_parameter", "train", "eval"})
#: Modules with functions that change their first argument: `random.shuffle`, `np.copyto`, `np.add.at`.
_CHANGING_FIRST = ("bisect", "heapq", "numpy", "operator", "random")
#: Methods that change what they are called on. Queues have `put`, and images a `resize` that returns another one.
MUTATORS = CHANGING_ANY | _MODULE_WRITERS | (CHANGING_ARRAYS - {"resize", "put"})
#: Names of tensor methods that work in place.
IN_PLACE = re.compile(r"\w*[^_]_")
#: How many arguments these have where they are called on a class.
_PAST_THE_CLASS = {"__setattr__": 3, "__delattr__": 2}
#: Methods of dicts that change the entries which they are given.
_OF_ENTRIES = frozenset({"update", "setdefault", "pop", "__setitem__", "__delitem__"})
#: Functions of `operator` that do the same to their first argument.
_SETTING_ENTRIES = frozenset({"setitem", "delitem"})
#: Functions of `torch.nn.utils` and `torch.utils` that replace parameters of modules, or tensors, that they are given.
_REPLACERS = frozenset(
    {
        *("register_parametrization", "remove_parametrizations", "weight_norm", "spectral_norm", "orthogonal"),
        *("remove_weight_norm", "remove_spectral_norm", "swap_tensors"),
        *("l1_unstructured", "random_unstructured", "ln_structured", "random_structured", "custom_from_mask"),
        "quantize_",
    }
)


def changes_some(node: ast.AST) -> bool:
    """Whether this is a call that changes something, if it is called on, or given, the right thing."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and (node.func.attr in MUTATORS or IN_PLACE.fullmatch(node.func.attr)):
        return True
    return replaces_parameters(node) or sets_attribute(node) or changed_argument(node) is not None


def attributes_set(node: ast.Call, receiver: ast.expr) -> list[tuple[str, ...]]:
    """The steps that `vars(x).update(k=1)` takes, or `vars(x).update({"k": 1})`; none where any may be set."""
    if not is_namespace(receiver) or last_name(node) != "update" or len(node.args) > 1:
        return []
    told = [keyword.arg for keyword in node.keywords]
    for given in node.args:
        keys = given.keys if isinstance(given, ast.Dict) else [None]
        told += [str(key.value) if isinstance(key, ast.Constant) else None for key in keys]
    return [(f".{name}",) for name in told] if all(told) else []


def attributes_told(node: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """The attributes that a call sets as its text tells, each with the object: `setattr(x, "k", 1)` and the like.

    `object.__setattr__(x, "k", 1)`, `vars(x).update(k=1)`, `vars(x).setdefault("k", 1)`, `setitem(vars(x), "k", 1)`.
    """
    if sets_attribute(node):
        yield from ((node.args[0], step[1:]) for step in named_by(node.args[1]))
        return
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    within, given = node.func.value if isinstance(node.func, ast.Attribute) else node, node.args
    if node.args and (last_name(node) in _SETTING_ENTRIES or _is_unbound(node.func)):
        within, given = node.args[0], node.args[1:]
    holder = namespace_of(within)
    if holder is None:
        return
    if method == "update":
        yield from ((holder, step[1:]) for (step,) in attributes_set(node, within))
    elif given and (method in _OF_ENTRIES or last_name(node) in _SETTING_ENTRIES):
        yield from ((holder, step[1:]) for step in named_by(given[0]))


def changed_by(node: ast.Call) -> How:
    """What a mutating method does: `load_state_dict(state, assign=True)` puts other parameters in."""
    assigns = any(
        keyword.arg == "assign" and getattr(keyword.value, "value", None) is True for keyword in node.keywords
    )
    return How.PARAMETERS if assigns else How.CHANGED


def replaces_parameters(node: ast.Call) -> bool:
    """Whether a function of torch replaces parameters or submodules of its first arguments."""
    return last_name(node) in _REPLACERS


def changed_argument(node: ast.Call) -> ast.expr | None:
    """What a function changes that it is given: its first argument, or what it is told to write its result to."""
    out = next((keyword.value for keyword in node.keywords if keyword.arg == "out"), None)
    if out is not None and writes_output(last_name(node)):
        return out
    if (output := positional_output(node)) is not None:
        return output
    last = last_name(node)
    if last == "at" and isinstance(node.func, ast.Attribute):
        last = f"{last_name(node.func.value)}.at"
    return node.args[0] if node.args and (_changes_first(last) or _is_unbound(node.func)) else None


@cache
def _changes_first(name: str) -> bool:
    """Whether a function of this name, behind the module, changes what it is given first."""
    known = (SHIPPED.called(f"{module}.{name}") for module in _CHANGING_FIRST)
    return any(parameter.position == 0 for entry in known if entry is not None for parameter in entry.changes)


def writes_output(name: str) -> bool:
    """Whether a function of NumPy or torch with this last name writes its result to an argument `out`."""
    known = torch_function(f"torch.{name}")
    return output_position(f"numpy.{name}") is not None or (known is not None and known.out)


def output_position(name: str) -> int | None:
    """At which position a function of NumPy takes the array that it writes its result to; None if it takes none."""
    known = SHIPPED.called(name) if name.startswith("numpy.") else None
    return next((one.position for one in known.changes if one.position > 0), None) if known is not None else None


def _is_unbound(function: ast.expr) -> bool:
    """Whether this is a method that changes a container, taken from the class: `dict.update`."""
    named = function.value if isinstance(function, ast.Attribute) else None
    kind = named.id if isinstance(named, ast.Name) else ""
    return isinstance(function, ast.Attribute) and function.attr in CHANGING.get(kind, ())


def positional_output(node: ast.Call) -> ast.expr | None:
    """Where a call writes its result if it is one of NumPy: the last argument of `np.multiply(a, 2, a)`."""
    position = output_position(f"numpy.{last_name(node)}") if isinstance(node.func, (ast.Attribute, ast.Name)) else None
    return node.args[position] if position is not None and position < len(node.args) else None


def sets_any_attribute(node: ast.AST) -> bool:
    """Whether code sets attributes of which the text does not tell the names: `setattr(x, name, value)`."""
    if isinstance(node, ast.Assign):
        entries = [target for target in node.targets if isinstance(target, ast.Subscript)]
        return any(is_namespace(one.value) and not isinstance(one.slice, ast.Constant) for one in entries)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and is_namespace(node.func.value):
        return node.func.attr == "update" and not attributes_set(node, node.func.value)
    return sets_attribute(node) and not named_by(node.args[1])


def changes_entries(node: ast.AST) -> bool:
    """Whether code changes entries of which the text does not tell the keys at once: `d[k] = v`, `d.update(k=v)`."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.BitOr)
    if isinstance(node, ast.Assign):
        entries = [target for target in node.targets if isinstance(target, ast.Subscript)]
        return any(not is_namespace(one.value) and not isinstance(one.slice, ast.Constant) for one in entries)
    function = node.func if isinstance(node, ast.Call) else None
    if last_name(node) in _SETTING_ENTRIES and isinstance(node, ast.Call):
        return len(node.args) > 1 and not is_namespace(node.args[0])
    return isinstance(function, ast.Attribute) and function.attr in _OF_ENTRIES and not is_namespace(function.value)


def sets_attribute(node: ast.Call) -> bool:
    """Whether a call sets or deletes an attribute by its name: `setattr(x, name, value)`."""
    function = node.func
    if isinstance(function, ast.Attribute):  # `object.__setattr__(x, "k", v)`, past what the class does
        return len(node.args) >= _PAST_THE_CLASS.get(function.attr, len(node.args) + 1)
    return isinstance(function, ast.Name) and function.id in ("setattr", "delattr") and len(node.args) >= 2


def named_by(key: ast.expr) -> tuple[str, ...]:
    """The step that `setattr(x, key, value)` takes; none if it may be any."""
    return (f".{key.value}",) if isinstance(key, ast.Constant) else ()
