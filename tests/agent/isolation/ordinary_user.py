"""Contains hostile work in every tier that works here, and prints what came of it. Run as a user who is not root.

Arguments: the directory of the agent's package, an empty directory of this user. Needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Any

sys.path.insert(0, sys.argv[1])

from nonstrict_agent.isolation import tiers
from nonstrict_agent.isolation.tiers import Containment, Tier

if TYPE_CHECKING:
    from collections.abc import Callable


def run(tier: Tier, work: Callable[[], Any], **settings: Any) -> dict[str, Any]:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        tiers.contained(work, Containment(tier, seconds=5, memory=200 << 20, **settings), writer)
    os.close(writer)
    answer: dict[str, Any] = {}
    with os.fdopen(reader, "rb") as stream:
        for line in stream:
            answer.update(json.loads(line))
    os.waitpid(pid, 0)
    return answer


def hostile(project: str, private: str) -> list[str]:
    steps: list[Callable[[], Any]] = [
        lambda: shutil.rmtree(project),
        lambda: os.kill(os.getppid(), signal.SIGKILL),
        lambda: [os.readlink(f"{private}/{name}") for name in os.listdir(private)],
        lambda: os.kill(-1, signal.SIGCONT),
    ]
    found: list[str] = [str(os.getuid())]
    for step in steps:
        try:
            step()
            found.append("done")
        except OSError as error:
            found.append(type(error).__name__)
    return found


def bomb() -> None:
    while True:
        try:
            os.fork()
        except OSError:
            continue


def main() -> None:
    if os.getuid() == 0:
        raise SystemExit("root's processes are not limited by the kernel: the fork bomb is for other users")
    tiers.prepare()
    project = f"{sys.argv[2]}/project"
    os.makedirs(f"{project}/sub")
    with open(f"{project}/sub/file", "w", encoding="ascii") as file:
        file.write("precious")
    found: dict[str, Any] = {}
    for offer in tiers.probe():
        if not offer.available:
            found[offer.tier.value] = offer.reason
            continue
        first = run(offer.tier, lambda: hostile(project, "/proc/1/fd"))
        with open(f"{project}/sub/file", encoding="ascii") as file:
            untouched = file.read() == "precious"
        bombed = run(offer.tier, bomb, processes=16)["exit"]["reason"]
        after = run(offer.tier, lambda: "next").get("result")
        found[offer.tier.value] = {"hostile": first, "untouched": untouched, "bomb": bombed, "after": after}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
