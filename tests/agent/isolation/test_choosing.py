"""A tier is chosen by trying; what does not work says why."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict_agent.isolation import landlock, probing, system_calls, tiers
from nonstrict_agent.isolation.system_calls import SetupError
from nonstrict_agent.isolation.tiers import IsolationUnavailableError, Offer, Tier
from tests.agent.isolation.containing import Project, Runner, outcome, runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(tiers.__file__).parents[2]
NOBODY = 65534


def _offered(monkeypatch: pytest.MonkeyPatch, copying: str, denying: str) -> None:
    offers = (Offer(Tier.COPY_ON_WRITE, not copying, copying), Offer(Tier.DENY, not denying, denying))
    monkeypatch.setattr(tiers, "probe", lambda: offers)


def test_the_best_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    _offered(monkeypatch, "", "")
    assert tiers.choose() is Tier.COPY_ON_WRITE
    assert tiers.choose("deny") is Tier.DENY
    _offered(monkeypatch, "No namespaces.", "")
    assert tiers.choose() is Tier.DENY
    with pytest.raises(IsolationUnavailableError, match=r"`copy-on-write` does not work here\. No namespaces\."):
        tiers.choose("copy-on-write")


def test_nothing_is_not_chosen_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    _offered(monkeypatch, "No namespaces.", "No Landlock.")
    with pytest.raises(IsolationUnavailableError, match=r"No namespaces\. deny: No Landlock\. Choose"):
        tiers.choose()
    assert tiers.choose("none") is Tier.NONE
    with pytest.raises(IsolationUnavailableError, match="no isolation called `best`"):
        tiers.choose("best")


def test_trying_answers_for_both_tiers() -> None:
    offers = tiers.probe()
    assert [offer.tier for offer in offers] == [Tier.COPY_ON_WRITE, Tier.DENY]
    assert all(offer.available is not bool(offer.reason) for offer in offers)


def test_refused_namespaces_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *_: object) -> int:
        raise SetupError(name, 1)

    monkeypatch.setattr("nonstrict_agent.isolation.namespaces.system_call", refuse)
    assert "User namespaces are not allowed here" in probing.refusal(Tier.COPY_ON_WRITE)


def test_settings_of_the_system_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on Ubuntu, where the namespace is made but lets nobody mount anything.
    def refuse(*_: object, **__: object) -> None:
        raise SetupError("mounting none on /", 13)

    monkeypatch.setattr("nonstrict_agent.isolation.overlay.mount", refuse)
    settings = {**probing._SETTINGS, "kernel/ostype": ("Linux", "this system is Linux")}
    monkeypatch.setattr(probing, "_SETTINGS", dict(reversed(settings.items())))
    if tiers.probe()[0].available:
        assert probing.refusal(Tier.COPY_ON_WRITE) == "This system is Linux."


def test_a_file_system_without_overlays_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from nonstrict_agent.isolation import overlay

    # Below /tmp, which is empty then.
    monkeypatch.chdir(tmp_path)

    if not tiers.probe()[0].available:
        pytest.skip("needs namespaces")
    real = overlay.mount

    def without_overlays(source: str, target: str, kind: str | None = None, *rest: object, **named: object) -> None:
        if kind == "overlay":
            raise SetupError("mounting overlay", 22)
        real(source, target, kind, *rest, **named)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(overlay, "mount", without_overlays)
    reason = probing.refusal(Tier.COPY_ON_WRITE)
    assert "cannot be overlaid" in reason


def test_missing_landlock_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 2)
    assert "Landlock" in probing.refusal(Tier.DENY)


def test_an_untested_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    system_calls.machine.cache_clear()
    monkeypatch.setattr(system_calls.sys, "maxsize", 1 << 31)
    try:
        assert "no table of system calls" in probing.refusal(Tier.DENY)
    finally:
        system_calls.machine.cache_clear()


def test_a_trial_that_fails_is_no_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers.sys, "executable", "/bin/false")
    offers = tiers.probe.__wrapped__()
    assert not any(offer.available for offer in offers)
    assert "Trying it failed" in offers[0].reason


def test_work_of_a_failing_containment_never_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one = runner(Tier.DENY)

    def refuse(*_: object) -> None:
        raise SetupError("landlock_restrict_self", 1)

    monkeypatch.setattr(landlock, "restrict", refuse)
    answer = one((tmp_path / "ran").touch, writable=(str(tmp_path),))
    assert answer["exit"]["reason"] == "sandbox"
    assert "landlock_restrict_self" in answer["exit"]["detail"]
    assert not (tmp_path / "ran").exists()


def test_without_isolation_limits_hold() -> None:
    one = Runner(Tier.NONE)
    assert one.result(lambda: 5) == 5
    assert one(lambda: all(_ == 0 for _ in itertools.repeat(0)), seconds=0.2)["exit"]["reason"] == "seconds"
    assert one(lambda: len(bytearray(300 << 20)))["raised"]["type"] == "MemoryError"


def test_signals_are_denied_where_landlock_does_not_know_them(
    monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    one = runner(Tier.DENY)
    monkeypatch.setattr(landlock, "version", lambda: 3)
    bystander = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(30)"])

    def attempts() -> list[str]:
        targets = [bystander.pid, os.getppid(), -1, 0, -os.getpgrp()]
        return [
            *(outcome(lambda target=target: os.kill(target, 9)) for target in targets),
            outcome(lambda: os.truncate(project.file("model.py"), 0)),
        ]

    try:
        assert one.result(attempts) == ["PermissionError"] * 6
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
    assert one(os.abort)["exit"]["reason"] == "signal"
    assert project.untouched()


def test_copies_do_not_need_landlock(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    one = runner(Tier.COPY_ON_WRITE)
    monkeypatch.setattr(landlock, "version", lambda: 0)

    def attempt(path: str) -> Callable[[], None]:
        return lambda: os.close(os.open(path, os.O_WRONLY))

    paths = ["/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/sys/power/state", "/proc/1/mem", "/new"]
    found = one.result(
        lambda: [*(outcome(attempt(path)) for path in paths), outcome(lambda: os.remove(project.file("model.py")))]
    )
    assert "done" not in found[:-1]
    assert found[-1] == "done"
    assert project.untouched()


@pytest.mark.parametrize(
    ("place", "header", "pattern"),
    [
        (0, "x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+) (\d+)"),
        (1, "asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+) (\d+)"),
    ],
)
def test_numbers_are_those_of_the_kernel(place: int, header: str, pattern: str) -> None:
    path = Path("/usr/include") / header
    if not path.exists():
        pytest.skip(f"needs the kernel's header {header}")
    known = {name: int(number) for name, number in re.findall(pattern, path.read_text())}
    ours = {name: both[place] for name, both in system_calls._BY_MACHINE.items()} | system_calls._EVERYWHERE
    assert {name: number for name, number in ours.items() if number is not None and name in known} == {
        name: known[name] for name, number in ours.items() if number is not None and name in known
    }
    assert {name for name, number in ours.items() if number is None and name in known} == set()
    assert len([name for name in ours if name in known]) > 60


@pytest.fixture(scope="module")
def as_ordinary_user() -> Iterator[dict[str, Any]]:
    """What came of hostile work that a user other than root started."""
    python = "/usr/bin/python3"
    if os.getuid() != 0 or shutil.which("setpriv") is None or not os.path.exists(python):
        pytest.skip("needs root, setpriv and a Python that everybody may run")
    # Below pytest's own directories nobody else may go.
    with tempfile.TemporaryDirectory() as directory:
        # The sources may be out of that user's reach.
        shutil.copytree(ROOT / "nonstrict_agent" / "isolation", f"{directory}/agent/nonstrict_agent/isolation")
        Path(f"{directory}/agent/nonstrict_agent/__init__.py").touch()
        shutil.copy(Path(__file__).parent / "ordinary_user.py", directory)
        os.mkdir(f"{directory}/own")
        for path in [directory, *(str(path) for path in Path(directory).rglob("*"))]:
            os.chown(path, NOBODY, NOBODY)
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", python, "-I"]
        command += [f"{directory}/ordinary_user.py", f"{directory}/agent", f"{directory}/own"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd="/")
        assert run.returncode == 0, run.stderr
        yield json.loads(run.stdout)


@pytest.mark.parametrize("tier", ["copy-on-write", "deny"])
def test_an_ordinary_user_is_contained_too(as_ordinary_user: dict[str, Any], tier: str) -> None:
    found = as_ordinary_user[tier]
    if isinstance(found, str):
        pytest.skip(f"needs the tier {tier} for ordinary users: {found}")
    user, removed, killed_parent, listed, _ = found["hostile"]["result"]
    assert user == str(NOBODY)
    assert removed == ("done" if tier == "copy-on-write" else "PermissionError")
    assert killed_parent == "PermissionError" or tier == "copy-on-write"
    assert listed == "PermissionError"
    assert found["untouched"]
    assert found["bomb"] == "processes"
    assert found["after"] == "next"
