"""What a region runs, and where that is defined: of a function its code, of a module that of its `forward`."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

_AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: The file of torch in which a call of something compiled begins.
_ENTRY = os.path.join("torch", "_dynamo", "eval_frame.py")
#: The file of the methods by which a module is called.
_CALLS = os.path.join("torch", "nn", "modules", "module.py")
#: What wrappers of torch call that which they wrap, and that by which it is compiled (torch 2.13, `eval_frame.py`,
#: `external_utils.py`).
_WRAPPED, _COMPILER = "fn", "callback"


class Where(NamedTuple):
    """A region: the qualified name of its function, and where that begins.

    Of one that is a library's, the path and line are those of the user's that call it.
    """

    function: str
    path: str
    line: int


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """The code that a region runs; None if it has none that is Python's."""
    return getattr(inspect.unwrap(getattr(function, "forward", function)), "__code__", None)


def first_line(function: Callable[..., Any]) -> int:
    """Where the code of a region begins: cells define a function of one name again and again. 0 if it has none."""
    code = code_of(function)
    return code.co_firstlineno if code is not None else 0


def definition(function: Callable[..., Any]) -> dict[str, str]:
    """The file and the qualified name of a region's function, `CLASS.forward` for a module; none for our own."""
    code = code_of(function)
    plain = inspect.unwrap(getattr(function, "forward", function))
    name = str(getattr(plain, "__qualname__", ""))
    return {"path": code.co_filename, "function": name} if code is not None and not _is_ours(code) else {}


def _is_ours(code: CodeType) -> bool:
    """Whether a region was made for an experiment."""
    return os.path.dirname(code.co_filename) == _AGENT


def calling(is_user: Callable[[str], bool]) -> list[list[Any]]:
    """The user's line that is being executed while something of a library is compiled, as `[[path, line, -1, -1]]`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_user(frame.f_code.co_filename):
        frame = frame.f_back
    return [] if frame is None else [[os.path.abspath(frame.f_code.co_filename), frame.f_lineno, -1, -1]]


def region_called(code: CodeType, is_user: Callable[[str], bool]) -> Where:
    """The region that is being called while some code is compiled: the innermost one, else the code itself."""
    compiled = _called()
    own = code if compiled is None else code_of(compiled)
    if compiled is None:
        name = str(getattr(code, "co_qualname", code.co_name))
    else:
        name = definition(compiled).get("function") or str(getattr(compiled, "__qualname__", type(compiled).__name__))
    if own is not None and is_user(own.co_filename):
        return Where(name, os.path.abspath(own.co_filename), own.co_firstlineno)
    lines = calling(is_user) or [[os.path.abspath(code.co_filename), code.co_firstlineno]]
    return Where(name, *lines[0][:2])


def _called() -> Callable[..., Any] | None:
    """What `torch.compile` was given, of the innermost call of something compiled; None outside of any."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith(_ENTRY):
            wrapped, compiler = (frame.f_locals.get(name) for name in (_WRAPPED, _COMPILER))
            if callable(wrapped) and callable(compiler):
                return _unwrapped(wrapped)
        frame = frame.f_back
    return None


def _unwrapped(function: Any) -> Callable[..., Any]:
    """The module or function behind a call of a module, a partial application, and the wrapper around a library's."""
    while True:
        owner: Any = getattr(function, "__self__", None)
        cells = getattr(function, "__closure__", None)
        if hasattr(owner, "forward") and _file_of(function).endswith(_CALLS):
            return owner  # called as a module; a method of one that is compiled is itself
        if isinstance(function, functools.partial):
            function = function.func
        elif cells and getattr(function, "__code__", None) is not None and _of_torch(function):
            names = function.__code__.co_freevars
            if _WRAPPED not in names:
                return function
            function = cells[names.index(_WRAPPED)].cell_contents
        else:
            return function


def _of_torch(function: Any) -> bool:
    return f"{os.sep}torch{os.sep}_dynamo{os.sep}" in _file_of(function)


def _file_of(function: Any) -> str:
    """The file of a function or method, "" of what has no code."""
    return str(getattr(getattr(function, "__code__", None), "co_filename", ""))
