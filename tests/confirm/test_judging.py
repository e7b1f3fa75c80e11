"""From traces to verdicts: what confirms a finding, what refutes it, and why a run may say nothing.

The traces are written by hand; a suspect lies on line 8 of its file, and the control arm executed lines 8, 18 and 28.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.judging import Judgement, foretold, judge, refused_by_eager, unexplained
from nonstrict.confirm.sensitivity import reached, sensitive
from nonstrict.findings import Outcome, Status, Subject
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, LINE, SCALE, arms, call, error, failing, suspect, tensor, trace, value

if TYPE_CHECKING:
    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.traces import Arms

SET_TO_3 = {"SCALE": ["int 2", "int 3"]}
#: `SCALE` changes between two calls, and eager code computes something else.
REACTS = [call(2.0), call(3.0, between=SET_TO_3)]
STALE = [call(2.0), call(2.0, between=SET_TO_3)]
CHANGE = suspect("NST101", Experiment.CHANGE, subject=SCALE)
EFFECT = suspect("NST201", Experiment.EFFECT)
DRAW = suspect("NST301", Experiment.DRAW)
REFUSAL = suspect("NST501", Experiment.REFUSAL)
REFUSED = failing(error("Unsupported", "no such type", 3, LINE))


P_OF_SELF = suspect("NST105", Experiment.CHANGE, subject=Subject("argument", "self", (".p",)))
SCALE_OF_CFG = suspect("NST104", Experiment.CHANGE, subject=Subject("global", "CFG", (".scale",)))
COUNT_OF_METER = suspect("NST202", Experiment.EFFECT, subject=Subject("argument", "meter", (".count",)))


def only(one: Suspect, made: Arms) -> Judgement:
    return judge([one], made)[one.number]


def status(one: Suspect, made: Arms) -> tuple[Status, str]:
    judgement = only(one, made)
    return judgement.status, judgement.reason


# Confirmed.


def test_a_captured_value_goes_stale():
    judgement = only(CHANGE, arms(REACTS, STALE))
    assert judgement.status is Status.CONFIRMED
    assert judgement.evidence == "call 2: eager 3, compiled 2, after `SCALE` changed from 2 to 3"
    assert [(one.backend, one.result) for one in judgement.outcomes] == [
        ("aot_eager", "silent-wrong"),
        ("inductor", "silent-wrong"),
    ]


def test_a_change_made_by_the_experiment_is_told():
    made = "`SCALE` was set from 2 to 3"
    judgement = only(CHANGE, arms([REACTS[0], {**REACTS[1], "changed": made}], STALE))
    assert judgement.evidence == f"call 2: eager 3, compiled 2, after {made}"


def test_backends_that_differ_are_told_one_by_one():
    refused = [failing(error("AssertionError", "convert all Tensors to FakeTensors"))]
    judgement = only(CHANGE, arms(REACTS, STALE, inductor=refused))
    assert judgement.status is Status.CONFIRMED
    assert [one.result for one in judgement.outcomes] == ["silent-wrong", "error"]
    first, second = judgement.evidence.split("; ")
    assert first == "aot_eager: call 2: eager 3, compiled 2, after `SCALE` changed from 2 to 3"
    assert second == "inductor: does not compile: AssertionError: convert all Tensors to FakeTensors"


def test_one_backend_is_enough():
    judgement = only(CHANGE, arms(REACTS, REACTS, inductor=STALE))
    assert judgement.status is Status.CONFIRMED
    assert [one.result for one in judgement.outcomes] == ["same", "silent-wrong"]


@pytest.mark.parametrize(
    ("eager", "compiled"),
    [
        (call(1.0, out="hello\n"), call(1.0, out="hello\n" * 3)),
        (call(1.0, events=[["open", "log", FILE, LINE]]), call(1.0)),
        (call(1.0, state={"LOG": ["list[0]", "list[1]"]}), call(1.0)),
        (call(1.0, state={"LOG": ["list[0]", "list[1]"]}), call(1.0, leaks=["LOG[0]"])),
        (call(1.0, arguments={"x": "written"}), call(1.0)),
    ],
    ids=["output", "events", "state", "leak", "arguments"],
)
def test_an_effect_is_lost(eager: dict[str, Any], compiled: dict[str, Any]):
    judgement = only(EFFECT, arms([eager], [compiled]))
    assert judgement.status is Status.CONFIRMED
    assert {one.result for one in judgement.outcomes} == {"effect-lost"}


def test_torch_refuses_what_stands_on_the_line():
    judgement = only(REFUSAL, arms([call(1.0)], [REFUSED]))
    assert judgement.status is Status.CONFIRMED
    assert judgement.evidence == f"does not compile: Unsupported: no such type (line {LINE})"
    assert {one.result for one in judgement.outcomes} == {"error"}


def test_a_random_number_that_is_frozen():
    """Eager code gives another value in each call and run, so no call can be compared with its like."""
    eager, control = [call(1.0), call(2.0)], [call(3.0), call(4.0)]
    assert status(DRAW, arms(eager, [call(5.0), call(5.0)], control=control))[0] is Status.CONFIRMED
    assert status(DRAW, arms(eager, [call(5.0), call(6.0)], control=control))[0] is not Status.CONFIRMED


def test_other_values_from_other_arguments_are_no_draw():
    other = {"inputs": {"x": "tensor b"}}
    eager = [call(1.0), call(1.0), call(2.0, **other)]
    refused = failing(error("TypeError", "unhashable type", 18), **other)
    assert only(DRAW, arms(eager, [call(1.0), call(1.0), refused])).reason == "blocked"


def test_what_varies_and_is_no_longer_told_is_lost():
    eager, control = [call(1.0, out="took 3"), call(1.0, out="took 4")], [call(1.0, out="took 5"), call(1.0, out="6")]
    compiled = [call(1.0, out="took 7"), call(1.0)]
    judgement = only(EFFECT, arms(eager, compiled, control=control))
    assert (judgement.status, judgement.evidence) == (
        Status.CONFIRMED,
        "call 2: eager wrote 'took 4', compiled nothing",
    )


def test_one_call_shows_no_frozen_draw():
    assert status(DRAW, arms([call(1.0)], [call(5.0)], control=[call(3.0)]))[0] is not Status.CONFIRMED


def test_a_gradient_is_lost():
    gradients = {"of": {"W": value(tensor(1.0))}}
    lost = {"error": "no result requires a gradient"}
    made = arms([call(1.0)], [call(1.0)], gradients=gradients)
    broken = {name: {**one, "gradients": lost} for name, one in made.compiled.items()}
    made = made._replace(compiled=broken, control={**made.control, "gradients": gradients})
    judgement = only(suspect("NST106", Experiment.REFUSAL), made)
    assert judgement.status is Status.CONFIRMED
    assert judgement.evidence == "gradient of `W`: eager gradients, compiled no result requires a gradient"


# Refuted.


def test_agreement_where_eager_code_reacts():
    judgement = only(CHANGE, arms(REACTS, REACTS))
    assert (judgement.status, judgement.reason) == (Status.REFUTED, "")
    assert judgement.evidence == "2 calls on aot_eager and inductor agree with eager"
    assert judgement.outcomes == (Outcome("aot_eager", "same"), Outcome("inductor", "same"))


def test_an_effect_that_is_kept():
    told = call(1.0, out="hello\n")
    assert status(EFFECT, arms([told, told], [told, told]))[0] is Status.REFUTED


def test_a_refusal_that_does_not_come():
    assert status(REFUSAL, arms([call(1.0)], [call(1.0)]))[0] is Status.REFUTED


@pytest.mark.parametrize("broken", ["crash", "timeout", "memory"])
def test_a_compiled_arm_that_came_to_no_end_refutes_nothing(broken: str):
    made = arms(REACTS, REACTS)
    failed = trace(failure="ended by SIGSEGV", reason=broken)
    judgement = only(CHANGE, made._replace(compiled={**made.compiled, "inductor": failed}))
    assert (judgement.status, judgement.reason) == (Status.INCONCLUSIVE, broken)
    assert judgement.outcomes[1] == Outcome("inductor", "not-run", "ended by SIGSEGV")


def test_a_compiled_arm_with_fewer_calls_refutes_nothing():
    assert status(CHANGE, arms(REACTS, REACTS[:1]))[0] is Status.INCONCLUSIVE


def test_a_compiled_arm_with_other_inputs_refutes_nothing():
    other = [REACTS[0], {**REACTS[1], "inputs": {"x": "tensor b"}}]
    assert status(CHANGE, arms(REACTS, other))[0] is Status.INCONCLUSIVE


# Inconclusive.


def test_the_line_was_not_executed():
    assert status(CHANGE, arms(REACTS, STALE, lines=(3, 4))) == (Status.INCONCLUSIVE, "line-not-reached")


def test_eager_code_raises_too():
    broken = [failing(error("ValueError", "bad shape", LINE))]
    judgement = only(REFUSAL, arms(broken, broken))
    assert (judgement.reason, judgement.evidence) == ("eager-raises", "ValueError: bad shape")


@pytest.mark.parametrize("one", [CHANGE, EFFECT, DRAW], ids=["change", "effect", "draw"])
def test_eager_code_shows_nothing(one: Suspect):
    assert status(one, arms([call(1.0), call(1.0)], [call(1.0), call(1.0)])) == (Status.INCONCLUSIVE, "insensitive")


def test_another_error_stands_in_the_way():
    other = failing(error("Unsupported", "something else", 18))
    rival = suspect("NST502", number=1, lines=frozenset({18}))
    judgements = judge([CHANGE, rival], arms(REACTS, [other]))
    assert judgements[1].status is Status.CONFIRMED
    assert judgements[0].reason == "blocked"
    assert judgements[0].evidence == "compilation stops before: Unsupported: something else (line 18)"
    assert judgements[0].outcomes[0] == Outcome("aot_eager", "not-run", "another error stops the compilation first")


def test_eager_code_that_differs_from_itself_is_no_measure():
    assert status(REFUSAL, arms([call(1.0)], [call(2.0)], control=[call(3.0)]))[0] is not Status.CONFIRMED


# Whose fault it is.


def test_the_one_whose_subject_changed():
    other = suspect("NST101", Experiment.CHANGE, number=1, lines=frozenset({18}), subject=Subject("global", "SHIFT"))
    judgements = judge([CHANGE, other], arms(REACTS, STALE))
    assert judgements[0].status is Status.CONFIRMED
    assert judgements[1].status is Status.INCONCLUSIVE


def test_both_on_the_same_subject():
    """Two reads of one variable: neither is free of blame."""
    other = CHANGE._replace(number=1, lines=frozenset({18}))
    assert {one.status for one in judge([CHANGE, other], arms(REACTS, STALE)).values()} == {Status.CONFIRMED}


def test_two_that_may_both_be_to_blame():
    other = suspect("NST502", Experiment.REFUSAL, number=1, lines=frozenset({18}))
    judgements = judge([REFUSAL, other], arms([call(1.0)], [call(2.0)]))
    assert [(one.status, one.reason) for one in judgements.values()] == [(Status.INCONCLUSIVE, "shared")] * 2


def test_a_suspect_whose_line_was_not_executed_is_no_rival():
    other = suspect("NST502", Experiment.REFUSAL, number=1, lines=frozenset({99}))
    assert judge([REFUSAL, other], arms([call(1.0)], [call(2.0)]))[0].status is Status.CONFIRMED


def test_the_effect_of_the_line_that_had_it():
    eager = call(1.0, events=[["open", "log", FILE, 18]])
    other = EFFECT._replace(number=1, lines=frozenset({18}))
    judgements = judge([EFFECT, other], arms([eager], [call(1.0)]))
    assert judgements[1].status is Status.CONFIRMED
    assert judgements[0].status is not Status.CONFIRMED


def test_output_is_laid_at_the_door_of_what_prints():
    printing = suspect("NST201", Experiment.EFFECT)
    writing = suspect("NST203", Experiment.EFFECT, number=1, lines=frozenset({18}), subject=Subject("global", "LOG"))
    judgements = judge([printing, writing], arms([call(1.0, out="a")], [call(1.0)]))
    assert judgements[0].status is Status.CONFIRMED
    assert judgements[1].status is not Status.CONFIRMED


def test_a_refusal_that_speaks_of_a_kind_of_finding():
    """`convert all Tensors to FakeTensors` names no line of the user's: captures are what it is about."""
    refusal = failing(error("AssertionError", "Please convert all Tensors to FakeTensors first"))
    other = suspect("NST501", number=1, lines=frozenset({18}))
    judgements = judge([CHANGE, other], arms(REACTS, [refusal]))
    assert judgements[0].status is Status.CONFIRMED
    assert judgements[1].reason == "blocked"


