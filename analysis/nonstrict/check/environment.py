"""The torch that findings hold for: configured, or found in the user's environment without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nonstrict.settings.model import Settings
    from nonstrict.settings.requirements import Python


class Environment(NamedTuple):
    """The version of torch ("2.13.0"), None if there is none, where installed packages lie, and models of libraries.

    `python` is the lowest version of Python that the code is for, None if nothing says so.
    """

    torch_version: str | None
    site_packages: tuple[str, ...]
    models: tuple[str, ...] = ()
    python: tuple[int, int] | None = None


def environment_in(settings: Settings, known: Environment | None) -> Environment:
    """The environment of some settings; what they say of another torch or models in one that is `known`."""
    if known is None:
        return environment_of(settings)
    torch, python = settings.torch_version or known.torch_version, targeted_python(settings)
    return known._replace(torch_version=torch, models=settings.models, python=python)


def environment_of(settings: Settings) -> Environment:
    """The environment that the settings name, else the one that torch is found in from the project's root."""
    from nonstrict.knowledge.torch_version import installed_torch, site_packages

    directories = tuple(site_packages(settings.python, settings.root))
    torch = settings.torch_version
    if torch is None:
        found = installed_torch(settings.python, settings.root)
        torch = str(found) if found is not None else None
    return Environment(torch, directories, settings.models, targeted_python(settings))


def targeted_python(settings: Settings) -> Python | None:
    """The lowest Python that the code is for: as configured, else as `requires-python` of the project has it."""
    from nonstrict.settings.requirements import required_python

    if settings.target_python is None:
        return required_python(settings.root)
    major, minor = settings.target_python.split(".")
    return int(major), int(minor)
