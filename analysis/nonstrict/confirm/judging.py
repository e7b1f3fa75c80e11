"""From traces to verdicts: which divergence proves which finding, and when agreement refutes one.

A finding is *confirmed* by a divergence that can be laid at its door, *refuted* where its line ran, eager code showed
that it mattered, and every backend agreed; everything else is inconclusive, with the reason.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm import cuda_graphs, evidence, recompiling, staleness
from nonstrict.confirm.applications import ASKED, verdict
from nonstrict.confirm.attribution import is_foreign, is_shared, proves, related
from nonstrict.confirm.breaking import broken as broken_at
from nonstrict.confirm.breaking import given_up_before, refused_lines
from nonstrict.confirm.devices import needs_gpu
from nonstrict.confirm.groups import MADE_UP, is_made_up, ranks_in
from nonstrict.confirm.meaning import found_in
from nonstrict.confirm.numbers import difference
from nonstrict.confirm.programs import EAGER, INDUCTOR
from nonstrict.confirm.refusals import out_of_gpu_memory, out_of_gpu_memory_in, refused_by_sandbox
from nonstrict.confirm.sensitivity import reached, sensitive
from nonstrict.confirm.traces import Arms, Divergence, all_lines, cause_of, divergences, given_otherwise
from nonstrict.findings import Outcome, Status
from nonstrict.rules.base import COMPILED
from nonstrict.rules.expectation import Channel, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect

_RESULTS = {
    Channel.ERROR: "error",
    Channel.VALUES: "silent-wrong",
    Channel.GRADIENTS: "silent-wrong",
}
#: Lines that the decorators of one function may span.
_DECORATORS = 4
#: A statement of a page or a script that was skipped because it failed, as the agent tells of it.
_FAILED_STATEMENT = re.compile(r"line (\d+): (.*)", re.DOTALL)
#: The findings about what varies from call to call.
VARIED = recompiling.ASKED | staleness.ASKED
#: What agreement of compiled code says besides.
_WHOLE = {
    Experiment.BREAK: ", and the graph does not break there",
    Experiment.RECOMPILED: ", and nothing is compiled again for it",
    Experiment.LIMIT: ", and torch does not give it up",
}
#: Reasons that more calls might have settled.
_BY_FEWER_CALLS = frozenset({"line-not-reached", "insensitive", "few-values", "not-compiled", "load"})
#: What is decided when a graph is captured, before a backend gets it.
_WHILE_TRACING = frozenset({Experiment.CHANGE, Experiment.EFFECT, Experiment.DRAW})
#: What is raised where something is needed that could not be imported, by us and by Python.
_MISSING = frozenset({"MissingModuleError", "ModuleNotFoundError"})
_REFUSED = "the sandbox refuses what the program does"


class Judgement(NamedTuple):
    """What an experiment says of one finding; a verdict without the circumstances.

    `proofs` are the divergences that confirm it, by backend; they are `shared` if they confirm another finding of the
    function as well, and stand at the place of neither.
    """

    status: Status
    reason: str
    evidence: str
    outcomes: tuple[Outcome, ...]
    proofs: tuple[tuple[str, Divergence], ...] = ()
    shared: bool = False


def judge(suspects: Sequence[Suspect], arms: Arms) -> dict[int, Judgement]:
    """The judgements by number of suspect."""
    found = found_in(arms)
    findings = [suspect for suspect in suspects if not suspect.is_probe]
    judgements = {suspect.number: _judged(suspect, findings, arms, found) for suspect in findings}
    shared = {s.number for s in findings if any(_share(s, other, judgements) for other in findings)}
    judgements |= {number: judgements[number]._replace(shared=True) for number in shared}
    judgements |= {s.number: _answered(s, findings, arms, found) for s in suspects if s.is_probe}
    if told := needed(arms.eager, arms.control, *arms.compiled.values()):
        judgements = {s.number: _cut_short(s, judgements[s.number], told) for s in suspects}
    if told := _beyond_memory(arms):
        judgements = {number: _starved(one, told) for number, one in judgements.items()}
    return judgements


def _beyond_memory(arms: Arms) -> str:
    """What says that the GPU had no memory left in one of the arms; empty if nothing does."""
    traces = (arms.eager, arms.control, *arms.compiled.values(), *(arms.captured or ()))
    return next((told for trace in traces if (told := out_of_gpu_memory_in(trace))), "")


def _starved(judgement: Judgement, told: str) -> Judgement:
    """The judgement where an arm had not enough memory: it came to no end, and agreement says nothing."""
    if judgement.status is Status.CONFIRMED:
        return judgement
    return Judgement(Status.INCONCLUSIVE, "gpu-memory", told, judgement.outcomes)


def needed(*traces: Mapping[str, Any]) -> str:
    """What a call could not do without that could not be loaded; empty if there is no such call."""
    return next((str(one) for trace in traces for one in trace.get("needs", ())), "")


def _cut_short(suspect: Suspect, judgement: Judgement, told: str) -> Judgement:
    """The judgement where calls were followed only up to one that needs what is missing: agreement says nothing."""
    seen = judgement.status is Status.CONFIRMED and suspect.experiment not in ASKED
    if seen or judgement.reason not in {"", *_BY_FEWER_CALLS}:
        return judgement
    return Judgement(Status.INCONCLUSIVE, "needs", told, judgement.outcomes)


def _share(suspect: Suspect, other: Suspect, judgements: Mapping[int, Judgement]) -> bool:
    """Whether two findings of one function have one proof, which does not stand at the place of the first of them."""
    near = other.function == suspect.function and other.places != suspect.places
    return near and is_shared(suspect, judgements[suspect.number], judgements[other.number])


def _answered(
    probe: Suspect, findings: Sequence[Suspect], arms: Arms, found: Mapping[str, list[Divergence]]
) -> Judgement:
    """Whether a function computes the same when compiled: not where something is wrong that no finding says."""
    strange = unexplained(findings, arms) if reached(probe, arms.control) else None
    if strange is not None:
        return strange
    found = {name: [one for one in listed if _is_of(probe, one, arms)] for name, listed in found.items()}
    outcomes = [Outcome(name, "same" if not listed else "not-run") for name, listed in found.items()]
    told = [one for listed in found.values() for one in listed if not one.alone and not one.vague]
    if told and reached(probe, arms.control):
        return Judgement(Status.INCONCLUSIVE, "shared", "", tuple(outcomes))
    return _unproven(probe, arms, found, tuple(outcomes), "")


def _is_of(probe: Suspect, divergence: Divergence, arms: Arms) -> bool:
    """Whether a divergence is one of the function that is asked about: what another region does is no answer."""
    function = arms.eager["calls"][divergence.call].get("function")
    return probe.marker not in COMPILED or function in {None, probe.function}


def foretold(suspects: Sequence[Suspect], arms: Arms) -> dict[int, Judgement]:
    """What a trace with fake tensors proves already: that torch refuses what stands on the line of a finding."""
    found = {
        backend: [one for one in listed if one.channel is Channel.ERROR] for backend, listed in found_in(arms).items()
    }
    refusals = [one for listed in found.values() for one in listed]
    on_line = [
        s
        for s in suspects
        if any(s.places & set(one.lines[-1:]) or s.expectation.foretells(one.compiled) for one in refusals)
    ]
    judgements = {s.number: _judged(s, suspects, arms, found) for s in on_line}
    return {number: told for number, told in judgements.items() if told.status is Status.CONFIRMED}


def refused_by_eager(suspect: Suspect, eager: Mapping[str, Any]) -> Judgement | None:
    """The judgement where torch refuses a marker as soon as it is applied or called; None if that did not happen."""
    if not suspect.has(Trait.IN_MARKERS):
        return None
    skipped = (_FAILED_STATEMENT.match(text) for text in eager.get("missing", ()))
    told = next((m[2] for m in skipped if m is not None and _near((suspect.path, int(m[1])), suspect)), "")
    if told:
        return Judgement(Status.CONFIRMED, "", f"torch refuses it: {told}", (Outcome("eager", "error", told),))
    stop: Mapping[str, Any] = eager.get("stop") or {}
    errors = [call["error"] for call in eager.get("calls", ()) if "error" in call]
    error: Mapping[str, Any] | None = stop.get("error") or eager.get("load_error") or next(iter(errors), None)
    if error is None or refused_by_sandbox(error):
        return None
    cause = cause_of(error)
    told = f"{cause.type}: {cause.message}"
    named = any(_near(line, suspect) for line in all_lines(error))
    if not named and not suspect.expectation.foretells(told):
        return None
    return Judgement(Status.CONFIRMED, "", f"torch refuses it: {told}", (Outcome("eager", "error", cause.message),))


def _near(place: tuple[str, int], suspect: Suspect) -> bool:
    """Whether a line belongs to the decorators of a suspect: errors name any of them."""
    own = {*suspect.places, (suspect.file, suspect.marked_line)}
    return any(path == place[0] and abs(line - place[1]) <= _DECORATORS for path, line in own)


def why_raised(error: Mapping[str, Any]) -> tuple[str, str]:
    """Why eager code raised: the reason of a verdict, and a sentence."""
    refused = refused_by_sandbox(error)
    if refused:
        return "sandbox", f"{_REFUSED}: {refused}"
    if full := out_of_gpu_memory(error):
        return "gpu-memory", full
    cause = cause_of(error)
    told = f"{cause.type}: {cause.message}"
    if cause.type in _MISSING:
        return "needs", cause.message
    return ("needs-cuda" if needs_gpu(told) else "eager-raises"), told


def sandbox_refusal(suspect: Suspect, arms: Arms) -> str:
    """What the sandbox refused to the code of a suspect, as a sentence; empty if nothing."""
    places = suspect.places | suspect.chain
    errors = [call["error"] for call in arms.eager["calls"] if "error" in call]
    told = next((told for one in errors if places & all_lines(one) and (told := refused_by_sandbox(one))), "")
    return f"{_REFUSED}: {told}" if told else ""


def unexplained(suspects: Sequence[Suspect], arms: Arms) -> Judgement | None:
    """The first divergence in results that no finding could have caused (NST900), None if there is none.

    Where eager code fails, in whatever way, it is no measure for the program.
    """
    outcomes: list[Outcome] = []
    told = ""
    for backend, listed in _strange(suspects, arms):
        strange = next((one for one in listed if not refused_lines(one, arms.compiled[backend], suspects)), None)
        if strange is not None:
            told = told or evidence.short(strange)
            outcomes.append(Outcome(backend, _RESULTS[strange.channel], evidence.short(strange)))
    return Judgement(Status.CONFIRMED, "", told, tuple(outcomes)) if outcomes else None


def refusals(suspects: Sequence[Suspect], arms: Arms) -> frozenset[tuple[str, int]]:
    """The lines where the graph breaks, must not, and no finding can be the cause: findings of their own."""
    found = (
        refused_lines(one, arms.compiled[name], suspects) for name, listed in _strange(suspects, arms) for one in listed
    )
    return frozenset[tuple[str, int]]().union(*found)


def _strange(suspects: Sequence[Suspect], arms: Arms) -> Iterator[tuple[str, list[Divergence]]]:
    """The divergences in results, by backend, that no finding could have caused."""
    close = [suspect for suspect in suspects if reached(suspect, arms.control) and not suspect.is_probe]
    # That the graph breaks on one line is no reason for it to break on another.
    others = [suspect for suspect in close if suspect.experiment is not Experiment.BREAK]
    for backend, listed in found_in(arms).items():
        # Numbers that only Inductor computes otherwise may be rounding: no run can tell without a reference.
        plain = [one for one in listed if one.channel in {Channel.ERROR, Channel.VALUES} and not one.alone]
        plain = [one for one in plain if not one.vague and "error" not in arms.eager["calls"][one.call]]
        told = {one: refused_lines(one, arms.compiled[backend], suspects) for one in plain}
        yield (
            backend,
            [one for one in plain if not any(related(s, one, arms) for s in (others if told[one] else close))],
        )


def _judged(
    suspect: Suspect, suspects: Sequence[Suspect], arms: Arms, found: Mapping[str, list[Divergence]]
) -> Judgement:
    if suspect.experiment in ASKED:
        return of_application(suspect, arms.control, arms.compiled)
    if suspect.experiment in recompiling.ASKED:
        return _of_compilations(suspect, suspects, arms, found)
    if suspect.experiment in staleness.ASKED:
        return _of_caches(suspect, arms, found)
    if suspect.experiment in cuda_graphs.ASKED:
        told = cuda_graphs.answer(suspect, arms)
        return Judgement(told.status, told.reason, told.evidence, (Outcome(INDUCTOR, told.result),))
    outcomes: list[Outcome] = []
    proofs: list[tuple[str, Divergence]] = []
    blocked: dict[str, str] = {}
    told_by = {name: broken_at(suspect, suspects, trace, arms) for name, trace in arms.compiled.items()}
    broken = {name: told for name, told in told_by.items() if told}
    for backend, listed in found.items():
        divergences_ = [one for one in listed if not is_foreign(suspect, one, arms)]
        divergence = next((one for one in divergences_ if proves(suspect, one, suspects, arms)), None)
        if divergence is None and _may_draw(suspect, arms):
            divergence = _frozen(arms.eager, arms.control, arms.compiled[backend])
        if divergence is not None:
            proofs.append((backend, divergence))
            outcomes.append(
                Outcome(backend, _RESULTS.get(divergence.channel, "effect-lost"), evidence.short(divergence))
            )
            continue
        if backend in broken:
            outcomes.append(Outcome(backend, "graph-break", broken[backend]))
            continue
        other = next((one for one in divergences_ if one.channel is Channel.ERROR), None)
        if other is not None:
            blocked[backend] = evidence.blocked(other)
            outcomes.append(Outcome(backend, "not-run", "another error stops the compilation first"))
        else:
            outcomes.append(_unlike(suspect, backend, divergences_, arms))
    if proofs:
        speaking = [outcome for outcome in outcomes if outcome.result not in {"same", "not-run"}]
        told = evidence.sentence(proofs[0][1], suspect, arms.eager, speaking)
        # The sentence says what they did.
        outcomes = [outcome._replace(detail="") if outcome in speaking else outcome for outcome in outcomes]
        return Judgement(Status.CONFIRMED, "", told, tuple(outcomes), tuple(proofs))
    if broken:
        told = f"torch breaks the graph there: {next(iter(broken.values()))}"
        return Judgement(Status.CONFIRMED, "", told, tuple(one._replace(detail="") for one in outcomes))
    excused = _excused(suspect, blocked, outcomes)
    first = next((told for backend, told in blocked.items() if backend not in excused), "")
    return _unproven(suspect, arms, found, tuple(outcomes), first or given_up_before(suspect, arms), excused)


def _excused(suspect: Suspect, blocked: Collection[str], outcomes: Sequence[Outcome]) -> frozenset[str]:
    """Inductor, where it alone cannot generate code for a graph that other backends compute as eager code does.

    What a finding about tracing foretells is decided by then: all backends get the same graph. What torch refuses, and
    what it does to operators, may show in Inductor only.
    """
    traced = suspect.experiment in _WHILE_TRACING and not suspect.has(Trait.OPERATOR)
    told = traced and any(outcome.result == "same" for outcome in outcomes)
    return frozenset({INDUCTOR}) if told and set(blocked) == {INDUCTOR} else frozenset()


def _of_compilations(
    suspect: Suspect, suspects: Sequence[Suspect], arms: Arms, found: Mapping[str, list[Divergence]]
) -> Judgement:
    """The judgement of a finding about what is compiled again."""
    told = {name: recompiling.recompiled(suspect, suspects, trace, arms) for name, trace in arms.compiled.items()}
    if any(told.values()):
        outcomes = tuple(Outcome(name, "recompiled" if text else "not-run") for name, text in told.items())
        return Judgement(Status.CONFIRMED, "", next(filter(None, told.values())), outcomes)
    short = {name for name, trace in arms.compiled.items() if recompiling.ends_early(suspect, trace, arms)}
    outcomes = tuple(Outcome(name, "not-run" if name in short else "same") for name in arms.compiled)
    stopped = (one for listed in found.values() for one in listed if one.channel is Channel.ERROR)
    stopped = (one for one in stopped if short or not is_foreign(suspect, one, arms))
    blocked = next(map(evidence.blocked, stopped), "")
    if any(recompiling.is_deaf(trace) for trace in arms.compiled.values()):
        return Judgement(Status.INCONCLUSIVE, "torch-too-old", "", outcomes)
    other = recompiling.other_guard(suspect, arms)
    if other and reached(suspect, arms.control):
        return Judgement(Status.INCONCLUSIVE, "other-guard", other, outcomes)
    return _unproven(suspect, arms, {}, outcomes, blocked)


def _of_caches(suspect: Suspect, arms: Arms, found: Mapping[str, list[Divergence]]) -> Judgement:
    """The judgement of a finding about what Inductor takes from a cache."""
    told = staleness.stale(suspect, arms) if reached(suspect, arms.control) and not ranks_in(arms.eager) else None
    if told is not None:
        outcomes = tuple(Outcome(name, "silent-wrong" if name == INDUCTOR else "same") for name in arms.compiled)
        return Judgement(Status.CONFIRMED, "", told.text, outcomes)
    stopped = (one for listed in found.values() for one in listed if one.channel is Channel.ERROR)
    blocked = next((evidence.blocked(one) for one in stopped if not is_foreign(suspect, one, arms)), "")
    outcomes = tuple(_unlike(suspect, name, listed, arms) for name, listed in found.items())
    if arms.uncached is not None and arms.uncached.get("failure"):
        return Judgement(Status.INCONCLUSIVE, *_failure_of(arms.uncached), outcomes)
    return _unproven(suspect, arms, found, outcomes, blocked)


def of_application(
    suspect: Suspect, control: Mapping[str, Any], compiled: Mapping[str, Mapping[str, Any]]
) -> Judgement:
    """The judgement of a finding about an application of `torch.compile`, in the arms that were run."""
    told = verdict(suspect, [*compiled.values(), control], compiled=bool(compiled))
    if told is None:
        return Judgement(Status.INCONCLUSIVE, "line-not-reached", "", ())
    result = (
        "same"
        if told[0] is Status.REFUTED
        else "not-compiled"
        if suspect.experiment is Experiment.COMPILED
        else "error"
    )
    return Judgement(told[0], "", told[1], tuple(Outcome(name, result) for name in compiled or (EAGER,)))


def _unlike(suspect: Suspect, backend: str, listed: Sequence[Divergence], arms: Arms) -> Outcome:
    """What a backend did where nothing of it proves a finding, and no error came first."""
    if any(related(suspect, one, arms) and not one.vague for one in listed):
        return Outcome(backend, "not-run", "it differs from eager, for one of several reasons")
    if any(one.alone for one in listed):
        return Outcome(backend, "not-run", "its numbers differ from those of eager and aot_eager")
    close = next((one for one in listed if related(suspect, one, arms)), None)
    if close is not None:
        made_up = is_made_up(close, arms.eager)
        told = "its numbers come from a fake process group" if made_up else "what it did was not recorded whole"
        return Outcome(backend, "not-run", told)
    if unsteady(suspect, arms):
        return Outcome(backend, "not-run", "eager code differs from itself")
    if _compared(arms.eager, arms.compiled[backend]):
        return Outcome(backend, "same")
    return Outcome(backend, "not-run", arms.compiled[backend].get("failure", ""))


def _unproven(
    suspect: Suspect,
    arms: Arms,
    found: Mapping[str, list[Divergence]],
    outcomes: tuple[Outcome, ...],
    blocked: str,
    excused: Collection[str] = (),
) -> Judgement:
    """Refuted or inconclusive; backends that are `excused` need not have been compared."""
    if not reached(suspect, arms.control):
        return Judgement(Status.INCONCLUSIVE, "line-not-reached", "", outcomes)
    own = [call for n, call in enumerate(arms.eager["calls"]) if suspect.number not in arms.foreign.get(n, ())]
    if all("error" in call for call in own):
        refused = refused_by_eager(suspect, arms.eager)
        if refused is not None:
            return refused
        if not own:
            return Judgement(Status.INCONCLUSIVE, "not-compiled", "", outcomes)
        return Judgement(Status.INCONCLUSIVE, *why_raised(own[0]["error"]), outcomes)
    if blocked:
        return Judgement(Status.INCONCLUSIVE, "blocked", blocked, outcomes)
    refused = sandbox_refusal(suspect, arms)
    if refused:
        return Judgement(Status.INCONCLUSIVE, "sandbox", refused, outcomes)
    if suspect.experiment in VARIED and not recompiling.varied_enough(suspect, arms):
        return Judgement(Status.INCONCLUSIVE, "few-values", "", outcomes)
    return _agreed(suspect, arms, found, outcomes, excused)


def _agreed(
    suspect: Suspect,
    arms: Arms,
    found: Mapping[str, list[Divergence]],
    outcomes: tuple[Outcome, ...],
    excused: Collection[str],
) -> Judgement:
    """Refuted where all arms agree on what the finding is about, and eager code showed that it matters."""
    compared = [outcome for outcome in outcomes if outcome.backend not in excused]
    told_by = (listed for backend, listed in found.items() if backend not in excused)
    close = [one for listed in told_by for one in listed if related(suspect, one, arms)]
    differs = any(not one.vague for one in close)
    anew, compiling = recompiling.for_others(suspect, arms), recompiling.compiling(arms)
    if not sensitive(suspect, arms.eager, anew, compiling) and not (differs and suspect.has(Trait.TELLS)):
        # A draw shows where a call is repeated, however much the arms differ.
        told = not divergences(arms.eager, arms.control) or _is_untried(suspect, arms.eager)
        return Judgement(Status.INCONCLUSIVE, "insensitive" if told else "eager-nondeterministic", "", outcomes)
    if differs:
        return Judgement(Status.INCONCLUSIVE, "shared", "", outcomes)
    if close:
        reason = MADE_UP if is_made_up(close[0], arms.eager) else "differs-before"
        return Judgement(Status.INCONCLUSIVE, reason, evidence.short(close[0]), outcomes)
    if unsteady(suspect, arms):
        return Judgement(Status.INCONCLUSIVE, "eager-nondeterministic", "", outcomes)
    if not compared or any(outcome.result != "same" for outcome in compared):
        return Judgement(Status.INCONCLUSIVE, *_why_not_compared(arms, found), outcomes)
    told = evidence.agreement(arms.eager, [outcome.backend for outcome in compared])
    return Judgement(Status.REFUTED, "", told + _WHOLE.get(suspect.experiment, ""), outcomes)


def _may_draw(suspect: Suspect, arms: Arms) -> bool:
    """Whether a finding about a draw is one about the first call."""
    own = suspect.experiment is Experiment.DRAW and suspect.number not in arms.foreign.get(0, ())
    return own and reached(suspect, arms.control) and not ranks_in(arms.eager)


def _is_untried(suspect: Suspect, eager: Mapping[str, Any]) -> bool:
    """Whether a draw was never made twice from the same arguments."""
    return suspect.experiment is Experiment.DRAW and len(_results_of_first(eager)) < 2


def unsteady(suspect: Suspect, arms: Arms) -> bool:
    """Whether eager code differs from itself where the finding would show."""
    return any(related(suspect, one, arms) for one in divergences(arms.eager, arms.control))


def _why_not_compared(arms: Arms, found: Mapping[str, list[Divergence]]) -> tuple[str, str]:
    """Why a compiled arm cannot be held against the eager one: the reason of a verdict, and a sentence."""
    failed = next((trace for trace in arms.compiled.values() if trace.get("failure")), None)
    if failed is not None:
        return _failure_of(failed)
    strange = next((one for listed in found.values() for one in listed if one.alone), None)
    if strange is not None:
        return "differs-before", evidence.short(strange)
    numbers = (given_otherwise(arms.eager, trace) for trace in arms.compiled.values())
    number = next((number for number in numbers if number is not None), None)
    return ("load", "") if number is None else ("differs-before", f"the arguments of call {number + 1} differ already")


def _failure_of(trace: Mapping[str, Any]) -> tuple[str, str]:
    """Why an arm came to no end: the reason of a verdict, and a sentence."""
    return str(trace.get("reason", "load")), str(trace["failure"])


def _compared(eager: Mapping[str, Any], compiled: Mapping[str, Any]) -> bool:
    """Whether every call of the eager arm had its like in the compiled one."""
    count = len(eager["calls"])
    return 0 < count == len(compiled.get("calls", ())) and given_otherwise(eager, compiled) is None


def _results_of_first(trace: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of the first call and of those of its region with the same arguments."""
    calls = trace.get("calls", ())
    like = [call for call in calls if all(call.get(key) == calls[0].get(key) for key in ("region", "line", "inputs"))]
    return [call["result"] for call in like if "result" in call]


def _frozen(eager: Mapping[str, Any], control: Mapping[str, Any], compiled: Mapping[str, Any]) -> Divergence | None:
    """From the first call's arguments, eager code makes something else each time; compiled code one thing for ever."""
    runs = [_results_of_first(trace) for trace in (eager, control)]
    fixed = _results_of_first(compiled)
    if min(len(runs[0]), len(runs[1]), len(fixed)) < 2:
        return None
    varies = all(any(difference(run[0], other) is not None for other in run[1:]) for run in runs)
    if not varies or any(difference(fixed[0], other) is not None for other in fixed[1:]):
        return None
    last = max(index for index, call in enumerate(compiled["calls"]) if call.get("result") is fixed[-1])
    return Divergence(Channel.VALUES, last, "another value in each call", "the value of the first call")
