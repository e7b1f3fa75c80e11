"""Options of command lines, as a program has them that is started without any: `argparse`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.rehearsal.things import UNKNOWN, External, Instance, plain_dict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

PARSER = "argparse.ArgumentParser"
_DECLARED = "declared"
#: What an option without a default is, by what it does.
_UNSET: dict[str, Thing] = {"store_true": False, "store_false": True, "count": None}
#: What gives a parser for a part of the options.
_GROUPS = frozenset({"add_argument_group", "add_mutually_exclusive_group"})


def parser() -> Instance:
    """A parser without options."""
    return Instance(External(PARSER), {_DECLARED: {}})


def called(stage: Stage, held: Instance, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """What a method of a parser gives."""
    declared = plain_dict(held.attributes.setdefault(_DECLARED, {}))
    if declared is None or name in _GROUPS:
        return held
    if name == "add_argument":
        _declare(stage, held, given, named)
        return UNKNOWN
    if name == "set_defaults":
        for key, value in named.items():
            declared[key] = value
        return None
    if name in ("parse_args", "parse_known_args"):
        made = Instance(External("argparse.Namespace"), {str(key): value for key, value in declared.items()})
        others: list[Thing] = []
        return made if name == "parse_args" else (made, others)
    return UNKNOWN


def _declare(stage: Stage, held: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> None:
    names = [one for one in given if isinstance(one, str)]
    long = next((one for one in names if one.startswith("--")), names[0] if names else "")
    told = named.get("dest", long.lstrip("-").replace("-", "_"))
    action = named.get("action")
    unset = _UNSET.get(action) if isinstance(action, str) else None
    default = named.get("default", unset if names and names[0].startswith("-") else UNKNOWN)
    if isinstance(default, str) and "type" in named:
        default = stage.call(named["type"], (default,), {}, stage.here, stage.nowhere)
    if isinstance(told, str):
        declared = plain_dict(held.attributes[_DECLARED])
        if declared is not None:
            declared[told] = default
