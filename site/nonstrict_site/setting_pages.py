"""The page of all settings, made of their declaration, the schema of their values and the options of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.cli import check as command
from nonstrict.cli.parser import Parser
from nonstrict.settings.options import OPTIONS
from nonstrict_site.pages import Page
from scripts.schemas.settings import settings_schema

if TYPE_CHECKING:
    from nonstrict.settings.options import Option

PATH = "settings.md"
_HEAD = """\
# Settings

All keys of `[tool.nonstrict]` in a `pyproject.toml`, or of a `nonstrict.toml`. [Configuration](configuration.md) has
which file counts, and which of two values does. `nonstrict config KEY` prints the same in a terminal.

| key | type | default |
|---|---|---|
"""


def settings_page() -> Page:
    """A table of all keys, then a section for each."""
    kinds: dict[str, Any] = settings_schema()["properties"]
    flags = _flags()
    rows = [f"| [`{key}`](#{key}) | {_type(kinds[key])} | {_code(option.default)} |" for key, option in OPTIONS.items()]
    sections = [_section(option, _type(kinds[key]), flags) for key, option in OPTIONS.items()]
    return Page(PATH, _HEAD + "\n".join(rows) + "\n\n" + "\n".join(sections), search=1.5)


def _section(option: Option, kind: str, flags: frozenset[str]) -> str:
    flag = f"--{option.key}"
    facts = [f"- type: {kind}", f"- default: {_code(option.default)}"]
    if flag in flags:
        facts.append(f"- on the command line: `{flag}`")
    listed = "\n".join(facts)
    return f"## {option.key}\n\n{option.summary}\n\n{listed}\n\n```toml\n[tool.nonstrict]\n{option.example}\n```\n"


def _flags() -> frozenset[str]:
    """The options of `nonstrict check`."""
    parser = Parser(prog="nonstrict check")
    command.add_arguments(parser)
    return frozenset(parser._option_string_actions)


def _code(default: str) -> str:
    """A default as code, or as words where it is no value of TOML."""
    return f"`{default}`" if default[0] in '"[{' or default in ("true", "false") else default


def _type(schema: dict[str, Any]) -> str:
    """The type of a value, in words, from its JSON schema."""
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    match schema.get("type"):
        case "array":
            return "list of rules" if "$ref" in schema["items"] else "list of texts"
        case "object":
            return "table"
        case "boolean":
            return "`true` or `false`"
        case _:
            return "text"
