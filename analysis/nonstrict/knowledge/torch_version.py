"""Finds the torch of the user's environment and its version, without importing or running anything.

The places are those of the Python documentation (`sysconfig` install schemes, `site`, PEP 405 `pyvenv.cfg`), of conda
environments, and of torch's wheels (`torch-VERSION.dist-info`, `torch/version.py`).
"""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

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
    `root` or its parents up to the repository's top, the active conda environment, the running interpreter.
    """
    for prefix in _prefixes(python, root):
        directories = _packages_of(prefix)
        if directories:
            return directories
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
    import shutil

    if shutil.which(python) is None:
        return False
    own = next((found for prefix in _prefixes_of(python) if (found := _packages_of(prefix))), None) or []
    places = (*own, *_packages_of_user(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    return bool(own) and not any(_in_directory(one) or _from_metadata(one) for one in places)


_INTERPRETERS = (os.path.join("bin", "python"), os.path.join("Scripts", "python.exe"), "python.exe")
_LIBRARIES = ("lib", "lib64", os.path.join("local", "lib"))
_PACKAGE_DIRECTORIES = frozenset({"site-packages", "dist-packages"})


def _prefixes(python: str | None, root: str) -> list[str]:
    """Prefixes of environments to look at; only the one that the user names, if any."""
    if python:
        return _prefixes_of(os.path.join(root, os.path.expanduser(python)) if os.sep in python else python)
    found = [os.environ.get("VIRTUAL_ENV", "")]
    found += [os.path.join(folder, name) for folder in _project_folders(root) for name in (".venv", "venv", "env")]
    conda = os.environ.get("CONDA_PREFIX", "")
    return [prefix for prefix in (*found, conda, sys.prefix) if prefix]


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


def _prefixes_of(python: str) -> list[str]:
    """The environments that an interpreter belongs to: by its own path, then by the file that it links to."""
    if os.path.isdir(python):
        return [python]
    path = python
    if os.sep not in python:
        import shutil

        path = shutil.which(python) or python
    homes = [os.path.dirname(os.path.abspath(path)), os.path.dirname(os.path.realpath(path))]
    # On Windows python.exe stands in the prefix itself, in a virtual environment in Scripts.
    prefixes = [home if os.path.isdir(os.path.join(home, "Lib")) else os.path.dirname(home) for home in homes]
    return list(dict.fromkeys(prefixes))


def _packages_of(prefix: str) -> list[str]:
    """Package directories below one prefix, those of the base interpreter added where the environment shares them."""
    found = _direct_packages(prefix)
    settings = _venv_settings(prefix)
    if settings.get("include-system-site-packages", "").lower() == "true" and "home" in settings:
        home = settings["home"]
        base = home if os.path.isdir(os.path.join(home, "Lib")) else os.path.dirname(home)
        found += [path for path in _direct_packages(base) if path not in found]
    return found


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


def _linked_directories(directory: str) -> list[str]:
    """Directories that `.pth` files add; their lines that run code are not looked at."""
    linked: list[str] = []
    for name in _listed(directory):
        if name.endswith(".pth"):
            lines = (line.strip() for line in _read(os.path.join(directory, name)).splitlines())
            linked += [os.path.join(directory, line) for line in lines if line and not line.startswith(("#", "import"))]
    return [path for path in linked if os.path.isdir(path)]


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
