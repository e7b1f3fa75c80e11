"""Writes the JSON schemas that the wheel brings: of the settings, and of what commands write as JSON.

    python scripts/generate_schemas.py [--check]

With --check nothing is written; the exit status is 1 if a schema is missing, stale or left over.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scripts.schemas.records import Schema

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "analysis" / "nonstrict" / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_HOME = "https://raw.githubusercontent.com/nonstrict/nonstrict/main/analysis/nonstrict/schemas/"
_VERSION = (
    "Version 1. Fields may be added without another version, so let unknown ones pass; "
    "none is renamed, taken away or given another type."
)


class _Output(NamedTuple):
    """What a command writes: the type, a title, and a sentence about it."""

    type: Any
    title: str
    description: str


def _outputs() -> dict[str, _Output]:
    from nonstrict.report import record_types as records

    return {
        "findings": _Output(
            list[records.FindingRecord],
            "nonstrict: findings",
            "What `nonstrict check --output-format json` writes.",
        ),
        "finding": _Output(
            records.FindingRecord,
            "nonstrict: a finding",
            "A line of what `nonstrict check --output-format json-lines` writes.",
        ),
        "statistics": _Output(
            list[records.StatisticRecord],
            "nonstrict: statistics",
            "What `nonstrict check --statistics --output-format json` writes.",
        ),
        "audit": _Output(
            records.AuditRecord,
            "nonstrict: an audit",
            "What `nonstrict audit --output-format json` writes.",
        ),
        "regions": _Output(
            list[records.RegionRecord],
            "nonstrict: compiled regions",
            "What `nonstrict regions --output-format json` writes.",
        ),
        "confirm": _Output(
            records.ConfirmedRecord,
            "nonstrict: experiments",
            "What `nonstrict confirm --output-format json` writes.",
        ),
        "budget": _Output(
            records.BudgetRecord,
            "nonstrict: the compile budget",
            "What `nonstrict budget --output-format json` writes.",
        ),
        "rule": _Output(
            records.RuleRecord,
            "nonstrict: a rule",
            "What `nonstrict rule CODE --output-format json` writes.",
        ),
        "rules": _Output(
            list[records.RuleRecord],
            "nonstrict: all rules",
            "What `nonstrict rule --all --output-format json` writes.",
        ),
        "explain": _Output(
            records.ExplainedRecord,
            "nonstrict: a text of torch, explained",
            "What `nonstrict explain TEXT --output-format json` writes.",
        ),
        "config": _Output(
            list[records.OptionRecord],
            "nonstrict: keys of the configuration",
            "What `nonstrict config --output-format json` writes; the settings have a schema of their own.",
        ),
        "version": _Output(
            records.VersionRecord,
            "nonstrict: its version",
            "What `nonstrict version --output-format json` writes.",
        ),
        "baseline": _Output(
            records.BaselineRecord,
            "nonstrict: a baseline",
            "What `nonstrict check --write-baseline` writes, and later runs read.",
        ),
    }


def schemas() -> dict[str, Schema]:
    """All schemas by name."""
    from scripts.schemas.records import schema_of
    from scripts.schemas.settings import settings_schema

    made = {"settings": _headed("settings", _SETTINGS, settings_schema())}
    for name, output in _outputs().items():
        definitions: dict[str, Schema] = {}
        body = schema_of(output.type, definitions)
        made[name] = _headed(name, output, {**body, "$defs": dict(sorted(definitions.items()))})
    return made


_SETTINGS = _Output(
    None, "nonstrict: settings", "`[tool.nonstrict]` of a `pyproject.toml`, or the whole of a `nonstrict.toml`."
)


def _headed(name: str, output: _Output, body: Schema) -> Schema:
    head = {"$schema": _DIALECT, "$id": f"{_HOME}{name}.json", "title": output.title, "description": output.description}
    return {**head, **({} if output.type is None else {"$comment": _VERSION}), **body}


def texts() -> dict[str, str]:
    """What is to stand in the files, by name."""
    return {
        f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas().items()
    }


def stale(expected: dict[str, str]) -> list[str]:
    """The files that are missing, say something else, or are left over."""
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    return sorted(name for name in expected.keys() | there.keys() if expected.get(name) != there.get(name))


def main(arguments: list[str] | None = None) -> int:
    """Write or check the schemas; returns the exit status."""
    parser = argparse.ArgumentParser(description="Write the JSON schemas.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a schema is not up to date")
    options = parser.parse_args(arguments)
    expected = texts()
    wrong = stale(expected)
    if options.check:
        if wrong:
            print(f"not up to date, run `make docs`: {', '.join(wrong)}", file=sys.stderr)
        return int(bool(wrong))
    for name in wrong:
        if name in expected:
            (FOLDER / name).write_text(expected[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise SystemExit(main())