def test_a_refusal_that_speaks_of_one_finding_on_the_line_of_another():
    refusal = failing(error("AssertionError", "Please convert all Tensors to FakeTensors first", 18))
    other = suspect("NST107", Experiment.CHANGE, number=1, lines=frozenset({18}))
    judgements = judge([CHANGE, other], arms(REACTS, [refusal]))
    assert [one.reason for one in judgements.values()] == ["", "blocked"]


def test_a_refusal_on_another_line_is_not_laid_at_the_door_of_state_or_effects():
    refusal = failing(error("RuntimeError", "Cannot access data pointer", 18))
    for one in (CHANGE, EFFECT, DRAW, suspect("NST506")):
        assert only(one._replace(chain=frozenset({(FILE, 18)})), arms(REACTS, [refusal])).reason == "blocked"


def test_a_refusal_that_names_a_call_on_the_way():
    """The error stands at a call that leads to one of two findings."""
    refusal = failing(error("Unsupported", "x", 28))
    near = suspect("NST501", chain=frozenset({(FILE, 28)}))
    far = suspect("NST502", number=1, lines=frozenset({18}), chain=frozenset({(FILE, 17)}))
    judgements = judge([near, far], arms([call(1.0)], [refusal]))
    assert judgements[0].status is Status.CONFIRMED
    assert judgements[1].reason == "blocked"


