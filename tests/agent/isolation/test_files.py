"""Files outside the writable directories survive whatever is done to them, and what was done is listed."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict_agent.isolation import namespaces, tiers
from nonstrict_agent.isolation.containment import TEMPORARY_PREFIX
from tests.agent.isolation.containing import Project, outcome

if TYPE_CHECKING:
    from tests.agent.isolation.containing import Runner


def _changes(answer: dict[str, list[list[object]]]) -> set[tuple[object, object]]:
    return {(kind, path) for kind, path, _ in answer["changes"]}


def test_a_deleted_project_is_still_there(run: Runner, project: Project) -> None:
    answer = run(lambda: (shutil.rmtree(project.path, ignore_errors=True), os.path.exists(project.path))[1])
    assert project.untouched()
    assert answer["result"] is not run.copies
    if run.copies:
        assert ("deleted", f"{project.path}/") in _changes(answer)


def test_written_files_are_listed_and_not_written(run: Runner, project: Project) -> None:
    def work() -> list[str]:
        def overwrite() -> None:
            with open(project.file("model.py"), "w", encoding="ascii") as file:
                file.write("WEIGHT = 22\n")

        def create() -> None:
            os.mkdir(project.file("runs"))
            with open(project.file("runs/log.txt"), "w", encoding="ascii") as file:
                file.write("0123456789")

        return [
            outcome(overwrite),
            outcome(create),
            outcome(lambda: os.remove(project.file("sub/data.txt"))),
            outcome(lambda: os.rename(project.file("link.txt"), project.file("moved.txt"))),
            outcome(lambda: os.truncate(project.file("model.py"), 3)),
        ]

    answer = run(work)
    assert project.untouched()
    if run.copies:
        assert answer["result"] == ["done"] * 5
        assert answer["changes"] == [
            ["deleted", project.file("link.txt"), 0],
            ["written", project.file("model.py"), 3],
            ["created", project.file("moved.txt"), len(project.file("sub/data.txt"))],
            ["created", project.file("runs/"), 0],
            ["created", project.file("runs/log.txt"), 10],
            ["deleted", project.file("sub/data.txt"), 0],
        ]
    else:
        assert answer["result"] == ["PermissionError"] * 5
        assert answer["changes"] == []


def test_a_replaced_directory_is_told_apart(copying: Runner, project: Project) -> None:
    def work() -> None:
        shutil.rmtree(project.file("sub"))
        os.mkdir(project.file("sub"))

    changes = _changes(copying(work))
    assert project.untouched()
    assert {("deleted", project.file("sub/")), ("created", project.file("sub/"))} <= changes


def test_opening_and_caches_are_no_changes(copying: Runner, project: Project) -> None:
    def work() -> None:
        with open(project.file("model.py"), "r+", encoding="ascii"):
            pass
        os.mkdir(project.file("__pycache__"))
        with open(project.file("__pycache__/model.cpython-311.pyc"), "wb") as file:
            file.write(b"code")

    answer = copying(work)
    assert answer["result"] is None
    assert answer["changes"] == []


def test_many_changes_are_counted(copying: Runner, project: Project) -> None:
    def work() -> None:
        for number in range(250):
            with open(project.file(f"{number}.txt"), "wb"):
                pass

    answer = copying(work)
    assert len(answer["changes"]) == 200
    assert answer["changes_left_out"] == 50


def test_modes_owners_times_and_attributes_stay(run: Runner, project: Project) -> None:
    path = project.file("model.py")

    def with_descriptor() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        os.fchmod(descriptor, 0o777)
        os.fchown(descriptor, 1, 1)

    def immutable() -> None:
        import fcntl

        fcntl.ioctl(os.open(path, os.O_RDONLY), 0x40086602, b"\x10\0\0\0\0\0\0\0")

    run(
        lambda: [
            outcome(lambda: os.chmod(path, 0o600)),
            outcome(lambda: os.chmod(project.path, 0)),
            outcome(lambda: os.chown(path, 12345, 12345)),
            outcome(lambda: os.utime(path, (1, 1))),
            outcome(lambda: os.setxattr(path, "user.mine", b"1")),
            outcome(with_descriptor),
            outcome(immutable),
        ]
    )
    assert project.untouched()


def test_a_compiler_may_change_modes(run: Runner, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    cache = tmp_path / "cache"
    cache.mkdir()
    source, library = cache / "kernel.cpp", cache / "kernel.so"

    def work() -> int:
        source.write_text('#include <cmath>\nextern "C" int answer() { return (int)std::lround(41.7); }\n')
        subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        return ctypes.CDLL(str(library)).answer()

    assert run.result(work, writable=(str(cache),)) == 42
    assert library.exists(), "a writable directory is written to for real"


def test_links_lead_nowhere_new(run: Runner, project: Project, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()

    def write(path: str) -> None:
        with open(path, "w", encoding="ascii") as file:
            file.write("mine now")

    def through_symbolic_link() -> None:
        os.symlink(project.path, cache / "symbolic")
        write(f"{cache}/symbolic/model.py")

    def through_hard_link() -> None:
        os.link(project.file("model.py"), cache / "hard")
        write(f"{cache}/hard")

    def moved_in() -> None:
        os.rename(project.file("sub/data.txt"), cache / "taken")

    run(
        lambda: [
            outcome(through_symbolic_link),
            outcome(through_hard_link),
            outcome(lambda: write(f"{cache}/../project/model.py")),
            outcome(lambda: write(f"/proc/self/root{project.path}/model.py")),
            outcome(lambda: write(f"/proc/self/cwd/{os.path.relpath(project.path)}/model.py")),
            outcome(moved_in),
        ],
        writable=(str(cache),),
    )
    assert project.untouched()
    assert not (cache / "taken").exists()


def test_real_home_is_not_written_to(run: Runner) -> None:
    path = os.path.expanduser("~/.nonstrict-test-of-isolation")

    def work() -> None:
        with open(path, "w", encoding="ascii") as file:
            file.write("x")

    answer = run(work)
    assert not os.path.exists(path)
    assert ("result" in answer) is run.copies


def test_secrets_are_out_of_sight(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    places = [".ssh/id_ed25519", ".aws/credentials", ".config/gcloud/token", ".cache/huggingface/token", ".netrc"]
    for place in [*places, ".config/torch/settings", "notes.txt", "also/hidden"]:
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text("secret")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "key").write_text("secret")
    (home / ".kube").symlink_to(tmp_path / "vault")
    monkeypatch.setenv("HOME", str(home))
    hidden = [*places, ".kube/key", "also/hidden", ".config/torch/settings"]

    def read(place: str) -> str:
        try:
            return (home / place).read_text()
        except OSError as error:
            return type(error).__name__

    def work() -> list[list[str]]:
        return [[read(place) for place in hidden], [read("notes.txt")]]

    # Of a home that is the project, what begins with a dot is hidden.
    secret, open_ones = run.result(work, hidden=(str(home / "also" / "hidden"),), directory=str(home))
    assert "secret" not in secret
    assert open_ones == ["secret"]
    assert "vault" in run.result(lambda: os.listdir(tmp_path))


def test_secrets_named_by_variables_are_found(tmp_path: Path) -> None:
    for name in ("agent", "hub/token", ".ssh/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    variables = {
        "HOME": str(tmp_path),
        "SSH_AUTH_SOCK": str(tmp_path / "agent"),
        "HF_HOME": str(tmp_path / "hub"),
        "XAUTHORITY": str(tmp_path / "absent"),
    }
    found = [path for path in tiers.secret_places(variables) if path.startswith(str(tmp_path))]
    assert found == [f"{tmp_path}/.ssh", f"{tmp_path}/agent", f"{tmp_path}/hub/token"]


def test_secret_descriptors_of_the_parent_are_closed(run: Runner, project: Project) -> None:
    descriptor = os.open(project.file("model.py"), os.O_RDWR)
    directory = os.open(project.path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:

        def work() -> list[str]:
            found = [outcome(lambda: os.write(descriptor, b"mine")), outcome(lambda: os.listdir(directory))]
            links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
            return [*found, *(os.readlink(link) for link in links if os.path.lexists(link))]

        first, second, *targets = run.result(work)
    finally:
        os.close(descriptor)
        os.close(directory)
    assert project.untouched()
    assert [first, second] == ["OSError", "OSError"]
    assert {target for target in targets if not target.startswith("pipe:")} == {"/dev/null"}


def test_temporary_files_and_shared_memory_work(copying: Runner) -> None:
    def work() -> list[int]:
        import multiprocessing
        import tempfile
        from multiprocessing import shared_memory

        memory = shared_memory.SharedMemory(create=True, size=1000)
        memory.close()
        memory.unlink()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=lambda: queue.put(5))
        process.start()
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"12")
        return [queue.get(timeout=5), stat.S_IMODE(os.stat("/dev/shm").st_mode)]  # noqa: S108

    assert copying.result(work) == [5, 0o1777]


def test_helpers_of_the_forked_process_are_not_taken_for_own_ones(run: Runner) -> None:
    from multiprocessing import forkserver, resource_tracker, shared_memory

    def work() -> str:
        memory = shared_memory.SharedMemory(create=True, size=1000)
        memory.close()
        memory.unlink()
        return str(forkserver._forkserver._forkserver_alive_fd)  # pyright: ignore[reportAttributeAccessIssue]

    resource_tracker.ensure_running()
    forkserver.ensure_running()
    answer = run(work)
    assert answer.get("result") == "None" if run.copies else answer["raised"]["type"] == "PermissionError", answer


def test_a_temporary_directory_is_given_and_taken_away(denying: Runner) -> None:
    def work() -> str:
        import tempfile

        directory = tempfile.mkdtemp()
        with open(f"{directory}/file", "wb"):
            pass
        return directory

    directory = os.path.dirname(denying.result(work))
    assert os.path.basename(directory).startswith(TEMPORARY_PREFIX)
    assert not os.path.exists(directory)


def test_mounts_within_directories_are_copied_too(copying: Runner) -> None:
    # A mount of our own needs a namespace of our own, in which the containment is nested. Directories with mounts are
    # shown entry by entry up to a number, which the usual directory for temporary files may exceed.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        project = Project(Path(directory))
        _check_mounts_within(copying, project)
        assert project.untouched()


def _check_mounts_within(copying: Runner, project: Project) -> None:
    def write(name: str) -> None:
        with open(project.file(name), "w", encoding="ascii") as file:
            file.write("changed")

    def work() -> list[str]:
        with open(project.file("sub/inner.txt"), encoding="ascii") as file:
            read = file.read()
        return [read, *(outcome(lambda name=name: write(name)) for name in ("sub/inner.txt", "new.txt", "model.py"))]

    reader, writer = os.pipe()
    if os.fork() == 0:
        namespaces.enter()
        namespaces.mount("none", "/", flags=namespaces.RECURSIVE | namespaces.PRIVATE)
        namespaces.mount("tmpfs", project.file("sub"), "tmpfs")
        with open(project.file("sub/inner.txt"), "w", encoding="ascii") as file:
            file.write("inner")
        answer = copying(work)
        with open(project.file("sub/inner.txt"), encoding="ascii") as file:
            answer["after"] = file.read()
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = json.load(stream)
    os.wait()
    assert "result" in answer, answer
    # The directory around the mount cannot be overlaid: its files are read-only, and new ones are in memory.
    assert answer["result"] == ["inner", "done", "done", "OSError"]
    assert answer["after"] == "inner"
    assert _changes(answer) == {("written", project.file("sub/inner.txt")), ("created", project.file("new.txt"))}


def test_a_missing_writable_directory_is_named(run: Runner, tmp_path: Path) -> None:
    answer = run(lambda: 1, writable=(str(tmp_path / "absent"),))
    assert "result" not in answer
    assert answer["exit"]["reason"] == "sandbox"
    assert "absent" in answer["exit"]["detail"]


def test_work_starts_in_its_directory(run: Runner, project: Project) -> None:
    assert run.result(os.getcwd, directory=str(project.path)) == str(project.path)
    answer = run(os.getcwd, directory=str(project.path / "absent"))
    assert answer["exit"]["reason"] == "sandbox"
    assert "absent" in answer["exit"]["detail"]
