"""Runs a server, and writes what an editor sends to it to `LOG.in`, and what it answers to `LOG.out`."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import IO


def pass_on(source: IO[bytes], target: IO[bytes], log: Path) -> None:
    """Copy a stream until its end."""
    with log.open("wb", buffering=0) as copy:
        while piece := source.read1(1 << 16):  # pyright: ignore[reportAttributeAccessIssue] - both are buffered
            copy.write(piece)
            target.write(piece)
            target.flush()


def main(log: str, *command: str) -> int:
    """Run a command between an editor and itself."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin
    assert server.stdout
    path = Path(log)
    arguments = (sys.stdin.buffer, server.stdin, path.with_suffix(".in"))
    threading.Thread(target=pass_on, args=arguments, daemon=True).start()
    pass_on(server.stdout, sys.stdout.buffer, path.with_suffix(".out"))
    return server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
