"""Custom operators that a program registers: where it does, and what `torch.library.opcheck` says of its calls of them.

The calls are those that regions make in eager code; each operator is checked with what it was given there.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

#: The tests of `opcheck` that are run: whether the schema, and whether the fake, tells what the operator does.
TESTS = ("test_schema", "test_faketensor")
_MAX_CALLS = 3
_MAX_TEXT = 200


class _Call(NamedTuple):
    operator: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


class Operators:
    """The operators that a program registers, and their calls."""

    def __init__(self, is_user: Callable[[str], bool], on_registered: Callable[[], None]) -> None:
        """Remember which files are the user's, and what is to be done whenever one of these registers something."""
        self._is_user = is_user
        self._on_registered = on_registered
        #: By qualified name, the (file, line) of what registers, and of the functions that are registered.
        self._places: dict[str, set[tuple[str, int]]] = {}
        self._calls: dict[str, list[_Call]] = {}
        self._called: dict[str, set[tuple[str, int]]] = {}
        #: By qualified name, what stands for an operator where tensors have no numbers; torch prefers one named so.
        self._fakes: dict[str, Callable[..., Any]] = {}
        self._kernels_for_meta: dict[str, Callable[..., Any]] = {}

    def fakes(self) -> dict[str, Callable[..., Any]]:
        """The functions that torch runs as fakes, as the program wrote them, by the qualified names of operators."""
        from torch._library import custom_ops

        named = {**self._kernels_for_meta, **self._fakes}
        # What is registered for these is torch's own, and calls the program's.
        defined = {name: custom_ops.OPDEFS[name]._abstract_fn for name in self._places if name in custom_ops.OPDEFS}
        return {name: fake for name, fake in {**named, **defined}.items() if fake is not None}

    def install(self) -> None:
        """Note from now on what is registered, in this process, which ends with the experiment."""
        from torch._library.custom_ops import CustomOpDef
        from torch.library import Library

        for name in ("define", "impl", "_register_fake"):
            self._wrap(Library, name, _name_in_library)
        for name in ("__init__", "register_fake", "register_kernel"):
            self._wrap(CustomOpDef, name, _name_of_definition)

    def _wrap(self, owner: Any, name: str, named: Callable[[Any, tuple[Any, ...], Any], str]) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def register(itself: Any, *arguments: Any, **keywords: Any) -> Any:
            result = original(itself, *arguments, **keywords)
            place = self._caller()
            if place is not None:
                self._on_registered()
                operator = named(itself, arguments, result)
                places = self._places.setdefault(operator, set())
                places.add(place)
                functions = [one for one in (*arguments, *keywords.values()) if hasattr(one, "__code__")]
                places.update((one.__code__.co_filename, one.__code__.co_firstlineno) for one in functions)
                if name == "_register_fake" and functions:
                    self._fakes[operator] = functions[0]
                elif name == "impl" and _is_for_meta(itself, *arguments, **keywords):
                    self._kernels_for_meta[operator] = functions[0]
            return result

        setattr(owner, name, register)

    def _caller(self) -> tuple[str, int] | None:
        """The innermost line of the user's that is being executed."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and not self._is_user(frame.f_code.co_filename):
            frame = frame.f_back
        return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    @contextlib.contextmanager
    def followed(self) -> Generator[None]:
        """Calls in here are those of regions."""
        from torch.utils._python_dispatch import TorchDispatchMode

        note = self._note

        class Following(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                note(func, args, kwargs or {})
                return func(*args, **(kwargs or {}))

        with Following():
            yield

    def _note(self, operator: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        name = operator.name().partition(".")[0]
        calls = self._calls.setdefault(name, []) if name in self._places else None
        if calls is None:
            return
        place = self._caller()
        if place is not None:
            self._called.setdefault(name, set()).add(place)
        if len(calls) < _MAX_CALLS:
            calls.append(_Call(operator, *_copied((arguments, keywords))))

    def told(self) -> list[dict[str, Any]]:
        """The operators that were called.

        For each its `name`, its `places`, the lines where it was `called`, the number of calls that were `checked`,
        and what `failed`, by test.
        """
        return [
            {
                "name": name,
                "places": sorted(map(list, self._places[name])),
                "called": sorted(map(list, self._called.get(name, ()))),
                **_checked(calls),
            }
            for name, calls in self._calls.items()
        ]


def _name_in_library(library: Any, arguments: tuple[Any, ...], _: Any) -> str:
    """The operator that `define`, `impl` or `_register_fake` is about, from its schema, name or overload."""
    told = arguments[0]
    name = told.name() if hasattr(told, "_schema") else str(told)
    name = name.partition("(")[0].partition(".")[0].strip()
    return name if "::" in name else f"{library.ns}::{name}"


def _is_for_meta(
    library: Any, op_name: Any, fn: Any, dispatch_key: str = "", *, with_keyset: bool = False, **_: Any
) -> bool:
    """Whether a function is for meta tensors alone, and is passed what the operator is; parameters as in `impl`."""
    return (dispatch_key or library.dispatch_key) == "Meta" and not with_keyset and hasattr(fn, "__code__")


def _name_of_definition(definition: Any, *_: Any) -> str:
    return f"{definition._namespace}::{definition._name}"


def _copied(value: Any) -> Any:
    import torch
    from torch.utils import _pytree

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().clone(memory_format=torch.preserve_format).requires_grad_(tensor.requires_grad)

    return _pytree.tree_map_only(torch.Tensor, copy, value)


def _checked(calls: list[_Call]) -> dict[str, Any]:
    """What the tests of `opcheck` say. Where the operator itself raises, nothing is known of what it declares."""
    import torch

    failed: dict[str, str] = {}
    checked = 0
    for call in calls:
        arguments, keywords = _copied((call.arguments, call.keywords))
        try:
            call.operator(*arguments, **keywords)
        except Exception:  # noqa: BLE001, S112 - whatever it raises is none of its declarations
            continue
        checked += 1
        arguments, keywords = _copied((call.arguments, call.keywords))
        answers = torch.library.opcheck(call.operator, arguments, keywords, test_utils=TESTS, raise_exception=False)
        for test, error in answers.items():
            if isinstance(error, BaseException):
                failed.setdefault(test, f"{type(error).__name__}: {error}".split("\n")[0][:_MAX_TEXT])
    return {"checked": checked, "failed": failed}
