"""Finds the torch of the user's environment and its version, without importing or running anything.

The places are those of the Python documentation (`sysconfig` install schemes, `site`, PEP 405 `pyvenv.cfg`), of conda
environments, and of torch's wheels (`torch-VERSION.dist-info`, `torch/version.py`).
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The first release with `torch.compile`, and the newest whose sources were read for what is known of markers.
OLDEST_KNOWN, NEWEST_KNOWN = (2, 0), (2, 16)


class TorchVersion(NamedTuple):
    """A version of torch and where it was found.

    `text` is as torch states it (`2.13.0+cpu`), `release` its numbers, `location` the directory that holds the package
    (empty for one that was given by name).
    """

    text: str
    release: tuple[int, ...]
    location: str = ""

    def __str__(self) -> str:
        return self.text

    def at_least(self, version: str) -> bool:
        """Whether this is `version` or newer; pre-releases and nightlies count as their release."""
        return self.release >= release_numbers(version)


def release_numbers(text: str) -> tuple[int, ...]:
    """The leading numbers of a version: `2.14.0a0+git1234` gives (2, 14, 0); empty where it does not start with one."""
    found = re.match(r"\d+(?:\.\d+)*", text.strip())
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def torch_version(text: str) -> TorchVersion | None:
    """A version that the user states in the settings; None where the text is no version."""
    numbers = release_numbers(text)
    return TorchVersion(text.strip(), numbers) if numbers else None


def installed_torch(python: str | None, root: str) -> TorchVersion | None:
    """The torch that the user's interpreter would import, or None where none is found.

    `python` is an interpreter or an environment's directory (the setting), `root` the project's directory. Nothing is
    executed, and unreadable files count as absent.
    """
    for directory in site_packages(python, root):
        found = _in_directory(directory)
        if found is not None:
            return found
    return None


def site_packages(python: str | None, root: str) -> list[str]:
    """Directories of installed packages of the user's environment, in the order of import.

    The environment is the first of: `python`, the active virtual environment (`VIRTUAL_ENV`), `.venv` or `venv` in
    `root` or its parents up to the repository's top, the active conda environment, the running interpreter. Nothing
    takes the place of a `python` that is not there, or is neither a program nor an environment.
    """
    if python and not os.path.lexists(_named(python, root)):
        return []
    for prefix in _prefixes(python, root):
        directories = _packages_of(prefix)
        if directories:
            return directories
    if python and shutil.which(_named(python, root)) is None:
        return []
    return [path for path in sys.path if os.path.basename(path) in _PACKAGE_DIRECTORIES and os.path.isdir(path)]


class Looked(NamedTuple):
    """What of the disk decides which environment is found: some `paths`, there or not, and what the `folders` hold."""

    paths: frozenset[str]
    folders: frozenset[str]


def looked_at(python: str | None, root: str) -> Looked:
    """What `site_packages` and `installed_torch` look at."""
    paths: set[str] = set()
    folders: set[str] = set()
    # What is to be an environment's directory passes for an interpreter while it is not there.
    named = [os.path.join(root, os.path.expanduser(python))] if python and os.sep in python else []
    for prefix in map(os.path.abspath, (*named, *_prefixes(python, root))):
        libraries = [os.path.join(prefix, library) for library in _LIBRARIES]
        packages = _package_directories(prefix)
        existing = _packages_of(prefix)
        linked = [one for folder in existing for one in _linked_directories(folder)]
        torches = [os.path.join(folder, "torch") for folder in (*packages, *existing, *linked)]
        paths.update((prefix, os.path.join(prefix, "pyvenv.cfg"), *libraries, *packages, *existing, *torches))
        paths.update(map(os.path.dirname, (*libraries, *packages)))
        paths.update(os.path.join(torch, "version.py") for torch in torches)
        folders.update(libraries)
        if existing:
            break
    return Looked(frozenset(paths), frozenset(folders))


def is_environment(folder: str) -> bool:
    """Whether a folder is the prefix of an environment: it holds an interpreter, or installed packages, or says so."""
    marks = (*_INTERPRETERS, "pyvenv.cfg")
    return any(os.path.exists(os.path.join(folder, name)) for name in marks) or bool(_packages_of(folder))


def interpreter(python: str | None, root: str) -> str:
    """The interpreter of the user's environment, in the order of `site_packages`; the setting if it is a file.

    The one of a project may be anything: `confirm.trust` says when it may be started.
    """
    if python and os.path.isfile(os.path.join(root, os.path.expanduser(python))):
        return os.path.join(root, os.path.expanduser(python))
    if python and not os.path.lexists(_named(python, root)):
        return _named(python, root)
    for prefix in _prefixes(python, root):
        for name in _INTERPRETERS:
            path = os.path.join(prefix, name)
            if os.path.exists(path) and _packages_of(prefix):
                return path
    return python or sys.executable


def active_interpreter() -> str:
    """The interpreter of the environment that the user activated; else the one that runs this. None of a project."""
    for prefix in filter(None, (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"))):
        for name in _INTERPRETERS:
            if os.path.exists(path := os.path.join(prefix, name)):
                return path
    return sys.executable


def lacks_torch(python: str) -> bool:
    """Whether an interpreter surely has no torch: where its packages lie is known, and torch is in none of the places.

    Those of its user and of PYTHONPATH count too, as experiments see them. Nothing is executed.
    """
    path = shutil.which(python)
    if path is None or _is_script(path):
        return False
    own = next((found for prefix in _prefixes_of(path) if (found := _packages_of(prefix))), None) or []
    places = (*own, *_packages_of_user(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    return bool(own) and not any(_may_have_torch(one) for one in places)


_INTERPRETERS = (os.path.join("bin", "python"), os.path.join("Scripts", "python.exe"), "python.exe")
_LIBRARIES = ("lib", "lib64", os.path.join("local", "lib"), os.path.join("local", "lib64"))
_PACKAGE_DIRECTORIES = frozenset({"site-packages", "dist-packages"})
#: Starts of lines of `.pth` files that run code.
_RUNS = ("import ", "import\t")
#: What such lines of common tools run, and that adds no directory: virtualenv and uv, setuptools, coverage. The finders
#: of editable installs know the packages of their own distribution, whose metadata is beside them.
_ADDS_NOTHING = re.compile(
    r"import _virtualenv;?|import coverage; ?coverage\.process_startup\(\);?"
    r"|import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = [^;]*;"
    r" enabled and __import__\('_distutils_hack'\)(\.add_shim\(\))?;?"
    r"|import (__editable___\w+_finder); ?\2\.install\(\);?"
)


def _prefixes(python: str | None, root: str) -> list[str]:
    """Prefixes of environments to look at; only the one that the user names, if any."""
    if python:
        return _prefixes_of(_named(python, root))
    found = [os.environ.get("VIRTUAL_ENV", "")]
    found += [os.path.join(folder, name) for folder in _project_folders(root) for name in (".venv", "venv", "env")]
    conda = os.environ.get("CONDA_PREFIX", "")
    return [prefix for prefix in (*found, conda, sys.prefix) if prefix]


def _named(python: str, root: str) -> str:
    """The path of an interpreter or environment that the user names, there or not; a bare name is one on the PATH."""
    if os.sep in python:
        return os.path.join(root, os.path.expanduser(python))
    return python if os.path.isdir(python) else shutil.which(python) or python


def _project_folders(root: str) -> list[str]:
    """`root` and its parents up to the top of the repository; only `root` where there is no repository."""
    folder = os.path.abspath(root or os.curdir)
    folders = [folder]
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return folders[:1]
        folder = parent
        folders.append(folder)
    return folders


def _prefixes_of(path: str) -> list[str]:
    """The environments that the path of an interpreter may belong to, the likeliest first.

    As CPython finds its prefix: an interpreter in a virtual environment belongs to that, whatever it links to. Of any
    other, the file at the end of the links decides; the folder of the link counts only if no packages are found there.
    """
    if os.path.isdir(path):
        return [path]
    folder = os.path.dirname(os.path.abspath(path))
    for prefix in (folder, os.path.dirname(folder)):
        if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
            return [prefix]
    return list(dict.fromkeys(map(_prefix_above, (os.path.dirname(os.path.realpath(path)), folder))))


def _prefix_above(folder: str) -> str:
    """The prefix of the interpreters in a folder: on Windows they stand in the prefix itself."""
    return folder if os.path.isdir(os.path.join(folder, "Lib")) else os.path.dirname(folder)


def _packages_of(prefix: str) -> list[str]:
    """Package directories below one prefix, those of the base interpreter added where the environment shares them."""
    found = _direct_packages(prefix)
    settings = _venv_settings(prefix)
    if settings.get("include-system-site-packages", "").lower() == "true" and "home" in settings:
        shared = next((base for one in _bases(settings) if (base := _direct_packages(one))), None) or []
        found += [path for path in shared if path not in found]
    return found


def _bases(settings: Mapping[str, str]) -> list[str]:
    """The prefixes that the base interpreter of a virtual environment may belong to: `home` may hold but a link."""
    home, version = settings["home"], settings.get("version_info") or settings.get("version", "")
    names = ("python{}.{}".format(*numbers) if len(numbers := release_numbers(version)[:2]) > 1 else "", "python3")
    paths = (os.path.join(home, name) for name in (*names, "python", "python.exe") if name)
    interpreter_there = next(filter(os.path.isfile, paths), None)
    return [_prefix_above(home)] if interpreter_there is None else _prefixes_of(interpreter_there)


def _packages_of_user() -> list[str]:
    """Where `pip install --user` puts packages, whatever the version of Python."""
    base = os.environ.get("PYTHONUSERBASE") or os.path.expanduser(os.path.join("~", ".local"))
    library, roaming = os.path.expanduser(os.path.join("~", "Library")), os.environ.get("APPDATA", "")
    below = [os.path.join(folder, "Python") for folder in (library, roaming) if folder]
    versions = [os.path.join(folder, name) for folder in below for name in _listed(folder)]
    ends = ("site-packages", os.path.join("lib", "python", "site-packages"))
    return [*_direct_packages(base), *(os.path.join(one, end) for one in versions for end in ends)]


def _direct_packages(prefix: str) -> list[str]:
    existing = [path for path in _package_directories(prefix) if os.path.isdir(path)]
    return list({os.path.realpath(path): path for path in reversed(existing)}.values())[::-1]


def _package_directories(prefix: str) -> list[str]:
    """Where package directories may be below one prefix, given the Pythons that are there."""
    found: list[str] = []
    for library in _LIBRARIES:
        for version in _pythons(os.path.join(prefix, library)):
            found += [
                os.path.join(prefix, library, version, name) for name in sorted(_PACKAGE_DIRECTORIES, reverse=True)
            ]
    found.append(os.path.join(prefix, "Lib", "site-packages"))
    return found


def _pythons(library: str) -> list[str]:
    """`pythonX.Y` directories, the version of the running interpreter first, then the newest."""
    names = [name for name in _listed(library) if re.fullmatch(r"(python|pypy)3(\.\d+t?)?", name)]
    running = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return sorted(names, key=lambda name: (name != running, [-number for number in release_numbers(name[6:])]))


def _venv_settings(prefix: str) -> dict[str, str]:
    lines = _read(os.path.join(prefix, "pyvenv.cfg")).splitlines()
    pairs = (line.partition("=") for line in lines)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _in_directory(directory: str) -> TorchVersion | None:
    """The torch in one package directory, also one that is linked there by an editable install's `.pth` file."""
    text = _stated_version(directory)
    if text is None and os.path.isdir(os.path.join(directory, "torch")):
        text = _from_metadata(directory)
    if text is not None:
        return TorchVersion(text, release_numbers(text), directory)
    for linked in _linked_directories(directory):
        text = _stated_version(linked)
        if text is not None:
            return TorchVersion(text, release_numbers(text), linked)
    return None


