"""What the command line puts on top of configured settings, in every directory alike."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from nonstrict.cli.configuration import is_assignment
from nonstrict.cli.misuse import chosen_interpreter, known_torch
from nonstrict.findings import Severity
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.globs import wrong_glob
from nonstrict.settings.model import FORMATS, Pattern

if TYPE_CHECKING:
    import argparse

    from nonstrict.settings.model import Settings

#: A comma that is not within braces.
_COMMA = re.compile(r",(?![^{]*\})")


def overridden(settings: Settings, options: argparse.Namespace) -> Settings:
    """`settings` with the options of `nonstrict check` on top.

    Raises:
        ConfigurationError: an option has a value that it does not take.
    """
    for assignment in filter(is_assignment, options.config):
        from nonstrict.settings.load import settings_from_assignment

        settings = settings_from_assignment(settings, assignment)
    fields: dict[str, Any] = {}
    _select_rules(fields, settings, options)
    _select_files(fields, settings, options)
    if options.strict_coverage is not None:
        fields["strict_coverage"] = options.strict_coverage
    if options.fail_on:
        fields["fail_on"] = Severity[options.fail_on.upper()]
    _choose_fixes(fields, settings, options)
    _choose_environment(fields, options)
    cache_dir = options.cache_dir or os.environ.get("NONSTRICT_CACHE_DIR")
    if cache_dir:
        fields["cache_dir"] = os.path.abspath(cache_dir)
    output_format = options.output_format or format_of_environment()
    if output_format:
        fields["output_format"] = output_format
    return settings._replace(**fields) if fields else settings


def environment_overrides(settings: Settings, options: argparse.Namespace) -> Settings:
    """`settings` with `--config KEY=VALUE`, `--python` and `--torch-version` on top.

    Raises:
        ConfigurationError: an option has a value that it does not take.
    """
    for assignment in filter(is_assignment, options.config):
        from nonstrict.settings.load import settings_from_assignment

        settings = settings_from_assignment(settings, assignment)
    fields: dict[str, Any] = {}
    _choose_environment(fields, options)
    return settings._replace(**fields)


def _choose_environment(fields: dict[str, Any], options: argparse.Namespace) -> None:
    if options.python is not None:
        fields.update(python=chosen_interpreter(options.python), python_by_user=True)
    if options.torch_version is not None:
        fields["torch_version"] = known_torch(options.torch_version)


def _select_rules(fields: dict[str, Any], settings: Settings, options: argparse.Namespace) -> None:
    """As in ruff, `--select` starts afresh: what the file selects and ignores no longer counts."""
    ignore = () if options.select else settings.ignore
    extend_select = () if options.select else settings.extend_select
    if options.select:
        fields["select"] = _words(options.select)
    fields["extend_select"] = extend_select + _words(options.extend_select)
    fields["ignore"] = ignore + _words(options.ignore)
    if options.per_file_ignores:
        fields["per_file_ignores"] = settings.per_file_ignores + _ignores(options.per_file_ignores)


def _choose_fixes(fields: dict[str, Any], settings: Settings, options: argparse.Namespace) -> None:
    """As in ruff, `--fixable` starts afresh, `--unfixable` adds, and `--diff` and `--fix-only` mean `--fix`."""
    if options.fixable:
        fields["fixable"] = _words(options.fixable)
    unfixable = () if options.fixable else settings.unfixable
    fields["unfixable"] = unfixable + _words(options.unfixable)
    for name in ("fix", "fix_only", "unsafe_fixes", "show_fixes"):
        if (value := getattr(options, name)) is not None:
            fields[name] = value
    if options.baseline is not None:
        fields["baseline"] = os.path.abspath(options.baseline) if options.baseline else ""
    elif options.isolated:
        fields["baseline"] = ""


def _select_files(fields: dict[str, Any], settings: Settings, options: argparse.Namespace) -> None:
    here = os.getcwd()
    if options.exclude:
        fields["exclude"] = _patterns(options.exclude, here)
    if options.extend_exclude:
        fields["extend_exclude"] = settings.extend_exclude + _patterns(options.extend_exclude, here)
    if options.force_exclude is not None:
        fields["force_exclude"] = options.force_exclude
    if options.respect_gitignore is not None:
        fields["respect_gitignore"] = options.respect_gitignore


def _patterns(items: list[str], here: str) -> tuple[Pattern, ...]:
    """Patterns separated by commas, but for those within braces."""
    return tuple(_pattern(word, here) for item in items for word in map(str.strip, _COMMA.split(item)) if word)


def _pattern(glob: str, here: str) -> Pattern:
    wrong = wrong_glob(glob)
    if wrong:
        raise ConfigurationError(f"the pattern `{glob}` {wrong}.")
    return Pattern(glob, here)


def _ignores(items: list[str]) -> tuple[tuple[Pattern, tuple[str, ...]], ...]:
    """`PATTERN:SELECTOR` pairs, separated by commas, as in ruff and flake8."""
    found: dict[str, list[str]] = {}
    for word in _words(items):
        glob, separator, selector = word.rpartition(":")
        if not separator or not glob or not selector:
            raise ConfigurationError(f"--per-file-ignores takes `PATTERN:RULE`, not `{word}`.")
        found.setdefault(glob.rstrip(), []).append(selector.lstrip())
    here = os.getcwd()
    return tuple((_pattern(glob, here), tuple(selectors)) for glob, selectors in found.items())


def _words(items: list[str]) -> tuple[str, ...]:
    return tuple(word for item in items for word in map(str.strip, item.split(",")) if word)


def format_of_environment() -> str | None:
    """The format that `NONSTRICT_OUTPUT_FORMAT` names.

    Raises:
        ConfigurationError: there is no such format.
    """
    name = os.environ.get("NONSTRICT_OUTPUT_FORMAT")
    if name and name not in FORMATS:
        raise ConfigurationError(f"NONSTRICT_OUTPUT_FORMAT is `{name}`. Set it to one of {', '.join(FORMATS)}.")
    return name
