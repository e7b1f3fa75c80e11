"""What test frameworks run before tests: fixtures that pytest hands to them, methods such as `setUp`.

Source: the pages "How to use fixtures" of pytest 8 and "unittest" of the Python 3.14 documentation.
"""

from __future__ import annotations

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