# Numbers.


def test_rounding_of_inductor_alone_is_no_semantics():
    close = [call(1.0001)]
    assert status(REFUSAL, arms([call(1.0)], [call(1.0)], inductor=close))[0] is Status.REFUTED
    assert status(REFUSAL, arms([call(1.0)], close, inductor=close))[0] is Status.CONFIRMED
    far = arms([call(1.0)], [call(1.0)], inductor=[call(1.5)])
    assert status(REFUSAL, far) == (Status.INCONCLUSIVE, "differs-before")
    assert status(suspect("NST607"), far)[0] is Status.CONFIRMED


def test_small_numbers_that_go_stale_are_no_rounding():
    """Inductor builds small arrays into its code, where they do not follow a small change."""
    eager = [call(0.6), call(0.6006, between=SET_TO_3)]
    stale = [call(0.6), call(0.6, between=SET_TO_3)]
    assert status(CHANGE, arms(eager, eager, inductor=stale))[0] is Status.CONFIRMED
    rounded = [call(0.6), call(0.60061, between=SET_TO_3)]
    assert status(CHANGE, arms(eager, eager, inductor=rounded))[0] is Status.REFUTED


def test_captured_state_is_not_stale_before_it_changes():
    made, one = arms([call(1.0)], [call(2.0)]), suspect("NST104", Experiment.CHANGE, subject=SCALE)
    assert status(one, made)[0] is Status.INCONCLUSIVE
    assert unexplained([one], made) is not None
    within = arms([call(1.0, state=SET_TO_3)], [call(2.0, state=SET_TO_3)])
    assert status(one, within)[0] is Status.CONFIRMED


