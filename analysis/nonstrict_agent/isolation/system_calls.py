"""System calls that Python has no function for, and the numbers of those that are denied, for x86_64 and aarch64.

Numbers: `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h` of Linux 6.18. Calls that
aarch64 never had (it has only the `...at` forms) are absent from its table.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import NamedTuple

NEWEST = 470
"""The highest number known here (`listns`, Linux 6.18). What a newer kernel adds is nobody's habit yet."""

# Since Linux 5.0 a new call has the same number everywhere.
_EVERYWHERE = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "close_range": 436,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "open_tree_attr": 467,
    "file_setattr": 469,
}

# On x86_64, on aarch64.
_BY_MACHINE: dict[str, tuple[int, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "capset": (126, 91),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsetxattr": (190, 7),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "lchown": (94, None),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "seccomp": (317, 277),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpgid": (109, 154),
    "setpriority": (141, 140),
    "setsid": (112, 157),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "vhangup": (153, 58),
}


class Machine(NamedTuple):
    """A processor architecture: the audit number by which the kernel names it, and the numbers of its calls."""

    audit: int
    numbers: dict[str, int]


class SetupError(Exception):
    """A step of a containment failed; `step` says which, `code` is the `errno` or 0."""

    def __init__(self, step: str, code: int = 0):
        super().__init__(f"{step}: {os.strerror(code)}" if code else step)
        self.step = step
        self.code = code


@functools.cache
def machine() -> Machine:
    """The tables of this processor.

    Raises:
        SetupError: not Linux, not a 64-bit process, or a processor that nobody wrote a table for.
    """
    if sys.platform != "linux":
        raise SetupError("only Linux has what isolation is made of")
    name = os.uname().machine
    if name not in {"x86_64", "aarch64"} or sys.maxsize < 1 << 32:
        raise SetupError(f"no table of system calls for {name}")
    place = 0 if name == "x86_64" else 1
    numbers = {call: number for call, both in _BY_MACHINE.items() if (number := both[place]) is not None}
    return Machine(0xC000003E if name == "x86_64" else 0xC00000B7, {**numbers, **_EVERYWHERE})


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def system_call(name: str, *arguments: object) -> int:
    """Makes a system call; integers among the arguments are passed as C longs, bytes as pointers.

    Raises:
        SetupError: it failed; `step` is its name.
    """
    passed = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result: int = libc().syscall(ctypes.c_long(machine().numbers[name]), *passed)
    if result < 0:
        raise SetupError(name, ctypes.get_errno())
    return result


def process_control(option: int, *values: int) -> int:
    """`prctl(2)`.

    Raises:
        SetupError: it failed.
    """
    padded = [*values, 0, 0, 0, 0][:4]
    result: int = libc().prctl(option, *(ctypes.c_ulong(value) for value in padded))
    if result < 0:
        raise SetupError(f"prctl {option}", ctypes.get_errno())
    return result
