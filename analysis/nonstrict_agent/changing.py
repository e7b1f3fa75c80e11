"""Changes one piece of state as its writers in the program would: another value of the same kind."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class CannotChangeError(Exception):
    """The state is not there, or of no kind that can be changed; the text says which."""


def change_state(change: Mapping[str, Any], roots: Mapping[str, object]) -> str:
    """Change the state that is named, and say how ("`SCALE` was set from 2 to 3").

    `change` holds `name` and `path` (steps such as `.scale` and `["w"]`), `module` (the name of the module that owns a
    global, or ""), and `how`: `rebind`, `in-place`, or `mode` (training or evaluation).

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


def _changed(change: Mapping[str, Any], roots: Mapping[str, object]) -> str:
    text = change["name"] + "".join(change["path"])
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
    """A deep copy in which modules, and what cannot be copied, are the same objects."""
    from torch.utils import _pytree

    leaves, structure = _pytree.tree_flatten(value)
    return _pytree.tree_unflatten([_copied_leaf(leaf) for leaf in leaves], structure)


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


def _copied_leaf(leaf: Any) -> Any:
    import torch

    if isinstance(leaf, torch.nn.Module):
        return leaf
    if isinstance(leaf, torch.Tensor):
        return leaf if leaf.requires_grad and leaf.is_leaf and isinstance(leaf, torch.nn.Parameter) else _clone(leaf)
    try:
        return copy.deepcopy(leaf)
    except Exception:  # noqa: BLE001 - what cannot be copied is passed again
        return leaf


def _clone(tensor: Any) -> Any:
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


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


def _switch(text: str, module: Any) -> str:
    import torch

    if not isinstance(module, torch.nn.Module):
        raise CannotChangeError(f"`{text}` is no module")
    module.train(not module.training)
    return f"`{text}` was switched to {'training' if module.training else 'evaluation'}"


def _shift(text: str, value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        with torch.no_grad():
            value.copy_(_other_tensor(value))
    elif isinstance(value, list):
        value[:] = other_value(value)
    elif isinstance(value, dict):
        value.update(other_value(value))
    elif type(value).__name__ == "ndarray":
        value += 1
    else:
        raise CannotChangeError(f"`{text}` cannot be changed in place")
    return f"`{text}` was changed in place"


def _replace(text: str, owner: Any, step: str) -> str:
    old = _part(owner, step)
    new = other_value(old)
    if step.startswith("."):
        setattr(owner, step[1:], new)
    else:
        owner[_key_of(owner, step)] = new
    return _told(text, old, new)


def _rebind(text: str, name: str, module: str) -> str:
    import sys

    owner = sys.modules.get(module)
    if owner is None or not hasattr(owner, name):
        raise CannotChangeError(f"there is no global `{name}`")
    old = getattr(owner, name)
    new = other_value(old)
    setattr(owner, name, new)
    return _told(text, old, new)


def _told(text: str, old: Any, new: Any) -> str:
    if isinstance(old, (bool, int, float, complex, str)):
        return f"`{text}` was set from {old!r} to {new!r}"
    return f"`{text}` was replaced"
