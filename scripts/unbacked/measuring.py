"""Runs marked functions without the compiler and with it, each in a fork of a process that has compiled before."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unbacked.grammar import MADE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unbacked.bodies import Body

_SECONDS = 120


class Verdict(NamedTuple):
    """What becomes of a body: "agrees", "fails", "differs", or "broken" where plain Python raises."""

    outcome: str
    message: str = ""


def measured(bodies: Iterable[Body], backend: str, processes: int) -> list[Verdict]:
    """The verdicts of bodies, in their order."""
    _warm(backend)
    with ThreadPoolExecutor(processes) as pool:
        return list(pool.map(lambda body: _forked(body, backend), bodies))


def _warm(backend: str) -> None:
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.compile(lambda x: x.sin() + 1, backend=backend, fullgraph=True)(torch.ones(3))


def _forked(body: Body, backend: str) -> Verdict:
    descriptor, name = tempfile.mkstemp(suffix=".json")
    os.close(descriptor)
    pid = os.fork()
    if not pid:
        try:
            Path(name).write_text(json.dumps(_tried(body, backend)), encoding="utf-8")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    text = Path(name).read_text(encoding="utf-8")
    Path(name).unlink()
    return Verdict(*json.loads(text)) if text else Verdict("broken", "the process ended")


def _tried(body: Body, backend: str) -> Verdict:
    import signal

    import torch

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    signal.alarm(_SECONDS)
    program = body.program()
    try:
        expected = _run(program, "eager-plain")
    except Exception as error:  # noqa: BLE001 - whatever is raised is the answer
        return Verdict("broken", repr(error))
    try:
        found = _run(program, backend)
    except Exception as error:  # noqa: BLE001 - whatever is raised is the answer
        return Verdict("fails", f"{type(error).__name__}: {error}"[:300])
    torch.set_printoptions(threshold=100)
    return Verdict("agrees") if _same(expected, found) else Verdict("differs", f"{expected} is now {found}"[:300])


def _run(program: str, backend: str) -> Any:
    import functools

    import torch

    plain: Callable[..., Any] = torch.compile
    changed = (
        functools.partial(torch.compile, backend=backend)
        if backend != "eager-plain"
        else lambda **_: lambda function: function
    )
    torch.compile = changed
    try:
        names: dict[str, Any] = {"__name__": "measured"}
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(program)
            file.flush()
            exec(compile(program, file.name, "exec"), names)  # noqa: S102 - the program is made here
    finally:
        torch.compile = plain
    torch.manual_seed(0)
    return names["region"](*(eval(made, {"torch": torch}) for made in MADE.values()))  # noqa: S307 - as above


def _same(one: Any, other: Any) -> bool:
    import torch

    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and one.dtype == other.dtype and torch.allclose(one, other, equal_nan=True)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other) or (isinstance(one, float) and abs(one - other) < 1e-5)
