"""Shows what torch makes of a function: its graphs as text, or the code that Inductor generates."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.check.venues import chosen_python
from nonstrict.confirm.arms import Limits
from nonstrict.confirm.client import Agent, AgentUnavailable
from nonstrict.confirm.devices import device_for
from nonstrict.confirm.input_sources import found_drivers, given_drivers, search_job
from nonstrict.confirm.launching import agent_options
from nonstrict.confirm.programs import Program, Schedule, drivers_for, job_of, program_of, whole, widened
from nonstrict.confirm.suspects import Suspect
from nonstrict.confirm.traces import cause_of
from nonstrict.knowledge.markers import may_mark
from nonstrict.rules.expectation import Expectation

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from nonstrict.confirm.arms import Runner
    from nonstrict.confirm.client import Ready, State
    from nonstrict.confirm.drivers import Driver
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAX_DRIVERS = 4
_MAX_LISTED = 8


class ShowError(Exception):
    """Nothing can be shown; the text says why, and what to do."""


class Showing(NamedTuple):
    """What torch makes of a function, as text, and where it came from.

    `origins` are lines of the text from 0, each with a file and a line in its code from 1.
    """

    text: str
    origins: tuple[tuple[int, str, int], ...]


class _Function(NamedTuple):
    """A function of a file: its qualified name, and the lines from its first decorator to its end."""

    name: str
    first: int
    last: int
    marked: bool


def show(
    path: str,
    function: str,
    kind: str,
    settings: Settings,
    options: argparse.Namespace,
    on_state: Callable[[State], None] | None,
    trusted: Callable[[str], bool],
    on_notice: Callable[[str], None],
) -> Showing:
    """The graphs (`kind` is "graph") or the code ("code") that torch makes of a function, as text.

    `trusted` and `on_notice`: see `ConfirmOptions`.

    Raises:
        ShowError: there is no such function, nothing calls it and no arguments are found, or it does not compile.
    """
    from nonstrict.text.source import UnreadableSource, read_source

    try:
        source = read_source(path)
    except UnreadableSource as error:
        raise ShowError(f"{path}: {error}") from error
    # What cannot be shown at all is told before anything is started.
    target_in(source, function, settings)
    python = chosen_python(settings, trusted)
    if python.notice:
        on_notice(python.notice)
    chosen = agent_options(options.device, options.isolation, slots=1)
    try:
        with Agent(python.path, Path(settings.root), chosen, on_state=on_state) as agent:
            ready = agent.wait_ready()
            limits = Limits(options.timeout, device_for(options.device, ready), full_import=options.full_import)
            return show_with(agent, ready, limits, source, function, kind, settings)
    except AgentUnavailable as error:
        raise ShowError(f"nothing can be compiled: {error}") from error


def show_with(
    runner: Runner,
    ready: Ready,
    limits: Limits,
    source: Source,
    function: str,
    kind: str,
    settings: Settings,
    overlays: Mapping[str, str] | None = None,
) -> Showing:
    """The same for a text, in an agent that is ready; `overlays` are the unsaved texts of other files.

    Raises:
        ShowError: see `show`.
    """
    path = source.path
    program, chosen = target_in(source, function, settings, overlays)
    answer = _Shower(runner, program, chosen, kind, limits).answer()
    # Editors name files by their whole path, people by that from the project's root.
    below = os.path.join(os.path.abspath(settings.root), "")
    target = f"{path.removeprefix(below)}::{chosen.name}"
    return _showing(answer, chosen, kind, target, f"torch {ready.torch}, {limits.device}")


def target_in(
    source: Source, function: str, settings: Settings, overlays: Mapping[str, str] | None = None
) -> tuple[Program, _Function]:
    """The program of a text, and the function in it that is meant.

    Raises:
        ShowError: it does not parse, or there is no such function.
    """
    path = source.path
    root = os.path.abspath(settings.root)
    others = {name: text for name, text in (overlays or {}).items() if name != os.path.abspath(path)}
    program = program_of(os.path.abspath(path), source.code, root, others, in_cells=bool(source.cells))
    if program is None:
        raise ShowError(f"{path} does not parse: `nonstrict check {path}` says where")
    return program, _function(program, function, path)


def _function(program: Program, wanted: str, path: str) -> _Function:
    """The function that is meant: by its qualified name, by its last part, or the only marked one."""
    functions = list(_functions(program.tree.body, ""))
    marked = [one for one in functions if one.marked]
    if not wanted:
        if len(marked) == 1:
            return marked[0]
        raise ShowError(f"say which function, as {path}::FUNCTION: {_listed(marked or functions)}")
    found = [one for one in functions if one.name == wanted]
    found = found or [one for one in functions if one.name.rpartition(".")[2] == wanted]
    if not found:
        raise ShowError(f"{path} has no function `{wanted}`; it has {_listed(marked or functions)}")
    if len({one.name for one in found}) > 1:
        raise ShowError(f"{path} has several functions `{wanted}`: name one of {_listed(found)}")
    return found[-1]


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[_Function]:
    for node in body:
        if isinstance(node, _FUNCTIONS):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            marked = any(may_mark(ast.unparse(decorator).encode()) for decorator in node.decorator_list)
            yield _Function(f"{prefix}{node.name}", first, node.end_lineno or node.lineno, marked)
            yield from _functions(node.body, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _functions(getattr(node, name, []), prefix)


def _listed(functions: list[_Function]) -> str:
    names = [f"`{one.name}`" for one in functions[:_MAX_LISTED]]
    more = len(functions) - len(names)
    return (", ".join(names) + (f" and {more} more" if more > 0 else "")) or "none"


class _Shower:
    """Tries the ways to call a function until one of them makes torch compile it."""

    def __init__(
        self,
        runner: Runner,
        program: Program,
        function: _Function,
        kind: str,
        limits: Limits,
    ) -> None:
        self._runner = runner
        self._program = program
        self._function = function
        self._kind = kind
        self._limits = limits
        self._failures: list[str] = []
        self._suspect = Suspect(
            number=0,
            code="",
            expectation=Expectation(),
            path=program.path,
            lines=frozenset(),
            file=program.path,
            marked_line=function.first,
            function=function.name,
            chain=frozenset(),
            writers=frozenset(),
            subject=None,
            message="",
        )

    def answer(self) -> dict[str, Any]:
        """What the agent said of the first way that led to a graph of the function.

        Raises:
            ShowError: none did.
        """
        second: dict[str, Any] | None = None
        for driver in self._drivers():
            answer = self._with(driver)
            if answer is None:
                continue
            if self._is_own(answer):
                return answer
            second = second or answer
        if second is not None:
            return second
        if not self._failures:
            raise ShowError(
                f"nothing calls `{self._function.name}`, and no arguments were found: state some above it, "
                "`# nonstrict: inputs(torch.randn(3))`, or record calls with `nonstrict record`"
            )
        raise ShowError(f"`{self._function.name}` cannot be shown: {self._failures[0]}")

    def _drivers(self) -> Iterator[Driver]:
        program, suspect = self._program, self._suspect
        yield from given_drivers(program, suspect)
        yield from drivers_for(program, suspect)[:_MAX_DRIVERS]
        job = search_job(program, suspect, self._limits.device)
        if job is None:
            return
        result = self._runner.submit(job, self._limits.seconds).result()
        if result.value is None:
            return
        if result.value.get("failure"):
            self._failures.append(f"no arguments were found ({result.value['failure']})")
        yield from found_drivers(program, suspect, result.value)

    def _with(self, driver: Driver) -> dict[str, Any] | None:
        """The answer for a driver, with as much of the file as it takes; None if torch compiled nothing."""
        widenings = (widened, whole) if self._limits.full_import else (widened,)
        tried: list[Driver] = [driver]
        tried += [one for widen in widenings if (one := widen(self._program, driver)) not in tried]
        for candidate in tried:
            job = job_of(self._program, Schedule(candidate), "", lines=False, device=self._limits.device)
            result = self._runner.submit({**job, "kind": "show", "show": self._kind}, self._limits.seconds).result()
            answer: dict[str, Any] | None = result.value
            if answer is None:
                self._failures.append(f"{result.failure}: {result.detail}" if result.detail else result.failure)
                return None
            if answer["shown"]:
                return answer
            self._failures.append(_why(answer, self._kind))
            if not answer.get("failure"):
                return None
        return None

    def _is_own(self, answer: dict[str, Any]) -> bool:
        return any(_of_function(one, self._function, self._program.path) for one in answer["shown"])


def _of_function(shown: dict[str, Any], function: _Function, file: str) -> bool:
    """Whether a graph came, in part, from the lines of a function."""
    return any(path == file and function.first <= line <= function.last for path, line in shown["places"])


def _why(answer: dict[str, Any], kind: str) -> str:
    """Why there is nothing to show, and what to do."""
    stop: dict[str, Any] = answer.get("stop") or {}
    error: dict[str, Any] | None = answer.get("error") or stop.get("error")
    if answer.get("failure"):
        return f"its file does not load: {answer['failure']}"
    if error is not None:
        other = "; its graph may show how far it comes" if kind == "code" else ""
        return f"it does not compile: {_reason(error)}{other}"
    if not answer["calls"]:
        return "no compiled code calls it"
    return "nothing of it is compiled"


def _reason(error: dict[str, Any]) -> str:
    cause = cause_of(error)
    line = f" (line {cause.lines[-1][1]})" if cause.lines else ""
    return f"{cause.type}: {cause.message}{line}"


def _showing(answer: dict[str, Any], function: _Function, kind: str, target: str, where: str) -> Showing:
    """The whole text: a heading, then each graph under a heading of its own."""
    own = [one for one in answer["shown"] if any(function.first <= line <= function.last for _, line in one["places"])]
    shown: list[dict[str, Any]] = own or answer["shown"]
    keys = list(dict.fromkeys(one["key"] for one in shown))
    what = "graph" if kind == "graph" else "code of graph"
    calls = answer["calls"]
    made = f"{len(keys)} graph{'s' if len(keys) != 1 else ''} in {calls} call{'s' if calls != 1 else ''}"
    text = f"# {target}: {made} ({where})\n"
    if not own:
        text += f"# No operator comes from `{function.name}` itself: this is what was compiled around it.\n"
    origins: list[tuple[int, str, int]] = []
    for one in shown:
        number = keys.index(one["key"]) + 1
        part = f", {one['part']}" if one["part"] else ""
        again = " (recompiled)" if not one["key"].endswith("/0") and "/" in one["key"] else ""
        ending = f"\n# It ends at a graph break: {one['break_']}" if one.get("break_") else ""
        text += f"\n# {what} {number}{part}: `{one['region']}`{again}{ending}\n"
        above = text.count("\n")
        origins += [(above + line, path, row) for line, path, row in one.get("origins", ())]
        text += f"{one['text'].rstrip()}\n"
    if answer.get("error"):
        text += f"\n# A call then failed: {_reason(answer['error'])}\n"
    return Showing(text, tuple(origins))
