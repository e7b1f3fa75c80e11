"""The entry point: picks the command and turns what goes wrong on the way into an exit status."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from nonstrict.cli.status import ExitStatus

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import ModuleType

#: Command -> (module, summary).
COMMANDS = {
    "check": ("check", "check files and directories"),
    "audit": ("audit", "check whether a function can be marked, and what prevents it"),
    "confirm": ("confirm", "compile a function in a sandbox and confirm or refute its findings"),
    "regions": ("regions", "list the compiled regions, their graphs and breaks, and what was not analyzed"),
    "budget": ("budget", "check graphs and recompilations of regions against a budget"),
    "record": ("record", "run a command and record the inputs and compilations of its calls"),
    "import": ("importing", "import TORCH_TRACE logs, to show what real runs compiled next to findings"),
    "server": ("server", "start the language server, for editors"),
    "mcp": ("mcp", "start the MCP server, for agents (needs nonstrict[mcp])"),
    "explain": ("explain", "explain an error or a log of torch, and find where it comes from"),
    "rule": ("rule", "show the page of a rule, or list all rules"),
    "config": ("config", "list and explain the configuration keys"),
    "schema": ("schema", "show the JSON schema of the settings or of an output"),
    "trust": ("trust", "choose which folders may provide the interpreter for experiments"),
    "completion": ("completion", "generate a completion script for a shell"),
    "clean": ("clean", "remove the caches of a project"),
    "version": ("version", "show the version"),
}
ALIASES: dict[str, str] = {}


def command() -> NoReturn:
    """The console script: run the command of `sys.argv` and end the process.

    Taking the syntax trees of a project apart costs a tenth of a check: they are left to the operating system.
    """
    kept: list[object] = []
    status = main(kept=kept)
    sys.stderr.flush()
    os._exit(status)


def main(argv: Sequence[str] | None = None, kept: list[object] | None = None) -> int:
    """Run a command; the return value is the exit status of the process. `kept`: see `AnalysisOptions`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _fill_streams()
        status = _run(arguments, kept)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`) has what it wants. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.CLEAN
    except OSError as error:
        from nonstrict.cli.failure import report_failure

        return report_failure(f"{error.filename or 'output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return ExitStatus.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last boundary before the user
        return _internal_error(error)
    return status


def _fill_streams() -> None:
    """Stand in for standard output and standard error where the caller closed them.

    The numbers of closed files are taken too: a file opened later would get one, and with it what others write there.
    """
    if sys.stdout is not None and sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    opened = 0
    while opened < 3:
        opened = os.open(os.devnull, os.O_RDWR)
    os.close(opened)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process


def _internal_error(error: Exception) -> ExitStatus:
    """Say that the mistake is ours; the traceback only for those who ask for it."""
    from nonstrict import __version__
    from nonstrict.check.faults import lost_to
    from nonstrict.cli.failure import report_failure

    text = " ".join(str(error).split())[:300]
    what = f"internal error in nonstrict {__version__}, the command was not run to its end ({text})"
    return report_failure(lost_to(error, what))


def _run(arguments: list[str], kept: list[object] | None) -> int:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    name = arguments[0] if arguments else ""
    name = ALIASES.get(name, name)
    if name in COMMANDS:
        module = _module(name)
        parser = _parser(f"nonstrict {name}", COMMANDS[name][1])
        module.add_arguments(parser)
        given = _joined(arguments[1:], getattr(module, "VALUE_OPTIONAL", frozenset[str]()))
        return module.run(parser.parse_args(given, _namespace(kept)))
    parser = _overview()
    options = parser.parse_args(arguments)
    if options.version:
        return _module("version").run(options)
    parser.print_help()
    return ExitStatus.CLEAN


def _joined(arguments: list[str], optional: frozenset[str]) -> list[str]:
    """The arguments with an empty value for options whose value is optional, and joined with `=` where it is given.

    `argparse` would take the argument behind such an option for its value, which may be a path.
    """
    options = arguments.index("--") if "--" in arguments else len(arguments)
    return [f"{word}=" if word in optional and at < options else word for at, word in enumerate(arguments)]


def _namespace(kept: list[object] | None) -> argparse.Namespace:
    import argparse

    return argparse.Namespace(kept=kept)


def _module(name: str) -> ModuleType:
    from importlib import import_module

    return import_module(f"nonstrict.cli.{COMMANDS[name][0]}")


def _parser(program: str, summary: str) -> argparse.ArgumentParser:
    from nonstrict.cli.parser import Parser

    return Parser(prog=program, description=summary[0].upper() + summary[1:] + ".")


def _overview() -> argparse.ArgumentParser:
    """The parser for everything that names no command: help, version and mistakes."""
    import argparse

    from nonstrict.cli.parser import Parser

    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    parser = Parser(
        prog="nonstrict",
        usage="nonstrict COMMAND [OPTIONS]",
        description="Finds graph breaks, recompilations and silently wrong results of torch.compile.",
        epilog=f"commands:\n{listed}\n\n`nonstrict COMMAND --help` explains a command; start with `nonstrict check`.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="store_true", help="show the version")
    parser.add_argument("command", nargs="?", choices=[*COMMANDS, *ALIASES], metavar="COMMAND", help="see below")
    return parser
