"""What torch does about CUDA graphs in a run, held against the findings that foretell it (NST807, NST808).

A kept result is *overwritten* if a later call makes another one of it, puts one of its own in the same memory, or
leaves it unreadable, and the program still holds it when the next call begins; eager code is the control. That a region
runs without CUDA graphs is what torch says itself, with the line that is to blame; that one is prepared for each value
is counted. Agreement means something only where CUDA graphs were recorded and run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm import evidence
from nonstrict.confirm.numbers import leaf_difference
from nonstrict.confirm.recompiling import ends_early, own_calls, varies
from nonstrict.confirm.sensitivity import changed, reached
from nonstrict.confirm.traces import cause_of
from nonstrict.findings import Status
from nonstrict.knowledge import cuda_graphs
from nonstrict.program.contracts.regions.capturing import CHANGED, CHANGED_IN_PLACE, Limit, Part
from nonstrict.rules.expectation import ON_GPU, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.traces import Arms, Captured

#: The findings that are about CUDA graphs.
ASKED = ON_GPU
GPU = "cuda"
NEEDS_GPU = "torch makes CUDA graphs on a GPU only"
#: What torch 2.13 says of a result that is gone (`format_dealloc_msg` in `torch/_inductor/cudagraph_trees.py`), and
#: behind which words it names the line that computed it. Of a gradient it has other words.
_GONE = re.compile(r"accessing tensor output of CUDAGraphs[^.]*")
_MADE_IN = re.compile(r"line \d+, in (\w+)")
_STEP = re.compile(r"\w+")
_NOTHING: Mapping[str, Any] = {}
#: What torch 2.13 says besides where it splits no graph (`get_first_incompatible_cudagraph_node` in
#: `torch/_inductor/utils.py`, `_inductor/compile_fx.py`).
_WHOLE = {
    Part.SELECTED: ("incompatible op",),
    Part.COUNTED: ("incompatible op",),
    Part.DYNAMIC: ("graph with symbolic shapes",),
}
#: Warm-ups that are repeated for a pending backward pass, with nothing recorded, which are no coincidence.
_WAITING = 2


class Answer(NamedTuple):
    """What CUDA graphs say of a finding: a judgement without the circumstances, and what Inductor did, as a word."""

    status: Status
    reason: str = ""
    evidence: str = ""
    result: str = "not-run"


class _Seen(NamedTuple):
    """Something that shows a finding, in a call of the run."""

    call: int
    text: str


def divided(suspects: Sequence[Suspect], device: str) -> tuple[list[Suspect], list[Suspect]]:
    """The findings of which a run on a device can tell, and those of which none can."""
    beyond = [suspect for suspect in suspects if suspect.experiment in ASKED and device != GPU]
    return [suspect for suspect in suspects if suspect not in beyond], beyond


def places_of(suspects: Iterable[Suspect]) -> frozenset[tuple[str, int]]:
    """The lines of the findings that are about CUDA graphs, and of what they rest on."""
    asked = (suspect for suspect in suspects if suspect.experiment in ASKED)
    return frozenset(place for suspect in asked for place in suspect.places | suspect.writers)


def answer(suspect: Suspect, arms: Arms) -> Answer:
    """What a run with CUDA graphs says of a finding; nothing where there was none."""
    captured = arms.captured
    if captured is None:
        return _open("needs-cuda", NEEDS_GPU)
    own = [call for _, call in own_calls(suspect, captured.inductor, arms)]
    if suspect.experiment is Experiment.OVERWRITTEN:
        seen = _overwritten(suspect, captured, arms, own)
    else:
        seen = _ungraphed(suspect, own)
    if seen is not None:
        return seen
    if failure := captured.inductor.get("failure") or captured.eager.get("failure"):
        reason = captured.inductor.get("reason") or captured.eager.get("reason")
        return _open(str(reason or "load"), str(failure))
    return _unshown(suspect, captured, arms, own)


def _open(reason: str, told: str = "") -> Answer:
    return Answer(Status.INCONCLUSIVE, reason, told)


def _confirmed(text: str, result: str) -> Answer:
    return Answer(Status.CONFIRMED, "", text, result)


def _unshown(suspect: Suspect, captured: Captured, arms: Arms, own: Sequence[Mapping[str, Any]]) -> Answer:
    """Refuted or inconclusive, where nothing shows the finding."""
    if not reached(suspect, captured.eager):
        return _open("line-not-reached")
    if stopped := _stopped(captured) or _ended_early(suspect, captured, arms):
        return _open("blocked", stopped)
    if not own:
        return _open("not-compiled")
    if _is_deaf(own):
        return _open("torch-too-old")
    counts = _counts(own)
    if not counts["warmed"] + counts["recorded"] + counts["replayed"]:
        return _open("no-cuda-graphs", _why_none(own))
    if suspect.experiment is Experiment.UNGRAPHED and (untried := _untried(suspect, captured, arms, own)) is not None:
        return untried
    if told := _waiting(own):
        return _open("no-cuda-graphs", told)
    if not counts["replayed"]:
        return _open("few-runs", f"{_calls(len(own))}, {counts['recorded']} recorded, none run again")
    if suspect.experiment is Experiment.OVERWRITTEN:
        if told := _unclear(suspect, captured, arms):
            return _open("unclear-owner", told)
        told = "and no result that the program keeps was overwritten"
    else:
        told = "torch leaves nothing out for it, and prepares none for each value"
    return Answer(Status.REFUTED, "", f"CUDA graphs ran in {_calls(len(own))}, {told}", "same")


def _untried(suspect: Suspect, captured: Captured, arms: Arms, own: Sequence[Mapping[str, Any]]) -> Answer | None:
    """Why a run says nothing of what runs without CUDA graphs; None if it does."""
    if (told := _hiding(own)) is not None:
        return _open("no-cuda-graphs", told)
    return None if _is_tried(suspect, captured, arms, own) else _open("few-values")


def _is_deaf(own: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the torch of the run does not say what it does about CUDA graphs, or why it leaves something out."""
    told = [call["graphed"] for call in own if "graphed" in call]
    return not told or any(one.get("deaf") for one in told)


