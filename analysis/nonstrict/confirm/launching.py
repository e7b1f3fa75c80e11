"""How the agent is started: the command line, the environment it may see, and the options it is told."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any, NamedTuple

from nonstrict.confirm import compile_caches

#: The directory of the package that the user's interpreter runs, beside this package wherever that is installed.
AGENT = Path(__file__).resolve().parents[2] / "nonstrict_agent"

# Runs in whatever interpreter the user named: its first line must be understood by Python 2.7 as well. The package is
# loaded from its directory: on `sys.path` everything else installed beside it would come along, other versions of the
# user's own libraries among it. "" there would be the working directory.
_BOOTSTRAP = """\
import sys
if sys.version_info < (3, 10):
    sys.stdout.write('{"event": "unavailable", "reason": "python-too-old", "text": "%s is Python %d.%d; confirming \
needs Python 3.10 or later with torch 2.7 or later: name another interpreter with --python, `python` in the \
configuration, or `nonstrict.interpreter` in an editor"}\\n'
        % ((sys.executable.replace("\\\\", "/"),) + tuple(sys.version_info[:2])))
    sys.exit(0)
if sys.path[:1] == [""]:
    del sys.path[0]
import importlib.util
directory = sys.argv.pop(1)
spec = importlib.util.spec_from_file_location(
    "nonstrict_agent", directory + "/__init__.py", submodule_search_locations=[directory]
)
sys.modules["nonstrict_agent"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from nonstrict_agent.main import main
main()
"""

#: Names of the environment that programs need to find their libraries and compilers, and to speak the user's language.
#: Everything else may be a secret and stays behind.
_PASSED = """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP TERM SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC
    PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES NUMBER_OF_PROCESSORS
    PROCESSOR_ARCHITECTURE OS PYTHONPATH PYTHONHOME PYTHONUTF8 PYTHONHASHSEED PYTHONNOUSERSITE PYTHONUSERBASE
    PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_VERSION
    PYENV_ROOT CC CXX CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH
    SDKROOT DEVELOPER_DIR INCLUDE LIB LIBPATH VCINSTALLDIR VCTOOLSINSTALLDIR CUDA_HOME CUDA_PATH
    CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER TRITON_PTXAS_PATH ROCM_HOME HIP_VISIBLE_DEVICES TORCH_HOME HF_HOME
    XDG_CACHE_HOME NIX_LD NIX_LD_LIBRARY_PATH SOURCE_DATE_EPOCH
"""
_PASSED_PREFIXES = ("LC_",)
#: Variables that name sockets and files which open doors.
_NAMING_SECRETS = ("SSH_AUTH_SOCK", "XAUTHORITY", "KRB5CCNAME", "GPG_AGENT_INFO", "GOOGLE_APPLICATION_CREDENTIALS")
#: Every process of an agent carries this name, with a value of its own, in the environment it was started with.
MARKER = "NONSTRICT_AGENT"


class AgentUnavailable(Exception):  # noqa: N818 - says what is the case, as a reader would
    """No experiment can be run; the message is a sentence that says why and what to do."""


class Options(NamedTuple):
    """How the agent is to run jobs."""

    #: Where compiled kernels and the like are kept between runs; jobs may write there.
    cache: Path
    #: "cpu", "cuda" or "auto": what is offered to jobs that do not name their device.
    device: str = "auto"
    #: "auto" (the strongest that works here, or refuse), "copy-on-write", "deny", or "none" (no isolation at all).
    isolation: str = "auto"
    #: The most jobs that run at once.
    slots: int = 2
    #: "auto", "fork" (jobs are forked from a warm process) or "workers" (each has a process of its own).
    mode: str = "auto"
    #: Further names of the environment that jobs may see.
    environment: tuple[str, ...] = ()
    #: Values of variables for this agent alone, in place of those of this process.
    variables: tuple[tuple[str, str], ...] = ()
    #: Whether to run jobs of kind "python": any function that is named, for the tests of this program.
    testing: bool = False

    def for_agent(self) -> dict[str, Any]:
        """The options as the agent's first message carries them."""
        told = self._asdict()
        del told["environment"], told["variables"]
        return {**told, "cache": str(self.cache), "hidden": _hidden()}


def agent_options(device: str, isolation: str, slots: int) -> Options:
    """How agents are started; makes the directory of their cache, and removes what is too much in it."""
    cache = compile_caches.compile_caches_home()
    cache.mkdir(parents=True, exist_ok=True)
    compile_caches.prune(str(cache))
    return Options(cache=cache, device=device, isolation=isolation, slots=slots)


def _hidden() -> list[str]:
    """Paths of secrets that only variables name which stay behind."""
    values = (os.environ.get(name, "").removeprefix("FILE:") for name in _NAMING_SECRETS)
    return [os.path.abspath(value) for value in values if value and os.path.lexists(value)]


def command_line(python: str) -> list[str]:
    """The command that starts the agent in an interpreter."""
    return [python, "-c", _BOOTSTRAP, str(AGENT), "broker"]


def environment_for(options: Options) -> dict[str, str]:
    """The part of this process's environment that the agent may see, and its marker."""
    names = {*_PASSED.split(), *options.environment}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in names or name.upper() in names or name.startswith(_PASSED_PREFIXES)
    }
    return {**kept, **dict(options.variables), MARKER: secrets.token_hex(8)}
