"""Reads the generated data files of this package: once each, when first asked for."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


@cache
def data_file(name: str) -> dict[str, Any]:
    """The JSON object in `data/NAME`, parsed once per process.

    Raises:
        FileNotFoundError: the package is installed without its data.
    """
    return json.loads((DATA / name).read_bytes())
