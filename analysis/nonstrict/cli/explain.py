"""`nonstrict explain`: says what an error, a line of the logs or an id of torch means, and where it comes from."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import (
    add_configuration_arguments,
    add_version_arguments,
    main_settings,
    nested_settings,
)
from nonstrict.cli.failure import report_failure
from nonstrict.cli.overrides import environment_overrides
from nonstrict.cli.status import ExitStatus
from nonstrict.cli.terminal import use_color
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse

    from nonstrict.explain.answering import Explained
    from nonstrict.settings.model import Settings

#: What files that hold a log are called.
_OF_LOGS = frozenset({".log", ".txt", ".out", ".err"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "TEXT may be anything that torch prints: the message of an error, a traceback, lines of TORCH_LOGS, a whole "
        "log, torch's id of a graph break (GB0059); also a rule (NST101). Nothing of the project is run. "
        "Exit status: 0 something known fits, 1 nothing does, 2 the text could not be read."
    )
    parser.add_argument(
        "text", nargs="*", metavar="TEXT", help="what torch printed, a file that holds it, or - for standard input"
    )
    parser.add_argument("--project", default=".", metavar="DIR", help="where the files are that it names (default: .)")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    add_configuration_arguments(parser)
    parser.add_argument("--python", metavar="PATH", help="interpreter or environment whose torch is used (not started)")
    add_version_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Explain the text, and say by the exit status whether something known fits."""
    from nonstrict.explain.answering import explained
    from nonstrict.explain.cleaning import NoTextError

    try:
        text = _given(options.text)
    except NoTextError as error:
        return report_failure(str(error))
    if not text.strip() and options.text != ["-"]:  # a run that printed nothing is answered like any other
        return report_failure("TEXT is missing. Give what torch printed, a file that holds it, or - and pipe it in.")
    if options.output_format == "text" and (alone := _whole_page(text)):
        sys.stdout.write(alone)
        return ExitStatus.CLEAN
    if not os.path.isdir(options.project):
        return report_failure(f"{options.project}: is no directory")
    try:
        settings = environment_overrides(main_settings([options.project], options), options)
        nested = nested_settings(options, lambda settings: environment_overrides(settings, options))
        told = explained(text, options.project, settings, nested)
    except ConfigurationError as error:
        return report_failure(str(error))
    sys.stdout.write(_rendered(told, settings, options))
    for failure in told.result.failures if told.result is not None else ():
        report_failure(failure)
    return ExitStatus.CLEAN if told.answers else ExitStatus.FINDINGS


def _given(words: list[str]) -> str:
    """The text that the command line gives, or names.

    Raises:
        NoTextError: what it names is no text.
        OSError: it cannot be read.
    """
    from nonstrict.explain.cleaning import NoTextError, decoded

    if words == ["-"] or (not words and not sys.stdin.isatty()):
        return decoded(sys.stdin.buffer.read())
    if len(words) == 1 and os.path.isfile(words[0]):
        with open(words[0], "rb") as file:
            return decoded(file.read())
    if len(words) == 1 and _names_file(words[0]):
        raise NoTextError(f"There is no file {words[0]}.")
    return " ".join(words)


def _names_file(word: str) -> bool:
    """Whether a word can only be meant as the path of a log: no message of torch is such a word."""
    return not any(map(str.isspace, word)) and os.path.splitext(word)[1].lower() in _OF_LOGS


def _whole_page(text: str) -> str:
    """The page that a text is the name of; "" if it is no name of one."""
    from nonstrict.cli.rule import explained
    from nonstrict.explain.library import named, whole
    from nonstrict.rules.registry import RULES

    identifier = named(text)
    if identifier is None:
        return ""
    return explained(RULES[identifier]) if identifier in RULES else whole(identifier).strip() + "\n"


def _rendered(told: Explained, settings: Settings, options: argparse.Namespace) -> str:
    from nonstrict.check.repository import repository_around
    from nonstrict.explain.rendering import record, text
    from nonstrict.report.context import Context, Lines

    lines = Lines(told.result.read if told.result is not None else {})
    repository = repository_around(settings.root) or settings.root
    context = Context(lines, color=use_color(options.color, sys.stdout), repository=repository)
    if options.output_format == "json":
        import json

        return json.dumps(record(told, context), indent=2) + "\n"
    return text(told, context)
