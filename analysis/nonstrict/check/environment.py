"""The torch that findings hold for: configured, or found in the user's environment without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nonstrict.settings.model import Settings


class Environment(NamedTuple):
    """The version of torch ("2.13.0"), None if there is none, where installed packages lie, and models of libraries."""

    torch_version: str | None
    site_packages: tuple[str, ...]
    models: tuple[str, ...] = ()


def environment_in(settings: Settings, known: Environment | None) -> Environment:
    """The environment of some settings; what they say of another torch or models in one that is `known`."""
    if known is None:
        return environment_of(settings)
    return known._replace(torch_version=settings.torch_version or known.torch_version, models=settings.models)


def environment_of(settings: Settings) -> Environment:
    """The environment that the settings name, else the one that torch is found in from the project's root."""
    from nonstrict.knowledge.torch_version import installed_torch, site_packages

    directories = tuple(site_packages(settings.python, settings.root))
    if settings.torch_version is not None:
        return Environment(settings.torch_version, directories, settings.models)
    found = installed_torch(settings.python, settings.root)
    return Environment(str(found) if found is not None else None, directories, settings.models)
