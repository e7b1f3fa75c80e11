"""One arm of an experiment: load the program, run its driver on one backend, and return the trace."""

from __future__ import annotations

import os
import sys
import types
from typing import TYPE_CHECKING, Any

from nonstrict_agent import leaving_out, process_groups
from nonstrict_agent.batons import install_batons
from nonstrict_agent.fixtures import conftests
from nonstrict_agent.gpu_memory import bound_memory
from nonstrict_agent.loading import LoadError, Program, load, search
from nonstrict_agent.observe.compiling import Compilations
from nonstrict_agent.observe.cuda_graphs import CudaGraphs
from nonstrict_agent.observe.errors import describe_error
from nonstrict_agent.observe.events import Events
from nonstrict_agent.observe.kept_results import Captures, KeptResults
from nonstrict_agent.observe.lines import Lines
from nonstrict_agent.observe.operators import Operators
from nonstrict_agent.observe.records import LogRecords
from nonstrict_agent.project_files import install_project, user_files
from nonstrict_agent.recorder import EnoughCalls, Recorder, Recording, seed
from nonstrict_agent.regions import EAGER, FAKE, INDUCTOR, install_regions, without_caches
from nonstrict_agent.testing import SkippedError, run_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def run_arm(job: dict[str, Any]) -> dict[str, Any]:
    """Run one arm.

    The job holds `backend`, `path`, `text`, `root`, `kept`, `dropped`, `overlays`, `module`, `folders`, `further` (see
    `loading.Program`), `driver` (how the program is set going, see `drive`), `lines` (whether executed lines are
    collected), `gradients`, `calls` (how many calls of regions are followed), `each` (how many of one region),
    `repeat`, `changes`, `only` and `follow` (see `Recording`), `alone` (see `install_regions`), `logged` (whether every
    level of logging is switched on, and every warning shown), `cached` (whether torch may take graphs from its caches),
    `opcheck` (whether custom operators are checked, see `observe.operators`), `group` (whether there is a default
    process group, see `process_groups`), `captured` (whether Inductor makes CUDA graphs where the program asks for
    some, and results that the program keeps are looked at again: `graphed` and `overwritten` of each call, see
    `observe.cuda_graphs` and `observe.kept_results`).
    The trace holds `calls`, `lines`, `within` (those of them that calls of regions executed), `ran` (those of each
    call), `missing` (see `leaving_out.told`), `needs` (see `Recorder`), `gradients`, `files`, `ahead` (whether anything
    is traced ahead of time), `applied` (see `observe.applied`), `operators` (see `observe.operators`), `numbers` (see
    `observe.numbers`), `group` (see `process_groups.told`), and `failure` with a sentence where the program did not get
    to its driver.
    """
    sys.argv = [job["path"]]
    search(program_in(job))
    is_user = user_files(job["root"], job["path"])
    events = Events(is_user)
    records = LogRecords(is_user)
    compilations = Compilations(is_user) if job["backend"] not in {EAGER, FAKE} else None
    lines = Lines(is_user)
    operators = Operators(is_user, without_caches)
    around = (lines.of_call, *((operators.followed,) if job.get("opcheck") else ()))
    captures = _captures(job["backend"], is_user) if job.get("captured") else None
    recorder = Recorder(_recording(job, is_user), events, records, compilations, around, captures)
    options = {"cached": job.get("cached", True), "captured": captures is not None}
    install_regions(recorder, job["backend"], job.get("alone", ""), **options)
    if job.get("device") == "cuda":
        bound_memory()
    if compilations is not None:
        compilations.install()
    operators.install()
    install_batons()
    install_project(job["root"], job["path"], job.get("overlays", {}))
    is_test = job["driver"]["kind"] == "test"
    # Tests are run from the project's directory.
    os.chdir(job["root"] if is_test else os.path.dirname(job["path"]) or "/")
    events.install()
    records.install(every_level=job.get("logged", False))
    trace: dict[str, Any] = {"calls": recorder.calls, "missing": leaving_out.told, "logged": job.get("logged", False)}
    seed(0)
    if job.get("lines"):
        lines.follow_backward()
        lines.start()
    try:
        fixtures = conftests(job["path"], job["root"]) if is_test else ([], [])
        trace["stop"] = _loaded_and_driven(job, is_user, fixtures)
        recorder.end()
        if job.get("gradients") and not recorder.needs:
            trace["gradients"] = recorder.gradients()
    except LoadError as error:
        trace["failure"] = str(error)
        if error.__cause__ is not None:
            trace["load_error"] = describe_error(error.__cause__, is_user)
    finally:
        if job.get("lines"):
            lines.stop()
            trace["lines"] = {path: sorted(seen) for path, seen in lines.seen.items()}
            trace["within"] = {path: sorted(seen) for path, seen in lines.within.items()}
            trace["ran"] = [{path: sorted(seen) for path, seen in one.items()} for one in lines.calls]
    if job.get("opcheck"):
        trace["operators"] = operators.told()
    return {**trace, **_of_all_calls(recorder, is_user)}