def _stated_version(directory: str) -> str | None:
    """`__version__` in `torch/version.py`, which torch's build writes."""
    text = _read(os.path.join(directory, "torch", "version.py"))
    found = re.search(r"^__version__\s*(?::[^=]*)?=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return found.group(1) if found and release_numbers(found.group(1)) else None


def _from_metadata(directory: str) -> str | None:
    names = (re.fullmatch(r"torch-(.+?)\.(?:dist|egg)-info", name) for name in _listed(directory))
    versions = [found.group(1) for found in names if found is not None and release_numbers(found.group(1))]
    return max(versions, key=release_numbers, default=None)


def _may_have_torch(directory: str) -> bool:
    """Whether torch is in a package directory or in what its `.pth` files add, or may be as far as can be told."""
    if _in_directory(directory) or _from_metadata(directory) or _runs_what_may_add(directory):
        return True
    return any(os.path.isdir(os.path.join(one, "torch")) for one in (directory, *_linked_directories(directory)))


def _runs_what_may_add(directory: str) -> bool:
    """Whether a `.pth` file runs code that may add directories; those of namespace packages add to these alone."""
    return any(
        line.startswith(_RUNS) and not name.endswith("-nspkg.pth") and not _ADDS_NOTHING.fullmatch(line)
        for name, line in _links(directory)
    )


def _linked_directories(directory: str) -> list[str]:
    """Directories that `.pth` files add; their lines that run code are not looked at."""
    linked = [os.path.join(directory, line) for _, line in _links(directory) if not line.startswith(_RUNS)]
    return [path for path in linked if os.path.isdir(path)]


def _links(directory: str) -> Iterator[tuple[str, str]]:
    """The lines of `.pth` files that say something, each with the name of the file."""
    for name in _listed(directory):
        if name.endswith(".pth"):
            lines = map(str.strip, _read(os.path.join(directory, name)).splitlines())
            yield from ((name, line) for line in lines if line and not line.startswith("#"))


def _is_script(path: str) -> bool:
    """Whether a program is a script, which may start any interpreter."""
    if path.lower().endswith((".bat", ".cmd")):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
