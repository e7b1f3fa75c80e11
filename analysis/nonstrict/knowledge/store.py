"""Reads the generated data files of this package: once each, when first asked for."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

# `os.path`, because importing `pathlib` costs start-up time.
DATA = os.path.join(os.path.dirname(__file__), "data")


@cache
def data_file(name: str) -> dict[str, Any]:
    """The JSON object in `data/NAME`, parsed once per process.

    Raises:
        FileNotFoundError: the package is installed without its data.
    """
    import json

    with open(os.path.join(DATA, name), "rb") as file:
        return json.loads(file.read())
