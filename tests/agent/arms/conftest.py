"""One warm process for the whole folder: importing torch takes seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.arms.running import Project, Warm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="package")
def warm() -> Iterator[Warm]:
    pytest.importorskip("torch")
    process = Warm()
    yield process
    process.close()


@pytest.fixture
def project(warm: Warm, tmp_path: Path) -> Project:
    return Project(warm, tmp_path)
