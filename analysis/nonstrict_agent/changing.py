"""Changes one piece of state as its writers in the program would: another value of the same kind."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class CannotChangeError(Exception):
    """The state is not there, or of no kind that can be changed; the text says which."""


class Changed(NamedTuple):
    """How state was changed ("`SCALE` was set from 2 to 3"), and what sets it back."""

    text: str
    undo: Callable[[], object]


def change_state(change: Mapping[str, Any], roots: Mapping[str, object]) -> Changed:
    """Change the state that is named.

    `change` holds `name` and `path` (steps such as `.scale` and `["w"]`), `module` (the name of the module that owns a
    global, or ""), and `how`: `rebind`, `in-place`, `mode` (training or evaluation), or `environment`.

    Raises:
        CannotChangeError: there is no such state, no other value of its kind is known, or its owner refuses.
    """
    try:
        return _changed(change, roots)
    except CannotChangeError:
        raise
    except Exception as error:
        # Tuples, frozen dataclasses, properties, dtypes without arithmetic.
        raise CannotChangeError(f"{type(error).__name__}: {error}") from error


def _changed(change: Mapping[str, Any], roots: Mapping[str, object]) -> Changed:
    text = change["name"] + "".join(change["path"])
    if change["how"] == "environment":
        return _set_variable(change["name"])
    if change["how"] == "mode":
        return _switch(text, _reach(roots, change["name"], change["path"]))
    if change["how"] == "in-place":
        value = _reach(roots, change["name"], change["path"])
        return _shift(text, value)
    if change["path"]:
        owner = _reach(roots, change["name"], change["path"][:-1])
        return _replace(text, owner, change["path"][-1])
    return _rebind(text, change["name"], change["module"])


def copied(value: Any) -> Any:
    """A deep copy in which modules, and what cannot be copied, are the same objects.

    What is one object, or shares its memory, does so in the copy too, in the same layout: compiled code is guarded by
    that, and would be compiled again.
    """
    from torch.utils import _pytree

    leaves, structure = _pytree.tree_flatten(value)
    memo: dict[int, Any] = {}
    return _pytree.tree_unflatten([_copied_leaf(leaf, memo) for leaf in leaves], structure)


def other_value(value: Any) -> Any:
    """Another value of the same kind.

    Raises:
        CannotChangeError: none is known for a value of this class.
    """
    import torch

    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(_other_tensor(value.detach()), requires_grad=value.requires_grad)
    if isinstance(value, torch.Tensor):
        return _other_tensor(value.detach()).requires_grad_(value.requires_grad)
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float, complex)):
        return value + 1
    if type(value).__name__ == "ndarray":
        return value + 1
    if isinstance(value, torch.nn.Module):
        other = copy.deepcopy(value)
        for tensor in (*other.parameters(), *other.buffers()):
            tensor.data = _other_tensor(tensor.data)
        return other
    return _other_container(value)


def _other_container(value: Any) -> Any:
    kind: Any = type(value)
    if kind in {list, tuple}:
        return kind(other_value(part) for part in value)
    if kind is dict:
        return {key: other_value(part) for key, part in value.items()}
    raise CannotChangeError(f"no other value is known for a value of class {type(value).__name__}")


def _other_tensor(tensor: Any) -> Any:
    import torch

    return ~tensor if tensor.dtype == torch.bool else tensor + 1


def _copied_leaf(leaf: Any, memo: dict[int, Any]) -> Any:
    import torch

    if isinstance(leaf, torch.nn.Module) or (isinstance(leaf, torch.nn.Parameter) and leaf.requires_grad):
        return leaf
    try:
        return _copied_tensor(leaf, memo) if isinstance(leaf, torch.Tensor) else copy.deepcopy(leaf, memo)
    except Exception:  # noqa: BLE001 - what cannot be copied is passed again
        return leaf


def _copied_tensor(tensor: Any, memo: dict[int, Any]) -> Any:
    """A leaf like it: `deepcopy` refuses results of computations, and remembers by its memo which memory was shared."""
    import torch

    if id(tensor) not in memo:
        own = copy.deepcopy(tensor.detach(), memo)
        if type(tensor) is torch.Tensor:
            vars(own).update(vars(tensor))
        memo[id(tensor)] = own.requires_grad_(tensor.requires_grad)
    return memo[id(tensor)]


def _set_variable(name: str) -> Changed:
    """Set an environment variable as one that switches something on, off if it is on."""
    old = os.environ.get(name)

    def undo() -> None:
        if old is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = old

    new = "0" if old == "1" else "1"
    os.environ[name] = new
    return Changed(_told(name, old or "", new), undo)


def _reach(roots: Mapping[str, object], name: str, path: list[str]) -> Any:
    if name not in roots:
        raise CannotChangeError(f"there is no `{name}`")
    value: Any = roots[name]
    for step in path:
        value = _part(value, step)
    return value


def _part(value: Any, step: str) -> Any:
    try:
        if step.startswith("."):
            return getattr(value, step[1:])
        return value[_key_of(value, step)]
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise CannotChangeError(f"there is no `{step}`") from error


def _key_of(value: Any, step: str) -> Any:
    import ast

    if step == "[]":
        return next(iter(value)) if isinstance(value, dict) else 0
    try:
        return ast.literal_eval(step[1:-1])
    except (ValueError, SyntaxError) as error:
        raise CannotChangeError(f"the key `{step}` is not a constant") from error


def _switch(text: str, module: Any) -> Changed:
    import torch

    if not isinstance(module, torch.nn.Module):
        raise CannotChangeError(f"`{text}` is not a module")
    modes = {part: part.training for part in module.modules()}

    def undo() -> None:
        for part, training in modes.items():
            part.training = training

    module.train(not module.training)
    return Changed(f"`{text}` was switched to {'training' if module.training else 'evaluation'}", undo)


def _shift(text: str, value: Any) -> Changed:
    return Changed(f"`{text}` was changed in place", _shifted(text, value))


def _shifted(text: str, value: Any) -> Callable[[], object]:
    """Change a value in place; returns what sets it back."""
    import torch

    if isinstance(value, torch.Tensor):
        old = value.detach().clone()
        with torch.no_grad():
            value.copy_(_other_tensor(value))
        return lambda: value.data.copy_(old)
    if isinstance(value, list):
        entries: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        value[:] = other_value(entries)
        return lambda: value.__setitem__(slice(None), entries)
    if isinstance(value, dict):
        table: dict[Any, Any] = dict(value)  # pyright: ignore[reportUnknownArgumentType]
        value.update(other_value(table))
        return lambda: value.update(table)
    if type(value).__name__ == "ndarray":
        numbers = value.copy()
        value += 1
        return lambda: value.__setitem__(..., numbers)
    raise CannotChangeError(f"`{text}` cannot be changed in place")


def _replace(text: str, owner: Any, step: str) -> Changed:
    old = _part(owner, step)
    new = other_value(old)
    is_attribute = step.startswith(".")
    key = step[1:] if is_attribute else _key_of(owner, step)

    def put(value: Any) -> None:
        if is_attribute:
            setattr(owner, key, value)
        else:
            owner[key] = value

    put(new)
    return Changed(_told(text, old, new), lambda: put(old))


def _rebind(text: str, name: str, module: str) -> Changed:
    import sys

    owner = sys.modules.get(module)
    if owner is None or not hasattr(owner, name):
        raise CannotChangeError(f"there is no global `{name}`")
    old = getattr(owner, name)
    new = other_value(old)
    setattr(owner, name, new)
    return Changed(_told(text, old, new), lambda: setattr(owner, name, old))


def _told(text: str, old: Any, new: Any) -> str:
    if isinstance(old, (bool, int, float, complex, str)):
        return f"`{text}` was set from {old!r} to {new!r}"
    return f"`{text}` was replaced"
