"""The options of `nonstrict check`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import add_configuration_arguments, add_version_arguments
from nonstrict.settings.model import DEFAULT_BASELINE, FORMATS

if TYPE_CHECKING:
    from nonstrict.cli.configuration import ArgumentGroup

#: Longest limit of one run, in seconds: a week.
_LONGEST = 604_800.0


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them all, in groups."""
    parser.epilog = (
        "Exit status: 0 nothing at or above --fail-on, 1 findings, 2 the check could not be done. "
        "`nonstrict rule NST101` explains a rule."
    )
    parser.add_argument(
        "paths",
        nargs="*",
        default=["."],
        metavar="PATH",
        help="files and directories (default: .); - is standard input",
    )
    parser.set_defaults(held=None)
    _rules(parser.add_argument_group("rules"))
    _fixes(parser.add_argument_group("fixes"))
    _known(parser.add_argument_group("known findings"))
    _change(parser.add_argument_group("findings of a change"))
    _files(parser.add_argument_group("files"))
    output = parser.add_argument_group("output")
    _output(output)
    volume = output.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="findings only, no counts and no progress")
    volume.add_argument("-s", "--silent", action="store_true", help="nothing but the exit status and failures")
    volume.add_argument("-v", "--verbose", action="store_true", help="say what is used and how long it took")
    confirm = parser.add_argument_group("experiments")
    confirm.add_argument(
        "--confirm",
        action="store_true",
        help="compile the functions with findings, in a sandbox, and say which findings come true",
    )
    confirm.add_argument(
        "--probe", action="store_true", help="with --confirm: run marked functions and regions without findings too"
    )
    add_confirm_arguments(confirm)
    _environment(parser.add_argument_group("configuration and environment"))


def add_confirm_arguments(group: ArgumentGroup) -> None:
    """Declare the options of experiments."""
    group.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where to run (default: auto)")
    group.add_argument(
        "--timeout", type=_seconds, default=60.0, metavar="SECONDS", help="limit of one run of a program (default: 60)"
    )
    group.add_argument(
        "--isolation",
        choices=("auto", "copy-on-write", "deny", "none"),
        default="auto",
        help="the sandbox (default: the strongest that works here); none runs the code with your rights",
    )
    group.add_argument(
        "--full-import", action="store_true", help="import files whole where a part of them cannot be loaded"
    )
    group.add_argument(
        "--trust",
        action="store_true",
        help="for this run, start the interpreter that the folder brings (see `nonstrict trust`)",
    )
    group.add_argument("--write-repro", metavar="DIR", help="write a script for each finding that was confirmed")
    group.add_argument(
        "--workers",
        type=number_of_processes,
        default=0,
        metavar="N",
        help="share --jobs among so many workers, each with a GPU of its own (default: one for each GPU)",
    )
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="have the workers of this Dask scheduler run experiments (needs nonstrict[cluster])",
    )


def _rules(group: ArgumentGroup) -> None:
    for flag, text in (
        ("--select", "report only these rules: codes, prefixes, names or ALL, separated by commas"),
        ("--extend-select", "report these rules too"),
        ("--ignore", "do not report these rules"),
    ):
        group.add_argument(flag, action="append", default=[], metavar="RULES", help=text)
    for flag, text in (
        ("--per-file-ignores", "do not report a rule in some files, in place of what is configured"),
        ("--extend-per-file-ignores", "do not report a rule in some files, besides what is configured"),
    ):
        group.add_argument(flag, action="append", default=[], metavar="PATTERN:RULE", help=text)
    group.add_argument(
        "--ignore-suppressions", action="store_true", help="report what comments in the code suppress, too"
    )
    group.add_argument(
        "--fail-on", choices=("error", "warning", "note"), help="least severity for exit status 1 (default: warning)"
    )
    group.add_argument(
        "--strict-coverage",
        action=argparse.BooleanOptionalAction,
        help="exit with 1 if a compiled region was not looked at (`nonstrict regions` says why)",
    )
    group.add_argument("-e", "--exit-zero", action="store_true", help="exit with 0 even if there are findings")


