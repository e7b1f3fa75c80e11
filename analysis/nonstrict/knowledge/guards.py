"""How often Dynamo compiles a region when a value changes, as measured: every answer comes from `data/guards*.json`.

`scripts/generate_guards.py` makes these files by running programs with the torch that they name: all, and for another
release (`nonstrict.knowledge.releases`) those of which it says something else. Keys are
`SOURCE/KIND/USE`: `attribute of the module/int/arithmetic`; a state of torch (`grad mode`) has neither kind nor use.
`scripts/guards` has the program of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.knowledge.releases import BASE, table, tables

if TYPE_CHECKING:
    from nonstrict.knowledge.releases import Release


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
    return int(_head(BASE)["values"])


def limit(torch: Release = BASE) -> int:
    """How often one code object is compiled at most (`torch._dynamo.config.recompile_limit`)."""
    return int(_head(torch)["limit"])


def compiled(
    source: str,
    kind: str = "",
    use: str = "",
    *,
    torch: Release = BASE,
    dynamic: bool | None = None,
    config: str = "",
) -> Compiled | None:
    """What becomes of a region whose value changes; None if that was not measured, or ends in an exception.

    `config` is a key of Dynamo's configuration with its value: `specialize_float=True`.
    """
    key = f"{source}/{kind}/{use}"
    rows = (one["rows"] for one in tables(_NAME, torch))
    row: list[Any] | None = next((known[key] for known in rows if key in known), None)
    if row is None:
        return None
    ways: list[str] = _head(torch)["ways"]
    guard, *results = row
    told = results[ways.index("" if dynamic is None else f"dynamic={dynamic}")]
    others: dict[str, str] = results[len(ways)] if len(results) > len(ways) else {}
    told: str = others.get(config, told) if dynamic is None else told
    count = told.removesuffix("!")
    return Compiled(int(count), not told.endswith("!"), guard) if count.isdecimal() else None


_NAME = "guards"


def _head(torch: Release) -> dict[str, Any]:
    return table(_NAME, torch)
