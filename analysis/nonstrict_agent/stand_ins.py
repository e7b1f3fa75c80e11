"""What stands for things that could not be made: a package that is not installed, a statement that failed.

While a program is loaded, what is made from a stand-in is one: its attributes, what calling, decorating with or
deriving from it gives. Afterwards each use raises, and one inside a call that is compared is noted: what such a call
shows is not what the program does.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NoReturn

from nonstrict_agent.progress_bars import bar

if TYPE_CHECKING:
    from collections.abc import Generator


class MissingModuleError(ImportError):
    """What could not be made is needed after all."""


class _Process:
    """What the program of this process is at, and which stand-ins a call that is compared has used."""

    def __init__(self) -> None:
        self.loading = False
        self.compared = False
        self.used: list[str] = []
        self.uses = 0


_process = _Process()


@contextlib.contextmanager
def loading() -> Generator[None]:
    """Code that defines what the program consists of: stand-ins make stand-ins."""
    before = _process.loading
    _process.loading = not _process.compared
    try:
        yield
    finally:
        _process.loading = before


@contextlib.contextmanager
def compared(used: list[str]) -> Generator[None]:
    """A call that is compared; `used` gets a sentence for each stand-in that is used in it."""
    before = _process.loading, _process.compared, _process.used
    _process.loading, _process.compared, _process.used = False, True, used
    try:
        yield
    finally:
        _process.loading, _process.compared, _process.used = before


def is_compared() -> bool:
    """Whether a call is going on that is compared."""
    return _process.compared


def uses() -> int:
    """How often stand-ins were used so far, where that gave another one and where it was refused."""
    return _process.uses


class StandIn:
    """Stands for what has a name and could not be made, for a reason."""

    __slots__ = ("__stood_for__",)

    def __init__(self, name: str, reason: str) -> None:
        """`reason` is the end of a sentence about it: "could not be imported: ..."."""
        object.__setattr__(self, "__stood_for__", (name, reason))

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute.endswith("__"):
            if _process.compared:
                _note(self)
            # Protocols ask for these, and go without.
            raise AttributeError(attribute)
        return _made(self, f".{attribute}")

    def __setattr__(self, attribute: str, value: object) -> None:
        _made(self, "")

    def __delattr__(self, attribute: str) -> None:
        _made(self, "")

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        """A stand-in too: also for a function that this decorates, which without it is another one.

        A progress bar gives what it is given.
        """
        shown = None if _process.compared else bar(_of(self)[0], arguments, keywords)
        return _made(self, "()") if shown is None else shown

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """A base whose classes are stand-ins."""
        _made(self, "")
        return (type.__new__(_Deriving, "StandIn", (), {"__stood_for__": (self,)}),)

    def __getitem__(self, key: object) -> Any:
        return _made(self, "[]")

    def __or__(self, other: object) -> Any:
        """A union in an annotation."""
        return _made(self, "")

    __ror__ = __or__

    def __eq__(self, other: object) -> Any:
        # `typing` compares what stands in an annotation with classes and its own special forms.
        if _process.loading and (isinstance(other, type) or getattr(other, "__module__", "") == "typing"):
            return False
        return self is other or _refused(self)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<stand-in for {_of(self)[0]}>"


class _Deriving(type):
    """Makes stand-ins in place of classes."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_keywords: object) -> Any:
        stood_for = next(vars(base)["__stood_for__"][0] for base in bases if isinstance(base, _Deriving))
        return StandIn(name, f"is derived from `{_of(stood_for)[0]}`, which {_of(stood_for)[1]}")


def _of(stand_in: StandIn) -> tuple[str, str]:
    """The name and the reason."""
    return object.__getattribute__(stand_in, "__stood_for__")


def _note(stand_in: StandIn) -> str:
    name, reason = _of(stand_in)
    _process.uses += 1
    told = f"`{name}` {reason}"
    if _process.compared and told not in _process.used:
        _process.used.append(told)
    return told


def _refused(stand_in: StandIn, *_others: object, **_keywords: object) -> NoReturn:
    """Refuse a use that has an answer, which nobody knows."""
    raise MissingModuleError(_note(stand_in))


def _made(stand_in: StandIn, step: str) -> StandIn:
    if not _process.loading:
        _refused(stand_in)
    _process.uses += 1
    name, reason = _of(stand_in)
    if not step or step == "()":
        return StandIn(name, reason)
    return StandIn(f"{name}{step}", reason)


#: Operations whose results programs decide or compute by.
_REFUSED = (
    *("bool", "len", "iter", "next", "contains", "index", "int", "float", "complex", "str", "format", "bytes"),
    *("lt", "le", "gt", "ge", "ne", "neg", "pos", "abs", "invert", "enter", "exit", "aenter", "aexit", "await"),
    *("setitem", "delitem", "instancecheck", "subclasscheck", "fspath", "reversed", "round", "aiter", "anext"),
    *(
        f"{side}{name}"
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "xor", "lshift")
        for side in ("", "r")
    ),
    *("rshift", "rrshift", "divmod", "rdivmod", "array"),
)
for _name in _REFUSED:
    setattr(StandIn, f"__{_name}__", _refused)
