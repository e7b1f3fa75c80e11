"""The schema of the settings: made of the one declaration of options, and of what checks their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.check.selection import CATEGORIES
from nonstrict.findings import Severity
from nonstrict.knowledge.standard_library import NEWEST_PYTHON, OLDEST_PYTHON
from nonstrict.knowledge.torch_version import NEWEST_KNOWN, OLDEST_KNOWN
from nonstrict.rules.registry import RULES
from nonstrict.settings.budget import NUMBERS
from nonstrict.settings.model import FORMATS, default_settings
from nonstrict.settings.options import OPTIONS
from nonstrict.settings.toml import parsed

if TYPE_CHECKING:
    from nonstrict.settings.options import Option

#: A part of a schema.
Schema = dict[str, Any]

_PATH: Schema = {"type": "string", "minLength": 1}
_SELECTOR: Schema = {"$ref": "#/$defs/selector"}
_SELECTORS: Schema = {"type": "array", "items": _SELECTOR}
_GLOB: Schema = {"type": "string", "pattern": "[^/! ]"}
_FUNCTION: Schema = {"type": "string", "pattern": "^(?!::).+?::.+$"}
_PLACE: Schema = {"type": "string", "pattern": "^(?!::)(?!((?!::).)*::$).+$"}
_REQUIREMENT = r"^\s*(v?[0-9]|(~=|===?|!=|<=?|>=?)\s*[^\s,=])"


def settings_schema() -> Schema:
    """The schema of `[tool.nonstrict]`, which is also that of `nonstrict.toml`."""
    return {
        "type": "object",
        "properties": {option.key: _of(option) for option in OPTIONS.values()},
        "additionalProperties": False,
        "$defs": {"selector": _selector()},
    }


def _of(option: Option) -> Schema:
    schema: Schema = {"description": option.summary, **_KINDS[option.kind]}
    default = _default(option)
    if default is not None:
        schema["default"] = default
    return {**schema, "examples": [parsed("example", option.example)[option.key]]}


def _default(option: Option) -> object:
    """What holds where nothing is said, if it is a value: texts of defaults are TOML, or words, or shortened."""
    if option.kind == "patterns":
        return [pattern.glob for pattern in getattr(default_settings("/"), option.field)]
    if option.default[0] in '"[{' or option.default in ("true", "false"):
        return parsed("default", f"value = {option.default}")["value"]
    return None


def _selector() -> Schema:
    """Codes, prefixes of codes, names and `ALL`, as the catalogue has them; what is in other capitals is not judged."""
    if any(rule.name.startswith("nst") for rule in RULES.values()):
        raise ValueError("say how the names of rules are told from codes")
    prefixes = {code[:length] for code in RULES for length in range(len("NST"), len(code) + 1)}
    names = sorted(rule.name for rule in RULES.values())
    return {
        "description": "A rule by code or name, rules by the beginning of their codes, or `ALL`.",
        "type": "string",
        "anyOf": [
            {"enum": ["ALL", *sorted(prefixes | CATEGORIES), *names]},
            {"pattern": "^(?!NST)[Nn][Ss][Tt][0-9]*$|^all$|^(?!ALL$)(?![Nn][Ss][Tt])(?=.*[A-Z])[A-Za-z0-9-]+$"},
        ],
    }


def _torch() -> Schema:
    """Versions of torch between the oldest and the newest of which something is known."""
    (major, first), (newest, last) = OLDEST_KNOWN, NEWEST_KNOWN
    if major != newest:
        raise ValueError("say which minor versions the older major version has")
    minors = "|".join(map(str, range(first, last + 1)))
    return {"type": "string", "pattern": rf"^{major}\.({minors})(?![0-9])(\.[0-9]+)?[+.a-zA-Z0-9]*$"}


def _python() -> Schema:
    (major, first), (_, last) = OLDEST_PYTHON, NEWEST_PYTHON
    return {"type": "string", "enum": [f"{major}.{minor}" for minor in range(first, last + 1)]}


def _table(values: Schema, names: Schema | None = None) -> Schema:
    schema: Schema = {"type": "object", "additionalProperties": values}
    return {**schema, "propertyNames": names} if names is not None else schema


def _severity() -> Schema:
    return {"type": "string", "enum": [one.label for one in reversed(Severity)]}


def _numbers() -> Schema:
    return {
        "type": "object",
        "properties": {number: {"type": "integer", "minimum": 0} for number in NUMBERS},
        "additionalProperties": False,
    }


#: By the kind of an option what its values are: see `nonstrict.settings.values`.
_KINDS: dict[str, Schema] = {
    "boolean": {"type": "boolean"},
    "budget": _table(_numbers(), _PLACE),
    "format": {"type": "string", "enum": list(FORMATS)},
    "ignores": _table(_SELECTORS, _GLOB),
    "inputs": _table(_FUNCTION, _FUNCTION),
    "models": {"type": "array", "items": {"type": "string", "pattern": r"\.pyi$"}},
    "path": _PATH,
    "patterns": {"type": "array", "items": _GLOB},
    "python": _python(),
    "requirement": {"type": "string", "pattern": _REQUIREMENT},
    "selectors": _SELECTORS,
    "severities": _table(_severity(), _SELECTOR),
    "severity": _severity(),
    "version": _torch(),
}
