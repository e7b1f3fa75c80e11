"""Finds out by trying which tiers work here, in a throw-away process, and why others do not."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import tempfile
from typing import TYPE_CHECKING, Any

from nonstrict_agent.isolation import landlock
from nonstrict_agent.isolation.containment import MEBI, TEMPORARY_PREFIX, Containment, Tier
from nonstrict_agent.isolation.supervisor import serve
from nonstrict_agent.isolation.system_calls import SetupError, machine

if TYPE_CHECKING:
    from collections.abc import Callable

_BEFORE, _AFTER = "before", "after"
_SETTINGS = {
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        (
            "AppArmor forbids user namespaces without privileges "
            "(sysctl kernel.apparmor_restrict_unprivileged_userns=1, the default of Ubuntu since 24.04)"
        ),
    ),
    "kernel/unprivileged_userns_clone": (
        "0",
        "this system forbids user namespaces without privileges (sysctl kernel.unprivileged_userns_clone=0)",
    ),
    "user/max_user_namespaces": ("0", "this system forbids user namespaces (sysctl user.max_user_namespaces=0)"),
}


def main() -> None:
    """Prints a JSON object: for each tier the reason why it does not work, empty if it does."""
    print(json.dumps({tier.value: refusal(tier) for tier in (Tier.COPY_ON_WRITE, Tier.DENY)}))  # noqa: T201


def refusal(tier: Tier) -> str:
    """Why `tier` cannot be used on this machine, as a sentence; empty if it can. Needs a process with one thread."""
    try:
        machine()
    except SetupError as error:
        return f"{error.step}."
    if tier is Tier.DENY and landlock.version() < landlock.TRUNCATE_SINCE:
        return "The kernel has no Landlock of version 3 or later (Linux 6.2), or it was not enabled when it started."
    with tempfile.TemporaryDirectory(prefix=f"{TEMPORARY_PREFIX}{os.getpid()}-") as directory:
        path = os.path.join(directory, "file")
        with open(path, "w", encoding="ascii") as file:
            file.write(_BEFORE)
        lines = _run(lambda: _attempt(path), Containment(tier, directory=os.sep, seconds=10, memory=256 * MEBI))
        with open(path, encoding="ascii") as file:
            untouched = file.read() == _BEFORE
    return _judged(tier, lines, untouched=untouched, path=path)


def _attempt(path: str) -> dict[str, bool]:
    """What work can do: it should believe to have written a file or be refused, and should find no network."""
    wrote = network = True
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(_AFTER)
        with open(path, encoding="ascii") as file:
            wrote = file.read() == _AFTER
    except OSError:
        wrote = False
    try:
        socket.socket(socket.AF_INET).close()
    except OSError:
        network = False
    return {"wrote": wrote, "network": network}


def _run(work: Callable[[], Any], containment: Containment) -> dict[str, Any]:
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(reader)
            serve(work, containment, writer)
        finally:
            os._exit(1)
    os.close(writer)
    answer: dict[str, Any] = {}
    with os.fdopen(reader, "rb") as stream:
        for line in stream:
            answer.update(json.loads(line))
    os.waitpid(process, 0)
    return answer


def _judged(tier: Tier, answer: dict[str, Any], *, untouched: bool, path: str) -> str:
    if "exit" not in answer:
        return "The trial process ended without an answer."
    if "result" not in answer:
        return _explained(answer["exit"]["detail"] or json.dumps(answer.get("raised", answer["exit"])))
    result = answer["result"]
    if not untouched:
        return "A trial write reached the machine's file system."
    if result["network"]:
        return "A trial program could open a network socket."
    if tier is Tier.COPY_ON_WRITE:
        if not result["wrote"]:
            return "Writes cannot be kept in memory: the file systems of this machine cannot be overlaid."
        if ["written", os.path.realpath(path)] not in [change[:2] for change in answer["changes"]]:
            return "What a program writes cannot be listed: the file systems of this machine cannot be overlaid."
    elif result["wrote"]:
        return "A trial write was not refused."
    return ""


def _explained(failure: str) -> str:
    """A failed step in words that lead somewhere."""
    refused = any(os.strerror(code) in failure for code in (errno.EPERM, errno.EACCES, errno.ENOSPC))
    if refused:
        for name, (value, sentence) in _SETTINGS.items():
            with contextlib.suppress(OSError), open(f"/proc/sys/{name}", encoding="ascii") as setting:
                if setting.read().strip() == value:
                    return f"{sentence[0].upper()}{sentence[1:]}."
    if failure.startswith("unshare") and refused:
        return (
            "User namespaces are not allowed here: the usual cause is a container's seccomp profile "
            f"or a security policy ({failure})."
        )
    if failure.startswith("mounting proc") and refused:
        return f"A fresh /proc cannot be mounted, as in containers that mask parts of it ({failure})."
    if failure.startswith("pivot_root"):
        return f"The root file system cannot be replaced, as on an initial RAM disk ({failure})."
    return f"Setting up failed: {failure}."
