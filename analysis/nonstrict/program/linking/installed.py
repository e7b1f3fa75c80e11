"""The adapter to jedi: what a name of an installed package is, where reading the package's text does not tell.

jedi runs in a process of its own, so that a question which leads nowhere can be ended. A machine may ask a few: they
are counted, not timed, as what it learns must not depend on how busy the computer is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

#: So many questions may be asked for one part of a run.
QUESTIONS = 4
#: A question that takes longer than this is ended: many times what any that has an answer takes.
SECONDS = 10.0

#: jedi keeps what it parsed in files that all who use it share. One that is half written makes it fail, and stays so.
_QUESTION = """
import json, sys, tempfile
asked = json.load(sys.stdin)
sys.path[:] = asked["tool"]
import jedi
from jedi.api.environment import InterpreterEnvironment
project = jedi.Project(asked["packages"][0], sys_path=asked["packages"], smart_sys_path=False)
code = f"import {asked['module']} as m\\nm.{asked['name']}"
def inferred():
    script = jedi.Script(code, project=project, environment=InterpreterEnvironment())
    return script.infer(2, len("m.") + len(asked["name"]))
try:
    names = inferred()
except Exception:
    with tempfile.TemporaryDirectory() as place:
        jedi.settings.cache_directory = place
        names = inferred()
print(json.dumps([[name.type, name.full_name or ""] for name in names]))
"""


class Described(NamedTuple):
    """What a name holds.

    `kind` is "instance", "class", "function" or "module"; `name` the dotted name of that, or of an instance's class.
    """

    kind: str
    name: str


class Installed:
    """Asks jedi about names of packages in some folders, a limited number of times."""

    def __init__(self, site_packages: tuple[str, ...], questions: int = QUESTIONS, seconds: float = SECONDS) -> None:
        self._site_packages = site_packages
        self._questions = self._left = questions
        self._seconds = seconds
        self._answers: dict[tuple[str, str], Described | None] = {}

    def anew(self) -> Installed:
        """One that may ask as many questions again; the answers are shared."""
        other = Installed(self._site_packages, self._questions, self._seconds)
        other._answers = self._answers
        return other

    def describe(self, module: str, name: str) -> Described | None:
        """What `module.name` is; None if jedi cannot tell, tells several things, or may not be asked again."""
        if self._left <= 0 or not self._site_packages:
            return None
        self._left -= 1
        key = (module, name)
        if key not in self._answers:
            self._answers[key] = self._answer(module, name)
        return self._answers[key]

    def _answer(self, module: str, name: str) -> Described | None:
        question = {"tool": sys.path, "packages": list(self._site_packages), "module": module, "name": name}
        try:
            done = subprocess.run(
                [sys.executable, "-c", _QUESTION],
                input=json.dumps(question),
                capture_output=True,
                text=True,
                timeout=self._seconds,
                check=True,
            )
            answers = json.loads(done.stdout)
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        return Described(*answers[0]) if len(answers) == 1 else None
