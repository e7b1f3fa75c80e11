"""The packages of torch are those of the torch that is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from nonstrict.knowledge.torch_packages import PACKAGES


@pytest.mark.torch
def test_packages_are_the_folders_of_torch():
    spec = find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    folders = {found.parent.name for found in Path(spec.origin).parent.glob("*/__init__.py")}
    assert folders | {"_C"} == PACKAGES
