"""Decides for each construct whether Dynamo breaks on it, in as many processes as there are processors."""

# ruff: noqa: SIM905 -- a long list reads better as text

from __future__ import annotations

import gc
import multiprocessing
import os
import pkgutil
import re
import shutil
import tempfile
import types
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from journal import resumed

from graph_breaks import trying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from graph_breaks.reading import Construct

Told = TypeVar("Told")


class Verdict(NamedTuple):
    """Whether a construct breaks (None: could not be told), and torch's type and message where it does.

    `origin` is `measured`, or `trace-rules` where only Dynamo's own table was asked.
    """

    key: str
    breaks: bool | None
    type: str = ""
    message: str = ""
    origin: str = "measured"


def verdict(construct: Construct) -> Verdict:
    """Tries the ways to write a construct until one is traced; only those that plain Python can run count."""
    if construct.harmful:
        return by_rules(construct.key)
    ways = trying.accepted(construct.ways) if construct.swept else construct.ways
    refusals: list[trying.Outcome] = []
    for code in ways:
        outcome = trying.tried(code, compiled=True)
        if outcome.state == "ok":
            return Verdict(construct.key, breaks=False)
        must_run = construct.plain and not construct.swept
        if outcome.state == "broke" and (not must_run or trying.tried(code, compiled=False).state == "ok"):
            refusals.append(outcome)
    if refusals:
        return Verdict(construct.key, breaks=True, type=refusals[0].type, message=refusals[0].message)
    return by_rules(construct.key) if construct.swept else Verdict(construct.key, breaks=None)


SKIPPED = "Attempted to call function marked as skipped"
RULED = (
    SKIPPED
    + """
  Explanation: Dynamo's rules name `{name}` as a function that it does not trace.

 For more details about this graph break, please visit: {link}
"""
)


def by_rules(key: str) -> Verdict:
    """What Dynamo's table of functions says of a function that was not called; nothing about classes and methods."""
    kind, _, name = key.partition(":")
    if kind != "call" or not _is_skipped(name):
        return Verdict(key, breaks=None)
    from torch._dynamo.exc import get_gbid_documentation_link

    message = RULED.format(name=name, link=get_gbid_documentation_link(SKIPPED))
    return Verdict(key, breaks=True, type=SKIPPED, message=message, origin="trace-rules")


def _is_skipped(name: str) -> bool:
    from torch._dynamo import trace_rules
    from torch._dynamo.variables.functions import SkipFunctionVariable

    if name.startswith(HANDLED):
        return False
    function = pkgutil.resolve_name(name)
    if isinstance(function, type) or not isinstance(function, FUNCTIONS):
        return False
    if trace_rules.lookup(function) is SkipFunctionVariable:
        return True
    return isinstance(function, types.FunctionType) and bool(trace_rules.check(function, is_inlined_call=True))


# Dynamo has ways of its own to trace much of these, whatever its table says.
HANDLED = ("builtins.", "operator.", "numpy.", "re.", "keyword.", "typing.", "importlib.", "sys.exc")
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def measured(constructs: list[Construct], processes: int | None = None, journal: Path | None = None) -> list[Verdict]:
    """Verdicts of all constructs, sorted by key; the `journal` has those that were reached before."""

    def measure(left: list[Construct]) -> Iterator[Verdict]:
        return in_processes(verdict, left, processes)

    verdicts = resumed(constructs, lambda construct: construct.key, measure, lambda told: Verdict(*told), journal)
    return settled(verdicts, constructs)


def in_processes(
    ask: Callable[[Construct], Told], constructs: list[Construct], processes: int | None
) -> Iterator[Told]:
    """What is answered for each construct, by as many processes as there are processors."""
    scratch = tempfile.mkdtemp(prefix="graph-breaks-")
    context = multiprocessing.get_context("spawn")
    workers = processes or os.cpu_count() or 1
    try:
        with ProcessPoolExecutor(workers, context, initializer=_prepare, initargs=(scratch,)) as pool:
            yield from pool.map(ask, constructs, chunksize=8)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


# Graph breaks that are about the called function itself; others, such as failures on fake tensors, may be due to the
# arguments that the sweep tried.
OF_THE_FUNCTION = frozenset(
    """
GB0001 GB0007 GB0008 GB0033 GB0036 GB0045 GB0046 GB0059 GB0082 GB0098 GB0099 GB0107 GB0108 GB0117 GB0123 GB0125 GB0126
GB0142 GB0147 GB0148 GB0156 GB0157 GB0158 GB0180 GB0206 GB0208 GB0262 GB0264 GB0277 GB0291 GB0294 GB0363 GB0374 GB0467
GB4198 GB4841 GB6215 GB6815 GB7650 GB8977 GB9193
""".split()
)


def settled(verdicts: list[Verdict], constructs: list[Construct]) -> list[Verdict]:
    """The verdicts sorted by key; swept ones are withdrawn where a break does not tell about the function itself.

    That is so for most ids, and for the bare call of a context manager that is traced in a `with` statement.
    """
    swept = {construct.key for construct in constructs if construct.swept}
    entered = {verdict.key.partition(":")[2] for verdict in verdicts if _is_traced_with(verdict)}
    result: list[Verdict] = []
    for verdict in sorted(verdicts):
        doubtful = verdict.breaks and verdict.key in swept
        if doubtful and (verdict.key.removeprefix("call:") in entered or _id(verdict) not in OF_THE_FUNCTION):
            result.append(Verdict(verdict.key, breaks=None))
        else:
            result.append(verdict)
    return result


def _is_traced_with(verdict: Verdict) -> bool:
    return verdict.breaks is False and verdict.key.startswith("with:")


def _id(verdict: Verdict) -> str:
    found = re.search(r"/(gb\d+)\.html", verdict.message)
    return found.group(1).upper() if found else ""


def _prepare(scratch: str) -> None:
    """Readies a process: what every try needs is imported and has run once, and the scratch directory is its own."""
    import torch

    os.chdir(tempfile.mkdtemp(dir=scratch))
    torch.set_num_threads(1)
    trying.run("x * 2", compiled=True)
    # Forked processes share what is there by now: no collection may touch it.
    gc.freeze()
    gc.disable()