def _of_all_calls(recorder: Recorder, is_user: Callable[[str], bool]) -> dict[str, Any]:
    """What a trace holds besides its calls."""
    return {
        "group": process_groups.told(),
        "ahead": recorder.is_ahead,
        "needs": recorder.needs,
        "numbers": recorder.numbers.kept,
        "applied": [one.told() for one in recorder.applications.seen],
        "files": sorted({str(module.__file__) for module in Modules(is_user)()}),
    }


def _captures(backend: str, is_user: Callable[[str], bool]) -> Captures:
    if backend != INDUCTOR:
        return Captures(KeptResults(is_user))
    graphs = CudaGraphs(is_user)
    graphs.install()
    return Captures(KeptResults(is_user), graphs)


def _loaded_and_driven(
    job: dict[str, Any],
    is_user: Callable[[str], bool],
    around: tuple[list[types.ModuleType], list[str]],
) -> Any:
    """How a program ended (see `drive`), which may be while it was loaded."""
    try:
        if job["backend"] == EAGER:
            process_groups.watch()
        if job.get("group"):
            process_groups.default_group()
        module = load(program_in(job))
    except process_groups.UnavailableError as error:
        raise LoadError(str(error)) from error
    except EnoughCalls:
        # Scripts whose own top level calls the region.
        return {"kind": "enough"}
    return drive(job["driver"], module, is_user, around)


def _recording(job: dict[str, Any], is_user: Callable[[str], bool]) -> Recording:
    only, follow = job.get("only"), job.get("follow")
    return Recording(
        is_user=is_user,
        modules=Modules(is_user),
        calls=job.get("calls", 6),
        each=job.get("each", job.get("calls", 6)),
        repeat=job.get("repeat", 1),
        changes=job.get("changes", ()),
        only=None if only is None else frozenset((str(name), int(line)) for name, line in only),
        follow=None if follow is None else frozenset((str(name), int(line)) for name, line in follow),
    )


def program_in(job: dict[str, Any]) -> Program:
    """The program that a job holds."""
    kept = job.get("kept")
    return Program(
        path=job["path"],
        text=job["text"],
        root=job["root"],
        module=job["module"],
        folders=tuple(job["folders"]),
        further=tuple(job["further"]),
        kept=None if kept is None else frozenset(kept),
        dropped=frozenset((line, column) for line, column in job.get("dropped", ())),
        cuda=job.get("device") == "cuda",
        in_cells=bool(job.get("in_cells")),
        packages=tuple((str(name), str(folder)) for name, folder in job.get("packages", ())),
    )


def drive(
    driver: dict[str, Any],
    module: types.ModuleType,
    is_user: Callable[[str], bool],
    around: tuple[list[types.ModuleType], list[str]] = ([], []),
) -> Any:
    """Set the program going.

    A function of it is called (`function`, `calls`, `traced`, `returned`), a test (`test`) or an example run
    (`source`); `block` and `guard` ran while the program was loaded. `around` is what `conftests` says of a test.
    Returns how it ended: `{"kind": "end" | "enough" | "skipped" | "raised", ...}`.
    """
    try:
        if driver["kind"] == "function":
            _member(module, driver["name"])()
        elif driver["kind"] == "test":
            run_test(module, driver["name"], *around)
        elif driver["kind"] in {"calls", "traced", "source", "returned"}:
            from nonstrict_agent.schedule import follow

            follow(driver, module)
    except EnoughCalls:
        return {"kind": "enough"}
    except LoadError:
        raise
    except SkippedError as error:
        return {"kind": "skipped", "why": str(error)}
    except BaseException as error:  # noqa: BLE001 - the observation; pytest's own are no `Exception`
        return {"kind": "raised", "error": describe_error(error, is_user)}
    return {"kind": "end"}


def _member(module: types.ModuleType, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part)
    return value


class Modules:
    """The modules of the user that are loaded; asked before and after every call, so each is looked at once."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._foreign: dict[str, types.ModuleType] = {}
        self._own: list[tuple[str, types.ModuleType]] = []
        self._loaded = 0

    def __call__(self) -> list[types.ModuleType]:
        """As of now."""
        as_before = len(sys.modules) == self._loaded and all(sys.modules.get(name) is one for name, one in self._own)
        if not as_before:
            self._loaded = len(sys.modules)
            self._own = list(self._found())
        return [module for _, module in self._own]

    def _found(self) -> Iterator[tuple[str, types.ModuleType]]:
        for name, module in list(sys.modules.items()):
            if self._foreign.get(name) is module:
                continue
            file = getattr(module, "__file__", None)
            if type(module) is types.ModuleType and isinstance(file, str) and self._is_user(file):
                yield name, module
            else:
                self._foreign[name] = module