def test_results_of_captured_tensors_require_no_gradient_from_the_first_call_on():
    plain, tracked = call(1.0), call(result=value(tensor(1.0, grad=True)))
    made = arms([tracked], [plain])
    assert status(CHANGE, made)[0] is Status.CONFIRMED
    assert unexplained([CHANGE], made) is None


def test_eager_code_that_varies_where_a_finding_would_show_refutes_nothing():
    control = [REACTS[0], call(4.0, between=SET_TO_3)]
    assert status(CHANGE, arms(REACTS, REACTS, control=control)) == (Status.INCONCLUSIVE, "eager-nondeterministic")
    told, other = [call(1.0, out="at 3:00")], [call(1.0, out="at 4:00")]
    assert status(EFFECT, arms(told, told, control=other)) == (Status.INCONCLUSIVE, "eager-nondeterministic")


def test_gradients_of_other_inputs_are_not_compared():
    gradients = {"of": {"W": value(tensor(1.0))}}
    made = arms(REACTS, [REACTS[0], {**REACTS[1], "inputs": {"x": "tensor b"}}], gradients=gradients)
    made = made._replace(control={**made.control, "gradients": gradients})
    broken = {name: {**one, "gradients": {"error": "none"}} for name, one in made.compiled.items()}
    one = suspect("NST106", Experiment.REFUSAL)
    assert status(one, made._replace(compiled=broken)) == (Status.INCONCLUSIVE, "differs-before")


