"""Turns what was captured into the data file `cuda_graphs.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cuda_graphs.programs import SIZES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cuda_graphs.measuring import Captured
    from cuda_graphs.programs import Program


def data_text(found: Iterable[tuple[Program, Captured]], version: str, device: str) -> str:
    """The data file: one line a row, so that a change of torch shows as a readable difference.

    A row is how many CUDA graphs were recorded, why operators were left out of them, why whole ones were, what became
    of results that were kept, and the exception that ended the program. `device` is the GPU, "" if there was none.
    """
    head = {"torch": version, "device": device, "sizes": len(SIZES)}
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    rows = sorted((program.key, json.dumps(list(captured))) for program, captured in found)
    entries = ",\n".join(f"{json.dumps(key)}: {row}" for key, row in rows)
    return "{\n" + ",\n".join(parts) + f',\n"rows": {{\n{entries}\n}}\n}}\n'
