"""`nonstrict record`: runs a command, and keeps what its calls are like and what torch compiled."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import add_configuration_arguments, main_settings
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.confirm.recorded import LIMIT
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.check.recorded_command import Recorded, Wanted
    from nonstrict.confirm.recording import Seen

_USAGE = "Give the command after `--`: nonstrict record -- pytest"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.usage = "nonstrict record [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.epilog = (
        "Exit status: that of the command; 2 if it could not be started. For each call, the kinds of its "
        "arguments are recorded (types, shapes, dtypes, ranges, numbers, short texts), never the content of tensors. "
        "`nonstrict confirm` builds its inputs from them. `nonstrict check` also shows what torch compiled."
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="output directory, one file per source file (default: .nonstrict/inputs in the root of the project)",
    )
    parser.add_argument(
        "--limit",
        type=_positive,
        default=LIMIT,
        metavar="N",
        help=f"distinct calls recorded per function (default: {LIMIT})",
    )
    compiler = parser.add_mutually_exclusive_group()
    compiler.add_argument(
        "--eager",
        action="store_true",
        help="turn torch.compile off: record marked functions in eager mode",
    )
    compiler.add_argument(
        "--compiled",
        dest="eager",
        action="store_false",
        help="leave torch.compile on, and record what it compiles (default)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing at the end unless something is wrong")
    add_configuration_arguments(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="pytest, python train.py, ...")


def run(options: argparse.Namespace) -> int:
    """Run the command, and merge what was seen into the records."""
    command: list[str] = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        return report_failure(f"There is no command to record. {_USAGE}")
    try:
        root = main_settings([os.getcwd()], options).root
    except ConfigurationError as error:
        return report_failure(str(error))
    from nonstrict.check.recorded_command import Wanted

    wanted = Wanted.of(root, options.output)._replace(limit=options.limit, eager=options.eager)
    if os.path.exists(wanted.output) and not os.path.isdir(wanted.output):
        return report_failure(f"--output takes a directory: {options.output} is a file.")
    return _recorded(command, wanted, options)


def _recorded(command: list[str], wanted: Wanted, options: argparse.Namespace) -> int:
    from nonstrict.check.recorded_command import recorded

    try:
        done = recorded(command, wanted, _status, os.environ)
    except OSError as error:
        return report_failure(_not_started(command[0], error))
    for complaint in done.complaints:
        report_failure(complaint)
    if done.unkept:
        report_failure(f"{done.unkept} Choose another --output.")
        return done.status or ExitStatus.FAILURE
    _tell(done, wanted, options)
    return done.status


def _status(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the command to its end; its exit status, 128 + N for one that signal N ended, as shells count."""
    import signal
    import subprocess

    with subprocess.Popen(list(command), env=environment) as process:

        def forward(number: int, _: object) -> None:
            # Ctrl-C comes to both from the terminal: the command decides what it means.
            if number != signal.SIGINT:
                process.send_signal(number)

        kinds = [kind for kind in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(kind) is not signal.SIG_IGN]
        before = {kind: signal.signal(kind, forward) for kind in kinds}
        try:
            status = process.wait()
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)
    return 128 - status if status < 0 else status


def _not_started(name: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"The command `{name}` was not found. Check its spelling, and that its environment is active."
    if isinstance(error, PermissionError) and name.endswith(".py"):
        return f"`{name}` is not a program. Run it with Python: nonstrict record -- python {name}"
    return f"The command `{name}` could not be started: {error.strerror or error}."


def _tell(done: Recorded, wanted: Wanted, options: argparse.Namespace) -> None:
    """What was recorded and compiled, or why nothing was, on standard error."""
    from nonstrict.cli.importing import line_of
    from nonstrict.confirm.recorded import is_traced
    from nonstrict.confirm.recording import best, distinct
    from nonstrict.report.summary import plural

    seen, root = done.seen, wanted.root
    compiled = line_of(done.imported) if done.imported is not None and done.imported.observed.regions else ""
    for failure in seen.failures:
        report_failure(f"Some calls were not recorded: {failure}")
    for path, name in sorted(seen.large):
        report_failure(f"Some calls of `{name}` ({os.path.relpath(path, root)}) are too large to record.")
    if not seen.calls and not compiled:
        report_failure(_nothing(seen, root))
    elif seen.calls and not options.quiet:
        calls = [call for found in seen.calls.values() for call in best(distinct(found), options.limit)]
        functions, traced = plural(len(seen.calls), "function"), sum(map(is_traced, calls))
        more = f", {traced} of them as torch traced them" if traced else ""
        sys.stderr.write(f"Recorded {plural(len(calls), 'call')} of {functions} in {_shown(wanted.output)}{more}.\n")
    if not options.quiet:
        sys.stderr.write(compiled)


def _nothing(seen: Seen, root: str) -> str:
    """Why no call was recorded, and what to do."""
    head = "No call was recorded: "
    if not seen.pythons:
        return (
            f"{head}the command started no Python that could be hooked. "
            "Run Python without -I, -E and -S, and with the environment of this command."
        )
    if not seen.torch:
        return f"{head}the command did not import torch. Record one that runs your model."
    if not seen.marked:
        return f"{head}no function below {_shown(root)} was marked or compiled. Is this the project of the command?"
    names = ", ".join(f"`{name}`" for _, name in sorted(seen.marked)[:5])
    return f"{head}nothing called {names} and returned. Record a command that does."


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of calls, at least 1")
    return int(text)
