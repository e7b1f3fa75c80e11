"""What the command line puts on top of configured settings, in every directory alike."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from nonstrict.cli.configuration import is_assignment
from nonstrict.cli.misuse import chosen_interpreter, known_torch, targeted_python
from nonstrict.findings import Severity
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.globs import wrong_glob
from nonstrict.settings.model import FORMATS, Asked, Pattern

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
    _choose_fixes(fields, options)
    _choose_environment(fields, options)
    fields["ignore_suppressions"] = options.ignore_suppressions
    cache_dir = options.cache_dir or os.environ.get("NONSTRICT_CACHE_DIR")
    if cache_dir:
        fields["cache_dir"] = os.path.abspath(cache_dir)
    output_format = options.output_format or format_of_environment()
    if output_format:
        fields["output_format"] = output_format
    return settings._replace(**fields) if fields else settings


def environment_overrides(settings: Settings, options: argparse.Namespace) -> Settings:
    """`settings` with `--config KEY=VALUE` and what options say of the environment on top.

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
    if options.target_python is not None:
        fields["target_python"] = targeted_python(options.target_python)


def _select_rules(fields: dict[str, Any], settings: Settings, options: argparse.Namespace) -> None:
    """As in ruff, `--select` and `--fixable` start afresh: what files say no longer counts. Others go on top of it."""
    asked = Asked()
    for first, adding, taking in (("select", "extend_select", "ignore"), ("fixable", "extend_fixable", "unfixable")):
        begun = _words(getattr(options, first))
        told = {adding: _words(getattr(options, adding)), taking: _words(getattr(options, taking))}
        if begun:
            # What the command line says is then weighed against itself alone.
            fields.update({first: begun, **told})
        else:
            asked = asked._replace(**told)
    fields["asked"] = asked
    if options.per_file_ignores:
        fields.update(per_file_ignores=_ignores("per_file_ignores", options), extend_per_file_ignores=())
    if options.extend_per_file_ignores:
        before = fields.get("extend_per_file_ignores", settings.extend_per_file_ignores)
        fields["extend_per_file_ignores"] = before + _ignores("extend_per_file_ignores", options)


def _choose_fixes(fields: dict[str, Any], options: argparse.Namespace) -> None:
    """As in ruff, `--diff` and `--fix-only` mean `--fix`."""
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


def _ignores(name: str, options: argparse.Namespace) -> tuple[tuple[Pattern, tuple[str, ...]], ...]:
    """`PATTERN:SELECTOR` pairs, separated by commas, as in ruff and flake8."""
    found: dict[str, list[str]] = {}
    for word in _words(getattr(options, name)):
        glob, separator, selector = word.rpartition(":")
        if not separator or not glob or not selector:
            raise ConfigurationError(f"--{name.replace('_', '-')} takes `PATTERN:RULE`, not `{word}`.")
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
