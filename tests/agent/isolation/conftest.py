"""A containment to run in, and a project that must survive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict_agent.isolation import tiers
from nonstrict_agent.isolation.tiers import Tier
from tests.agent.isolation.containing import Project, Runner, runner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=[Tier.COPY_ON_WRITE, Tier.DENY], ids=lambda tier: tier.value)
def run(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """Runs work in either tier. Whatever the work did, the next one must run."""
    tiers.prepare()
    one = runner(request.param)
    yield one
    assert one.result(lambda: "still works") == "still works"


@pytest.fixture
def copying() -> Runner:
    tiers.prepare()
    return runner(Tier.COPY_ON_WRITE)


@pytest.fixture
def denying() -> Runner:
    tiers.prepare()
    return runner(Tier.DENY)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    directory = tmp_path / "project"
    directory.mkdir()
    return Project(directory)
