"""seccomp: the system calls that work in a containment cannot make. The filter is classic BPF, assembled here.

See `seccomp(2)` and `include/uapi/linux/{filter,seccomp}.h`.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from typing import TYPE_CHECKING

from nonstrict_agent.isolation.landlock import no_new_privileges
from nonstrict_agent.isolation.system_calls import NEWEST, machine, system_call
from nonstrict_agent.isolation.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _AUDIT_AT, _ARGUMENTS_AT = 0, 4, 16
_SET_FILTER, _ALL_THREADS = 1, 1
_X32 = 0x40000000
_SUCCEED = _FAIL  # "fails" with errno 0: the caller sees success, nothing happens
_UNIX = 1
_STREAM, _SEQUENCED, _TYPE_BITS = 1, 5, 0xF
_NEW_NAMESPACES = 0x7E020000
_SET_FLAGS, _SET_EXTENDED = 0x40086602, 0x401C5820  # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
_PUSH_INPUT, _LINUX_CONSOLE = 0x5412, 0x541C  # TIOCSTI, TIOCLINUX

_DENIED = words("""
    ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd userfaultfd perf_event_open bpf modify_ldt
    unshare setns mount umount2 pivot_root chroot move_mount fsopen fsconfig fsmount fspick open_tree open_tree_attr
    mount_setattr open_by_handle_at fanotify_init quotactl quotactl_fd swapon swapoff
    io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key
    kexec_load kexec_file_load init_module finit_module delete_module reboot acct syslog vhangup iopl ioperm
    settimeofday clock_settime clock_adjtime sethostname setdomainname migrate_pages move_pages
    sched_setscheduler sched_setparam sched_setattr ioprio_set
""")
# What an IPC namespace would keep apart.
_SHARED = words("""
    shmget shmat shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink
""")
# What Landlock does not cover. Compilers, linkers and `shutil` call them, and take failures badly.
_ATTRIBUTES = words("""
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr
""")
# All of one process group, so that one signal ends all.
_GROUPS = ["setsid", "setpgid"]

_Instruction = tuple[int, int, int, int]


class _Program:
    """Instructions being put together. Between rules the accumulator holds the number of the system call."""

    def __init__(self) -> None:
        self.instructions: list[_Instruction] = []

    def load(self, offset: int) -> None:
        self.instructions.append((_LOAD, 0, 0, offset))

    def end(self, action: int) -> None:
        self.instructions.append((_RETURN, 0, 0, action))

    def when(self, test: int, value: int, action: int) -> None:
        self.instructions.append((test, 0, 1, value))
        self.end(action)

    def calls(self, names: Iterable[str], action: int) -> None:
        numbers = machine().numbers
        for name in names:
            if name in numbers:
                self.when(_EQUAL, numbers[name], action)

    def argument(self, name: str, index: int, tests: list[tuple[int, int, int]], otherwise: int, mask: int = 0) -> None:
        """For a call of `name`: the first of `tests` (test, value, action) that its argument passes decides."""
        length = 1 + bool(mask) + 2 * len(tests) + 1
        self.instructions.append((_EQUAL, 0, length, machine().numbers[name]))
        self.load(_ARGUMENTS_AT + 8 * index)  # the low half: both machines are little-endian
        if mask:
            self.instructions.append((0x54, 0, 0, mask))
        for test, value, action in tests:
            self.when(test, value, action)
        self.end(otherwise)


def _fail(code: int) -> int:
    return _FAIL | code


def restrict(*, namespaces: bool, signals_to: int | None = None) -> None:
    """Installs the filter in this process. There is no way back.

    With `namespaces` (the process has its own) files may change their modes and Unix sockets can be made; without,
    neither, and the process group cannot be left. `signals_to`: the only process that signals may be sent to, for
    kernels whose Landlock does not confine signals.

    Raises:
        SetupError: the kernel has no seccomp filters.
    """
    program = _assemble(namespaces=namespaces, signals_to=signals_to).instructions
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    memory = ctypes.create_string_buffer(code, len(code))
    no_new_privileges()
    system_call("seccomp", _SET_FILTER, _ALL_THREADS, struct.pack("HxxxxxxQ", len(program), ctypes.addressof(memory)))


def _assemble(*, namespaces: bool, signals_to: int | None) -> _Program:
    program = _Program()
    program.load(_AUDIT_AT)
    program.instructions.append((_EQUAL, 1, 0, machine().audit))
    program.end(_KILL_PROCESS)
    program.load(_NUMBER_AT)
    program.when(_AT_LEAST, _X32, _fail(errno.ENOSYS))
    program.when(_AT_LEAST, NEWEST + 1, _fail(errno.ENOSYS))
    program.calls(_DENIED, _fail(errno.EPERM))
    # Its flags are behind a pointer, which a filter cannot follow; the C library falls back to clone.
    program.calls(["clone3"], _fail(errno.ENOSYS))
    program.argument("clone", 0, [(_ANY_BIT, _NEW_NAMESPACES, _fail(errno.EPERM))], _ALLOW)
    program.argument("prlimit64", 0, [(_EQUAL, 0, _ALLOW)], _fail(errno.EPERM))
    refused = [
        (_EQUAL, command, _fail(errno.EPERM)) for command in (_SET_FLAGS, _SET_EXTENDED, _PUSH_INPUT, _LINUX_CONSOLE)
    ]
    program.argument("ioctl", 1, refused, _ALLOW)
    if namespaces:
        program.argument("socket", 0, [(_EQUAL, _UNIX, _ALLOW)], _fail(errno.EACCES))
        program.argument("socketpair", 0, [(_EQUAL, _UNIX, _ALLOW)], _fail(errno.EACCES))
    else:
        _without_namespaces(program)
    if signals_to is not None:
        program.calls(["pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill"], _fail(errno.EPERM))
        for name in ("kill", "tgkill"):
            program.argument(name, 0, [(_EQUAL, signals_to, _ALLOW)], _fail(errno.EPERM))
    program.end(_ALLOW)
    return program


def _without_namespaces(program: _Program) -> None:
    program.calls(_SHARED, _fail(errno.EPERM))
    program.calls(_ATTRIBUTES, _SUCCEED)
    program.calls(_GROUPS, _SUCCEED)
    program.calls(["setpriority"], _fail(errno.EPERM))
    # A socket can reach a service by its path, and so can a datagram of a pair; a connected stream cannot.
    program.calls(["socket"], _fail(errno.EACCES))
    streams = [(_EQUAL, kind, _ALLOW) for kind in (_STREAM, _SEQUENCED)]
    program.argument("socketpair", 1, streams, _fail(errno.EACCES), mask=_TYPE_BITS)
