"""Runs programs and counts: how often Dynamo compiled, and whether the last call ran what it compiled."""

from __future__ import annotations

import ast
import functools
import gc
import itertools
import linecache
import logging
import multiprocessing
import os
import re
import sys
import types
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from journal import resumed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from guards.grammar import Row


class Counted(NamedTuple):
    """What was measured of one program with twelve values.

    `compilations` of frames with operations, `lasting`: the last call ran what was compiled. `guard` is the first that
    failed, as torch words it, without numbers; `error` is the exception that ended the program, "" if none did.
    """

    compilations: int
    lasting: bool
    guard: str = ""
    error: str = ""


class _Counter:
    """A backend that runs graphs as they are."""

    def __init__(self) -> None:
        self.compiled = 0
        self.ran = 0

    def __call__(self, graph: Any, inputs: Any) -> Any:
        self.compiled += 1

        def run(*given: Any) -> Any:
            self.ran += 1
            return graph.forward(*given)

        return run


_NUMBERS = itertools.count()
_FILE = "<program>"


def measured(rows: Sequence[Row], processes: int | None = None, journal: Path | None = None) -> list[Counted]:
    """What is counted for each program, by as many processes as there are processors; the `journal` has what was."""

    def measure(left: list[Row]) -> Iterator[Counted]:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes or os.cpu_count() or 1, context, initializer=_prepare) as pool:
            yield from pool.map(counted, left, chunksize=16)

    return resumed(rows, lambda row: f"{row.key}/{row.options}", measure, lambda told: Counted(*told), journal)


def _prepare() -> None:
    import torch

    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", category=FutureWarning)  # of keys of the configuration that are put back
    logging.getLogger("torch._dynamo").setLevel(logging.ERROR)  # reaching the limit is what is measured
    gc.freeze()


def counted(row: Row) -> Counted:
    """Run one program, in a process of its own making."""
    import torch
    from torch import _dynamo as dynamo

    dynamo.reset()
    dynamo.utils.guard_failures.clear()
    counter = _Counter()
    before, during = _divided(row.text)
    name = f"program{next(_NUMBERS)}"  # torch remembers modules by their names
    module = sys.modules[name] = types.ModuleType(name)
    namespace = vars(module)
    namespace["counting"] = counter
    # A function without a source is called through one of torch's (`eval_frame.py`: `filename is None`).
    linecache.cache[_FILE] = (len(row.text), None, row.text.splitlines(keepends=True), _FILE)
    last, error = 0, ""
    plain, config = torch.compile, dynamo.config.get_config_copy()
    torch.compile = functools.partial(_compile, plain, counter)
    try:
        exec(compile(before, _FILE, "exec"), namespace)  # noqa: S102 - programs of the grammar
        for value in namespace["VALUES"]:
            namespace["value"] = value
            seen = counter.ran
            exec(during, namespace)  # noqa: S102
            last = counter.ran - seen
    except Exception as raised:  # noqa: BLE001 - whatever torch raises ends the program
        error = type(raised).__name__
    finally:
        torch.compile = plain
        del sys.modules[name]
        dynamo.config.load_config(config)
    return Counted(counter.compiled, bool(last), _failed(dynamo.utils.guard_failures), error)


def _compile(compiler: Any, counter: _Counter, *given: Any, **options: Any) -> Any:
    return compiler(*given, **{"backend": counter, **options})  # as it calls itself with what it is given


def _divided(text: str) -> tuple[str, Any]:
    """What stands before the loop over the values, and its body."""
    tree = ast.parse(text)
    loop = next(statement for statement in reversed(tree.body) if isinstance(statement, ast.For))
    before = "\n".join(text.split("\n")[: loop.lineno - 1])
    return before, compile(ast.Module(loop.body, []), "<loop>", "exec")


def _failed(failures: Any) -> str:
    """The first guard that failed: what is asked, and of what."""
    reasons = [reason for told in failures.values() for reason in told]
    if not reasons:
        return ""
    text = re.sub(r"^\d+/\d+: ", "", str(reasons[0])).split("#")[0].split("\n")[0].split(". ")[0]
    return re.sub(r"\s+", " ", re.sub(r", \d{9,}\)", ", ...)", text)).strip()
