"""Fingerprints of what a program keeps: globals, closures, class attributes, arguments, and the modes of torch.

A snapshot maps paths as a user would write them (`HISTORY`, `CONFIG.scale`, `cache["w"]`) to short fingerprints; two
snapshots that differ name what changed.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import sysconfig
import types
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict_agent.observe.values import TRACING_CLASSES, shape_of, tensor_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import torch

#: Wrappers of the agent itself keep what is none of the program's business.
_AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TORCH = os.path.join(sysconfig.get_path("purelib"), "torch", "")
_NESTED_VALUES = 5
_MAX_ITEMS = 200
_MAX_PATHS = 4000
#: Longer integers may have more digits than `repr` writes (`sys.set_int_max_str_digits`).
_MAX_BITS = 2000
#: Modules whose values have no attributes, but tell what they are.
_TOLD_BY_REPR = frozenset({"datetime", "decimal", "fractions", "pathlib", "uuid"})
#: What leads from one logger to all others, to which libraries add theirs at any time.
_LOGGER_PLUMBING = frozenset({"manager", "parent", "_cache"})
_OPAQUE = (
    types.ModuleType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.CodeType,
)


class Snapshot(NamedTuple):
    """Fingerprints by path, the paths at which tensors of a tracer were found, and floating-point tensors by theirs."""

    prints: dict[str, str]
    leaks: tuple[str, ...]
    tensors: dict[str, torch.Tensor]


def snapshot(roots: Mapping[str, object]) -> Snapshot:
    """The fingerprints of everything that is reached from named roots."""
    walker = _Walker()
    for name, value in roots.items():
        walker.visit(name, value, 0)
    return Snapshot(walker.prints, tuple(walker.leaks), walker.tensors)


def module_roots(modules: Iterable[types.ModuleType]) -> dict[str, object]:
    """The data that modules hold: their globals, attributes of their classes, closures of their functions.

    Names carry their module only where there are several modules.
    """
    listed = list(modules)
    roots: dict[str, object] = {}
    for module in listed:
        prefix = f"{module.__name__}." if len(listed) > 1 else ""
        for name, value in list(vars(module).items()):
            if name.startswith("__") or isinstance(value, _OPAQUE):
                continue
            if isinstance(value, type):
                if value.__module__ == module.__name__:
                    roots.update(_class_roots(f"{prefix}{name}", value))
            elif isinstance(value, types.FunctionType):
                roots.update(function_roots(f"{prefix}{name}", value))
            else:
                roots[f"{prefix}{name}"] = value
    return roots


def function_roots(name: str, function: types.FunctionType) -> dict[str, object]:
    """What a function keeps: its closure, its attributes, its mutable defaults."""
    roots: dict[str, object] = {}
    seen: set[int] = set()
    while id(function) not in seen:
        seen.add(id(function))
        own = function.__code__.co_filename.startswith(_AGENT)
        for variable, cell in zip(
            function.__code__.co_freevars, () if own else function.__closure__ or (), strict=False
        ):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if not isinstance(value, (*_OPAQUE, types.FunctionType, type)):
                roots[variable] = value
        defaults: tuple[Any, ...] = function.__defaults__ or ()
        for index, default in enumerate(defaults):
            if not isinstance(default, _OPAQUE):
                roots[f"{name}'s default {index + 1}"] = default
        inner = getattr(function, "__wrapped__", None)
        attributes = {key: value for key, value in vars(function).items() if not _is_plumbing(key)}
        roots.update({f"{name}.{key}": value for key, value in attributes.items()})
        if not isinstance(inner, types.FunctionType):
            break
        function = inner
    return roots


def closure_roots(function: types.FunctionType) -> dict[str, object]:
    """What a function and the functions in its closure keep, by the names of variables."""
    roots: dict[str, object] = {}
    pending, seen = [function], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        inner = getattr(one, "__wrapped__", None)
        pending += [inner] if isinstance(inner, types.FunctionType) else []
        # Wrappers of torch and of the agent lead to the user's functions; what else they keep is their own.
        own = one.__code__.co_filename.startswith((_AGENT, _TORCH))
        for variable, cell in zip(one.__code__.co_freevars, one.__closure__ or (), strict=False):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if isinstance(value, types.FunctionType):
                pending.append(value)
            elif not own and not isinstance(value, (*_OPAQUE, type)):
                roots.setdefault(variable, value)
    return roots


def _class_roots(name: str, cls: type) -> Iterator[tuple[str, object]]:
    for key, value in list(vars(cls).items()):
        if key.startswith("__") or isinstance(value, (*_OPAQUE, type, property, classmethod, staticmethod)):
            continue
        if isinstance(value, types.FunctionType):
            yield from function_roots(f"{name}.{key}", value).items()
        else:
            yield f"{name}.{key}", value


def _is_plumbing(attribute: str) -> bool:
    """Whether an attribute of a function is one that decorators and torch leave behind."""
    return attribute == "__wrapped__" or attribute.startswith(("_torch", "__", "get_compiler_config"))


class _Walker:
    """Walks values without calling their code where that can be helped, bounded in depth and number."""

    def __init__(self) -> None:
        self.prints: dict[str, str] = {}
        self.leaks: list[str] = []
        self.tensors: dict[str, torch.Tensor] = {}
        self._open: set[int] = set()

    def visit(self, path: str, value: object, depth: int) -> None:
        if len(self.prints) >= _MAX_PATHS or id(value) in self._open:
            return
        children = self._children(value) if depth < _NESTED_VALUES else None
        if children is None:
            self.prints[path] = self._leaf(path, value)
            return
        kind, items = children
        self._open.add(id(value))
        self.prints[path] = f"{kind}[{len(items)}]"
        for step, child in items[:_MAX_ITEMS]:
            self.visit(path + step, child, depth + 1)
        self._open.discard(id(value))

    def _children(self, value: object) -> tuple[str, list[tuple[str, object]]] | None:
        """The parts of a container or object with the steps that lead to them, None for a leaf."""
        import torch

        if isinstance(value, torch.nn.Module):
            own = {key: part for key, part in vars(value).items() if key not in _MODULE_PLUMBING}
            items = [(f".{key}", part) for key, part in own.items()]
            for table in (value._parameters, value._buffers, value._modules):
                items += [(f".{key}", part) for key, part in table.items()]
            return type(value).__name__, items
        if isinstance(value, torch.Tensor):
            return None
        if isinstance(value, dict):
            items = list(_data_of(value) if "__builtins__" in value else value.items())
            return type(value).__name__, [(f"[{_key(key)}]", part) for key, part in items]
        if isinstance(value, (list, tuple)) or type(value).__name__ == "deque":
            return type(value).__name__, [(f"[{index}]", part) for index, part in enumerate(list(value))]  # type: ignore[arg-type]
        if isinstance(value, (*_OPAQUE, types.FunctionType, types.MethodType, type, str, bytes, int, float, complex)):
            return None
        if type(value).__module__.split(".")[0] == "torch":
            return None
        attributes = getattr(value, "__dict__", None)
        own = {**_slots(value), **(attributes if isinstance(attributes, dict) else {})}
        if own or isinstance(attributes, dict):
            plumbing = _LOGGER_PLUMBING if isinstance(value, logging.Logger) else ()
            return type(value).__name__, [(f".{key}", part) for key, part in own.items() if key not in plumbing]
        return None

    def _leaf(self, path: str, value: object) -> str:
        import torch

        name = type(value).__name__
        if isinstance(value, torch.Tensor):
            if name in TRACING_CLASSES:
                self.leaks.append(path)
                return name
            found = _tensor(value)
            if value.is_floating_point() or value.is_complex():
                self.tensors[found] = value
            return found
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
            return f"{name} {_short(_repr(value))}"
        if isinstance(value, (set, frozenset)):
            return f"{name} {_short(repr(sorted(map(_repr, value))))}"
        if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
            return f"{name} {getattr(value, 'shape', '')} {_digest(bytes(getattr(value, 'tobytes', bytes)()))}"
        if name in {"bytearray", "array", "count"} or type(value).__module__.split(".")[0] in _TOLD_BY_REPR:
            return f"{name} {_short(_repr(value))}"
        if isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
            return f"{name} {value}"
        if isinstance(value, (types.FunctionType, types.MethodType, type)):
            return f"{name} {getattr(value, '__qualname__', '')}"
        return name


_MODULE_PLUMBING = frozenset(
    {
        "_parameters",
        "_buffers",
        "_modules",
        "_non_persistent_buffers_set",
        "_is_full_backward_hook",
        "_compiled_call_impl",
    }
    | {"_torchdynamo_orig_callable"}
)


def _tensor(tensor: Any) -> str:
    try:
        content = f"{shape_of(tensor)} {tensor_hash(tensor)}"
    except Exception as error:  # noqa: BLE001 - subclasses of tensors may raise anything
        content = type(error).__name__
    extra = "".join(f" .{key}" for key in sorted(getattr(tensor, "__dict__", None) or ()) if not key.startswith("_"))
    gradient = " grad" if tensor.requires_grad else ""
    if tensor.is_leaf and tensor.grad is not None:
        gradient += " .grad"
    return f"tensor {str(tensor.dtype).removeprefix('torch.')} {content}{gradient}{extra}"


def _data_of(namespace: dict[Any, Any]) -> Iterator[tuple[object, object]]:
    """What code keeps that ran with a dict as its globals: Dynamo adds names of its own there, as to modules."""
    return ((key, part) for key, part in namespace.items() if not (isinstance(key, str) and key.startswith("__")))


def _slots(value: object) -> dict[str, object]:
    """What an object keeps in slots of the user's classes; those of the standard library hold caches too."""
    found: dict[str, object] = {}
    for cls in type(value).__mro__:
        if "__slots__" in vars(cls) and cls.__module__.split(".")[0] not in sys.stdlib_module_names:
            for name, slot in vars(cls).items():
                if isinstance(slot, types.MemberDescriptorType):
                    try:
                        found[name] = slot.__get__(value)
                    except AttributeError:
                        continue
    return found


def _repr(value: object) -> str:
    """`repr`, which may refuse: for integers of many digits, or because a user's raises."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return hex(value)
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a user's __repr__ may raise anything
        return f"{type(value).__name__} raised {type(error).__name__}"


def _key(key: object) -> str:
    return repr(key) if isinstance(key, (str, int, float, bool, tuple)) else type(key).__name__


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:24]}...{_digest(text.encode('utf-8', 'surrogatepass'))}"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
