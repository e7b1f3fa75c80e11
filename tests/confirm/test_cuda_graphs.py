"""What torch does about CUDA graphs, held against the findings that foretell it."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.run import check
from nonstrict.confirm.cuda_graphs import divided
from nonstrict.confirm.judging import judge
from nonstrict.confirm.suspects import suspect_of
from nonstrict.confirm.traces import Captured
from nonstrict.findings import Status, Subject
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import default_settings
from tests.confirm.making import FILE, LINE, arms, call, error, failing, suspect, tensor, trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nonstrict.confirm.judging import Judgement
    from nonstrict.confirm.suspects import Suspect

KEPT = suspect("NST807", Experiment.OVERWRITTEN, function="step")
CHANGED = suspect("NST808", Experiment.UNGRAPHED, function="step", subject=Subject("argument", "cache"))._replace(
    about="CHANGED"
)
VARIED = suspect("NST808", Experiment.UNGRAPHED, function="step", subject=Subject("argument", "x"))

GONE = (
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: "
    'File "{file}", line 7, in {name}\n    return x * 2. To prevent overwriting, clone the tensor outside of '
    "torch.compile() or call torch.compiler.cudagraph_mark_step_begin() before each model invocation."
).format
#: What torch tells of calls that warm up, record, and replay.
STAGES = ({"begun": 1, "warmed": 1}, {"recorded": 1}, {"replayed": 1}, {"replayed": 1}, {"replayed": 1})


def graphed(**told: Any) -> dict[str, Any]:
    """What became of the functions of a call."""
    return {
        "begun": 0,
        "warmed": 0,
        "waiting": 0,
        "recorded": 0,
        "replayed": 0,
        "skips": 0,
        "told": 0,
        "skipped": [],
        "apart": [],
        "deaf": False,
        **told,
    }


def made(number: int = 5, **of: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls of a region that is warmed up, recorded and replayed; more `of` some, by `c` and their number."""
    calls: list[dict[str, Any]] = []
    for index in range(number):
        more = of.get(f"c{index}", {})
        stage = more.pop("graphed", STAGES[min(index, 4)])
        calls.append(call(float(index), function="step", graphed=graphed(**stage), overwritten=[], **more))
    return calls


def told(
    finding: Suspect,
    calls: Sequence[Any],
    eager: Sequence[Any] | None = None,
    stop: dict[str, Any] | None = None,
    lines: Sequence[int] = (LINE,),
) -> Judgement:
    """The judgement from the calls of a run with CUDA graphs, beside those of eager code."""
    plain = [call(float(index), function="step", overwritten=[]) for index in range(len(calls))]
    plain = list(eager) if eager is not None else plain
    captured = Captured(trace(*plain, lines=lines), trace(*calls, stop=stop or {"kind": "end"}))
    judged = judge([finding], arms(plain, plain, lines=lines)._replace(captured=captured))[finding.number]
    assert [one.backend for one in judged.outcomes] == ["inductor"]
    return judged


def unreadable(of: int, name: str = "step") -> dict[str, Any]:
    return {"of": of, "error": f"RuntimeError: {GONE(file=FILE, name=name)}"[:200]}


def other(of: int, was: float, now: float) -> dict[str, Any]:
    return {"of": of, "changed": True, "was": tensor(was), "now": tensor(now)}


# -- results that are kept -----------------------------------------------------------------------------------------


def test_a_result_that_cannot_be_read():
    calls = made(2)
    calls[1]["overwritten"] = [unreadable(0)]
    judged = told(KEPT, calls)
    assert judged.status is Status.CONFIRMED
    assert judged.evidence == (
        "the result of call 1 cannot be read after call 2: torch raises: accessing tensor output of CUDAGraphs that "
        "has been overwritten by a subsequent run"
    )
    assert judged.outcomes[0].result == "overwritten"


def test_a_result_that_reads_as_another():
    calls = made()
    calls[3]["overwritten"] = [other(2, 4.0, 6.0)]
    judged = told(KEPT, calls)
    assert judged.status is Status.CONFIRMED
    assert judged.evidence == "the result of call 3 reads as another after call 4: 4, then 6"


