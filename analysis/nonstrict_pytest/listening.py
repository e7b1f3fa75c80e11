"""The one listener of a process, and who is told of what it hears."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonstrict_agent.observe.compiling import Called, Compilations


class CannotListenError(Exception):
    """What torch compiles cannot be counted here; the text says why."""


class _Process:
    """The listener, once there is one, and the lists that are filled."""

    compilations: Compilations | None = None
    lists: tuple[list[Called], ...] = ()


def listen(root: str) -> None:
    """Begin to hear what torch compiles in this process; files below `root` are the user's. Imports torch.

    Raises:
        CannotListenError: there is no torch, or one that tells nothing.
    """
    if _Process.compilations is not None:
        return
    try:
        # What waits for it may begin to listen meanwhile.
        import torch._dynamo  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise CannotListenError(f"`compiles` counts what torch compiles, and there is no torch here: {error}") from None
    if _Process.compilations is not None:
        return
    from nonstrict_agent.observe.compiling import Compilations
    from nonstrict_agent.project_files import user_files

    compilations = Compilations(user_files(root, ""), by_region=True)
    compilations.install()
    if not (compilations.listening and compilations.hears_guards):
        raise CannotListenError(f"`compiles` cannot count: torch {torch_version()} does not report what it compiles")
    _Process.compilations = compilations


def forget() -> None:
    """Have torch forget what it compiled: what a test compiles must not depend on those before it."""
    import torch

    told()
    torch.compiler.reset()


def told() -> None:
    """Hand what was heard to those who wait for it."""
    found = _Process.compilations.taken_by_region() if _Process.compilations is not None else []
    for one in _Process.lists:
        one.extend(found)


def begin() -> list[Called]:
    """A list of what is compiled from now on; `told` brings it up to date."""
    told()
    fresh: list[Called] = []
    _Process.lists = (*_Process.lists, fresh)
    return fresh


def end(filled: list[Called]) -> None:
    """Bring a list up to date, and let it be."""
    told()
    _Process.lists = tuple(one for one in _Process.lists if one is not filled)


def torch_version() -> str:
    """The version of torch, "" where it was not imported."""
    module: Any = sys.modules.get("torch")
    return str(getattr(module, "__version__", ""))


def is_switched_off() -> bool:
    """Whether torch.compile does nothing here, by `TORCH_COMPILE_DISABLE` for instance."""
    config: Any = sys.modules.get("torch._dynamo.config")
    return bool(getattr(config, "disable", False))
