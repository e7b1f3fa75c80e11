"""What work in a containment sees of the machine's files: what is listed here, and nothing else.

Open are the folders of the system at the top of the file tree, and wherever they are: the project, the interpreter with
its packages, temporary folders, what the work may write, and what variables name that compilers need. Everything else,
homes first, is closed. Within what is open, files that usually hold secrets are hidden.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from nonstrict_agent.isolation.secrets import homes_of, secret_files, secret_places
from nonstrict_agent.isolation.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict_agent.isolation.containment import Containment

#: Programs, libraries and their configuration. `/var` and `/run` hold the state of services.
_OF_SYSTEM = frozenset(words("bin sbin lib lib32 lib64 libx32 usr etc opt nix gnu snap proc sys dev tmp"))
#: Drivers and programs of systems that keep them in unusual places (NixOS).
_FURTHER = ("/run/current-system", "/run/opengl-driver", "/run/wrappers", "/var/tmp")  # noqa: S108 - names of places
_NAMED_BY_VARIABLES = words("""
    PATH LD_LIBRARY_PATH LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH CUDA_HOME CUDA_PATH ROCM_HOME
    TRITON_PTXAS_PATH CC CXX
""")
#: Weights that were downloaded: a variable, where it is not set a place in a home, and the folder in it.
_WEIGHTS = (("HF_HOME", ".cache/huggingface", "hub"), ("TORCH_HOME", ".cache/torch", "hub"))
_MOST_LINKS = 40


class Sight(NamedTuple):
    """What is seen.

    `shown` are real paths that are open wherever they are, and the links that lead there; none of them lies within
    another, but for links. `hidden` are paths within what is open that are not seen. `homes` are closed.
    """

    shown: tuple[str, ...]
    hidden: tuple[str, ...]
    homes: tuple[str, ...]

    def is_open(self, path: str) -> bool:
        """Whether a path at the top of the file tree is seen with all beneath it, but for what is hidden."""
        return path.removeprefix("/") in _OF_SYSTEM or path in self.shown

    def below(self, path: str) -> list[str]:
        """What is open of a closed path, those above others first."""
        return [one for one in self.shown if is_within(one, path)]


def sight_of(containment: Containment, variables: Mapping[str, str]) -> Sight:
    """What the work of a containment sees, asked in the process that will do it, or one that it is forked from."""
    homes = tuple(home for home in map(os.path.realpath, homes_of(variables)) if home != os.sep)
    projects = [containment.directory or os.getcwd(), *containment.visible]
    # A whole home, or more, is only seen where it is the project.
    others = [path for path in _wanted(containment, variables) if not _holds_any(path, homes)]
    chosen = [path for path in (*projects, *others) if os.path.realpath(path) != os.sep]
    links, real = _resolved(chosen)
    shown = _outermost(real)
    hidden = {os.path.realpath(path) for path in (*secret_places(variables), *containment.hidden)}
    for home in homes:
        hidden.update(_closed_within(home, shown))
    for project in _outermost(map(os.path.realpath, projects)):
        hidden.update(secret_files(project))
    kept = (path for path in hidden if not any(is_within(one, path) for one in shown))
    ways = {link for link in links if not any(is_within(link, one) for one in shown)}
    return Sight((*sorted({*ways, *shown}),), (*sorted(kept),), homes)


def _holds_any(folder: str, homes: Iterable[str]) -> bool:
    return any(is_within(home, os.path.realpath(folder)) for home in homes)


def is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies beneath it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _wanted(containment: Containment, variables: Mapping[str, str]) -> Iterator[str]:
    yield from containment.writable
    yield tempfile.gettempdir()
    yield from _FURTHER
    yield from (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, sys.executable)
    yield from (path for path in sys.path if os.path.isabs(path))
    for name, module in list(sys.modules.items()):
        # What setuptools leaves of an editable installation: packages by their folders.
        if name.startswith("__editable__") and isinstance(places := getattr(module, "MAPPING", None), dict):
            yield from (str(place) for place in places.values())
    # The agent itself, which imports as it goes.
    yield os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in _NAMED_BY_VARIABLES:
        yield from filter(os.path.isabs, variables.get(name, "").split(os.pathsep))
    for variable, place, folder in _WEIGHTS:
        for home in [variables[variable]] if variables.get(variable) else homes_of(variables):
            yield os.path.join(home, folder) if variables.get(variable) else os.path.join(home, place, folder)


def _resolved(paths: Iterable[str]) -> tuple[set[str], set[str]]:
    """The links on the way to paths, and where they end; of those that exist."""
    links: set[str] = set()
    real: set[str] = set()
    for path in set(paths):
        if os.path.exists(path):
            found, end = _followed(os.path.normpath(path))
            links.update(found)
            real.add(end)
    return links, real


def _followed(path: str) -> tuple[list[str], str]:
    links: list[str] = []
    parts = path.split(os.sep)[1:]
    here = ""
    while parts:
        step = f"{here}/{parts.pop(0)}"
        if not os.path.islink(step) or len(links) == _MOST_LINKS:
            here = step
            continue
        links.append(step)
        target = os.path.normpath(os.path.join(here or os.sep, os.readlink(step)))
        parts, here = [*target.split(os.sep)[1:], *parts], ""
    return links, here


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(paths):
        if not (kept and is_within(path, kept[-1])):
            kept.append(path)
    return kept


def _closed_within(home: str, shown: list[str]) -> Iterator[str]:
    """What of a home is hidden, where it lies in something that is open."""
    if any(is_within(home, path) for path in shown):
        yield from _others(home, [path for path in shown if path != home and is_within(path, home)], only_dotted=True)
    elif home.split(os.sep)[1] in _OF_SYSTEM:
        yield from _others(home, [path for path in shown if is_within(path, home)], only_dotted=False)


def _others(folder: str, shown: list[str], *, only_dotted: bool) -> Iterator[str]:
    """The entries of a folder that lead to nothing that is shown."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink() or any(is_within(entry.path, path) for path in shown):
            continue
        if any(is_within(path, entry.path) for path in shown):
            yield from _others(entry.path, shown, only_dotted=False)
        elif not only_dotted or entry.name.startswith("."):
            yield entry.path
