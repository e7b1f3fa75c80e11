"""The tools, one per file: each declares itself to a server."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

#: Rules by codes, prefixes of codes or names: nothing else is handed to a command as a value of an option.
Selectors = Annotated[
    list[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$")]],
    Field(max_length=100, description="rules: codes (NST101), prefixes (NST1), names, or ALL"),
]
Paths = Annotated[
    list[str],
    Field(max_length=1000, description="files and folders of the workspace; by default all of its first root"),
]
Limit = Annotated[int, Field(ge=1, le=5000, description="the most that is listed")]
