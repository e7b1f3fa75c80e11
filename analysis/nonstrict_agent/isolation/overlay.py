"""A copy-on-write view of the machine's files: overlays whose upper layers live in memory.

A user namespace may not put an overlay over a directory that has mounts beneath it (`clone_private_mount` in
`fs/namespace.c`), so that there is one overlay for each directory without mounts, from the top down. What cannot be
overlaid is read-only. See https://docs.kernel.org/filesystems/overlayfs.html.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from nonstrict_agent.isolation import accelerators
from nonstrict_agent.isolation.namespaces import (
    BIND,
    NO_DEVICES,
    NO_SET_UID,
    PRIVATE,
    RECURSIVE,
    become_root,
    mount,
    protect,
)
from nonstrict_agent.isolation.sight import is_within
from nonstrict_agent.isolation.system_calls import SetupError

if TYPE_CHECKING:
    from nonstrict_agent.isolation.containment import Containment
    from nonstrict_agent.isolation.sight import Sight

DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
_SPECIAL = {"proc", "sys", "dev"}
_TEMPORARY = {"/tmp", "/var/tmp"}  # noqa: S108 - names of places, nothing is opened
_FOR_ALL = 0o1777
_FILES_IN_MEMORY = 1 << 16
_MOST_ENTRIES = 1000
"""More entries than this beside a mount, and the whole directory is read-only."""


class Layer(NamedTuple):
    """One overlay: the directory it stands for, and descriptors of its upper (in memory) and lower (real) layers.

    One that is closed only has an upper layer, in which `made` are the paths that were put there to be seen through;
    None for one that is not.
    """

    path: str
    upper: int
    lower: int
    made: frozenset[str] | None = None


class View:
    """The file system of a containment while it is put together. To be used once, by its first process."""

    def __init__(self, containment: Containment, sight: Sight):
        self._containment = containment
        self._sight = sight
        self._mounts = _mount_points()
        self._overlays = 0
        self._layers: list[tuple[str, str]] = []
        self._closed: list[str] = []
        self._shown: set[str] = set()

    def enter(self) -> list[Layer]:
        """Replaces this process's file system by a view of it, and answers with the overlays it consists of.

        Raises:
            SetupError: a step that cannot be done without failed.
        """
        directory = self._containment.directory or os.getcwd()
        writable = [os.path.realpath(path) for path in self._containment.writable]
        mount("none", "/", flags=RECURSIVE | PRIVATE)
        # Any directory that no program needs to see through this view will do.
        size = f"size={self._containment.scratch},nr_inodes={_FILES_IN_MEMORY},mode=755"
        mount("tmpfs", "/proc", "tmpfs", NO_SET_UID | NO_DEVICES, size)
        os.chdir("/proc")
        for name in ("old", "new", "upper", "scratch", "shm", "nothing", "closed"):
            os.mkdir(name)
        with open("nothing.txt", "wb"):
            pass
        become_root("/proc", "old")
        mount("/new", "/new", flags=BIND)
        for name in sorted(os.listdir("/old")):
            if name not in _SPECIAL:
                self._show_top("/" + name)
        self._kernel_files()
        self._devices()
        layers = [
            Layer(path, os.open(upper, os.O_RDONLY | os.O_DIRECTORY), os.open("/old" + path, os.O_PATH))
            for path, upper in self._layers
        ]
        made = frozenset(self._shown)
        for path in self._closed:
            upper = os.open("/closed" + path, os.O_RDONLY | os.O_DIRECTORY)
            layers.append(Layer(path, upper, os.open("/old" + path, os.O_PATH), made))
        for path in writable:
            self._writable(path)
        for path in self._sight.hidden:
            self._hide(path)
        protect("/new", read_only=True, recursive=False)
        become_root("/new", ".")
        try:
            os.chdir(directory)
        except OSError as error:
            raise SetupError(f"entering {directory}", error.errno or 0) from error
        return layers

    def _show_top(self, path: str) -> None:
        """Makes what is to be seen of an entry at the top appear. Of a closed directory that is part of a copy."""
        if self._sight.is_open(path) or os.path.islink("/old" + path):
            self._show(path)
            return
        if not os.path.isdir("/old" + path):
            return
        for where in ("/closed", "/new"):
            os.mkdir(where + path)
        os.chmod("/closed" + path, stat.S_IMODE(os.stat("/old" + path).st_mode))
        mount("/closed" + path, "/new" + path, flags=BIND)
        self._closed.append(path)
        for home in self._sight.homes:
            if is_within(home, path):
                self._make(home)
        for below in self._sight.below(path):
            self._make(os.path.dirname(below))
            self._show(below)

    def _make(self, path: str) -> None:
        """Makes a directory of a closed one, as the real one is but empty, with those above it."""
        if os.path.lexists("/new" + path) or not os.path.isdir("/old" + path):
            return
        self._make(os.path.dirname(path))
        os.mkdir("/new" + path)
        os.chmod("/new" + path, stat.S_IMODE(os.stat("/old" + path).st_mode))
        self._shown.add(path)

    def _show(self, path: str) -> None:
        """Makes one entry of the real file system appear."""
        real, shown = "/old" + path, "/new" + path
        self._shown.add(path)
        try:
            mode = os.lstat(real).st_mode
        except OSError:
            return
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(real), shown)
        elif stat.S_ISREG(mode):
            with open(shown, "wb"):
                pass
            self._read_only(real, shown)
        elif stat.S_ISDIR(mode):
            os.mkdir(shown)
            if not self._split(path):
                self._overlay(path, mode)

    def _split(self, path: str) -> bool:
        """Shows the entries of a directory one by one if there are mounts beneath it. Says whether it did."""
        if not any(point.startswith(path + "/") for point in self._mounts):
            return False
        try:
            names = sorted(os.listdir("/old" + path))
        except OSError:
            return False
        if len(names) > _MOST_ENTRIES:
            return False
        for name in names:
            self._show(f"{path}/{name}")
        return True

    def _overlay(self, path: str, mode: int) -> None:
        self._overlays += 1
        real, shown = "/old" + path, "/new" + path
        upper, work = f"/upper/{self._overlays}", f"/scratch/{self._overlays}"
        os.mkdir(upper)
        os.mkdir(work)
        os.chmod(upper, stat.S_IMODE(mode))
        options = f"lowerdir={_escaped(real)},upperdir={upper},workdir={work},userxattr"
        try:
            mount("overlay", shown, "overlay", NO_SET_UID | NO_DEVICES, options)
        except SetupError:
            if path in _TEMPORARY:
                os.chmod(shown, _FOR_ALL)
                mount(shown, shown, flags=BIND)
            else:
                self._read_only(real, shown)
            return
        self._layers.append((path, upper))

    def _read_only(self, real: str, shown: str) -> None:
        try:
            mount(real, shown, flags=BIND | RECURSIVE)
        except SetupError:
            # Out of this user's reach: it stays empty.
            return
        protect(shown, read_only=True, recursive=True)

    def _kernel_files(self) -> None:
        os.mkdir("/new/proc")
        mount("proc", "/new/proc", "proc", NO_SET_UID | NO_DEVICES)
        _bound_process_ids(self._containment.processes)
        protect("/new/proc", read_only=True, recursive=False)
        os.mkdir("/new/sys")
        if os.path.isdir("/old/sys"):
            self._read_only("/old/sys", "/new/sys")

    def _devices(self) -> None:
        os.mkdir("/new/dev")
        for name, target in _LINKS.items():
            os.symlink(target, f"/new/dev/{name}")
        for name in sorted(os.listdir("/old/dev")):
            if name in DEVICES or name.startswith(accelerators.NAMES):
                real, shown = f"/old/dev/{name}", f"/new/dev/{name}"
                if os.path.isdir(real):
                    os.mkdir(shown)
                else:
                    with open(shown, "wb"):
                        pass
                mount(real, shown, flags=BIND | RECURSIVE)
        os.mkdir("/new/dev/shm")
        os.chmod("/shm", _FOR_ALL)
        mount("/shm", "/new/dev/shm", flags=BIND)

    def _writable(self, path: str) -> None:
        try:
            mount("/old" + path, "/new" + path, flags=BIND | RECURSIVE)
        except SetupError as error:
            raise SetupError(f"making {path} writable", error.code) from error
        protect("/new" + path, read_only=False, recursive=True)

    def _hide(self, path: str) -> None:
        shown = "/new" + path
        cover = "/nothing" if os.path.isdir(shown) else "/nothing.txt"
        if os.path.lexists(shown):
            mount(cover, shown, flags=BIND)
            protect(shown, read_only=True, recursive=False)


def _bound_process_ids(processes: int) -> None:
    """Since Linux 6.14 a pid namespace has its own highest process id, which bounds even root."""
    try:
        # The kernel wants more than 300 (`RESERVED_PIDS`).
        with open("/new/proc/sys/kernel/pid_max", "w", encoding="ascii") as file:
            file.write(str(max(4 * processes, 512)))
    except OSError:
        # The number is then counted by the supervisor, and limited by `RLIMIT_NPROC` except for root.
        return


def _mount_points() -> set[str]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        return {_unescaped(line.split(" ")[4]) for line in table}


def _unescaped(path: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, character)
    return path


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
