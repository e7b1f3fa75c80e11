"""What models say of parameters, results and classes besides their effects.

Models import these from here, so that editors know them too. Nothing is called: models are read, never run.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

__all__ = ["Changed", "T", "submodule", "surrounds"]

#: What is given: a function from `T` to `T` returns its argument, as a decorator or `module.to(device)` does.
T = TypeVar("T")
#: A parameter that the call changes, or `self`; of a function that writes its result to `out`, this one.
Changed = Annotated[T, "changed"]


def surrounds(manager: T) -> T:
    """A context manager that matters only to what its block does: around nothing, it does nothing."""
    return manager


def submodule(names: T) -> T:
    """A class that stands for a module inside this one."""
    return names
