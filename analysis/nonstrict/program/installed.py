"""The adapter to jedi: what a name of an installed package is, where reading the package's text does not tell.

jedi runs in a process of its own, so that a question which takes too long (one that leads into torch costs seconds) can
be ended. All questions of a run together get two seconds; what is not answered by then is unknown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import NamedTuple

BUDGET_SECONDS = 2.0

_QUESTION = """
import json, sys
asked = json.load(sys.stdin)
sys.path[:] = asked["tool"]
import jedi
from jedi.api.environment import InterpreterEnvironment
project = jedi.Project(asked["packages"][0], sys_path=asked["packages"], smart_sys_path=False)
code = f"import {asked['module']} as m\\nm.{asked['name']}"
script = jedi.Script(code, project=project, environment=InterpreterEnvironment())
names = script.infer(2, len("m.") + len(asked["name"]))
print(json.dumps([[name.type, name.full_name or ""] for name in names]))
"""


class Described(NamedTuple):
    """What a name holds.

    `kind` is "instance", "class", "function" or "module"; `name` the dotted name of that, or of an instance's class.
    """

    kind: str
    name: str


class Installed:
    """Asks jedi about names of packages in some folders, until the time is used up."""

    def __init__(self, site_packages: tuple[str, ...], budget: float = BUDGET_SECONDS) -> None:
        self._site_packages = site_packages
        self._left = budget

    def describe(self, module: str, name: str) -> Described | None:
        """What `module.name` is; None if jedi cannot tell, tells several things, or has no time left."""
        if self._left <= 0 or not self._site_packages:
            return None
        started = time.monotonic()
        question = {"tool": sys.path, "packages": list(self._site_packages), "module": module, "name": name}
        try:
            done = subprocess.run(
                [sys.executable, "-c", _QUESTION],
                input=json.dumps(question),
                capture_output=True,
                text=True,
                timeout=self._left,
                check=True,
            )
            answers = json.loads(done.stdout)
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        finally:
            self._left -= time.monotonic() - started
        return Described(*answers[0]) if len(answers) == 1 else None