def test_a_result_whose_memory_a_replay_takes():
    calls, eager = made(), [call(float(index), function="step") for index in range(5)]
    calls[3]["overwritten"] = [{"of": 2, "shared": True}]
    judged = told(KEPT, calls)
    assert (judged.status, judged.evidence) == (
        Status.CONFIRMED,
        "the results of call 3 and of call 4 have the same memory",
    )
    eager[3]["overwritten"] = [{"of": 2, "shared": True}]
    assert told(KEPT, calls, eager).status is Status.REFUTED
    # Without a replay, it is no CUDA graph that returns it again.
    calls[3]["graphed"]["replayed"] = 0
    assert told(KEPT, calls).status is Status.REFUTED


def test_a_result_that_torch_holds_too():
    calls = made()
    calls[3]["overwritten"] = [{"of": 2, "unclear": True, "shared": True}]
    judged = told(KEPT, calls)
    assert (judged.status, judged.reason) == (Status.INCONCLUSIVE, "unclear-owner")
    assert judged.evidence == "call 4 overwrites the result of call 3, which torch holds as well"


@pytest.mark.parametrize(
    ("lines", "status"),
    [((LINE,), Status.CONFIRMED), ((3, LINE), Status.CONFIRMED), ((3,), Status.INCONCLUSIVE), ((), Status.CONFIRMED)],
)
def test_the_result_of_another_line_is_no_evidence(lines: Sequence[int], status: Status):
    calls = made()
    calls[2]["stood"] = [[FILE, line] for line in lines]
    calls[3]["overwritten"] = [other(2, 4.0, 6.0)]
    judged = told(KEPT, calls)
    assert judged.status is status
    if status is Status.INCONCLUSIVE:
        assert (judged.reason, judged.evidence) == (
            "unclear-owner",
            "call 4 overwrites the result of call 3, which another line has",
        )


def test_what_eager_code_changes_too_is_no_evidence():
    calls, eager = made(), [call(float(index), function="step") for index in range(5)]
    calls[3]["overwritten"] = [other(2, 4.0, 6.0)]
    eager[3]["overwritten"] = [other(2, 4.0, 5.0)]
    assert told(KEPT, calls, eager).status is Status.REFUTED


@pytest.mark.parametrize(
    "one", [other(2, 4.0, 4.0000001), {"of": 2, "changed": True}, {**other(2, 4.0, 4.0), "shared": True}]
)
def test_a_result_that_reads_as_nearly_the_same_or_as_too_many_numbers(one: dict[str, Any]):
    calls = made()
    calls[3]["overwritten"] = [one]
    judged = told(KEPT, calls)
    assert (judged.status, judged.evidence) == (
        Status.CONFIRMED,
        "the result of call 3 reads as another after call 4",
    )


def test_other_errors_are_no_evidence():
    calls = made()
    calls[3]["overwritten"] = [{"of": 1, "error": "NotImplementedError: no storage"}]
    assert told(KEPT, calls).status is Status.REFUTED


def test_the_result_of_another_region_is_no_evidence():
    calls = [*made(), *made(1)]
    calls[5] |= {"function": "other", "overwritten": [other(2, 4.0, 6.0)]}
    eager = [call(float(index), function="step" if index < 5 else "other") for index in range(6)]
    # Another region overwrites it: that is what the finding says.
    assert told(KEPT, calls, eager).status is Status.CONFIRMED
    calls[5]["overwritten"] = []
    calls[4] |= {"overwritten": [{**other(5, 4.0, 6.0)}]}
    assert told(KEPT, calls, eager).status is Status.REFUTED


@pytest.mark.parametrize(("name", "status"), [("step", Status.CONFIRMED), ("other", Status.INCONCLUSIVE)])
def test_a_call_that_is_given_what_is_gone(name: str, status: Status):
    raising = failing(error("RuntimeError", GONE(file=FILE, name=name), 12), function="step", graphed=graphed())
    judged = told(KEPT, [*made(1), raising], [call(function="step"), call(function="step")])
    assert judged.status is status
    if status is Status.CONFIRMED:
        assert judged.evidence.startswith("call 2 reads a result that was overwritten: torch raises: accessing tensor")
    else:
        assert judged.reason == "blocked"
        assert judged.evidence.startswith("call 2 raises RuntimeError: Error: accessing tensor output")


