"""Classes and functions as users write them; constructs use them as globals of a compiled region."""

# ruff: noqa: D101, D102, D103 -- a program like those of users, whose parts their names explain
# pyright: reportUntypedFunctionDecorator=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import abc
import contextlib
import dataclasses
import enum
import functools
import typing
from typing import TYPE_CHECKING, Any

import torch
import torch._dynamo
import torch.overrides
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from typing_extensions import deprecated

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()


class Pair(typing.NamedTuple):
    left: int
    right: int


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0

    def doubled(self) -> Point:
        return Point(self.x * 2, self.y * 2)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> int: ...


class Square(Shape):
    __slots__ = ("side",)

    def __init__(self, side: int) -> None:
        self.side = side

    def area(self) -> int:
        return self.side * self.side


class Holder:
    """A plain object with attributes, a property, operators and a context."""

    shared: typing.ClassVar[list[int]] = []

    def __init__(self) -> None:
        self.count = 0
        self.items: list[Any] = []

    @property
    def size(self) -> int:
        return len(self.items)

    @size.setter
    def size(self, value: int) -> None:
        self.items = [0] * value

    @functools.cached_property
    def cached(self) -> int:
        return 3

    @classmethod
    def make(cls) -> Holder:
        return cls()

    @staticmethod
    def twice(value: Any) -> Any:
        return value * 2

    def __call__(self, value: Any) -> Any:
        return value * 2

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        return index

    def __contains__(self, item: Any) -> bool:
        return item == 1

    def __iter__(self) -> Any:
        return iter([1, 2])

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def __del__(self) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name == "dynamic":
            return 4
        raise AttributeError(name)


class Kept:
    """A plain object that holds tensors, one of them in a list."""

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value
        self.seen = [value]


class Countdown:
    """An iterator written by hand."""

    def __init__(self, start: int) -> None:
        self.left = start

    def __iter__(self) -> Countdown:
        return self

    def __next__(self) -> int:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return super().__call__(*args)


class WithMeta(metaclass=Meta):
    def __init__(self, value: int) -> None:
        self.value = value


class Net(nn.Module):
    """A module with a parameter, a buffer and submodules."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])
        self.named = nn.ModuleDict({"a": nn.Linear(3, 3)})
        self.register_buffer("running", torch.zeros(3))
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2


@contextlib.contextmanager
def own_context(value: int = 1) -> Generator[int]:
    yield value


@contextlib.asynccontextmanager
async def own_async_context() -> AsyncGenerator[int]:
    yield 1


def counting(limit: int) -> Any:
    yield from range(limit)


def helper(value: Any, *args: Any, scale: int = 2, **options: Any) -> Any:
    return value * scale


@torch.compiler.disable
def disabled(value: Any) -> Any:
    return value


@torch._dynamo.disable(recursive=False)
def disabled_alone(value: Any) -> Any:
    return value


@torch._dynamo.dont_skip_tracing
def not_skipped(value: Any) -> Any:
    return value


@torch._dynamo.nonstrict_trace
def nonstrict(value: torch.Tensor) -> torch.Tensor:
    return value * 2


@torch.compiler.allow_in_graph
def in_graph(value: torch.Tensor) -> torch.Tensor:
    return value * 2


@torch.compiler.assume_constant_result
def constant() -> int:
    return 3


@torch.jit.script
def scripted(value: torch.Tensor) -> torch.Tensor:
    return value * 2


@torch.library.custom_op("graphbreaks::doubled", mutates_args=())
def custom(value: torch.Tensor) -> torch.Tensor:
    return value * 2


@custom.register_fake
def _(value: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(value)


@functools.lru_cache
def remembered(value: int) -> int:
    return value + 1


@functools.singledispatch
def dispatched(value: Any) -> int:
    return 1


@dispatched.register
def _(value: int) -> int:
    return 2


async def coroutine(value: Any) -> Any:
    return value


async def async_counting(limit: int) -> Any:
    for index in range(limit):
        yield index


def fails(*args: Any) -> Any:
    raise ValueError("no")


class FunctionMode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


class OwnTensor(torch.Tensor):
    pass


@deprecated("there is another one")
def deprecated_helper(value: Any) -> Any:
    return value * 2


def not_scripted(value: torch.Tensor) -> torch.Tensor:
    return value * 2
