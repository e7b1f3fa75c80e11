"""`json-lines`: one object per line, for streams."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.report.records import records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """The objects, compact."""
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records(diagnostics, context))
