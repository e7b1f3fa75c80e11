"""The torch that findings hold for: configured, or found in the user's environment without running anything.

A folder with a configuration of its own, below that of the run, is a sub-project: its files may be for another torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from nonstrict.settings.model import Settings
    from nonstrict.settings.projects import Projects
    from nonstrict.settings.requirements import Python

    #: Gives the absolute path under which an environment is looked for in place of one that settings name.
    Home = Callable[[str], str]


class Environment(NamedTuple):
    """The version of torch ("2.13.0"), None if there is none, where installed packages lie, and models of libraries.

    `python` is the lowest version of Python that the code is for, None if nothing says so.
    """

    torch_version: str | None = None
    site_packages: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    python: tuple[int, int] | None = None


class Environments(NamedTuple):
    """The environment of a run, and by path those of the files of sub-projects for which another one holds."""

    main: Environment = Environment()
    own: Mapping[str, Environment] = {}

    def of(self, path: str) -> Environment:
        """The environment of a file."""
        return self.own.get(path, self.main)

    @property
    def every(self) -> tuple[Environment, ...]:
        """All environments, each once, that of the run first."""
        return tuple(dict.fromkeys((self.main, *self.own.values())))

    @property
    def site_packages(self) -> tuple[str, ...]:
        """The folders of installed packages of all."""
        return tuple(dict.fromkeys(folder for one in self.every for folder in one.site_packages))

    def torches(self, files: Iterable[str]) -> tuple[str | None, ...]:
        """The versions of torch that the findings in some files are for, each once, that of the run first."""
        found = dict.fromkeys(self.of(path) for path in files) or {self.main: None}
        return tuple(dict.fromkeys(one.torch_version for one in self.every if one in found))


def environments_of(projects: Projects, home: Home | None = None) -> Environments:
    """The environments of some projects; `home` is asked where they lie, if the settings are of a copy."""
    known = {id(one): environment_of(one, home) for one in projects.every}
    main = known[id(projects.main)]
    own = {path: found for path, one in projects.own.items() if (found := known[id(one)]) != main}
    return Environments(main, own)


def environment_of(settings: Settings, home: Home | None = None) -> Environment:
    """The environment that the settings name, else the one that torch is found in from the project's root."""
    from nonstrict.knowledge.torch_version import installed_torch, site_packages

    python, root = settings.python, settings.root
    if home is not None:
        python, root = python and home(python), home(root)
    directories = tuple(site_packages(python, root))
    torch = settings.torch_version
    if torch is None:
        found = installed_torch(python, root)
        torch = str(found) if found is not None else None
    return Environment(torch, directories, settings.models, targeted_python(settings))


def targeted_python(settings: Settings) -> Python | None:
    """The lowest Python that the code is for: as configured, else as `requires-python` of the project has it."""
    from nonstrict.settings.requirements import required_python

    if settings.target_python is None:
        return required_python(settings.root)
    major, minor = settings.target_python.split(".")
    return int(major), int(minor)
