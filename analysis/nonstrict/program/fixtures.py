"""What test frameworks hand to tests: results of fixtures under the names of parameters, objects that `setUp` makes.

Source: the pages "How to use fixtures" of pytest 8 and "unittest" of the Python 3.14 documentation.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import parameter_names
from nonstrict.program.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.definitions import Function
    from nonstrict.program.frames import Frame
    from nonstrict.program.modules import Module

#: The trait of a function that is a fixture, and what makes one.
TRAIT = "fixture"
DECORATORS = ("pytest.fixture", "_pytest.fixtures.fixture")
#: What classes of tests run before each of them, by their bases.
_BEFORE = {
    "unittest.TestCase": ("setUp",),
    "unittest.case.TestCase": ("setUp",),
    "unittest.IsolatedAsyncioTestCase": ("setUp", "asyncSetUp"),
}


def run_before(bases: set[str]) -> tuple[str, ...]:
    """The methods that run on an object before its others do, by the dotted names of its external bases."""
    return next((_BEFORE[base] for base in sorted(bases) if base in _BEFORE), ())


def given(frame: Frame, function: Function) -> dict[str, Value]:
    """For the parameters of a test or fixture, what the fixtures of these names make."""
    if not function.name.startswith("test") and TRAIT not in function.traits:
        return {}
    found: dict[str, Value] = {}
    for name in parameter_names(function.node.args):
        for module in _modules(frame, function):
            fixture = frame.machine.global_value(module, name) if name in module.bindings else None
            if fixture is None or fixture.kind is not Kind.FUNCTION or TRAIT not in fixture.ref.traits:
                continue
            made = frame.machine.call(frame, fixture.ref.node, fixture, [], {})
            yielded = made.heap.element if made.kind is Kind.ITERATOR and made.heap is not None else None
            found[name] = yielded or made
            break
    return found


def _modules(frame: Frame, function: Function) -> Iterator[Module]:
    """Where pytest looks for fixtures: the file of the test, and `conftest.py` beside it."""
    yield function.module
    beside = frame.machine.project.module(os.path.join(os.path.dirname(function.module.path), "conftest.py"))
    if beside is not None and beside is not function.module:
        yield beside