def _stopped(captured: Captured) -> str:
    """Which error of a call keeps the run from going on as eager code does; empty if none does."""
    pairs = zip(captured.eager.get("calls", ()), captured.inductor.get("calls", ()), strict=False)
    for number, (eager, compiled) in enumerate(pairs):
        if "error" in compiled and "error" not in eager:
            cause = cause_of(compiled["error"])
            return f"call {number + 1} raises {cause.type}: {evidence.cut(cause.message)}"
    return ""


def _ended_early(suspect: Suspect, captured: Captured, arms: Arms) -> str:
    """How the program ends otherwise than eager code does, so that later calls are not known; empty if it does not."""
    stop, control = (trace.get("stop") or _NOTHING for trace in (captured.inductor, captured.eager))
    if _way_of(stop) != _way_of(control):
        if stop.get("kind") != "raised":
            return "the program does not end as it does in eager code"
        cause = cause_of(stop["error"])
        return f"the program raises {cause.type}, and not in eager code: {evidence.cut(cause.message)}"
    if ends_early(suspect, captured.inductor, arms._replace(eager=captured.eager)):
        return f"`{suspect.function}` is called less often than in eager code"
    return ""


def _way_of(stop: Mapping[str, Any]) -> tuple[Any, ...]:
    """How a program ended, without what numbers may be in the message of an error."""
    if stop.get("kind") != "raised":
        return (stop.get("kind"),)
    cause = cause_of(stop["error"])
    return ("raised", cause.type, cause.lines)


