"""The command line on hostile input: a process with a time limit, which never ends in a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

#: Seconds that any of these runs may take.
LIMIT = 20


class Outcome(NamedTuple):
    """How a process ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The objects of its JSON output."""
        return json.loads(self.out)

    @property
    def codes(self) -> list[str]:
        """The codes of its findings, in order."""
        return [finding["code"] for finding in self.findings]


#: Starts a command without the two capabilities (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH) by which root reads
#: everything: they are taken out of the bounding set (PR_CAPBSET_DROP, 24), see prctl(2) and capabilities(7).
_AS_OTHERS = """\
import ctypes, os, sys
if os.geteuid() == 0:
    library = ctypes.CDLL(None)
    assert library.prctl(24, 1, 0, 0, 0) == library.prctl(24, 2, 0, 0, 0) == 0, "capabilities cannot be dropped"
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Check(Protocol):
    """Runs `nonstrict check`; `restricted` takes from root what other users do not have."""

    def __call__(self, *arguments: str | bytes, stdin: bytes = b"", restricted: bool = False) -> Outcome: ...


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Runs `nonstrict check --output-format json` in the temporary directory."""
    hidden = ("NONSTRICT_", "GITHUB_ACTIONS", "FORCE_COLOR")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}

    def run(*arguments: str | bytes, stdin: bytes = b"", restricted: bool = False) -> Outcome:
        start = ["-c", _AS_OTHERS] if restricted else []
        command = ["-m", "nonstrict", "check", "--output-format", "json", "--no-cache"]
        completed = subprocess.run(
            [sys.executable, *start, *command, *arguments],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            env=environment,
            check=False,
            timeout=LIMIT,
        )
        out, err = completed.stdout.decode("utf-8"), completed.stderr.decode("utf-8", "replace")
        if restricted and "capabilities cannot be dropped" in err:
            pytest.skip("this user may read everything")
        assert "Traceback" not in err
        assert "internal error" not in err
        assert completed.returncode in (0, 1, 2), err
        return Outcome(completed.returncode, out, err)

    return run
