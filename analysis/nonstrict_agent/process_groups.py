"""A default process group in one process, for code that needs one: two ranks, of which this is the first.

It is the backend `fake` of torch, which sends nothing and waits for nobody. Measured on torch 2.13: gathering and
exchanging give what all ranks would if they had what this one has, sums are not summed, and what is received or
broadcast by another rank is whatever the memory held. With one rank, code takes ways of its own; with two, it does what
it does with any number of them.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, TracebackType

#: How many ranks there are.
RANKS = 2


class UnavailableError(Exception):
    """This torch has no such group; the text says why."""


class _Process:
    """What is known of the groups of this process."""

    def __init__(self) -> None:
        self.making = False
        self.made = False
        self.own = False


_process = _Process()


def default_group() -> Any:
    """The default process group: that of the program, if it has made one, else one that is made now.

    Raises:
        UnavailableError: none can be made.
    """
    import torch.distributed as dist

    if not dist.is_available():
        raise UnavailableError("this torch is built without torch.distributed")
    if not dist.is_initialized():
        _make()
    return dist.group.WORLD


def device_mesh(names: tuple[str, ...]) -> Any:
    """A mesh with a dimension for each of some names, or a single one without, over all ranks of the default group.

    Raises:
        UnavailableError: none can be made.
    """
    default_group()
    from torch.distributed.device_mesh import init_device_mesh

    shape = (RANKS, *(1 for _ in names[1:]))
    try:
        return init_device_mesh("cpu", shape, mesh_dim_names=names or None)
    except Exception as error:
        raise UnavailableError(f"a device mesh cannot be made: {error}") from error


def watch() -> None:
    """Note from now on whether the program makes a default group, or tries to."""
    import torch.distributed as dist

    if not dist.is_available():
        return
    from torch.distributed import distributed_c10d

    original = distributed_c10d.init_process_group

    @functools.wraps(original)
    def init_process_group(*arguments: Any, **keywords: Any) -> Any:
        _process.own = _process.own or not _process.making
        return original(*arguments, **keywords)

    dist.init_process_group = distributed_c10d.init_process_group = init_process_group


def told() -> dict[str, Any]:
    """How many ranks the group has that was made here, 0 without one; whether the program tried to make its own."""
    return {"ranks": RANKS if _process.made else 0, "own": _process.own}


def is_asked_for(error: BaseException | None) -> bool:
    """Whether an error is that of torch where a program asks for the default group, and there is none."""
    asking = _asking()
    return any(code in asking for code in _raising(error)) if asking else False


def given_for(error: BaseException | None) -> bool:
    """Whether a default group was made because an error asks for one: what raised it may be tried again."""
    if not is_asked_for(error):
        return False
    try:
        default_group()
    except UnavailableError:
        return False
    return _process.made


def _make() -> None:
    import torch.distributed as dist

    _process.making = True
    try:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        dist.init_process_group(backend="fake", rank=0, world_size=RANKS, store=FakeStore())
    except Exception as error:
        raise UnavailableError(f"a process group cannot be made: {error}") from error
    finally:
        _process.making = False
    _process.made = True


def _asking() -> frozenset[CodeType]:
    """The functions of torch that raise where there is no default group."""
    owner = sys.modules.get("torch.distributed.distributed_c10d")
    functions = (getattr(owner, name, None) for name in ("_get_default_group", "_get_default_store"))
    codes = (getattr(one, "__code__", None) for one in functions)
    return frozenset(code for code in codes if code is not None)


def _raising(error: BaseException | None) -> Iterator[CodeType]:
    """The code that raised an error and each of those behind it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        trace: TracebackType | None = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is not None:
            yield trace.tb_frame.f_code
        error = error.__cause__ or error.__context__
