"""Importable names of classes and functions, `module:Qualified.name`, and back.

A name is resolved without importing where that can be had: a user's module may be loaded in part only, or may be a
script that must not run again.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Functions written in C often do not tell where they live; these modules are asked for them by name.
_HOMES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft", "math", "operator", "builtins")


class UnmakeableError(Exception):
    """A value cannot be made from its specification; the text says which class or name, and what is missing."""


def name_of(thing: object) -> str | None:
    """The name under which `thing`, a class or a function, is found again; None if there is none."""
    qualified = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if not isinstance(qualified, str):
        return None
    module = getattr(thing, "__module__", None)
    if isinstance(module, str) and "<" not in qualified and _attribute(module, qualified) is thing:
        return f"{module}:{qualified}"
    last = qualified.rpartition(".")[2]
    for home in _HOMES:
        if _attribute(home, last) is thing:
            return f"{home}:{last}"
    return None


def class_name(thing: type) -> str:
    """`module:Qualified.name` of a class, whether or not it can be found again by it."""
    return f"{thing.__module__}:{thing.__qualname__}"


def resolve(name: str, namespace: Mapping[str, object]) -> object:
    """The object of a name `module:Qualified.name`: of `namespace` if that is the module, else loaded or importable.

    Raises:
        UnmakeableError: nothing is found by this name.
    """
    module, _, qualified = name.partition(":")
    own = module in {"", "__main__", namespace.get("__name__")}
    for found in (_in_namespace(qualified, namespace) if own else None, _attribute(module, qualified)):
        if found is not None:
            return found
    if module and "<locals>" not in qualified:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise UnmakeableError(f"{name} cannot be imported: {error}") from error
        found = _attribute(module, qualified)
        if found is not None:
            return found
    found = _in_namespace(qualified, namespace)
    if found is None:
        raise UnmakeableError(f"{name} is not found: only what has a name at the top of a module can be made again")
    return found


def _in_namespace(qualified: str, namespace: Mapping[str, object]) -> object:
    first, _, rest = qualified.partition(".")
    return _walk(namespace.get(first), rest)


def _attribute(module: str, qualified: str) -> object:
    loaded = builtins if module == "builtins" else sys.modules.get(module)
    return None if loaded is None else _walk(loaded, qualified)


def _walk(start: object, qualified: str) -> object:
    found = start
    for part in qualified.split(".") if qualified else ():
        found = getattr(found, part, None)
    return found
