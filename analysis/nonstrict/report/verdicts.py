"""Verdicts of experiments in words: a sentence for each, and for each reason why an experiment said nothing.

What an inconclusive verdict means is said here alone; output formats and editors choose between `tag` (a few words),
`sentence` (one line) and `details` (what more there is to tell).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Status
from nonstrict.report import sightings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.findings import Diagnostic, Outcome, Verdict


class Reason(NamedTuple):
    """Why an experiment said nothing: in a few words, as a sentence, and what to do next.

    `{function}` in the texts stands for the name of the marked function.
    """

    short: str
    sentence: str
    advice: str


REASONS = {
    "load": Reason(
        "not loaded",
        "{function} could not be loaded",
        "try `--full-import`, and check that the interpreter (`--python`; `nonstrict.interpreter` in an "
        "editor) has what the file imports",
    ),
    "needs": Reason(
        "something is missing",
        "{function} uses what could not be loaded",
        "`pip install` the package for the interpreter of experiments (`--python`; `nonstrict.interpreter` in an "
        "editor), or provide what the statement asks for",
    ),
    "inputs": Reason(
        "no inputs",
        "no inputs were found for {function}",
        "provide some with `# nonstrict: inputs(...)`, or record real calls with `nonstrict record -- pytest`",
    ),
    "eager-raises": Reason(
        "eager raises",
        "{function} raises in eager mode too",
        "give inputs that it accepts with `# nonstrict: inputs(...)` or `nonstrict record`",
    ),
    "line-not-reached": Reason(
        "line not reached",
        "no input made {function} run this line",
        "give inputs that reach it with `# nonstrict: inputs(...)` or `nonstrict record`",
    ),
    "not-compiled": Reason(
        "not compiled",
        "the program calls {function}, but never from a compiled region",
        "call it from one, or compile it alone with `# nonstrict: inputs(...)`",
    ),
    "insensitive": Reason(
        "no effect in eager",
        "eager mode does not show the effect either, so agreement proves nothing",
        "give inputs for which it matters with `# nonstrict: inputs(...)` or `nonstrict record`",
    ),
    "few-values": Reason(
        "too few values",
        "the value in question changes too rarely in the observed calls of {function}",
        "call it as often as the program does with `# nonstrict: inputs(...)` or `nonstrict record`",
    ),
    "other-guard": Reason(
        "another guard fails",
        "{function} is recompiled for another reason, whose guard fails first",
        "fix that first, then confirm again",
    ),
    "shared": Reason(
        "shared cause",
        "eager and compiled code differ, and this finding is one of several that may be the cause",
        "fix the others first, then confirm again",
    ),
    "opcheck": Reason(
        "judges disagree",
        "compiled code and `torch.library.opcheck` disagree about {function}",
        "call it from a region that uses its arguments and its result afterwards, then confirm again",
    ),
    "eager-nondeterministic": Reason(
        "eager varies",
        "{function} gives different results in eager mode from run to run",
        "set a seed, or pass the source of randomness as an argument",
    ),
    "differs-before": Reason(
        "differs anyway",
        "eager and compiled code differ numerically before anything was changed",
        "compare them in float64 by hand: this is rounding, or another bug",
    ),
    "group": Reason(
        "fake process group",
        "eager and compiled code differ numerically, in a process group without other ranks",
        "what other ranks send is unknown: compare eager and compiled code in a run with all ranks",
    ),
    "blocked": Reason(
        "blocked",
        "torch refuses {function} for another reason first",
        "fix that one first, then confirm again",
    ),
    "timeout": Reason(
        "time limit",
        "the experiment took longer than its time limit",
        "raise the limit with `--timeout`, or give smaller inputs",
    ),
    "crash": Reason(
        "crash",
        "the process of the experiment crashed",
        "run the function alone: if torch crashes, report it to PyTorch",
    ),
    "memory": Reason(
        "memory limit",
        "the experiment needed more memory than its limit",
        "give smaller inputs with `# nonstrict: inputs(...)`",
    ),
    "sandbox": Reason(
        "no sandbox",
        "no sandbox on this machine can run {function}",
        "run code that you trust with `--isolation none`, or allow user namespaces or Landlock here",
    ),
    "tampered": Reason(
        "tampered",
        "the program wrote to the channel of the experiment's results, which makes them invalid",
        "find what in the program writes to file descriptors that it did not open",
    ),
    "lost": Reason(
        "worker lost",
        "the worker that ran the experiment was lost, and so were those that tried it again",
        "confirm again; if it happens again, see what ended the process (memory is the usual cause)",
    ),
    "needs-cuda": Reason(
        "needs a GPU",
        "{function} needs a CUDA GPU, and experiments run on the CPU here",
        "confirm it with `--device cuda`, on a machine with a GPU that torch can use",
    ),
    "gpu-memory": Reason(
        "GPU memory",
        "the experiment needed more memory of the GPU than was free",
        "free some, or give smaller inputs with `# nonstrict: inputs(...)`",
    ),
    "few-runs": Reason(
        "few runs",
        "{function} is not called often enough to run a CUDA graph that was recorded",
        "call it at least three times with the same sizes: torch warms up first, then records",
    ),
    "no-cuda-graphs": Reason(
        "no CUDA graphs",
        "torch makes no CUDA graph of {function} in this run",
        "see what it says with `TORCH_LOGS=cudagraphs`, and confirm again without that",
    ),
    "unclear-owner": Reason(
        "unclear owner",
        "results of {function} are overwritten, and nobody knows whether those of the finding are still held",
        "look at whether they are used after the next call",
    ),
    "torch-too-old": Reason(
        "torch too old",
        "the installed torch lacks what the experiment needs",
        "confirm with a newer one: `--python` chooses the interpreter, in an editor `nonstrict.interpreter`",
    ),
    "no-experiment": Reason(
        "no experiment",
        "there is no experiment for this rule",
        "judge the finding by its message and call chain",
    ),
}
_UNKNOWN = Reason("unknown reason", "the experiment was inconclusive", "report this as a bug of nonstrict")

_RESULTS = {
    "same": "same as eager",
    "silent-wrong": "silently wrong",
    "effect-lost": "effect lost",
    "error": "error",
    "graph-break": "graph break",
    "not-compiled": "nothing compiled",
    "recompiled": "compiled again",
    "overwritten": "result overwritten",
    "ungraphed": "no CUDA graph",
    "recorded-anew": "CUDA graph for each value",
    "not-run": "not run",
}
#: Results that speak for a status; the backends that gave them are named in its sentence.
_SPEAKING = {
    Status.CONFIRMED: tuple(result for result in _RESULTS if result not in {"same", "not-run"}),
    Status.REFUTED: ("same",),
}


#: How many characters fit behind a line of code.
_BRIEF = 100


def tag(verdict: Verdict) -> str:
    """The verdict in a few words: `confirmed`, `inconclusive: no inputs`."""
    if verdict.status is not Status.INCONCLUSIVE:
        return verdict.status.value
    return f"{verdict.status.value}: {reason_of(verdict).short}"


def suffix(diagnostic: Diagnostic) -> str:
    """Verdict and sighting as the end of a line, ` [confirmed] [observed]`; empty without them."""
    tags = [tag(diagnostic.verdict)] if diagnostic.verdict is not None else []
    tags += [sightings.tag(diagnostic.sighting)] if diagnostic.sighting is not None else []
    return "".join(f" [{one}]" for one in tags)


def brief(verdict: Verdict) -> str:
    """What was seen, or why nothing was, for the end of a line of code: `call 2: eager 3, compiled 2`."""
    text = reason_of(verdict).short if verdict.status is Status.INCONCLUSIVE else verdict.evidence
    text = " ".join(text.split())
    return text if len(text) <= _BRIEF else f"{text[: _BRIEF - 1].rstrip()}…"


def sentence(verdict: Verdict, function: str) -> str:
    """The verdict in one line: what it holds for, how long it took, and what was seen or why nothing was.

    `function` is the qualified name of the marked function, empty if there is none.
    """
    head = f"{verdict.status.value}{_scope(verdict)}"
    if verdict.status is Status.CONFIRMED:
        return f"{head}: {verdict.evidence}" if verdict.evidence else head
    if verdict.status is Status.REFUTED:
        seen = f" ({verdict.evidence})" if verdict.evidence else ""
        return f"{head}: the reported code ran, and compiled code agreed with eager{seen}"
    reason = reason_of(verdict)
    name = f"`{function}`" if function else "the function"
    seen = f" ({verdict.evidence})" if verdict.evidence else ""
    return f"{head}: {reason.sentence.format(function=name)}{seen}: {reason.advice}"


def details(verdict: Verdict) -> Iterator[str]:
    """Further lines: each backend where they do not agree, the script that shows it, and what it would have changed."""
    results = {outcome.result for outcome in verdict.outcomes}
    if len(results) > 1 or any(outcome.detail for outcome in verdict.outcomes):
        yield "; ".join(_told(outcome) for outcome in verdict.outcomes)
    if verdict.driver:
        given = f", first with {', '.join(verdict.inputs)}" if verdict.inputs else ""
        yield f"run by {verdict.driver}{given}"
    if verdict.repro:
        yield f"repro: {verdict.repro}"
    if verdict.files:
        yield f"the run {', '.join(verdict.files)}"


def told(diagnostic: Diagnostic) -> str:
    """The sentences of the verdict and the sighting of a diagnostic; empty without them."""
    verdict = sentence(diagnostic.verdict, diagnostic.function) if diagnostic.verdict is not None else ""
    return "; ".join(filter(None, (verdict, sightings.sentence(diagnostic))))


def reason_of(verdict: Verdict) -> Reason:
    """The texts for the reason of an inconclusive verdict."""
    return REASONS.get(verdict.reason, _UNKNOWN)


def counts(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    """How many diagnostics have which verdict, the statuses in order; empty if none has one."""
    found = [diagnostic.verdict.status for diagnostic in diagnostics if diagnostic.verdict is not None]
    return {status.value: count for status in Status if (count := found.count(status))}


def counted(diagnostics: Sequence[Diagnostic]) -> str:
    """`3 confirmed, 1 refuted, 1 without experiment`; empty if no diagnostic has a verdict."""
    numbers = counts(diagnostics)
    without = len(diagnostics) - sum(numbers.values())
    parts = [f"{count:,} {status}" for status, count in numbers.items()]
    if parts and without:
        parts.append(f"{without:,} without experiment")
    on_gpu = sum(one.verdict is not None and one.verdict.reason == "needs-cuda" for one in diagnostics)
    if on_gpu:
        parts.append(f"{on_gpu:,} of them for want of a GPU (`--device cuda`)")
    return ", ".join(parts)


def _scope(verdict: Verdict) -> str:
    """What the verdict holds for: ` on torch 2.13.0 / cpu / inductor in 0.9 s`."""
    speaking = _SPEAKING.get(verdict.status, ())
    backends = ", ".join(outcome.backend for outcome in verdict.outcomes if outcome.result in speaking)
    torch = f"torch {verdict.torch}" if verdict.torch else ""
    place = " / ".join(part for part in (torch, verdict.device, backends) if part)
    took = f" in {verdict.seconds:.1f} s" if verdict.seconds else ""
    return (f" on {place}" if place else "") + took


def _told(outcome: Outcome) -> str:
    result = _RESULTS.get(outcome.result, outcome.result)
    return f"{outcome.backend}: {result}" + (f" ({outcome.detail})" if outcome.detail else "")