def test_a_program_that_reads_what_is_gone():
    stop = {"kind": "raised", "error": error("RuntimeError", GONE(file=FILE, name="step"), 22)}
    judged = told(KEPT, made(2), stop=stop)
    assert judged.evidence.startswith("line 22 reads a result that was overwritten: torch raises: accessing tensor")
    gradient = GONE(file=FILE, name="step").replace("tensor output", "gradient tensor output")
    for text in ("out of cheese", gradient):
        unrelated = {"kind": "raised", "error": error("RuntimeError", text, 22)}
        assert told(KEPT, made(2), stop=unrelated).status is Status.INCONCLUSIVE


def test_a_program_that_ends_otherwise_says_nothing():
    eager = [call(float(index), function="step") for index in range(5)]
    raised = {"kind": "raised", "error": error("ValueError", "out of cheese", 22)}
    judged = told(KEPT, made(5), eager, stop=raised)
    assert (judged.status, judged.reason) == (Status.INCONCLUSIVE, "blocked")
    assert judged.evidence == "the program raises ValueError, and not in eager code: out of cheese"
    judged = told(KEPT, made(5), eager, stop={"kind": "skipped", "why": "no GPU"})
    assert (judged.reason, judged.evidence) == ("blocked", "the program does not end as it does in eager code")
    judged = told(KEPT, made(4), eager)
    assert (judged.reason, judged.evidence) == ("blocked", "`step` is called less often than in eager code")


def test_a_program_that_ends_as_eager_code_does_is_judged():
    eager = [call(float(index), function="step") for index in range(5)]
    ends = [{"kind": "raised", "error": error("ValueError", f"loss is {number}", 22)} for number in (1.0, 1.1)]
    captured = Captured(trace(*eager, lines=[LINE], stop=ends[0]), trace(*made(5), stop=ends[1]))
    assert judge([KEPT], arms(eager, eager)._replace(captured=captured))[KEPT.number].status is Status.REFUTED


def test_torch_waits_for_a_backward_pass():
    waiting = [{"graphed": {"begun": int(not index), "warmed": 1, "waiting": int(index > 0)}} for index in range(4)]
    calls = made(4, **{f"c{index}": one for index, one in enumerate(waiting)})
    judged = told(KEPT._replace(about="NEVER"), calls)
    assert judged.status is Status.CONFIRMED
    waits = "torch waits for the backward pass of an earlier result, and records no CUDA graph in 4 calls"
    assert judged.evidence == waits
    assert judged.outcomes[0].result == "ungraphed"
    # Other findings say that a result is overwritten.
    judged = told(KEPT, calls)
    assert (judged.status, judged.reason, judged.evidence) == (Status.INCONCLUSIVE, "no-cuda-graphs", waits)


def test_warm_ups_that_are_repeated_otherwise_say_nothing():
    again = {f"c{index}": {"graphed": {"begun": int(not index), "warmed": 1}} for index in range(4)}
    assert told(KEPT, made(4, **again)).reason == "few-runs"


def test_nothing_that_is_kept_is_overwritten():
    judged = told(KEPT, made())
    assert judged.status is Status.REFUTED
    assert judged.evidence == "CUDA graphs ran in 5 calls, and no result that the program keeps was overwritten"


def test_too_few_calls_say_nothing():
    judged = told(KEPT, made(2))
    assert (judged.status, judged.reason) == (Status.INCONCLUSIVE, "few-runs")
    assert judged.evidence == "2 calls, 1 recorded, none run again"


def test_no_cuda_graph_says_nothing():
    skipped = {"skips": 1, "told": 1, "skipped": [{"text": "mutated inputs (1 instances)", "lines": [[FILE, 6]]}]}
    judged = told(KEPT, made(1, c0={"graphed": skipped}))
    assert (judged.reason, judged.evidence) == ("no-cuda-graphs", "mutated inputs (1 instances)")
    silent = told(KEPT, made(3, c0={"graphed": {}}, c1={"graphed": {}}, c2={"graphed": {}}))
    assert (silent.reason, silent.evidence) == ("no-cuda-graphs", "")


