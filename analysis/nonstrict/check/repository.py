"""The repository that a folder lies in: services know files from its top."""

from __future__ import annotations

import os

#: Where services have checked the repository out: GitHub, GitLab, Azure.
_WORKSPACES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY")


def repository_around(folder: str) -> str:
    """The absolute folder of the repository around a folder, as a service that runs us says, else git; "" if none."""
    here = os.path.realpath(folder)
    for name in _WORKSPACES:
        told = os.path.realpath(os.environ[name]) if os.environ.get(name) else ""
        if told and f"{here}{os.sep}".startswith(f"{told.rstrip(os.sep)}{os.sep}"):
            return told
    while not os.path.exists(os.path.join(here, ".git")):
        if os.path.dirname(here) == here:
            return ""
        here = os.path.dirname(here)
    return here