def _fixes(group: ArgumentGroup) -> None:
    for flag, text in (
        ("--fix", "apply fixes, those that are safe"),
        ("--unsafe-fixes", "apply, and count as fixable, what is unsafe too; --no-unsafe-fixes keeps silent about it"),
        ("--fix-only", "apply fixes, and report nothing that is left"),
        ("--show-fixes", "list what was fixed"),
    ):
        group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
    group.add_argument(
        "--diff",
        action="store_true",
        help="write nothing, and show what --fix-only would change; exit status 1 if that is anything",
    )
    for flag, text in (
        ("--fixable", "offer the fixes of these rules only"),
        ("--extend-fixable", "offer the fixes of these rules too"),
        ("--unfixable", "do not offer the fixes of these rules"),
    ):
        group.add_argument(flag, action="append", default=[], metavar="RULES", help=text)
    group.add_argument(
        "--exit-non-zero-on-fix", action="store_true", help="exit with 1 if anything was fixed, even if nothing is left"
    )


def _known(group: ArgumentGroup) -> None:
    group.add_argument(
        "--add-ignore",
        metavar="REASON",
        help="suppress every finding where it is, each with this reason, if any: --add-ignore or --add-ignore=REASON",
    )
    group.add_argument(
        "--baseline", metavar="FILE", help=f"known findings, which are not reported (default: {DEFAULT_BASELINE})"
    )
    group.add_argument(
        "--write-baseline",
        metavar="FILE",
        help="make all findings known ones: --write-baseline or --write-baseline=FILE",
    )


def _change(group: ArgumentGroup) -> None:
    group.add_argument(
        "--since",
        metavar="REF",
        help="only the findings that were caused since the current branch left this commit, branch or tag of git",
    )
    group.add_argument(
        "--staged", action="store_true", help="check what is staged, in place of the files (default of --since: HEAD)"
    )


def _files(group: ArgumentGroup) -> None:
    for flag, text in (
        ("--exclude", "leave these out, in place of the configured patterns"),
        ("--extend-exclude", "leave these out too"),
    ):
        group.add_argument(flag, action="append", default=[], metavar="PATTERNS", help=text)
    group.add_argument(
        "--force-exclude",
        action=argparse.BooleanOptionalAction,
        help="leave excluded files out even if they are named",
    )
    group.add_argument(
        "--respect-gitignore", action=argparse.BooleanOptionalAction, help="leave out what git ignores (default)"
    )
    group.add_argument("--stdin-filename", metavar="FILE", help="the name of the file on standard input")
    group.add_argument("--show-files", action="store_true", help="list the files that would be checked, and stop")


def _output(group: ArgumentGroup) -> None:
    group.add_argument(
        "--output-format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: full; html: a page to hand on; agent: for language models; "
        "environment: NONSTRICT_OUTPUT_FORMAT)",
    )
    group.add_argument(
        "-w",
        "--watch",
        action="store_true",
        help="check again whenever a file changes; not to a terminal, JSON lines (needs nonstrict[watch])",
    )
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the findings to a file")
    group.add_argument("--no-notes", action="store_true", help="leave out findings of severity note, and count them")
    group.add_argument("--statistics", action="store_true", help="show how often each rule was met, and nothing else")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")


def _environment(group: ArgumentGroup) -> None:
    add_configuration_arguments(group)
    group.add_argument("--show-settings", action="store_true", help="show the settings that count, and stop")
    group.add_argument(
        "--python", metavar="PATH", help="interpreter or environment whose torch is used (started only to confirm)"
    )
    add_version_arguments(group)
    group.add_argument(
        "-j", "--jobs", type=number_of_processes, default=0, metavar="N", help="processes (default: one per processor)"
    )
    group.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument("--cache-dir", metavar="DIR", help="where results are kept (environment: NONSTRICT_CACHE_DIR)")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds up to a week")
    return seconds


def number_of_processes(text: str) -> int:
    """The value of `--jobs`; 0 is one per processor."""
    if not (text.isascii() and text.isdigit()) or len(text) > 4:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of processes")
    return int(text)
