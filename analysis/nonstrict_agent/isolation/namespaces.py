"""Namespaces, mounts, capabilities and the ties between a process and its parent, through the C library."""

from __future__ import annotations

import ctypes
import os
import signal
import struct

from nonstrict_agent.isolation.system_calls import SetupError, libc, process_control, system_call

_NEW_MOUNTS, _NEW_HOST_NAME, _NEW_IPC, _NEW_USER = 0x00020000, 0x04000000, 0x08000000, 0x10000000
_NEW_PROCESSES, _NEW_NETWORK = 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE, NO_SET_UID, NO_DEVICES = 4096, 16384, 1 << 18, 2, 4
_DETACH = 2
_AT_CURRENT_DIRECTORY, _AT_RECURSIVE = -100, 0x8000
_READ_ONLY_ATTRIBUTE, _NO_SET_UID_ATTRIBUTE, _NO_DEVICES_ATTRIBUTE = 1, 2, 4
_DUMPABLE = 4
_PARENT_DEATH_SIGNAL, _CHILD_SUBREAPER, _DROP_FROM_BOUNDING_SET = 1, 36, 24
_AMBIENT, _CLEAR_AMBIENT = 47, 4
_CAPABILITY_VERSION = 0x20080522
_MANY_CAPABILITIES = 64


def enter() -> None:
    """Moves this process, which must have one thread, into namespaces of its own; its children into their own pids.

    The user keeps its number, and owns the namespaces.

    Raises:
        SetupError: the machine does not let this user do so.
    """
    user, group = os.getuid(), os.getgid()
    system_call("unshare", _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_NETWORK | _NEW_IPC | _NEW_HOST_NAME)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError as error:
            raise SetupError(f"writing {name} of a user namespace", error.errno or 0) from error


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """`mount(2)`.

    Raises:
        SetupError: it failed; the step names source and target.
    """
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    if libc().mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]):
        raise SetupError(f"mounting {kind or source} on {target}", ctypes.get_errno())


def protect(target: str, *, read_only: bool, recursive: bool, devices: bool = False) -> None:
    """Makes a mount ignore set-uid bits and devices, and perhaps read-only, keeping what it was before.

    Raises:
        SetupError: the kernel refused, or is older than 5.12.
    """
    flags = (
        _NO_SET_UID_ATTRIBUTE | (_READ_ONLY_ATTRIBUTE if read_only else 0) | (0 if devices else _NO_DEVICES_ATTRIBUTE)
    )
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    system_call(
        "mount_setattr",
        _AT_CURRENT_DIRECTORY,
        os.fsencode(target),
        _AT_RECURSIVE if recursive else 0,
        attributes,
        len(attributes),
    )


def become_root(directory: str, old: str) -> None:
    """Makes a mount point the root of this process; the former root appears at `old` in it (may be the same place).

    Raises:
        SetupError: the root file system of this machine cannot be replaced.
    """
    os.chdir(directory)
    system_call("pivot_root", b".", os.fsencode(old))
    if old == "." and libc().umount2(b".", _DETACH):
        raise SetupError("leaving the former root", ctypes.get_errno())
    os.chdir("/")


def die_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """This process gets the signal when its parent, whose process id is given, ends; ends if it has already."""
    process_control(_PARENT_DEATH_SIGNAL, by)
    if os.getppid() != parent:
        os._exit(1)


def keep_others_out() -> None:
    """Other processes of this user can no longer read this one's memory, nor reach its descriptors through `/proc`."""
    process_control(_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Descendants whose parents ended become children of this process."""
    process_control(_CHILD_SUBREAPER, 1)


def drop_capabilities() -> None:
    """Gives up all capabilities for good, also for programs executed as root."""
    process_control(_AMBIENT, _CLEAR_AMBIENT)
    for capability in range(_MANY_CAPABILITIES):
        try:
            process_control(_DROP_FROM_BOUNDING_SET, capability)
        except SetupError:
            # Beyond the last capability of this kernel, or the process has none to begin with.
            break
    system_call("capset", struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", 0, 0, 0, 0, 0, 0))
