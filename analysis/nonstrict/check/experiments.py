"""What every run of experiments needs, for a command or for an editor: programs, limits, the cache, and verdicts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.arms import Limits
from nonstrict.confirm.compile_caches import cache_home
from nonstrict.confirm.devices import device_for, visible_gpus
from nonstrict.confirm.programs import BACKENDS, Program, program_of
from nonstrict.confirm.setting import driver_of, source_of
from nonstrict.confirm.suspects import Suspect, suspect_of
from nonstrict.confirm.trust import is_trusted
from nonstrict.confirm.verdict_cache import VerdictCache
from nonstrict.findings import UNEXPLAINED, Diagnostic, Severity, Status, Verdict
from nonstrict.knowledge.torch_version import installed_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nonstrict.confirm.client import Ready, State
    from nonstrict.confirm.project import Project
    from nonstrict.confirm.session import Session
    from nonstrict.confirm.told import Told
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source


class ConfirmOptions(NamedTuple):
    """What a caller decides about experiments.

    `seconds` is the wall clock of one arm. `isolation` is `auto`, `copy-on-write`, `deny` or `none`, `device` is
    `auto`, `cpu` or `cuda`. `jobs` is how many runs there are at once, shared by `workers` (0: one, or one for each
    GPU); with `cluster`, the address of a Dask scheduler, its workers run experiments. `on_state` hears what the agent
    does, `on_count` how many findings are done, and of how many. `trusted` says whether a folder may bring its
    interpreter, `on_notice` hears why another one is used. `cache` allows answers of earlier runs. `repro` is a
    directory for scripts that show confirmed findings.
    """

    seconds: float = 60.0
    isolation: str = "auto"
    device: str = "auto"
    jobs: int = 0
    workers: int = 0
    cluster: str = ""
    cache: bool = True
    full_import: bool = False
    repro: str = ""
    trusted: Callable[[str], bool] = is_trusted
    on_notice: Callable[[str], None] | None = None
    on_state: Callable[[State], None] | None = None
    on_count: Callable[[int, int], None] | None = None


def suspects_of(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> list[Suspect]:
    """The diagnostics of which a run can tell, numbered by their positions."""
    from nonstrict.rules.registry import RULES

    found = (suspect_of(number, one, RULES, sources) for number, one in enumerate(diagnostics))
    return [suspect for suspect in found if suspect is not None]


def by_file(suspects: Sequence[Suspect]) -> dict[str, list[Suspect]]:
    """Suspects by the file of their marked function."""
    found: dict[str, list[Suspect]] = {}
    for suspect in suspects:
        found.setdefault(suspect.file, []).append(suspect)
    return found


def sources_of(diagnostics: Sequence[Diagnostic], known: Mapping[str, Source]) -> dict[str, Source]:
    """The sources of all files that the diagnostics point to."""
    from nonstrict.text.source import UnreadableSource, read_source

    read = dict(known)
    paths = {place.path for d in diagnostics for place in (d.location, *(r.location for r in d.related))}
    for path in sorted(paths - set(read)):
        try:
            read[path] = read_source(path)
        except UnreadableSource:
            continue
    return read


def program_in(
    path: str, sources: Mapping[str, Source], settings: Settings, overlays: Mapping[str, str]
) -> Program | None:
    """The program of a file, given as an absolute path; None if it is not among the sources, or does not parse."""
    source = next((s for name, s in sources.items() if os.path.abspath(name) == path), None)
    if source is None:
        return None
    makers = {
        target.partition("::")[2]: maker for target, maker in settings.inputs if target.partition("::")[0] == path
    }
    root = os.path.abspath(settings.root)
    others = {name: text for name, text in overlays.items() if name != path}
    return program_of(path, source.code, root, others, makers, in_cells=bool(source.cells))


def circumstances_of(python: str, settings: Settings) -> tuple[str, ...]:
    """What verdicts of an interpreter of this machine hold for: itself, its torch, and whether there are GPUs."""
    gpus = "with GPUs" if visible_gpus(os.environ) else "without a GPU"
    return python, str(installed_torch(python, settings.root) or ""), gpus


def verdict_cache(circumstances: Iterable[str], options: ConfirmOptions, project: Project) -> VerdictCache:
    """Where verdicts that hold for an interpreter and its torch are kept between runs."""
    return VerdictCache(
        os.path.join(cache_home(), "verdicts"),
        (*circumstances, options.device, options.full_import),
        enabled=options.cache and not options.repro,
        project_state=project.state,
    )


def limits_of(options: ConfirmOptions, ready: Ready, slots: int = 1) -> Limits:
    """What an arm may take on the machine that an agent found; `slots` arms of one program may run at a time.

    Raises:
        AgentUnavailable: the wanted device is not there.
    """
    device = device_for(options.device, ready)
    return Limits(options.seconds, device=device, full_import=options.full_import, slots=slots)


def verdict_of(told: Told, ready: Ready) -> Verdict:
    """A judgement as users see it."""
    judgement = told.judgement
    return Verdict(
        status=judgement.status,
        reason=judgement.reason,
        evidence=told.evidence,
        outcomes=judgement.outcomes,
        torch=ready.torch,
        python=ready.python,
        device=told.device,
        seconds=round(told.seconds, 2),
        files=told.files,
        driver=driver_of(told.schedule) if told.schedule is not None else "",
        source=source_of(told.schedule).value if told.schedule is not None else "",
        inputs=told.inputs,
    )


def script_for(
    directory: str, session: Session, program: Program, told: Told, diagnostic: Diagnostic, verdict: Verdict
) -> Verdict:
    """A confirmed verdict with the path of a script that shows it, where there can be one.

    Raises:
        OSError: it cannot be written.
    """
    from nonstrict.confirm.repro import Proof, write_repro

    if verdict.status is not Status.CONFIRMED or told.schedule is None:
        return verdict
    proofs = {backend: one for backend, one in told.judgement.proofs if backend in BACKENDS}
    proof = Proof(program, told.schedule, session.eager(told.schedule, told.without), proofs)
    if told.without is not None:
        changed = told.without.program
        texts = {path: text for path, text in changed.overlays.items() if program.overlays.get(path) != text}
        proof = proof._replace(program=changed, without=told.without.done, texts=texts)
    return verdict._replace(repro=write_repro(directory, diagnostic, verdict, proof, session.shows))


def kept_by(told: Told) -> frozenset[int] | None:
    """The top-level statements of the program that a judgement rests on; None where that may be any of them."""
    schedule = told.schedule
    if schedule is None or schedule.program is not None or told.without is not None:
        return None
    return schedule.driver.kept


def with_verdict(diagnostic: Diagnostic, verdict: Verdict | None) -> Diagnostic:
    """A diagnostic with its verdict; a refuted one counts one level less."""
    if verdict is None:
        return diagnostic
    severity = diagnostic.severity.lowered() if verdict.status is Status.REFUTED else diagnostic.severity
    return diagnostic._replace(verdict=verdict, severity=severity)


def is_strange(diagnostic: Diagnostic) -> bool:
    """Whether a question was answered: something diverges that no finding explains."""
    verdict = diagnostic.verdict
    return diagnostic.code == UNEXPLAINED and verdict is not None and verdict.status is Status.CONFIRMED


def one_of_each(strange: Sequence[Diagnostic]) -> list[Diagnostic]:
    """One diagnostic for each divergence of a file, that of the region if it is asked about."""
    found: dict[tuple[str, str], Diagnostic] = {}
    for diagnostic in sorted(strange, key=lambda one: one.marker != "compiled"):
        evidence = diagnostic.verdict.evidence if diagnostic.verdict is not None else ""
        found.setdefault((diagnostic.location.path, evidence), diagnostic)
    return list(found.values())


def unexplained_divergence(near: Diagnostic) -> Diagnostic:
    """NST900 at the marker of a function, with the verdict of a diagnostic about it."""
    whole = near.marker == "compiled"
    who = (
        f"compiled `{near.function}` disagrees with"
        if whole
        else f"code compiled with `{near.function}` disagrees with"
    )
    return Diagnostic(
        code=UNEXPLAINED,
        name="unexplained-divergence",
        severity=Severity.ERROR,
        location=near.related[0].location if near.links else near.location,
        message=f"{who} eager, and no finding explains it",
        help="look for state that static analysis does not see; if there is none, report a bug of torch",
        function=near.function,
        marker=near.marker,
        verdict=near.verdict,
    )


def processors() -> int:
    """How many experiments run at once unless something else is asked for."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
