"""From traces to verdicts: which divergence proves which finding, and when agreement refutes one.

A finding is *confirmed* by a divergence that can be laid at its door, *refuted* where its line ran, eager code showed
that it mattered, and every backend agreed; everything else is inconclusive, with the reason.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm import evidence
from nonstrict.confirm.numbers import difference
from nonstrict.confirm.traces import Channel, Divergence, all_lines, cause_of, divergences
from nonstrict.findings import Outcome, Status
from nonstrict.rules.base import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect

#: Where the parts of a path end: `telemetry.seen['batches']`.
_SEGMENTS = re.compile(r"[.\[]")
_EFFECTS = (Channel.OUTPUT, Channel.EVENTS, Channel.STATE, Channel.FILES, Channel.LEAK)
_RESULTS = {
    Channel.ERROR: "error",
    Channel.VALUES: "silent-wrong",
    Channel.GRADIENTS: "silent-wrong",
}
#: What a finding of each kind can make go wrong.
_CHANNELS = {
    Experiment.CHANGE: {Channel.VALUES, Channel.ERROR, Channel.GRADIENTS, Channel.ARGUMENTS},
    Experiment.EFFECT: set(Channel),
    Experiment.DRAW: {Channel.VALUES, Channel.ERROR, Channel.ARGUMENTS, Channel.STATE, Channel.OUTPUT},
    Experiment.REFUSAL: {Channel.ERROR, Channel.VALUES, Channel.GRADIENTS, Channel.ARGUMENTS},
}
_CAPTURES = frozenset({"NST101", "NST102", "NST103", "NST105", "NST204", "NST206", "NST608"})
_LEAKS = frozenset({"NST202", "NST203", "NST206", "NST207"})
#: Rules about the marker itself: torch may refuse them before anything is compiled.
_MARKERS = frozenset({"NST601", "NST602", "NST605", "NST606", "NST607"})
#: Lines that the decorators of one function may span.
_DECORATORS = 4
#: Rules about what a function tells the world.
_TELLING = frozenset({"NST201"})
#: Relative differences below this may come from another order of the same operations.
_ROUNDING = 1e-2
#: Codes of which the compiler's refusal names no line of the user's, with words of that refusal.
_REFUSALS = (
    ("convert all Tensors to FakeTensors", _CAPTURES),
    ("GuardOnDataDependent", frozenset({"NST402", "NST506"})),
    ("DataDependentOutput", frozenset({"NST402"})),
    ("PendingUnbackedSymbol", frozenset({"NST402"})),
    ("Undeclared in-place mutation", frozenset({"NST607"})),
    ("Cannot wrap a Tensor that has already been", _LEAKS),
    ("Mixing fake modes", _LEAKS),
    ("FakeTensor", _LEAKS),
)


class Arms(NamedTuple):
    """The traces of one schedule: `compiled` by backend. `control` is a second eager run, with the lines executed."""

    eager: Mapping[str, Any]
    control: Mapping[str, Any]
    compiled: Mapping[str, Mapping[str, Any]]


class Judgement(NamedTuple):
    """What an experiment says of one finding; a verdict without the circumstances.

    `proofs` are the divergences that confirm it, by backend.
    """

    status: Status
    reason: str
    evidence: str
    outcomes: tuple[Outcome, ...]
    proofs: tuple[tuple[str, Divergence], ...] = ()


def judge(suspects: Sequence[Suspect], arms: Arms) -> dict[int, Judgement]:
    """The judgements by number of suspect."""
    found = found_in(arms)
    findings = [suspect for suspect in suspects if not suspect.is_probe]
    judgements = {suspect.number: _judged(suspect, findings, arms, found) for suspect in findings}
    return judgements | {s.number: _answered(s, findings, arms, found) for s in suspects if s.is_probe}


def _answered(
    probe: Suspect, findings: Sequence[Suspect], arms: Arms, found: Mapping[str, list[Divergence]]
) -> Judgement:
    """Whether a function computes the same when compiled: not where something is wrong that no finding says."""
    strange = unexplained(findings, arms) if reached(probe, arms.control) else None
    if strange is not None:
        return strange
    outcomes = [Outcome(name, "same" if not listed else "not-run") for name, listed in found.items()]
    explained = any(found.values()) and reached(probe, arms.control)
    if explained:
        return Judgement(Status.INCONCLUSIVE, "shared", "", tuple(outcomes))
    return _unproven(probe, arms, found, tuple(outcomes), "")


def foretold(suspects: Sequence[Suspect], arms: Arms) -> dict[int, Judgement]:
    """What a trace with fake tensors proves already: that torch refuses what stands on the line of a finding."""
    found = {
        backend: [one for one in listed if one.channel is Channel.ERROR] for backend, listed in found_in(arms).items()
    }
    refusals = [one for listed in found.values() for one in listed]
    on_line = [s for s in suspects if any(s.places & set(one.lines[-1:]) or _speaks_of(one, s) for one in refusals)]
    judgements = {s.number: _judged(s, suspects, arms, found) for s in on_line}
    return {number: told for number, told in judgements.items() if told.status is Status.CONFIRMED}


def refused_by_eager(suspect: Suspect, eager: Mapping[str, Any]) -> Judgement | None:
    """The judgement where torch refuses a marker as soon as it is applied or called; None if that did not happen."""
    stop: Mapping[str, Any] = eager.get("stop") or {}
    errors = [call["error"] for call in eager.get("calls", ()) if "error" in call]
    error: Mapping[str, Any] | None = stop.get("error") or eager.get("load_error") or next(iter(errors), None)
    if error is None or suspect.code not in _MARKERS:
        return None
    cause = cause_of(error)
    told = f"{cause.type}: {cause.message}"
    named = any(_near(line, suspect) for line in all_lines(error))
    if not named and not any(words in told and suspect.code in codes for words, codes in _REFUSALS):
        return None
    return Judgement(Status.CONFIRMED, "", f"torch refuses it: {told}", (Outcome("eager", "error", cause.message),))


def _near(place: tuple[str, int], suspect: Suspect) -> bool:
    """Whether a line belongs to the decorators of a suspect: errors name any of them."""
    own = {*suspect.places, (suspect.file, suspect.marked_line)}
    return any(path == place[0] and abs(line - place[1]) <= _DECORATORS for path, line in own)


def reached(suspect: Suspect, control: Mapping[str, Any]) -> bool:
    """Whether eager code executed a line of the finding."""
    lines = {path: set(numbers) for path, numbers in control.get("lines", {}).items()}
    return any(line in lines.get(path, ()) for path, line in suspect.places)


def unexplained(suspects: Sequence[Suspect], arms: Arms) -> Judgement | None:
    """The first divergence in results that no finding could have caused (NST900), None if there is none."""
    close = [suspect for suspect in suspects if reached(suspect, arms.control) and not suspect.is_probe]
    outcomes: list[Outcome] = []
    told = ""
    for backend, listed in found_in(arms).items():
        plain = [one for one in listed if one.channel in {Channel.ERROR, Channel.VALUES}]
        strange = next((one for one in plain if not any(_related(suspect, one) for suspect in close)), None)
        if strange is not None:
            told = told or evidence.short(strange)
            outcomes.append(Outcome(backend, _RESULTS[strange.channel], evidence.short(strange)))
    return Judgement(Status.CONFIRMED, "", told, tuple(outcomes)) if outcomes else None


def found_in(arms: Arms) -> dict[str, list[Divergence]]:
    """The divergences by backend that mean something.

    Eager code that differs from itself is no measure, and rounding of Inductor alone is not semantics.
    """
    unsteady = {(one.channel, one.call) for one in divergences(arms.eager, arms.control)}
    found = {
        backend: [one for one in divergences(arms.eager, trace) if (one.channel, one.call) not in unsteady]
        for backend, trace in arms.compiled.items()
    }
    precise = {(one.channel, one.call) for one in found.get("aot_eager", ())}
    if "aot_eager" in found and "inductor" in found:
        found["inductor"] = [one for one in found["inductor"] if not _is_rounding(one, precise)]
    return found


def _is_rounding(divergence: Divergence, precise: set[tuple[Channel, int]]) -> bool:
    """Whether numbers differ a little on Inductor where aot_eager, which computes as eager does, agrees."""
    numeric = divergence.channel in {Channel.VALUES, Channel.GRADIENTS}
    return numeric and divergence.relative < _ROUNDING and (divergence.channel, divergence.call) not in precise


def _judged(
    suspect: Suspect, suspects: Sequence[Suspect], arms: Arms, found: Mapping[str, list[Divergence]]
) -> Judgement:
    outcomes: list[Outcome] = []
    proofs: list[tuple[str, Divergence]] = []
    blocked = ""
    for backend, divergences_ in found.items():
        divergence = next((one for one in divergences_ if _proves(suspect, one, suspects, arms)), None)
        if divergence is None and suspect.experiment is Experiment.DRAW:
            divergence = _frozen(arms.eager, arms.control, arms.compiled[backend])
        if divergence is not None:
            proofs.append((backend, divergence))
            outcomes.append(
                Outcome(backend, _RESULTS.get(divergence.channel, "effect-lost"), evidence.short(divergence))
            )
            continue
        other = next((one for one in divergences_ if one.channel is Channel.ERROR), None)
        if other is not None:
            blocked = blocked or evidence.blocked(other)
            outcomes.append(Outcome(backend, "not-run", "another error stops the compilation first"))
        elif _compared(arms.eager, arms.compiled[backend]):
            outcomes.append(Outcome(backend, "same"))
        else:
            outcomes.append(Outcome(backend, "not-run", arms.compiled[backend].get("failure", "")))
    if proofs:
        speaking = [outcome for outcome in outcomes if outcome.result not in {"same", "not-run"}]
        told = evidence.sentence(proofs[0][1], suspect, arms.eager, speaking)
        # The sentence says what they did.
        outcomes = [outcome._replace(detail="") if outcome in speaking else outcome for outcome in outcomes]
        return Judgement(Status.CONFIRMED, "", told, tuple(outcomes), tuple(proofs))
    return _unproven(suspect, arms, found, tuple(outcomes), blocked)


def _unproven(
    suspect: Suspect,
    arms: Arms,
    found: Mapping[str, list[Divergence]],
    outcomes: tuple[Outcome, ...],
    blocked: str,
) -> Judgement:
    """Refuted or inconclusive."""
    if not reached(suspect, arms.control):
        return Judgement(Status.INCONCLUSIVE, "line-not-reached", "", outcomes)
    if all("error" in call for call in arms.eager["calls"]):
        refused = refused_by_eager(suspect, arms.eager)
        if refused is not None:
            return refused
        cause = cause_of(arms.eager["calls"][0]["error"])
        return Judgement(Status.INCONCLUSIVE, "eager-raises", f"{cause.type}: {cause.message}", outcomes)
    if blocked:
        return Judgement(Status.INCONCLUSIVE, "blocked", blocked, outcomes)
    if not sensitive(suspect, arms.eager):
        steady = not divergences(arms.eager, arms.control)
        return Judgement(Status.INCONCLUSIVE, "insensitive" if steady else "eager-nondeterministic", "", outcomes)
    if any(_related(suspect, one) for divergences_ in found.values() for one in divergences_):
        return Judgement(Status.INCONCLUSIVE, "shared", "", outcomes)
    if not outcomes or any(outcome.result != "same" for outcome in outcomes):
        failed = [trace for trace in arms.compiled.values() if trace.get("failure")]
        reason, detail = (failed[0].get("reason", "load"), str(failed[0]["failure"])) if failed else ("load", "")
        return Judgement(Status.INCONCLUSIVE, reason, detail, outcomes)
    told = evidence.agreement(arms.eager, [outcome.backend for outcome in outcomes])
    return Judgement(Status.REFUTED, "", told, outcomes)


def sensitive(suspect: Suspect, eager: Mapping[str, Any]) -> bool:
    """Whether eager code showed what the finding is about, so that agreement means something."""
    calls = eager["calls"]
    if not calls:
        return False
    if suspect.experiment is Experiment.CHANGE:
        return any(_reacts(suspect, calls, index) for index in range(1, len(calls)))
    if suspect.experiment is Experiment.EFFECT:
        return any(_has_effect(suspect, call) for call in calls)
    if suspect.experiment is Experiment.DRAW:
        results = [call["result"] for call in calls if "result" in call]
        same = len({str(call.get("inputs")) for call in calls}) < len(calls)
        return same and any(difference(results[0], other) is not None for other in results[1:])
    return True


def _reacts(suspect: Suspect, calls: Sequence[Mapping[str, Any]], index: int) -> bool:
    """Whether a call computes something else after the subject changed, from the same arguments."""
    before, call = calls[index - 1], calls[index]
    if not _changed(suspect, call.get("between", {})) or "result" not in before or "result" not in call:
        return False
    return before.get("inputs") == call.get("inputs") and difference(before["result"], call["result"]) is not None


def _changed(suspect: Suspect, between: Iterable[str]) -> bool:
    """Whether the subject of a finding is among the paths that changed."""
    subject = suspect.subject
    paths = [path for path in between if not path.startswith("<random") and not path.startswith("<NumPy")]
    if subject is None:
        return bool(paths)
    keys = [step for step in subject.path if step not in {"~", "[]"}]
    if subject.origin in {"global", "cell"}:
        return any(subject.name in _SEGMENTS.split(path) for path in paths)
    return any(key in path for key in keys for path in paths) if keys else bool(paths)


def _has_effect(suspect: Suspect, call: Mapping[str, Any]) -> bool:
    moved = {path for path in call.get("state", {}) if not path.startswith("<random")}
    changed = call.get("inputs") != call.get("arguments")
    if suspect.subject is not None and suspect.subject.origin in {"global", "cell"}:
        return _changed(suspect, moved)
    told = call.get("out") or call.get("err") or call.get("log") or call.get("events")
    return bool(told or (suspect.code not in _TELLING and (moved or changed)))


def _compared(eager: Mapping[str, Any], compiled: Mapping[str, Any]) -> bool:
    """Whether every call of the eager arm had its like in the compiled one."""
    left, right = eager["calls"], compiled.get("calls", ())
    return (
        bool(left)
        and len(left) == len(right)
        and all(a.get("inputs") == b.get("inputs") for a, b in zip(left, right, strict=True))
    )


def _proves(suspect: Suspect, divergence: Divergence, suspects: Sequence[Suspect], arms: Arms) -> bool:
    """Whether a divergence can be laid at the door of one suspect, and of no other."""
    if not reached(suspect, arms.control) or not _related(suspect, divergence):
        return False
    if divergence.channel is Channel.ERROR:
        return _explains_error(suspect, divergence, suspects, arms)
    rivals = [other for other in suspects if other.number != suspect.number and reached(other, arms.control)]
    rivals = [other for other in rivals if _related(other, divergence)]
    if not rivals:
        return True
    own = _strength(suspect, divergence, arms.eager)
    strongest = max(_strength(other, divergence, arms.eager) for other in rivals)
    return own > 0 and own >= strongest if own > 1 else own > strongest


def _related(suspect: Suspect, divergence: Divergence) -> bool:
    return divergence.channel in _CHANNELS[suspect.experiment]


def _strength(suspect: Suspect, divergence: Divergence, eager: Mapping[str, Any]) -> int:
    """How closely a divergence fits a suspect: 2 on its own line or subject, 1 in its kind, 0 not."""
    if set(divergence.lines) & suspect.places:
        return 2
    if divergence.paths:
        return 2 if suspect.subject is not None and _changed(suspect, divergence.paths) else 0
    if divergence.channel is Channel.OUTPUT:
        return 2 if suspect.code in _TELLING | {"NST209"} else 0
    if divergence.channel is Channel.VALUES:
        return _strength_of_values(suspect, divergence, eager)
    return 1


def _strength_of_values(suspect: Suspect, divergence: Divergence, eager: Mapping[str, Any]) -> int:
    between = eager["calls"][divergence.call].get("between", {})
    moved = {path for path in between if not path.startswith("<random")}
    if suspect.experiment is Experiment.CHANGE:
        return 2 if moved and suspect.subject is not None and _changed(suspect, moved) else 0
    if suspect.experiment is Experiment.DRAW:
        return 2 if not moved else 1
    return 1


def _explains_error(suspect: Suspect, divergence: Divergence, suspects: Sequence[Suspect], arms: Arms) -> bool:
    """Whether an error is the one that a finding predicts: it names its line, or speaks of its kind."""
    rivals = [other for other in suspects if reached(other, arms.control) and _related(other, divergence)]
    told = _lines_of_error(divergence, arms)
    on_line = [other for other in rivals if other.places & told[0]]
    if on_line:
        return suspect in on_line
    spoken = [other for other in rivals if _speaks_of(divergence, other)]
    if spoken:
        return suspect in spoken
    near = [other for other in rivals if (other.places | other.chain) & told[1]]
    candidates = near or rivals
    return suspect in candidates and len({other.code for other in candidates}) == 1


def _lines_of_error(
    divergence: Divergence, arms: Arms
) -> tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]:
    """The innermost line of an error, and all lines that its chain names."""
    inner = frozenset(divergence.lines[-1:])
    everything: set[tuple[str, int]] = set(divergence.lines)
    for trace in arms.compiled.values():
        calls = trace.get("calls", ())
        error = calls[divergence.call].get("error") if divergence.call < len(calls) else None
        if error is not None and cause_of(error).lines == divergence.lines:
            everything |= all_lines(error)
    return inner, frozenset(everything)


def _speaks_of(divergence: Divergence, suspect: Suspect) -> bool:
    return any(words in divergence.compiled and suspect.code in codes for words, codes in _REFUSALS)


def _frozen(eager: Mapping[str, Any], control: Mapping[str, Any], compiled: Mapping[str, Any]) -> Divergence | None:
    """Eager code gives something else in each call and run; compiled code gives one thing for ever."""
    runs = [[call["result"] for call in trace.get("calls", ()) if "result" in call] for trace in (eager, control)]
    fixed = [call["result"] for call in compiled.get("calls", ()) if "result" in call]
    if min(len(runs[0]), len(runs[1]), len(fixed)) < 2:
        return None
    varies = all(any(difference(run[0], other) is not None for other in run[1:]) for run in runs)
    if not varies or any(difference(fixed[0], other) is not None for other in fixed[1:]):
        return None
    last = len(fixed) - 1
    return Divergence(Channel.VALUES, last, "another value in each call", "the value of the first call")
