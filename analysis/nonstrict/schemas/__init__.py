"""JSON schemas of the settings and of what commands write as JSON: files that `scripts/generate_schemas.py` makes."""

from __future__ import annotations

import os

_FOLDER = os.path.dirname(__file__)
_SUFFIX = ".json"


def names() -> list[str]:
    """The names of all schemas."""
    return sorted(name.removesuffix(_SUFFIX) for name in os.listdir(_FOLDER) if name.endswith(_SUFFIX))


def text_of(name: str) -> str:
    """The schema of a name."""
    with open(os.path.join(_FOLDER, f"{name}{_SUFFIX}"), encoding="utf-8") as file:
        return file.read()
