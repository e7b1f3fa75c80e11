"""At whose door a divergence is laid: that of the finding whose line, subject or kind it fits best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.sensitivity import (
    changed,
    is_named,
    moved_before,
    reached,
    streams_of,
    touched,
    unmoved,
)
from nonstrict.confirm.traces import Arms, Divergence, all_lines, cause_of
from nonstrict.rules.expectation import OF_CAPTURES, Channel, Experiment, Trait, is_of_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.confirm.judging import Judgement
    from nonstrict.confirm.suspects import Suspect

#: Where staleness shows, which it does only once something has changed.
_SEEN_LATER = frozenset({Channel.VALUES, Channel.ARGUMENTS})


def proves(suspect: Suspect, divergence: Divergence, suspects: Sequence[Suspect], arms: Arms) -> bool:
    """Whether a divergence can be laid at the door of one suspect, and of no other."""
    if divergence.vague or not reached(suspect, arms.control) or not related(suspect, divergence, arms):
        return False
    if _precedes_all(suspect, divergence, arms.eager) or not _is_own(suspect, divergence):
        return False
    if divergence.channel is Channel.ERROR:
        return _explains_error(suspect, divergence, suspects, arms)
    rivals = [other for other in suspects if other.number != suspect.number and reached(other, arms.control)]
    rivals = [other for other in rivals if related(other, divergence, arms)]
    if not rivals:
        return True
    own = _strength(suspect, divergence, arms.eager)
    strongest = max(_strength(other, divergence, arms.eager) for other in rivals)
    return own > 0 and own >= strongest if own > 1 else own > strongest


def is_shared(suspect: Suspect, own: Judgement, other: Judgement) -> bool:
    """Whether two findings were confirmed by one divergence, which does not stand at the place of the first of them."""
    seen = {divergence for _, divergence in other.proofs}
    shared = [divergence for _, divergence in own.proofs if divergence in seen]
    return bool(shared) and all(suspect.places.isdisjoint(one.lines) for one in shared)


def is_foreign(suspect: Suspect, divergence: Divergence, arms: Arms) -> bool:
    """Whether a divergence is of a call that has nothing to do with a suspect; gradients are of all calls."""
    called = divergence.channel is not Channel.GRADIENTS
    return called and suspect.number in arms.foreign.get(divergence.call, ())


def related(suspect: Suspect, divergence: Divergence, arms: Arms) -> bool:
    """Whether a finding of this kind can make something like this go wrong."""
    if is_foreign(suspect, divergence, arms) or (divergence.alone and not suspect.has(Trait.OPERATOR)):
        return False
    later = suspect.has(Trait.STALE) and divergence.channel in _SEEN_LATER
    if later and not _may_be_stale(divergence.call, arms.eager):
        return False
    return divergence.channel in suspect.expectation.channels


def _is_own(suspect: Suspect, divergence: Divergence) -> bool:
    """Whether what is told otherwise is what a finding about telling is about: on its line, in its way."""
    if not suspect.has(Trait.TELLS):
        return True
    if divergence.channel is Channel.EVENTS:
        return not suspect.places.isdisjoint(divergence.lines)
    return divergence.channel is not Channel.OUTPUT or divergence.stream in streams_of(suspect)


def _precedes_all(suspect: Suspect, divergence: Divergence, eager: Mapping[str, Any]) -> bool:
    """Whether nothing was seen to change before a graph is stale: what did before its first call, nobody recorded."""
    if not eager.get("ahead") or not suspect.has(Trait.STALE) or divergence.channel not in _SEEN_LATER:
        return False
    calls = eager["calls"]
    within = _moved_within(calls[divergence.call])
    before = (path for index in range(divergence.call + 1) for path in moved_before(calls, index))
    return not within and all(path.startswith("<") for path in before)


def _may_be_stale(index: int, eager: Mapping[str, Any]) -> bool:
    """Whether anything may have changed since compiled code last looked: in its first call, or before all calls."""
    return index > 0 or bool(eager.get("ahead")) or bool(_moved_within(eager["calls"][0]))


def _moved_within(call: Mapping[str, Any]) -> set[str]:
    return {path for path in call.get("state", ()) if not path.startswith("<random")}


def fits(suspect: Suspect, divergence: Divergence, eager: Mapping[str, Any]) -> bool:
    """Whether a divergence fits a suspect by itself, and not for want of others.

    An error has to name it, by a line or in words: it may be one of the program as it was changed.
    """
    if divergence.channel is Channel.ERROR and not suspect.has(Trait.OPERATOR):
        named = (suspect.places | suspect.chain) & frozenset(divergence.lines)
        # What an effect leaves behind is named by the words of an error only where that are tensors.
        by_words = suspect.experiment is not Experiment.EFFECT or suspect.expectation.refusals >= OF_CAPTURES
        return bool(named) or (by_words and suspect.expectation.foretells(divergence.compiled))
    return _strength(suspect, divergence, eager) > 0


def _strength(suspect: Suspect, divergence: Divergence, eager: Mapping[str, Any]) -> int:
    """How closely a divergence fits a suspect: 2 on its own line or subject, 1 in its kind, 0 not."""
    if set(divergence.lines) & suspect.places:
        return 2
    if divergence.paths:
        return 2 if suspect.subject is not None and changed(suspect, divergence.paths) else 0
    if divergence.channel is Channel.OUTPUT:
        if suspect.has(Trait.TELLS):
            return 2 if is_named(suspect, divergence.stream) else 1
        return 2 if suspect.has(Trait.TELLS_LATER) else 0
    if divergence.channel is Channel.VALUES:
        return _strength_of_values(suspect, divergence, eager)
    return 1


def _strength_of_values(suspect: Suspect, divergence: Divergence, eager: Mapping[str, Any]) -> int:
    moved = moved_before(eager["calls"], divergence.call)
    if divergence.gradient and suspect.expectation.refusals >= OF_CAPTURES:
        # None flows through a captured tensor, whether it changes or not.
        return 1
    if suspect.experiment is Experiment.CHANGE:
        if not suspect.has(Trait.CROSSES) and unmoved(eager["calls"], divergence.call):
            return 0
        within = eager["calls"][divergence.call].get("state", ()) if suspect.has(Trait.CROSSES) else ()
        moved = moved.union(within, _given_anew(suspect, eager["calls"], divergence.call))
        if suspect.subject is None or not moved:
            return 0
        return 2 if changed(suspect, moved) else int(touched(suspect, moved))
    if suspect.experiment is Experiment.DRAW:
        return 2 if not moved else 1
    return 1


def _given_anew(suspect: Suspect, calls: Sequence[Mapping[str, Any]], index: int) -> set[str]:
    """What of its subject a call is given otherwise than the one before, where that is the mode of an argument."""
    if suspect.subject is None or suspect.subject.origin != "argument" or not suspect.has(Trait.OF_MODES) or not index:
        return set()
    before, now = (call.get("inputs", {}) for call in calls[index - 1 : index + 1])
    fresh = (path for path in {**before, **now} if before.get(path) != now.get(path))
    return {path for path in fresh if changed(suspect, (path,))}


def _explains_error(suspect: Suspect, divergence: Divergence, suspects: Sequence[Suspect], arms: Arms) -> bool:
    """Whether an error is the one that a finding predicts: its expression raised it, or it speaks of its kind."""
    rivals = [other for other in suspects if reached(other, arms.control) and related(other, divergence, arms)]
    on_line = _raising(divergence, rivals)
    rivals = [other for other in rivals if other in on_line or not _is_beside(other, divergence)]
    spoken = [other for other in rivals if other.expectation.foretells(divergence.compiled)]
    # What a call on the line gave back is nearer than what was not called there.
    spoken = [other for other in spoken if other.chain & frozenset(divergence.lines[-1:])] or spoken
    # What is stale is no reason to refuse its line.
    firm = [other for other in on_line if other.experiment is not Experiment.CHANGE or other in spoken]
    if firm:
        return suspect in firm
    if spoken or is_of_arguments(divergence.compiled):
        return suspect in spoken
    # While a graph is traced, a value of Python's is what it is in eager code.
    on_line = [other for other in on_line if not other.has(Trait.STALE)]
    if on_line:
        return suspect in on_line
    # Of what else torch refuses it names at most what led there: state and effects are no reason to refuse it.
    refused = [other for other in rivals if other.expectation.is_refused and not other.has(Trait.SILENT)]
    refused = [other for other in refused if not (other.has(Trait.OF_RESULTS) and _is_of_body(other, divergence))]
    told = _lines_of_error(divergence, arms)
    candidates = [other for other in refused if (other.places | other.chain) & told] or refused
    return suspect in candidates and len({other.code for other in candidates}) == 1


def _is_of_body(suspect: Suspect, divergence: Divergence) -> bool:
    """Whether an error came from the body of a marked function, on the way to its expression."""
    body = range(suspect.marked_line + 1, min(suspect.lines))
    return any(path == suspect.file == suspect.path and line in body for path, line in divergence.lines)


def _raising(divergence: Divergence, rivals: Sequence[Suspect]) -> list[Suspect]:
    """The findings whose expression raised an error.

    It is the one that was at work or a part of it, else the smallest around it; where columns are not known, each on
    the innermost line.
    """
    inner = frozenset(divergence.lines[-1:])
    on_line = [one for one in rivals if one.places & inner]
    raised = divergence.span
    if raised is None or any(one.span is None for one in on_line):
        return on_line
    here = [(one, one.span) for one in rivals if one.path == divergence.lines[-1][0] and one.span is not None]
    around = [span for _, span in here if span.covers(raised)]
    parts = [one for one, span in here if raised.covers(span)]
    return parts or [one for one, span in here if span in around and all(other.covers(span) for other in around)]


def _is_beside(suspect: Suspect, divergence: Divergence) -> bool:
    """Whether another expression of the line of a finding raised an error, of which it is thus no cause.

    What an effect left behind fails wherever it is used.
    """
    known = divergence.span is not None and suspect.span is not None and suspect.experiment is not Experiment.EFFECT
    return known and not suspect.places.isdisjoint(divergence.lines[-1:])


def _lines_of_error(divergence: Divergence, arms: Arms) -> frozenset[tuple[str, int]]:
    """All lines that the chain of an error names."""
    everything: set[tuple[str, int]] = set(divergence.lines)
    for trace in arms.compiled.values():
        calls = trace.get("calls", ())
        error = calls[divergence.call].get("error") if divergence.call < len(calls) else None
        if error is not None and cause_of(error).lines == divergence.lines:
            everything |= all_lines(error)
    return frozenset(everything)
