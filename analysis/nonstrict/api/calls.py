"""The functions of the API: what the commands of the same names do, without their words, streams and exit statuses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.api.asking import Wanted, answered, asked, audited, checked, context_of, listed
from nonstrict.api.making import all_made, made
from nonstrict.api.results import (
    AuditResult,
    CheckResult,
    ConfirmResult,
    ExplainResult,
    Finding,
    MeasuredRegion,
    NotRun,
    Region,
    RegionsResult,
)
from nonstrict.check.targets import TargetError, named_target
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.projects import Projects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nonstrict.api.asking import Asked, StrPath
    from nonstrict.check.confirmation import Confirmed
    from nonstrict.check.run import CheckResult as Checked
    from nonstrict.findings import Diagnostic

__all__ = ["ConfigurationError", "TargetError", "audit", "check", "confirm", "explain", "regions"]


def check(
    paths: Iterable[StrPath] | StrPath = (),
    *,
    sources: Mapping[str, str] | None = None,
    config: StrPath | None = None,
    isolated: bool = False,
    settings: Mapping[str, object] | None = None,
    jobs: int = 1,
    cache: bool = True,
) -> CheckResult:
    """Check files and directories, as `nonstrict check` does. Nothing of them is run.

    Args:
        paths: files and directories.
        sources: texts by path that stand for what the files hold, or for files that are not there yet; they are
            checked too. With any, the cache is not used.
        config: a configuration file, in place of the nearest ones.
        isolated: whether all configuration files are left aside, and the baseline.
        settings: values by key of the configuration (`nonstrict config` lists them), on top of every file.
        jobs: the most processes. They are forked: more than one only where the calling process has one thread.
        cache: whether results are kept in, and taken from, the cache directory of the project.

    Raises:
        ConfigurationError: the configuration, or the baseline, cannot be used.
    """
    from nonstrict.report.records import records

    wanted = asked(listed(paths), sources, Wanted(config, isolated, settings))
    result, known = _new(wanted, jobs=jobs, cache=cache)
    context = context_of(result.read, wanted.settings)
    return CheckResult(
        findings=all_made(Finding, records(result.diagnostics, context)),
        files=result.files,
        regions=result.counts.regions,
        regions_missed=result.counts.missed,
        marked=result.counts.marked,
        known=known,
        torches=result.torches,
        failures=result.failures,
    )


def regions(
    paths: Iterable[StrPath] | StrPath = (),
    *,
    sources: Mapping[str, str] | None = None,
    config: StrPath | None = None,
    isolated: bool = False,
    settings: Mapping[str, object] | None = None,
    jobs: int = 1,
) -> RegionsResult:
    """The compiled regions of files and directories, as `nonstrict regions` lists them. Nothing of them is run.

    Args and errors are those of `check`.
    """
    from nonstrict.check.kept_runs import runs_of
    from nonstrict.report.regions import Shown, records

    wanted = asked(listed(paths), sources, Wanted(config, isolated, settings))
    result = checked(wanted, jobs=jobs, fixes=None, regions=True)
    shown = Shown(result.looked, result.read, runs=runs_of(wanted.settings, result.nested))
    told = records(shown, context_of(result.read, wanted.settings))
    return RegionsResult(
        regions=all_made(Region, told), files=result.files, torches=result.torches, failures=result.failures
    )


def audit(
    function: str,
    paths: Iterable[StrPath] | StrPath = (),
    *,
    marker: str = "nonstrict_trace",
    config: StrPath | None = None,
    isolated: bool = False,
    settings: Mapping[str, object] | None = None,
) -> AuditResult:
    """Whether a function may be marked, and what is in the way, as `nonstrict audit` says. Nothing of it is run.

    Args:
        function: `FILE::function`, `FILE::Class.method`, `FILE::outer.inner` or `FILE:LINE`.
        paths: where callers, and writers of what the function reads, are looked for.
        marker: the contract: `nonstrict_trace` or another one that the command takes.
        config: as for `check`.
        isolated: as for `check`.
        settings: as for `check`.

    Raises:
        TargetError: there is no such file, function, path or marker, or the file does not parse.
        ConfigurationError: the configuration cannot be used.
    """
    from nonstrict.check.audit import parsed
    from nonstrict.check.faults import sentences
    from nonstrict.program.contracts.marks.purity import CONTRACTS
    from nonstrict.report.audit import record_of

    if marker not in CONTRACTS:
        raise TargetError(f"There is no marker `{marker}`. Choose one of {', '.join(CONTRACTS)}.")
    question = parsed(function, marker)
    places = listed(paths)
    for path in places:
        if not os.path.exists(path):
            raise TargetError(f"{path}: does not exist")
    wanted = asked([question.file], None, Wanted(config, isolated, settings))
    answer = audited(question, places, wanted.settings)
    context = context_of(answer.sources, wanted.settings)
    return made(AuditResult, record_of(answer, context), failures=sentences(answer.lost))


def confirm(
    target: str,
    *,
    config: StrPath | None = None,
    isolated: bool = False,
    settings: Mapping[str, object] | None = None,
    trust: bool = False,
    timeout: float = 60.0,
    device: str = "auto",
    jobs: int = 0,
    cache: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
) -> ConfirmResult:
    """Compile a file, or one function of it, beside plain Python, and say which findings come true.

    It runs code of the project as `nonstrict confirm` does, in the strongest sandbox that works here, never without.

    Args:
        target: `FILE`, `FILE::function` or `FILE::Class.method`.
        config: as for `check`.
        isolated: as for `check`.
        settings: as for `check`. A `python` that is named here is started outside of the sandbox, to set it up.
        trust: whether the interpreter that the folder brings may be started so, this once; otherwise only if the
            folder is on the user's list (`nonstrict trust`).
        timeout: seconds that one run of a program may take.
        device: `auto`, `cpu` or `cuda`.
        jobs: how many programs run at once; 0 is one for each processor.
        cache: whether verdicts are kept for the next time, and taken from there.
        on_progress: hears how many findings are done, and of how many; in whichever thread knows.

    Raises:
        TargetError: there is no such file or function, or nothing to run in it.
        ConfigurationError: the configuration cannot be used, or findings are to be for another torch than would run.
        KeyboardInterrupt: the run was interrupted.
    """
    from nonstrict.check.confirmation import ConfirmOptions
    from nonstrict.check.confirmation import Context as Known
    from nonstrict.check.confirmation import confirm as run
    from nonstrict.check.targets import tried
    from nonstrict.check.venues import chosen_python, other_torch
    from nonstrict.confirm.trust import is_trusted
    from nonstrict.report.confirmed import confirmed_record
    from nonstrict.report.records import records

    path, function = named_target(target)
    if not os.path.exists(path):
        raise TargetError(f"{path}: there is no such file")
    if os.path.isdir(path):
        raise TargetError(f"{path} is a directory. Name a file of it.")
    wanted = asked([os.path.abspath(path)], None, Wanted(config, isolated, settings))
    trusted: Callable[[str], bool] = (lambda _: True) if trust else is_trusted
    if why := other_torch(wanted.settings, chosen_python(wanted.settings, trusted)):
        raise ConfigurationError(f"{why[0].upper()}{why[1:]}.")
    notices: list[str] = []
    options = ConfirmOptions(
        seconds=timeout,
        device=device,
        jobs=jobs,
        cache=cache,
        trusted=trusted,
        on_notice=notices.append,
        on_count=on_progress,
    )

    def experiments(kept: Checked, others: Sequence[Diagnostic]) -> Confirmed:
        return run(kept.diagnostics, kept.read, wanted.settings, options, Known(others, kept.nested))

    done = tried(checked(wanted, probes=True, regions=True), path, function, experiments)
    if done.interrupted:
        raise KeyboardInterrupt
    context = context_of(done.result.read, wanted.settings)
    told = confirmed_record(records(done.result.diagnostics, context), done.regions, done.answers, context)
    return ConfirmResult(
        findings=all_made(Finding, told["findings"]),
        regions=all_made(MeasuredRegion, told["regions"]),
        not_run=all_made(NotRun, told["not_run"]),
        torch=done.result.torches[0],
        failures=done.result.failures,
        notices=tuple(notices),
    )


def explain(
    text: str,
    project: StrPath = ".",
    *,
    config: StrPath | None = None,
    isolated: bool = False,
    settings: Mapping[str, object] | None = None,
) -> ExplainResult:
    """What an error, a log or an id of torch means, and where it comes from, as `nonstrict explain` says.

    Args:
        text: what torch printed, the id of a graph break (`GB0059`), or a rule.
        project: the folder of the files that the text names.
        config: as for `check`.
        isolated: as for `check`.
        settings: as for `check`.

    Raises:
        TargetError: the project is no folder.
        ConfigurationError: the configuration cannot be used.
    """
    from nonstrict.explain.rendering import record

    (folder,) = listed(project)
    if not os.path.isdir(folder):
        raise TargetError(f"{folder}: is no directory")
    wanted = asked([folder], None, Wanted(config, isolated, settings))
    told = answered(text, folder, wanted)
    context = context_of(told.result.read if told.result is not None else {}, wanted.settings)
    failures = told.result.failures if told.result is not None else ()
    return made(ExplainResult, record(told, context), failures=failures)


def _new(wanted: Asked, *, jobs: int, cache: bool) -> tuple[Checked, int]:
    """The result of a check without what the baseline knows, with what runs did; and how many findings that are.

    Raises:
        ConfigurationError: a baseline cannot be used, or a configuration below the paths.
    """
    from nonstrict.check.baselines import Baselines
    from nonstrict.check.faults import Losses
    from nonstrict.check.kept_runs import sightings
    from nonstrict.report.context import Lines

    baselines = Baselines(wanted.settings)
    result = checked(wanted, jobs=jobs, cache=cache)
    losses = Losses()
    known: Sequence[Diagnostic] = ()
    with losses.losing("the findings were not compared with the baseline", wanted.settings.root):
        held = baselines.held(result.diagnostics, Projects(wanted.settings, result.nested), Lines(result.read))
        known = tuple(one for each in held for one in each.divided.known)
        new = set(result.diagnostics).difference(known)
        result = result._replace(diagnostics=tuple(one for one in result.diagnostics if one in new))
    with losses.losing("results of recorded runs are not shown", wanted.settings.root):
        result = sightings(result, known, wanted.settings)
    return losses.added_to(result), len(known)