def test_what_did_not_run_says_nothing():
    assert told(KEPT, made(), lines=(LINE + 1,)).reason == "line-not-reached"
    deaf = [{name: part for name, part in one.items() if name != "graphed"} for one in made()]
    assert told(KEPT, deaf).reason == "torch-too-old"
    for finding in (KEPT, CHANGED):
        calls = made(5, c0={"graphed": {"begun": 1, "warmed": 1, "deaf": True}})
        judged = told(finding, calls, writing(5))
        assert (judged.status, judged.reason) == (Status.INCONCLUSIVE, "torch-too-old")
    failed = {"calls": [], "failure": "stopped after 60 s", "reason": "timeout"}
    plain = made()
    whole = arms(plain, plain)._replace(captured=Captured(trace(*plain, lines=[LINE]), failed))
    assert judge([KEPT], whole)[KEPT.number][:3] == (Status.INCONCLUSIVE, "timeout", "stopped after 60 s")
    assert judge([KEPT], arms(plain, plain))[KEPT.number].reason == "needs-cuda"


# -- regions without CUDA graphs, or with many ---------------------------------------------------------------------


def without(text: str, *lines: int, kind: str = "skipped") -> dict[str, Any]:
    return {"graphed": {"skips": 1, "told": 1, kind: [{"text": text, "lines": [[FILE, line] for line in lines]}]}}


def writing(number: int) -> list[dict[str, Any]]:
    """Eager calls that change `cache` in place."""
    return [
        call(function="step", inputs={"cache": f"tensor {index}"}, arguments={"cache": f"tensor {index + 1}"})
        for index in range(number)
    ]


def test_torch_names_the_line_of_what_changes():
    judged = told(CHANGED, made(3, c0=without("mutated inputs (1 instances)", 3, LINE)), writing(3))
    assert judged.status is Status.CONFIRMED
    assert judged.evidence == "torch runs it without CUDA graphs: mutated inputs (1 instances)"
    assert judged.outcomes[0].result == "ungraphed"


def test_an_operator_that_is_left_out():
    calls = made(3, c0=without("cpu ops", LINE, kind="apart"))
    drawn = CHANGED._replace(about="DRAWN", subject=None)
    assert told(drawn, calls).evidence == "torch leaves it out of the CUDA graph: cpu ops"
    # Of what changes in place that says nothing.
    assert told(CHANGED, calls, writing(3)).status is not Status.CONFIRMED


def test_another_line_is_no_evidence():
    judged = told(CHANGED, made(1, c0=without("mutated inputs (1 instances)", LINE + 1)), writing(1))
    assert (judged.reason, judged.evidence) == ("no-cuda-graphs", "mutated inputs (1 instances)")

    # It gives one reason for a graph, while another graph runs.
    one = without("mutated inputs (1 instances)", LINE + 1)
    one["graphed"] |= {"begun": 1, "warmed": 1}
    assert told(CHANGED, made(5, c0=one), writing(5)).reason == "no-cuda-graphs"


DEVICES = "multiple devices: device(type='cuda', index=0)"
UNPLACED = {
    "CHANGED": "mutated inputs (1 instances)",
    "DRAWN": "cpu device (randn)",
    "COPIED_BACK": "cpu device (randn)",
    "CONDITION": "control flow operator: torch.cond",
    "COUNTED": "incompatible op aten.nonzero.default",
    "OTHER_GPU": DEVICES,
    "DATA": "input storage mutation (1 instances)",
    "DYNAMIC": "graph with symbolic shapes inputs and config.triton.cudagraph_skip_dynamic_graphs=True.",
    "CPP_WRAPPER": "cpp-wrapper does not support graph partition yet",
}


@pytest.mark.parametrize("about", UNPLACED)
def test_a_reason_without_a_line_that_fits(about: str):
    judged = told(CHANGED._replace(about=about), made(1, c0=without(UNPLACED[about])), writing(1))
    assert judged.status is Status.CONFIRMED
    assert judged.evidence == f"torch runs `step` without CUDA graphs: {UNPLACED[about]}"


@pytest.mark.parametrize("about", ["", *(name for name in UNPLACED if name != "OTHER_GPU")])
def test_a_reason_without_a_line_that_does_not_fit(about: str):
    # Whether nothing was captured, or something else of the region was.
    other = {"graphed": {**without(DEVICES)["graphed"], "begun": 1, "warmed": 1}}
    for calls in (made(1, c0=without(DEVICES)), made(4, c0=other)):
        judged = told(CHANGED._replace(about=about), calls, writing(len(calls)))
        assert (judged.status, judged.reason) == (Status.INCONCLUSIVE, "no-cuda-graphs")
        assert judged.evidence == DEVICES


