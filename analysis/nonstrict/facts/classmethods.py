"""Methods that get their class instead of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name

if TYPE_CHECKING:
    import ast


def class_parameter(method: ast.FunctionDef) -> str:
    """The parameter by which `__new__` or a class method gets its class; "" for other methods."""
    of_class = method.name == "__new__" or any(last_name(one) == "classmethod" for one in method.decorator_list)
    parameters = [*method.args.posonlyargs, *method.args.args]
    return parameters[0].arg if of_class and parameters else ""
