"""`nonstrict server`: the language server, for editors."""

from __future__ import annotations

import argparse

from nonstrict.cli.failure import report_failure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="speak on standard input and output (default)")
    way.add_argument(
        "--tcp",
        type=_address,
        metavar="[HOST:]PORT",
        help="wait for one client at a TCP port, without encryption or password (default host: 127.0.0.1)",
    )
    trust = parser.add_mutually_exclusive_group()
    trust.add_argument(
        "--untrusted-workspace",
        action="store_true",
        help="run no code of the workspace: no interpreter, no experiments",
    )
    trust.add_argument(
        "--trusted-workspace",
        action="store_true",
        help="experiments may start the interpreter of the workspace (default: where `nonstrict trust` allows it)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until the client is gone; the exit status."""
    # The one import upwards: the server is a package of its own, whose libraries no other command loads.
    from nonstrict_server.main import serve_socket, serve_standard_streams

    # Neither said: experiments are run, and which interpreters is for the user's list to say.
    trusted = options.trusted_workspace if options.untrusted_workspace or options.trusted_workspace else None
    if options.tcp is None:
        return serve_standard_streams(trusted=trusted)
    host, port = options.tcp
    try:
        return serve_socket(host, port, trusted=trusted)
    except OSError as error:
        return report_failure(f"{host}:{port} cannot be listened at: {error.strerror or error}")


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is not an address such as 127.0.0.1:8123")
    return host.strip("[]") or "127.0.0.1", int(port)
