"""How often Dynamo compiles a region when a value changes, as measured: every answer comes from `data/guards.json`.

`scripts/generate_guards.py` makes that file by running programs with the torch that it names. Keys are
`SOURCE/KIND/USE`: `attribute of the module/int/arithmetic`; a state of torch (`grad mode`) has neither kind nor use.
`scripts/guards` has the program of each.
"""

from __future__ import annotations

from typing import NamedTuple

from nonstrict.knowledge.store import data_file


class Compiled(NamedTuple):
    """What became of a region that was run with `VALUES` values, one after the other.

    It was compiled so often; it is `lasting` if the last call still ran what was compiled. `guard` is the first that
    failed, as torch words it, "" if none did.
    """

    compilations: int
    lasting: bool
    guard: str


def values() -> int:
    """With how many values each program was run."""
    return int(data_file("guards.json")["values"])


def limit() -> int:
    """How often one code object is compiled at most (`torch._dynamo.config.recompile_limit`)."""
    return int(data_file("guards.json")["limit"])


def compiled(
    source: str, kind: str = "", use: str = "", *, dynamic: bool | None = None, config: str = ""
) -> Compiled | None:
    """What becomes of a region whose value changes; None if that was not measured, or ends in an exception.

    `config` is a key of Dynamo's configuration with its value: `specialize_float=True`.
    """
    table = data_file("guards.json")
    row = table["rows"].get(f"{source}/{kind}/{use}")
    if row is None:
        return None
    guard, *results = row
    ways = table["ways"]
    told = results[ways.index("" if dynamic is None else f"dynamic={dynamic}")]
    others: dict[str, str] = results[len(ways)] if len(results) > len(ways) else {}
    told: str = others.get(config, told) if dynamic is None else told
    count = told.removesuffix("!")
    return Compiled(int(count), not told.endswith("!"), guard) if count.isdecimal() else None