def _counts(calls: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    names = ("begun", "warmed", "waiting", "recorded", "replayed", "skips", "told")
    return {name: sum(int(call.get("graphed", {}).get(name, 0)) for call in calls) for name in names}


def _reasons(call: Mapping[str, Any], kind: str) -> Iterator[tuple[str, frozenset[tuple[str, int]]]]:
    """Why torch runs something without CUDA graphs, with the user's lines that it names."""
    for one in call.get("graphed", {}).get(kind, ()):
        yield str(one["text"]), frozenset((str(path), int(line)) for path, line in one["lines"])


def _why_none(own: Sequence[Mapping[str, Any]]) -> str:
    """Why no CUDA graph was made in any call, as torch says."""
    told = (text for kind in ("skipped", "apart") for call in own for text, _ in _reasons(call, kind))
    return next(told, "")


def _calls(number: int) -> str:
    return f"{number} call{'s' if number != 1 else ''}"


# -- results that are overwritten ----------------------------------------------------------------------------------


def _overwritten(suspect: Suspect, captured: Captured, arms: Arms, own: Sequence[Mapping[str, Any]]) -> Answer | None:
    """What was overwritten of the results of the region, in the first call that did it."""
    numbers = {number for number, call in own_calls(suspect, captured.inductor, arms) if _is_made_there(suspect, call)}
    calls = captured.inductor["calls"]
    eager = captured.eager.get("calls", ())
    for number, call in enumerate(calls):
        control = eager[number] if number < len(eager) else _NOTHING
        seen = _changed_by(number, call, control, numbers) or _raised_in(number, call, control, suspect, numbers)
        if seen is not None:
            return _confirmed(seen.text, "overwritten")
    if told := _ended(suspect, captured):
        return _confirmed(told, "overwritten")
    if suspect.about == Limit.NEVER.name and (told := _waiting(own)):
        return _confirmed(told, "ungraphed")
    return None


def _waiting(own: Sequence[Mapping[str, Any]]) -> str:
    """That torch waits for a backward pass and records nothing; empty if it does not."""
    counts = _counts(own)
    if counts["waiting"] < _WAITING or counts["recorded"] + counts["replayed"]:
        return ""
    told = "torch waits for the backward pass of an earlier result, and records no CUDA graph"
    return f"{told} in {_calls(len(own))}"


def _changed_by(number: int, call: Mapping[str, Any], control: Mapping[str, Any], own: set[int]) -> _Seen | None:
    """A kept result of the region that a call changed, and did not change in eager code."""
    known = {one["of"] for one in control.get("overwritten", ())}
    for one in call.get("overwritten", ()):
        of = int(one["of"])
        if of not in own or of in known or one.get("unclear"):
            continue
        if "error" in one:
            if gone := _GONE.search(str(one["error"])):
                told = f"the result of call {of + 1} cannot be read after call {number + 1}: torch raises"
                return _Seen(number, f"{told}: {gone[0]}")
        elif one.get("changed"):
            # Nothing computes it anew, so that any other bit is no rounding.
            told = f"the result of call {of + 1} reads as another after call {number + 1}"
            gap = leaf_difference(one["was"], one["now"]) if "was" in one else None
            return _Seen(number, f"{told}: {gap.eager}, then {gap.compiled}" if gap is not None else told)
        elif one.get("shared") and call.get("graphed", {}).get("replayed"):
            return _Seen(number, f"the results of call {of + 1} and of call {number + 1} have the same memory")
    return None


def _is_made_there(suspect: Suspect, call: Mapping[str, Any]) -> bool:
    """Whether a call stands at a line of the finding, or of what it rests on: a region may be called elsewhere, too."""
    stood = {(str(path), int(line)) for path, line in call.get("stood", ())}
    return not stood or not stood.isdisjoint(suspect.places | suspect.writers)


def _unclear(suspect: Suspect, captured: Captured, arms: Arms) -> str:
    """The first result that was overwritten and may be another one's; empty if there is none.

    torch holds it as well, or it is one of the region that another line calls.
    """
    own = dict(own_calls(suspect, captured.inductor, arms))
    eager = captured.eager.get("calls", ())
    for number, call in enumerate(captured.inductor["calls"]):
        known = {one["of"] for one in (eager[number] if number < len(eager) else _NOTHING).get("overwritten", ())}
        for one in call.get("overwritten", ()):
            of = int(one["of"])
            if of in own and of not in known and (one.get("unclear") or not _is_made_there(suspect, own[of])):
                why = "which torch holds as well" if one.get("unclear") else "which another line has"
                return f"call {number + 1} overwrites the result of call {of + 1}, {why}"
    return ""


def _raised_in(
    number: int, call: Mapping[str, Any], control: Mapping[str, Any], suspect: Suspect, own: set[int]
) -> _Seen | None:
    """A call that was given a result of the region which was overwritten by then."""
    gone = _gone(call["error"], suspect) if "error" in call and "error" not in control else ""
    if not gone or not any(earlier < number for earlier in own):
        return None
    return _Seen(number, f"call {number + 1} reads a result that was overwritten: torch raises: {gone}")


def _ended(suspect: Suspect, captured: Captured) -> str:
    """Where the program stops because it reads such a result outside of regions; empty if it does not."""
    stop, control = (trace.get("stop") or _NOTHING for trace in (captured.inductor, captured.eager))
    if stop.get("kind") != "raised" or control.get("kind") == "raised":
        return ""
    if not (gone := _gone(stop["error"], suspect)):
        return ""
    lines = cause_of(stop["error"]).lines
    where = f"line {lines[-1][1]}" if lines else "the program"
    return f"{where} reads a result that was overwritten: torch raises: {gone}"


def _gone(error: Mapping[str, Any], suspect: Suspect) -> str:
    """The words of torch that a result of the region is gone, in an error; empty if it says no such thing.

    It names the line that computed the result: one that names other functions alone is about another region.
    """
    for link in error["links"]:
        if found := _GONE.search(str(link["message"])):
            made = set(_MADE_IN.findall(str(link["message"])))
            # A module is known by its class, and computes in its `forward`.
            own = {suspect.function.rpartition(".")[2], "forward"}
            return found[0] if not made or made & own else ""
    return ""


# -- regions without CUDA graphs, or with too many -----------------------------------------------------------------


def _ungraphed(suspect: Suspect, own: Sequence[Mapping[str, Any]]) -> Answer | None:
    """What of a finding torch runs without CUDA graphs, or prepares one after the other for."""
    for call in own:
        for text, lines in _reasons(call, "skipped"):
            if lines & suspect.places and _fits(suspect, text):
                return _confirmed(f"torch runs it without CUDA graphs: {text}", "ungraphed")
        for text, lines in _reasons(call, "apart"):
            if lines & suspect.places and _fits(suspect, text):
                return _confirmed(f"torch leaves it out of the CUDA graph: {text}", "ungraphed")
    if told := _for_each_value(suspect, own):
        return _confirmed(told, "recorded-anew")
    fitting = next((text for text, lines in _skipped(own) if not lines and _fits(suspect, text)), "")
    if fitting:
        return _confirmed(f"torch runs `{suspect.function}` without CUDA graphs: {fitting}", "ungraphed")
    return None


def _fits(suspect: Suspect, text: str) -> bool:
    """Whether a reason is one that torch gave for what the finding is about where that was measured."""
    if suspect.about == CHANGED:
        return text.startswith(tuple(cuda_graphs.reasons(CHANGED_IN_PLACE)))
    part = next((one for one in Part if one.name == suspect.about), None)
    if part is None:
        return False
    group, name = part.value
    return text.startswith((*cuda_graphs.reasons(group, "" if part.is_on_cpu else name), *_WHOLE.get(part, ())))


def _skipped(own: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, frozenset[tuple[str, int]]]]:
    return (one for call in own for one in _reasons(call, "skipped"))


