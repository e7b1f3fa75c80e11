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
    volume.add_argument("-q", "--quiet", action="store_true", help="print only findings: no summary, no progress")
    volume.add_argument("-s", "--silent", action="store_true", help="print nothing but failures; use the exit status")
    volume.add_argument("-v", "--verbose", action="store_true", help="print the settings used and timings")
    confirm = parser.add_argument_group("experiments")
    confirm.add_argument(
        "--confirm",
        action="store_true",
        help="compile functions with findings in a sandbox, and confirm or refute each finding",
    )
    confirm.add_argument(
        "--probe", action="store_true", help="with --confirm: also run marked functions and regions without findings"
    )
    add_confirm_arguments(confirm)
    _environment(parser.add_argument_group("configuration and environment"))


def add_confirm_arguments(group: ArgumentGroup) -> None:
    """Declare the options of experiments."""
    group.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where to run (default: auto)")
    group.add_argument(
        "--timeout",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="time limit for one run of a program (default: 60)",
    )
    group.add_argument(
        "--isolation",
        choices=("auto", "copy-on-write", "deny", "none"),
        default="auto",
        help="kind of sandbox (default: the strongest available); none runs the code with your rights",
    )
    group.add_argument(
        "--full-import", action="store_true", help="import whole files if the needed part cannot be loaded alone"
    )
    group.add_argument(
        "--trust",
        action="store_true",
        help="trust the interpreter that the folder provides, for this run (see `nonstrict trust`)",
    )
    group.add_argument("--write-repro", metavar="DIR", help="write a script that reproduces each confirmed finding")
    group.add_argument(
        "--workers",
        type=number_of_processes,
        default=0,
        metavar="N",
        help="number of workers that share --jobs, each with its own GPU (default: one per GPU)",
    )
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="run experiments on the workers of this Dask scheduler (needs nonstrict[cluster])",
    )


def _rules(group: ArgumentGroup) -> None:
    for flag, text in (
        ("--select", "report only these rules: codes, prefixes, names or ALL, separated by commas"),
        ("--extend-select", "report these rules too"),
        ("--ignore", "do not report these rules"),
    ):
        group.add_argument(flag, action="append", default=[], metavar="RULES", help=text)
    for flag, text in (
        ("--per-file-ignores", "do not report a rule in some files; replaces the configured ones"),
        ("--extend-per-file-ignores", "do not report a rule in some files; adds to the configured ones"),
    ):
        group.add_argument(flag, action="append", default=[], metavar="PATTERN:RULE", help=text)
    group.add_argument("--ignore-suppressions", action="store_true", help="also report findings that comments suppress")
    group.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        help="lowest severity that makes the exit status 1 (default: warning)",
    )
    group.add_argument(
        "--strict-coverage",
        action=argparse.BooleanOptionalAction,
        help="exit with 1 if a compiled region was not analyzed (`nonstrict regions` says why)",
    )
    group.add_argument("-e", "--exit-zero", action="store_true", help="exit with 0 even if there are findings")


def _fixes(group: ArgumentGroup) -> None:
    for flag, text in (
        ("--fix", "apply safe fixes"),
        ("--unsafe-fixes", "include unsafe fixes; --no-unsafe-fixes does not mention them"),
        ("--fix-only", "apply fixes and do not report the findings that are left"),
        ("--show-fixes", "list what was fixed"),
    ):
        group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
    group.add_argument(
        "--diff",
        action="store_true",
        help="show what --fix-only would change, without writing; exit status 1 if anything would change",
    )
    for flag, text in (
        ("--fixable", "offer only the fixes of these rules"),
        ("--extend-fixable", "also offer the fixes of these rules"),
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
        help="add a suppression comment at every finding: --add-ignore, or --add-ignore=REASON to give a reason",
    )
    group.add_argument(
        "--baseline", metavar="FILE", help=f"known findings, which are not reported (default: {DEFAULT_BASELINE})"
    )
    group.add_argument(
        "--write-baseline",
        metavar="FILE",
        help="write all findings to the baseline: --write-baseline or --write-baseline=FILE",
    )


def _change(group: ArgumentGroup) -> None:
    group.add_argument(
        "--since",
        metavar="REF",
        help="report only findings that this branch added since it left this commit, branch or tag",
    )
    group.add_argument(
        "--staged",
        action="store_true",
        help="check the staged content instead of the working tree (default of --since: HEAD)",
    )


def _files(group: ArgumentGroup) -> None:
    for flag, text in (
        ("--exclude", "exclude these; replaces the configured patterns"),
        ("--extend-exclude", "exclude these; adds to the configured patterns"),
    ):
        group.add_argument(flag, action="append", default=[], metavar="PATTERNS", help=text)
    group.add_argument(
        "--force-exclude",
        action=argparse.BooleanOptionalAction,
        help="apply exclusions also to files given on the command line",
    )
    group.add_argument(
        "--respect-gitignore", action=argparse.BooleanOptionalAction, help="skip files that git ignores (default)"
    )
    group.add_argument("--stdin-filename", metavar="FILE", help="the name of the file on standard input")
    group.add_argument("--show-files", action="store_true", help="list the files that would be checked, and exit")


def _output(group: ArgumentGroup) -> None:
    group.add_argument(
        "--output-format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: full; html: a standalone page; agent: for language models; "
        "environment: NONSTRICT_OUTPUT_FORMAT)",
    )
    group.add_argument(
        "-w",
        "--watch",
        action="store_true",
        help="check again whenever a file changes; JSON lines if not to a terminal (needs nonstrict[watch])",
    )
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the findings to a file")
    group.add_argument("--no-notes", action="store_true", help="hide findings of severity note, and show their number")
    group.add_argument("--statistics", action="store_true", help="show only the number of findings of each rule")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")


def _environment(group: ArgumentGroup) -> None:
    add_configuration_arguments(group)
    group.add_argument("--show-settings", action="store_true", help="show the effective settings, and exit")
    group.add_argument(
        "--python", metavar="PATH", help="interpreter or environment whose torch is used (started only to confirm)"
    )
    add_version_arguments(group)
    group.add_argument(
        "-j", "--jobs", type=number_of_processes, default=0, metavar="N", help="processes (default: one per processor)"
    )
    group.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument("--cache-dir", metavar="DIR", help="cache directory (environment: NONSTRICT_CACHE_DIR)")


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
