"""Landlock: which files a process and its descendants may read and write, whatever the file modes say.

See https://docs.kernel.org/userspace-api/landlock.html and `include/uapi/linux/landlock.h`. Rights are of a directory
and all beneath it; they can be given, not taken back further down.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from nonstrict_agent.isolation.system_calls import SetupError, process_control, system_call

if TYPE_CHECKING:
    from collections.abc import Iterable

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_UP_TO_MAKE_SYMLINK = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEVICE
DEVICE = READ | WRITE_FILE | _IOCTL_DEVICE
_CONNECT_AND_BIND_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
_RULE_BENEATH_PATH = 1
_ASK_VERSION = 1
_NO_NEW_PRIVILEGES = 38

# The version of Landlock that first had each.
TRUNCATE_SINCE = 3  # Linux 6.2
SIGNALS_SINCE = 6  # Linux 6.12


def version() -> int:
    """The version of Landlock's interface here; 0 where there is none."""
    try:
        return system_call("landlock_create_ruleset", None, 0, _ASK_VERSION)
    except SetupError:
        return 0


def everything(interface: int) -> int:
    """All rights to files that this version of the interface knows."""
    rights = _UP_TO_MAKE_SYMLINK
    rights |= _REFER if interface >= 2 else 0
    rights |= _TRUNCATE if interface >= TRUNCATE_SINCE else 0
    return rights | (_IOCTL_DEVICE if interface >= 5 else 0)


def no_new_privileges() -> None:
    """No program executed from here on gains rights by being set-uid; what Landlock and seccomp require."""
    process_control(_NO_NEW_PRIVILEGES, 1)


def restrict(rules: Iterable[tuple[str, int]]) -> None:
    """Gives this process only `rules` (path, rights); a path that is absent or out of reach is passed over.

    Where the kernel can, also TCP and signals and abstract sockets to the outside are denied.

    Raises:
        SetupError: Landlock refused.
    """
    interface = version()
    handled = everything(interface)
    words = [handled]
    words += [_CONNECT_AND_BIND_TCP] if interface >= 4 else []
    words += [_ABSTRACT_SOCKETS_AND_SIGNALS] if interface >= SIGNALS_SINCE else []
    attributes = struct.pack(f"{len(words)}Q", *words)
    rule_set = system_call("landlock_create_ruleset", attributes, len(attributes), 0)
    for path, rights in rules:
        _add(rule_set, path, rights & handled)
    no_new_privileges()
    system_call("landlock_restrict_self", rule_set, 0)
    os.close(rule_set)


def _add(rule_set: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(f"/proc/self/fd/{place}"):
            rights &= _OF_FILES
        system_call("landlock_add_rule", rule_set, _RULE_BENEATH_PATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def reading(opened: Iterable[str], hidden: Iterable[str]) -> list[tuple[str, int]]:
    """Rules for reading everything beneath the `opened` paths except `hidden` ones, whose names stay visible there.

    A link is not a rule: what it leads to has its own, if any.
    """
    paths = set(hidden)
    around = {ancestor for path in paths for ancestor in _ancestors(path)}
    rules: list[tuple[str, int]] = []
    waiting = [path for path in opened if not os.path.islink(path)]
    while waiting:
        path = waiting.pop()
        if path in paths:
            continue
        if path not in around:
            rules.append((path, READ))
            continue
        rules.append((path, READ_DIR))
        try:
            waiting += [entry.path for entry in os.scandir(path) if not entry.is_symlink()]
        except OSError:
            continue
    return rules


def _ancestors(path: str) -> list[str]:
    found: list[str] = []
    while (parent := os.path.dirname(path)) != path:
        found.append(parent)
        path = parent
    return found
