"""Which folders the user trusts so far that programs which came with them are started outside the sandbox.

Experiments run in a sandbox, but the interpreter that sets it up does not. One that a folder brings along, as its
`.venv` or named in its settings, is a program like any other: it is started only where the folder is trusted.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from nonstrict.knowledge.torch_version import active_interpreter, interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FOR_OWNER = 0o600
_FOR_OTHERS = 0o022
#: Events of GitHub that may come with the files of whoever asks for a merge.
_GITHUB_EVENTS = frozenset({"pull_request", "pull_request_target", "pull_request_review", "workflow_run"})


class TrustError(Exception):
    """The list of trusted folders cannot be used; the message says why and what to do."""


class Python(NamedTuple):
    """The interpreter for experiments. `notice` says in a line why it is not the one of the folder; empty if it is."""

    path: str
    notice: str = ""


def python_for(python: str | None, root: str, *, by_user: bool, trusted: Callable[[str], bool]) -> Python:
    """The interpreter that experiments with the project at `root` may be run in.

    `python` is the setting, `by_user` whether the user named it; `trusted` is asked about the root if need be.
    """
    wanted = interpreter(python, root)
    if by_user:
        return Python(wanted)
    active = active_interpreter()
    if _same(wanted, active) or trusted(root):
        return Python(wanted)
    advice = "`nonstrict trust` allows it"
    return Python(active, f"{root} is not trusted: experiments run in {active}, its {wanted} is not started ({advice})")


def is_trusted(folder: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a folder, or one above it, is on the user's list. Not where CI checks what a stranger sent."""
    if is_of_stranger(environment):
        return False
    with contextlib.suppress(TrustError):
        known = set(trusted_folders(environment))
        here = os.path.realpath(folder)
        return here in known or any(_is_below(here, one) for one in known)
    return False


def trusted_folders(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The folders on the list.

    Raises:
        TrustError: it cannot be read, or others than the user may have written it.
    """
    path = list_path(environment)
    try:
        with open(path, encoding="utf-8") as file:
            _check_owner(path, os.fstat(file.fileno()))
            listed = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise TrustError(f"{path} cannot be read ({error}). Remove it, and trust your folders anew.") from error
    folders = cast("dict[str, Any]", listed).get("trusted") if isinstance(listed, dict) else None
    return [one for one in cast("list[Any]", folders) if isinstance(one, str)] if isinstance(folders, list) else []


def trust(folder: str, environment: Mapping[str, str] = os.environ) -> str:
    """Put a folder on the list; its path as it is kept.

    Raises:
        TrustError: the list cannot be read or written.
    """
    path = os.path.realpath(folder)
    _write({*trusted_folders(environment), path}, environment)
    return path


def distrust(folder: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Take a folder off the list; whether it was on it.

    Raises:
        TrustError: the list cannot be read or written.
    """
    known, path = set(trusted_folders(environment)), os.path.realpath(folder)
    if path not in known:
        return False
    _write(known - {path}, environment)
    return True


def list_path(environment: Mapping[str, str] = os.environ) -> str:
    """Where the list is: in the user's folder of configuration (XDG base directories)."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "nonstrict", "trusted.json")


def is_of_stranger(environment: Mapping[str, str]) -> bool:
    """Whether CI runs this for a proposal from another repository, whose files, settings too, are a stranger's.

    Known are GitHub, by the description of the event, and GitLab. What cannot be told counts as a stranger's.
    """
    if environment.get("GITHUB_ACTIONS") and environment.get("GITHUB_EVENT_NAME") in _GITHUB_EVENTS:
        return _is_fork(environment.get("GITHUB_EVENT_PATH", ""))
    source = environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
    return bool(source) and source != environment.get("CI_MERGE_REQUEST_PROJECT_ID")


def _is_fork(path: str) -> bool:
    """Whether an event of GitHub is about files of another repository than its own."""
    try:
        with open(path, encoding="utf-8") as file:
            event = json.load(file)
        run = event.get("workflow_run")
        head = run["head_repository"] if run else event["pull_request"]["head"]["repo"]
        return head["full_name"] != event["repository"]["full_name"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return True


def _write(folders: set[str], environment: Mapping[str, str]) -> None:
    path = list_path(environment)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FOR_OWNER), "w") as file:
            json.dump({"trusted": sorted(folders)}, file, indent=1)
        os.replace(temporary, path)
    except OSError as error:
        raise TrustError(f"{path} cannot be written: {error.strerror or error}.") from error


def _check_owner(path: str, status: os.stat_result) -> None:
    if os.name != "nt" and (status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & _FOR_OTHERS):
        raise TrustError(f"{path} may have been written by others. Look at it, then `chmod 600` it or remove it.")


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _same(one: str, other: str) -> bool:
    """Whether two paths are one interpreter; environments share the file that theirs are links to."""
    return os.path.abspath(one) == os.path.abspath(other)
