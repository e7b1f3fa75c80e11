"""What pytest loads in every run of an environment with nonstrict: nothing is imported until a test asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nonstrict_pytest.blocks import Block

_MARK = _FIXTURE = "compiles"
_MARKER = (
    "compiles(graphs=None, recompilations=None, breaks=None, only=None): fail unless torch.compile makes just so many "
    "graphs, recompilations and graph breaks in the test (a number, or a pair: at least, at most); without numbers, "
    "unless it makes graphs, with no break and no recompilation"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--nonstrict`."""
    group = parser.getgroup("nonstrict", "what torch compiles")
    group.addoption(
        "--nonstrict",
        action="store_true",
        help="compare what torch.compile does in the tests with the findings of nonstrict and the budget",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and what follows whole sessions where that is asked for."""
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("nonstrict"):
        from nonstrict_pytest.session import Session

        config.pluginmanager.register(Session(config), "nonstrict-session")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Count what a test compiles that asks for it."""
    mark = item.get_closest_marker(_MARK)
    if mark is not None or _FIXTURE in getattr(item, "fixturenames", ()):
        from nonstrict_pytest.marked import count

        count(item, mark)


@pytest.fixture
def compiles(request: pytest.FixtureRequest) -> Callable[..., Block]:
    """What makes blocks in which is counted what torch compiles."""
    from nonstrict_pytest.blocks import Block
    from nonstrict_pytest.expected import expected_of

    def block(**numbers: Any) -> Block:
        return Block(expected_of((), numbers), request.node)

    return block
