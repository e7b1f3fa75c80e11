"""A file, or one function of it, that is named for experiments: its findings and regions, confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import UNEXPLAINED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nonstrict.check.confirmation import Confirmed
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic
    from nonstrict.report.compiled import RegionReport

    #: Runs the experiments of a result; the diagnostics are further findings, which are not tried.
    Experiments = Callable[[CheckResult, Sequence[Diagnostic]], Confirmed]

#: The kind of marker of compiled regions.
_COMPILED = "compiled"


class TargetError(Exception):
    """What was named is not there, or may be several things; the message is for users."""


class Tried(NamedTuple):
    """The findings of a target with verdicts, what experiments answered besides, and what torch made of regions."""

    result: CheckResult
    answers: tuple[Diagnostic, ...]
    regions: tuple[RegionReport, ...]
    interrupted: bool = False


def named_target(text: str) -> tuple[str, str]:
    """The file and the function, "" if all of the file is meant, that `FILE[::FUNCTION]` names.

    Raises:
        TargetError: no function is named behind `::`.
    """
    path, separator, function = text.partition("::")
    if separator and not function:
        raise TargetError(f"`{text}` names no function. Write FILE, FILE::FUNCTION or FILE::Class.method.")
    return path, function


def tried(result: CheckResult, path: str, function: str, experiments: Experiments) -> Tried:
    """Run the experiments of a file that was checked with probes, or of one function of it.

    Raises:
        TargetError: there is nothing to run, or several functions may be meant.
    """
    from nonstrict.check.region_reports import region_reports

    known = [one.function for one in result.diagnostics]
    named = _named(function, known)
    if len(named) > 1:
        names = ", ".join(f"`{one}`" for one in named)
        raise TargetError(f"`{function}` may be any of {names}. Write {path}::{named[0]}, for instance.")
    kept = tuple(one for one in result.diagnostics if not function or one.function in named)
    if not kept and not result.failures:
        raise TargetError(_nothing(function, path, known, result))
    others = tuple(one for one in result.diagnostics if one not in kept and one.code != UNEXPLAINED)
    answer = experiments(result._replace(diagnostics=kept), others)
    # The driver of one region may call others.
    told = tuple(one for one in answer.diagnostics if not (function and one.observed) or one.function in named)
    result = result._replace(diagnostics=told, failures=(*result.failures, *answer.failures))
    functions = {one.function for one in kept if one.marker == _COMPILED}
    regions = region_reports(answer.measured, told, others, result.read, functions, result.looked.regions)
    return Tried(result, answer.answers, regions, answer.interrupted)


def missed(result: CheckResult, *, color: bool) -> Iterator[str]:
    """The regions that are not run because it is not known what they compile."""
    from nonstrict.report.regions import Shown, not_looked_at
    from nonstrict.report.style import Style

    shown = Shown(result.looked, result.read)
    yield from (not_looked_at(one, shown, Style(color)) for one in result.looked.regions if one.missed)


def _named(name: str, functions: Sequence[str]) -> list[str]:
    """The functions that a name may mean: as a whole, the class of a module, or the last part of a name."""
    from nonstrict.confirm.recorded import plain_name

    known = list(dict.fromkeys(functions))
    for meant in (name, f"{name}.forward"):
        if found := [one for one in known if meant in {one, plain_name(one)}]:
            return found
    return [one for one in known if one and one.rpartition(".")[2] == name]


def _nothing(function: str, path: str, known: Iterable[str], result: CheckResult) -> str:
    idle = {one.function: one.wasted for one in result.looked.regions if one.wasted}
    if function and (meant := _named(function, [*idle])):
        return "\n".join(f"Nothing is compiled of `{one}`: {idle[one]}" for one in meant)
    what = f"no marked function or region `{function}`" if function else "no marked functions and no regions"
    names = ", ".join(f"`{one}`" for one in dict.fromkeys(known) if one)
    there = f"there are {names}" if names else f"`nonstrict regions {path}` lists what is analyzed"
    return "\n".join((f"{path} has {what}; {there}", *missed(result, color=False)))