# Before anything is compiled.


def test_a_trace_with_fake_tensors_proves_refusals_only():
    refused, wrong = arms([call(1.0)], [REFUSED]), arms([call(1.0)], [call(2.0)])
    assert foretold([REFUSAL], refused)[0].status is Status.CONFIRMED
    assert foretold([REFUSAL], wrong) == {}
    elsewhere = arms([call(1.0)], [failing(error("Unsupported", "x", 99))])
    assert foretold([REFUSAL], elsewhere) == {}


def test_a_marker_that_torch_refuses_to_apply():
    marker = suspect("NST602")
    stopped = trace(stop={"kind": "raised", "error": error("RuntimeError", "must be a function", LINE - 1)})
    judgement = refused_by_eager(marker, stopped)
    assert judgement is not None
    assert judgement.status is Status.CONFIRMED
    assert judgement.evidence == "torch refuses it: RuntimeError: must be a function"
    assert judgement.outcomes == (Outcome("eager", "error", "must be a function"),)
    loading = trace(failure="line 7: ...", load_error=error("RuntimeError", "must be a function", LINE - 1))
    assert refused_by_eager(marker, loading) is not None


@pytest.mark.parametrize(
    ("one", "stopped"),
    [
        (suspect("NST602"), trace()),
        (suspect("NST101"), trace(stop={"kind": "raised", "error": error("RuntimeError", "x", LINE)})),
        (suspect("NST602"), trace(stop={"kind": "raised", "error": error("RuntimeError", "x", LINE + 40)})),
    ],
    ids=["nothing raised", "no rule about markers", "raised elsewhere"],
)
def test_what_is_no_refusal_of_a_marker(one: Suspect, stopped: dict[str, Any]):
    assert refused_by_eager(one, stopped) is None


# NST900.


def test_a_divergence_that_no_finding_explains():
    strange = unexplained([EFFECT], arms([call(1.0)], [failing(error("Unsupported", "x"))], lines=(18,)))
    assert strange is not None
    assert strange.status is Status.CONFIRMED
    assert strange.outcomes[0].result == "error"


def test_a_divergence_that_a_finding_explains_is_not_told_twice():
    assert unexplained([REFUSAL], arms([call(1.0)], [call(2.0)])) is None


def test_lost_effects_are_not_told_as_unexplained():
    assert unexplained([REFUSAL], arms([call(1.0, out="a")], [call(1.0)])) is None


PROBE = suspect("NST900")


def test_a_question_is_answered_by_a_divergence():
    judgement = only(PROBE, arms([call(1.0)], [call(2.0)]))
    assert (judgement.status, judgement.evidence) == (Status.CONFIRMED, "call 1: eager 1, compiled 2")


def test_a_question_is_answered_by_agreement():
    assert only(PROBE, arms([call(1.0)], [call(1.0)])).status is Status.REFUTED


def test_a_question_about_numbers_of_inductor_alone_is_left_open():
    made = arms([call(1.0)], [call(1.0)], inductor=[call(1.5)])
    assert unexplained([EFFECT], made) is None
    judgement = only(PROBE, made)
    assert (judgement.reason, judgement.evidence) == ("differs-before", "call 1: eager 1, compiled 1.5")


def test_a_question_about_what_a_finding_explains_is_left_open():
    judgements = judge([REFUSAL, PROBE._replace(number=1)], arms([call(1.0)], [REFUSED]))
    assert judgements[0].status is Status.CONFIRMED
    assert judgements[1].status is Status.INCONCLUSIVE


def test_a_question_about_a_function_that_was_not_run():
    assert only(PROBE, arms([call(1.0)], [call(2.0)], lines=())).reason == "line-not-reached"


# What eager code has to show before agreement means anything.