def _hiding(own: Sequence[Mapping[str, Any]]) -> str | None:
    """Why torch runs something of the region without CUDA graphs, whatever else is in it; None if it says no such.

    It gives one reason for each graph.
    """
    if (told := next(_skipped(own), None)) is not None:
        return told[0]
    counts = _counts(own)
    return "torch gives no reason" if counts["skips"] > counts["told"] else None


def _for_each_value(suspect: Suspect, own: Sequence[Mapping[str, Any]]) -> str:
    """That a CUDA graph is prepared where what the finding is about varies and nothing is compiled; "" if none is."""
    begun = [index for index, call in enumerate(own) if call.get("graphed", {}).get("begun")]
    later = [index for index in begun if index and varies(suspect, own, index)]
    if not any(not own[index].get("compiled", {}).get("graphs") for index in later):
        return ""
    recorded = _counts(own)["recorded"]
    told = f"torch prepares {len(begun)} CUDA graphs in {_calls(len(own))}, one for each value"
    return f"{told}; {recorded} of them recorded so far"


def _is_tried(suspect: Suspect, captured: Captured, arms: Arms, own: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a run did what the finding is about.

    Eager code changes it in place; or it takes another value in a call for which torch compiles nothing: of the first
    two sizes each has a graph of its own anyway, the first a static one.
    """
    if suspect.subject is None or suspect.about not in (CHANGED, ""):
        return True
    if suspect.about == CHANGED:
        return any(_is_written(suspect, call) for _, call in own_calls(suspect, captured.eager, arms))
    anew = (index for index in range(1, len(own)) if varies(suspect, own, index))
    return any(not own[index].get("compiled", {}).get("graphs") for index in anew)


def _is_written(suspect: Suspect, call: Mapping[str, Any]) -> bool:
    before, after = call.get("inputs", {}), call.get("arguments", {})
    written = {path for path in {**before, **after} if before.get(path) != after.get(path)}
    subject = suspect.subject
    if subject is not None and subject.origin == "argument":
        written = {path for path in written if _STEP.findall(path)[:1] == [subject.name]}
        return bool(written)
    return changed(suspect, {*call.get("state", {}), *written})
