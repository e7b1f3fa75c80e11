"""What tests of arms need: a directory, and the warm process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.arms.running import Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.warm.process import Warm


@pytest.fixture
def project(warm: Warm, tmp_path: Path) -> Project:
    return Project(warm, tmp_path)
