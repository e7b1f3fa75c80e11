"""A repository of git for tests, which takes nothing from the configuration of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Git:
    """A repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self("init", "-q", "-b", "main")

    def __call__(self, *arguments: str) -> str:
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        person = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *person, *arguments],
            cwd=self.folder,
            env={**os.environ, **own},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, message: str = "more") -> str:
        self("add", "-A")
        self("commit", "-q", "--allow-empty", "-m", message)
        return self("rev-parse", "HEAD")
