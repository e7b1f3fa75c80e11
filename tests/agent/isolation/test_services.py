"""The network, services of the machine, other processes and the kernel's switches are out of reach."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from nonstrict_agent.isolation import landlock
from nonstrict_agent.isolation.system_calls import machine
from tests.agent.isolation.containing import outcome

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agent.isolation.containing import Runner


def test_there_is_no_network(run: Runner) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def work() -> list[str]:
            kinds = [socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET]
            return [
                outcome(lambda: socket.create_connection(("127.0.0.1", port), timeout=1)),
                *(outcome(lambda kind=kind: socket.socket(kind, socket.SOCK_RAW)) for kind in kinds),
                outcome(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
                outcome(lambda: socket.create_server(("127.0.0.1", 0))),
            ]

        assert run.result(work) == ["PermissionError"] * 7


def test_services_cannot_be_reached_by_path_or_name(run: Runner, tmp_path: Path) -> None:
    path, name = str(tmp_path / "service"), f"\0nonstrict-{os.getpid()}"
    stream, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    with stream, abstract, datagrams:
        stream.bind(path)
        stream.listen()
        abstract.bind(name)
        abstract.listen()
        datagrams.bind(path + ".datagrams")
        datagrams.setblocking(False)

        def connect(address: str) -> None:
            socket.socket(socket.AF_UNIX).connect(address)

        def send() -> None:
            one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            one.sendto(b"hello", path + ".datagrams")

        found = run.result(lambda: [outcome(lambda: connect(path)), outcome(lambda: connect(name)), outcome(send)])
        assert "done" not in found
        with pytest.raises(BlockingIOError):
            datagrams.recv(10)


def test_own_pairs_of_sockets_work(run: Runner) -> None:
    def work() -> str:
        one, other = socket.socketpair()
        one.sendall(b"hello")
        return other.recv(5).decode()

    assert run.result(work) == "hello"


def test_other_processes_cannot_be_signalled(run: Runner) -> None:
    bystander = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(30)"])

    def work() -> list[str]:
        return [
            outcome(lambda: os.kill(bystander.pid, signal.SIGKILL)),
            outcome(lambda: os.kill(os.getppid(), signal.SIGKILL)),
            outcome(lambda: os.kill(1, signal.SIGKILL)),
            outcome(lambda: os.kill(os.getppid(), signal.SIGSTOP)),
        ]

    try:
        answer = run(work)
        assert answer["result"][0] in {"ProcessLookupError", "PermissionError"}
        assert answer["exit"]["reason"] == "done"
        answer = run(lambda: os.kill(-1, signal.SIGKILL))
        assert answer["exit"]["reason"] in {"done", "signal"}
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_its_own_group_may_be_killed(run: Runner) -> None:
    answer = run(lambda: os.killpg(0, signal.SIGKILL))
    assert answer["exit"]["signal"] == "SIGKILL"


def test_limits_of_other_processes_stay(run: Runner) -> None:
    import resource

    own = os.getpid()

    def work() -> str:
        return outcome(lambda: resource.prlimit(own, resource.RLIMIT_NOFILE, (10, 10)))

    assert run.result(work) in {"PermissionError", "ProcessLookupError"}
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 10


def test_limits_cannot_be_raised(run: Runner) -> None:
    import resource

    def work() -> str:
        return outcome(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100_000, 100_000)))

    assert run.result(work) in {"ValueError", "PermissionError"}


def _call(name: str, *arguments: object) -> int:
    """The `errno` with which a raw system call fails; 0 if it does not."""
    libc = ctypes.CDLL(None, use_errno=True)
    passed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return ctypes.get_errno() if libc.syscall(ctypes.c_long(machine().numbers[name]), *passed) < 0 else 0


def test_powerful_system_calls_are_denied(run: Runner) -> None:
    calls = {
        "ptrace": (0, 0, 0, 0),
        "mount": (b"none", b"/", b"tmpfs", 0, None),
        "umount2": (b"/tmp", 2),
        "unshare": (0x10000000,),
        "setns": (0, 0),
        "chroot": (b"/tmp",),
        "pivot_root": (b".", b"."),
        "bpf": (0, None, 0),
        "perf_event_open": (None, 0, 0, 0, 0),
        "io_uring_setup": (1, None),
        "process_vm_readv": (1, None, 0, None, 0, 0),
        "keyctl": (0, 0),
        "add_key": (b"user", b"name", b"x", 1, 0),
        "reboot": (0, 0, 0, None),
        "userfaultfd": (0,),
        "open_by_handle_at": (0, None, 0),
        "fsopen": (b"tmpfs", 0),
        "open_tree": (-100, b"/", 1),
        "clone": (0x10000000 | signal.SIGCHLD, 0, 0, 0, 0),
    }
    assert run.result(lambda: {name: _call(name, *given) for name, given in calls.items()}) == dict.fromkeys(
        calls, errno.EPERM
    )
    assert run.result(lambda: _call("clone3", None, 0)) == errno.ENOSYS


def test_there_are_no_capabilities_left(run: Runner) -> None:
    def work() -> list[str]:
        import subprocess

        with open("/proc/self/status", encoding="ascii") as file:
            own = file.read()
        shown = subprocess.run(["/bin/cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
        return [line for text in (own, shown) for line in text.splitlines() if line.startswith(("Cap", "NoNewPrivs"))]

    found = run.result(work)
    assert {line.split()[1] for line in found if line.startswith(("CapEff", "CapPrm", "CapBnd"))} <= (
        {"0" * 16} if os.getuid() == 0 or run.copies else {line.split()[1] for line in found}
    )
    assert {line.split()[1] for line in found if line.startswith("NoNewPrivs")} == {"1"}


@pytest.mark.parametrize(
    "path",
    [
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/proc/self/oom_score_adj",
        "/proc/1/mem",
        "/proc/1/oom_score_adj",
        "/sys/kernel/uevent_helper",
        "/sys/power/state",
        "/dev/kmsg",
        "/dev/mem",
        "/dev/vda",
        "/dev/tty",
    ],
)
def test_switches_of_the_kernel_cannot_be_written(run: Runner, path: str) -> None:
    def attempt() -> None:
        os.close(os.open(path, os.O_WRONLY))

    assert run.result(lambda: outcome(attempt)) in {"PermissionError", "OSError", "FileNotFoundError"}


def test_the_supervisor_cannot_be_entered(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> list[str]:
        opened: list[str] = []
        for process in (1, os.getppid()):
            for place in ("fd", "cwd", "root", "mem", "environ", "maps"):
                path = f"/proc/{process}/{place}"
                try:
                    names = os.listdir(path) if place == "fd" else [""]
                except OSError:
                    continue
                for name in names:
                    try:
                        os.close(os.open(f"{path}/{name}".rstrip("/"), os.O_RDONLY | os.O_NONBLOCK))
                    except OSError:
                        continue
                    opened.append(f"{path}/{name}")
        return opened

    assert run.result(work) == []
    if run.copies:
        monkeypatch.setattr(landlock, "version", lambda: 0)
        assert run.result(work) == []


def test_environments_of_other_processes_cannot_be_read(run: Runner) -> None:
    mark = f"of-another-process-{os.getpid()}"
    other = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "import time; time.sleep(30)"], env={**os.environ, "MY_TOKEN": mark}
    )
    time.sleep(0.1)

    def work() -> list[str]:
        found: list[str] = []
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    found += [name] if mark.encode() in file.read() else []
            except OSError:
                continue
        return found

    try:
        assert run.result(work) == []
    finally:
        other.kill()
        other.wait()


def test_disks_cannot_be_read(run: Runner) -> None:
    def work() -> list[str]:
        opened: list[str] = []
        for name in os.listdir("/dev"):
            try:
                os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
            except OSError:
                continue
            opened.append(name)
        return opened

    harmless = {"null", "zero", "full", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr", "pts", "net"}
    opened = {name for name in run.result(work) if not os.path.isdir(f"/dev/{name}")}
    assert {name for name in opened - harmless if not name.startswith(("nvidia", "dri", "kfd"))} == set()
