"""`nonstrict config`: lists and explains the keys of the configuration."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from nonstrict.cli.failure import report_failure
from nonstrict.cli.parser import meant
from nonstrict.cli.status import ExitStatus
from nonstrict.findings import Severity
from nonstrict.settings.budget import NUMBERS, Budget
from nonstrict.settings.model import Pattern
from nonstrict.settings.options import OPTIONS

if TYPE_CHECKING:
    import argparse

    from nonstrict.report.record_types import OptionRecord
    from nonstrict.settings.model import Settings
    from nonstrict.settings.options import Option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("key", nargs="?", help="a key of [tool.nonstrict]; without it, all keys")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Explain one key, or list them."""
    if options.key is not None and options.key not in OPTIONS:
        advice = meant(options.key.replace("_", "-"), OPTIONS) or " `nonstrict config` lists the keys."
        return report_failure(f"There is no key `{options.key}`.{advice}")
    chosen = [OPTIONS[options.key]] if options.key is not None else list(OPTIONS.values())
    if options.output_format == "json":
        import json

        text = json.dumps([_record(option) for option in chosen], indent=2) + "\n"
    elif options.key is not None:
        text = _explained(chosen[0])
    else:
        width = max(len(option.key) for option in chosen)
        text = "".join(f"{option.key:<{width}}  {option.summary}\n" for option in chosen)
    sys.stdout.write(text)
    return ExitStatus.CLEAN


def _record(option: Option) -> OptionRecord:
    return {"key": option.key, "default": option.default, "summary": option.summary, "example": option.example}


def _explained(option: Option) -> str:
    return (
        f"{option.summary}\n\nDefault: {option.default}\n\n"
        f"In pyproject.toml:\n\n    [tool.nonstrict]\n    {option.example}\n\n"
        f"In nonstrict.toml:\n\n    {option.example}\n"
    )


def shown_settings(settings: Settings) -> str:
    """The settings that count, as `key = value` lines for `--show-settings`."""
    lines = [f"# from {settings.source or 'the defaults'}, for {settings.root}"]
    lines += [
        f"{option.key} = {_shown(_value(option, settings))}" for option in OPTIONS.values() if option.key != "extend"
    ]
    return "\n".join(lines) + "\n"


def _value(option: Option, settings: Settings) -> object:
    """What counts for a key, with what the command line adds, and what follows where nothing is set."""
    value = getattr(settings, option.field)
    if option.field == "target_python":
        from nonstrict.check.environment import targeted_python

        python = targeted_python(settings)
        return None if python is None else ".".join(map(str, python))
    return (*value, *getattr(settings.asked, option.field)) if option.field in settings.asked._fields else value


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Severity):
        return f'"{value.label}"'
    if isinstance(value, Pattern):
        return f'"{value.glob}"'
    if isinstance(value, Budget):
        numbers = [f"{name} = {value.allowed(name)}" for name in NUMBERS if value.allowed(name) is not None]
        return f'"{value.key}" = {{ {", ".join(numbers)} }}'
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return "[" + ", ".join(_shown(item) for item in items) + "]"
    return f'"{value}"'
