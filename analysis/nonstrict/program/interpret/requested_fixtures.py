"""Which fixtures pytest hands to a test or another fixture, by the names of its parameters.

Source: the page "How to use fixtures" of pytest 8.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import parameter_names
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.linking.fixtures import TRAIT
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine


def given(frame: Frame, function: Function, receiver: Value | None) -> dict[str, Value]:
    """For the parameters of a test or fixture, what the fixtures of these names make."""
    if not function.name.startswith("test") and TRAIT not in function.traits:
        return {}
    found: dict[str, Value] = {}
    for name in parameter_names(function.node.args):
        fixture = _fixture(frame.machine, function, name)
        if fixture is not None and fixture.function is not None:
            bound = [receiver] if fixture.function.owner is not None and receiver is not None else []
            made = frame.machine.call(frame, fixture.function.node, fixture, bound, {})
            yielded = made.heap.element if made.kind is Kind.ITERATOR and made.heap is not None else None
            found[name] = yielded or made
    return found


def _fixture(machine: Machine, function: Function, name: str) -> Value | None:
    """The fixture of a name that a test or a fixture is given: of its class, of its file, of the folders around it."""
    member = classes.member(machine, function.owner, name) if function.owner is not None else None
    if member is not None and _is_fixture(member[0]):
        return member[0]
    for module in _modules(machine, function):
        for bound in (name, *_named(module, name)):
            fixture = machine.global_value(module, bound) if bound in module.bindings else None
            if fixture is not None and _is_fixture(fixture):
                return fixture
    return None


def _is_fixture(value: Value) -> bool:
    return value.function is not None and TRAIT in value.function.traits


def _named(module: Module, name: str) -> Iterator[str]:
    """The functions whose decorator gives a fixture another name: `@pytest.fixture(name="model")`."""
    for chunk in module.chunks_with((name,)):
        node = module.outline.node(chunk)
        for decorator in getattr(node, "decorator_list", []):
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            named = (one.value for one in keywords if one.arg == "name")
            if any(isinstance(value, ast.Constant) and value.value == name for value in named):
                yield chunk.name


def _modules(machine: Machine, function: Function) -> Iterator[Module]:
    """Where pytest looks for fixtures: the file of the test, `conftest.py` beside it and above.

    A test that another file imports is a test of that file too, with the fixtures there.
    """
    own = function.module
    tested = function.owner.name if function.owner is not None else function.name
    collecting = (use.module for use in machine.elsewhere.users(own, tested) if use.name == tested)
    for module in (own, *collecting):
        yield module
        for beside in machine.project.beside(module, "conftest.py"):
            if beside is not module:
                yield beside
