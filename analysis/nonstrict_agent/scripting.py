"""The job that runs a script which is to show a finding, before anybody is offered it.

The script runs itself in processes of its own, one for each arm. Here these are forks of this one, where torch is
imported already.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: How the process of a script ends: it finds no difference, it finds one, it fails itself.
_ALIKE, _SHOWN, _FAILED = 0, 1, 3
_MAX_TEXT = 4000


def run_script(job: dict[str, Any]) -> dict[str, Any]:
    """Run the script `job["text"]`, called `job["name"]`, with its own choice of a backend.

    The answer says whether it has `shown` that compiled code does otherwise, and what it `told` on standard error.
    """
    tempfile.tempdir = _writable()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, job["name"])
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(job["text"])
        done = _Forked(path).run([sys.executable, path], env=dict(os.environ))
    return {"shown": done.returncode == _SHOWN, "told": done.stderr[-_MAX_TEXT:]}


def _writable() -> str | None:
    """Where files can be put: with the compile caches where there is no place for temporary ones; None for that."""
    with contextlib.suppress(OSError), tempfile.TemporaryDirectory():
        return None
    return os.environ.get("TORCHINDUCTOR_CACHE_DIR")


class _Forked:
    """Stands for `subprocess.run` where a script runs itself."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._run = subprocess.run

    def run(
        self, command: Sequence[str], *positional: Any, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[Any]:
        """Run a command: the script in a fork, whatever else as it would be."""
        if list(command[:2]) != [sys.executable, self._path]:
            return self._run(command, *positional, env=env, **options)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            sys.stdout.flush()
            sys.stderr.flush()
            pid = os.fork()
            if pid == 0:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                self._become(list(command[1:]), env or {})
            _, status = os.waitpid(pid, 0)
            code = os.waitstatus_to_exitcode(status)
            return subprocess.CompletedProcess(list(command), code, _text(out), _text(err))

    def _become(self, arguments: list[str], environment: Mapping[str, str]) -> NoReturn:
        """Run the script in this process, and end it."""
        code = _FAILED
        try:
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = arguments
            subprocess.run = self.run
            runpy.run_path(self._path, run_name="__main__")
            code = _ALIKE
        except SystemExit as end:
            code = _ALIKE if end.code in {None, 0} else _FAILED
            sys.stderr.write(f"{end.code}\n")
        except AssertionError:
            code = _SHOWN
            traceback.print_exc()
        except BaseException:  # noqa: BLE001 - the script may raise anything
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _text(file: Any) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