def test_findings_say_what_they_are_about(tmp_path: Path):
    text = """\
    import torch


    @torch.compile(mode="reduce-overhead")
    def step(x, cache):
        cache.add_(x)
        y = torch.randn(4).to(x.device) + x
        return torch.cond(y.sum() > 0, lambda a: a + 1, lambda a: a - 1, (y,)).to("cuda:1")

    """
    assert about(tmp_path, text, "NST808") == {6: "CHANGED", 7: "DRAWN", 8: "CONDITION"}


def test_findings_say_what_a_result_is_kept_beyond(tmp_path: Path):
    text = """\
    import torch


    @torch.compile(mode="reduce-overhead")
    def step(x):
        return x * 2


    @torch.no_grad()
    def predicted(batches):
        found = []
        for batch in batches:
            found.append(step(batch))
        return found


    def awaited(x):
        weight = torch.nn.Parameter(x)
        first = step(weight)
        second = step(weight)
        return first + second
    """
    assert about(tmp_path, text, "NST807") == {13: "RUN", 19: "NEVER"}


def about(tmp_path: Path, text: str, code: str) -> dict[int, str]:
    """What the findings of a rule in a file are about, by line."""
    path = tmp_path / "model.py"
    path.write_text(dedent(text), encoding="utf-8")
    found = check([str(path)], default_settings(str(tmp_path)))
    made = (suspect_of(number, one, RULES, found.read) for number, one in enumerate(found.diagnostics))
    return {min(one.lines): one.about for one in made if one is not None and one.code == code}


def test_what_torch_skips_without_a_word_is_no_refutation():
    silent = {"graphed": {"begun": 1, "warmed": 1, "skips": 2, "told": 1}}
    judged = told(CHANGED, made(4, c0=silent), writing(4))
    assert (judged.status, judged.reason) == (Status.INCONCLUSIVE, "no-cuda-graphs")
    assert judged.evidence == "torch gives no reason"


def test_what_is_recorded_and_run_refutes():
    judged = told(CHANGED, made(4), writing(4))
    assert judged.status is Status.REFUTED
    assert judged.evidence.startswith("CUDA graphs ran in 4 calls, torch leaves nothing out for it")
    assert told(CHANGED, made(2), writing(2)).reason == "few-runs"
    # Where eager code does not change it, nothing was tried.
    assert told(CHANGED, made(4)).reason == "few-values"


def sizes(*lengths: int, compiled: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Calls with tensors of some lengths, each of which begins another CUDA graph; some are `compiled` for."""
    return [
        call(
            function="step",
            inputs={"x": f"tensor float32 [{length}] {index:08x}"},
            arguments={"x": f"tensor float32 [{length}] {index:08x}"},
            graphed=graphed(begun=int(length not in lengths[:index]), warmed=1),
            compiled={"graphs": [1] if index in compiled else [], "breaks": [], "eager": [], "skipped": ""},
        )
        for index, length in enumerate(lengths)
    ]


def test_a_cuda_graph_for_each_value():
    calls = sizes(2, 3, 4, 5, compiled=(0, 1))
    judged = told(VARIED, calls, calls)
    assert judged.status is Status.CONFIRMED
    assert judged.evidence == ("torch prepares 4 CUDA graphs in 4 calls, one for each value; 0 of them recorded so far")
    assert judged.outcomes[0].result == "recorded-anew"


def test_what_is_compiled_again_has_a_cuda_graph_of_its_own():
    calls = sizes(2, 3, compiled=(0, 1))
    assert told(VARIED, calls, calls).status is Status.INCONCLUSIVE


def test_one_value_is_not_tried():
    calls = sizes(2, 2, 2, compiled=(0,))
    assert told(VARIED, calls, calls).reason == "few-values"


def test_two_values_are_too_few():
    # Each is compiled for: the second with its size as a symbol.
    calls = sizes(3, 3, 3, 5, 5, 5, compiled=(0, 3))
    assert told(VARIED, calls, calls).reason == "few-values"


# -- devices -------------------------------------------------------------------------------------------------------


def test_findings_that_need_a_gpu():
    plain = suspect()._replace(number=7)
    assert divided([KEPT, plain, VARIED], "cpu") == ([plain], [KEPT, VARIED])
    assert divided([KEPT, plain], "cuda") == ([KEPT, plain], [])