@pytest.mark.parametrize(
    ("one", "calls", "shows"),
    [
        (CHANGE, REACTS, True),
        (CHANGE, STALE, False),
        (CHANGE, [call(2.0), call(3.0)], False),
        (CHANGE, [call(2.0), call(3.0, between={"OTHER": ["int 1", "int 2"]})], False),
        (CHANGE, [call(2.0), call(3.0, between=SET_TO_3, inputs={"x": "tensor b"})], False),
        (CHANGE, REACTS[:1], False),
        (CHANGE._replace(subject=None), REACTS, True),
        (P_OF_SELF, [call(2.0), call(3.0, between={"Net.proj.weight": ["1", "2"]})], False),
        (P_OF_SELF, [call(2.0), call(3.0, between={"Net.p": ["1", "2"]})], True),
        (P_OF_SELF, [call(2.0), call(3.0, between={"Net.p['w']": ["1", "2"]})], True),
        (SCALE_OF_CFG, [call(2.0), call(3.0, between={"CFG.bias": ["1", "2"]})], False),
        (SCALE_OF_CFG, [call(2.0), call(3.0, between={"CFG.scale": ["1", "2"]})], True),
        (COUNT_OF_METER, [call(1.0, arguments={"x": "written"})], False),
        (COUNT_OF_METER, [call(1.0, arguments={"x": "tensor a", "meter.count": "int 1"})], True),
        (CHANGE._replace(subject=None), [call(2.0), call(3.0, between={"<random state>": ["1", "2"]})], False),
        (EFFECT, [call(1.0, err="warning")], True),
        (EFFECT, [call(1.0)], False),
        (suspect("NST203", Experiment.EFFECT, subject=SCALE), [call(1.0, state={"OTHER": ["1", "2"]})], False),
        (suspect("NST203", Experiment.EFFECT, subject=SCALE), [call(1.0, state=SET_TO_3)], True),
        (suspect("NST202", Experiment.EFFECT), [call(1.0, arguments={"x": "written"})], True),
        (DRAW, [call(1.0), call(2.0)], True),
        (DRAW, [call(1.0), call(1.0)], False),
        (DRAW, [call(1.0), call(2.0, inputs={"x": "tensor b"})], False),
        (REFUSAL, [call(1.0)], True),
        (REFUSAL, [], False),
    ],
)
def test_what_eager_code_has_to_show(one: Suspect, calls: list[Any], shows: bool):
    assert sensitive(one, trace(*calls)) is shows


def test_reached():
    assert reached(REFUSAL, trace(lines=[LINE]))
    assert not reached(REFUSAL, trace(lines=[LINE + 1]))
    assert not reached(REFUSAL._replace(path="/project/other.py"), trace(lines=[LINE]))


def test_a_fake_is_reached_where_what_it_stands_for_runs():
    real = ("/project/model.py", LINE + 3)
    of_fake = suspect("NST608", writers=frozenset({real}))
    assert reached(of_fake, trace(lines=[LINE + 3]))
    assert not reached(of_fake, trace(lines=[LINE + 4]))
    assert not reached(REFUSAL._replace(writers=frozenset({real})), trace(lines=[LINE + 3]))


# Programs that lack a part of themselves.


def test_a_program_without_one_of_its_names_is_no_measure():
    lacking = failing(error("NameError", "name 'square' is not defined", 3))
    made = arms([lacking], [REFUSED])
    assert status(REFUSAL, made) == (Status.INCONCLUSIVE, "eager-raises")
    assert unexplained([], made) is None


def test_a_marker_in_a_skipped_statement_was_refused():
    marker = suspect("NST605", Experiment.REFUSAL)
    skipped = trace(missing=[f"line {LINE + 1}: AttributeError: no attribute 'nonstrict_trace'"])
    judgement = refused_by_eager(marker, skipped)
    assert judgement is not None
    assert judgement.evidence == "torch refuses it: AttributeError: no attribute 'nonstrict_trace'"
    assert refused_by_eager(marker, trace(missing=["line 40: AttributeError: other"])) is None
    assert refused_by_eager(REFUSAL, skipped) is None


def test_agreement_of_a_traced_branch_says_nothing():
    branch = suspect("NST506", Experiment.REFUSAL, marker="make-fx")
    calls = [call(1.0), call(1.0)]
    assert status(branch, arms(calls, calls)) == (Status.INCONCLUSIVE, "insensitive")
    assert status(branch._replace(marker="nonstrict"), arms(calls, calls))[0] is Status.REFUTED
