"""At whose door a divergence is laid, where several findings might have caused it."""

from __future__ import annotations

from nonstrict.confirm.attribution import fits
from nonstrict.confirm.judging import judge
from nonstrict.confirm.traces import Divergence, divergences
from nonstrict.findings import Status, Subject
from nonstrict.rules.expectation import Channel, Experiment
from tests.confirm.making import FILE, LINE, MARKER, SCALE, arms, call, error, failing, suspect

SCALED = suspect("NST101", Experiment.CHANGE, subject=SCALE)


def test_a_change_that_eager_code_does_not_mind_is_not_blamed_for_what_went_stale_before():
    other = suspect("NST104", Experiment.CHANGE, number=2, subject=Subject("global", "SHIFT", ()))
    later = {"SHIFT": ["int 0", "int 1"]}
    set_to_3 = {"SCALE": ["int 2", "int 3"]}
    eager = [call(2.0), call(3.0, between=set_to_3), call(3.0, between=later)]
    compiled = [call(2.0), call(2.0, between=set_to_3), call(2.0, between=later)]
    told = judge([SCALED, other], arms(eager, compiled))
    assert told[SCALED.number].status is Status.CONFIRMED
    assert (told[2].status, told[2].reason) == (Status.INCONCLUSIVE, "insensitive")


def refused(*span: int) -> dict[str, object]:
    """An error of the expression that stands there, of which torch says nothing that a finding foretells."""
    described = error("RuntimeError", "sizes do not match", LINE)
    described["links"][-1]["span"] = list(span)
    return failing(described)


#: `out = query @ key / SETTINGS.scale`, and `seen.append(int(best))`.
PRODUCT, DIVISION = (LINE, LINE, 6, 17), (LINE, LINE, 6, 34)
APPENDED, NUMBER = (LINE, LINE, 0, 22), (LINE, LINE, 12, 21)


def test_an_error_belongs_to_the_expression_that_raised_it():
    captured = suspect("NST101", Experiment.CHANGE, subject=SCALE, column=20, end_column=34)
    told = [judge([captured], arms([call(2.0)], [refused(*span)]))[captured.number] for span in (PRODUCT, DIVISION)]
    assert [one.status for one in told] == [Status.INCONCLUSIVE, Status.CONFIRMED]
    assert told[0].reason == "blocked"


def test_an_error_belongs_to_the_smallest_expression_around_it():
    outer = suspect("NST202", Experiment.EFFECT, column=0, end_column=22)
    inner = suspect("NST402", number=2, column=12, end_column=21)
    told = judge([outer, inner], arms([call(2.0)], [refused(LINE, LINE, 16, 20)]))
    assert (told[outer.number].reason, told[2].status) == ("blocked", Status.CONFIRMED)
    told = judge([outer, inner], arms([call(2.0)], [refused(*APPENDED)]))
    assert told[outer.number].status is Status.CONFIRMED


def test_an_error_counts_for_a_finding_on_another_line_of_its_expression():
    below = suspect("NST402", lines=frozenset({LINE + 1}), column=4, end_column=9)
    reached = (LINE, LINE + 1)
    of_both = arms([call(2.0)], [refused(LINE, LINE + 2, 4, 1)], lines=reached)
    of_first = arms([call(2.0)], [refused(LINE, LINE, 4, 9)], lines=reached)
    other = suspect("NST506", number=2, column=4, end_column=9)
    assert judge([below, other], of_both)[below.number].status is Status.CONFIRMED
    assert judge([below, other], of_first)[below.number].reason == "blocked"


def test_an_error_of_another_expression_of_the_line_is_no_refusal_of_this_one():
    beside = suspect("NST402", column=20, end_column=34)
    told = judge([beside], arms([call(2.0)], [refused(*PRODUCT)]))
    assert told[beside.number].reason == "blocked"


def test_an_error_belongs_to_what_a_call_on_its_line_gave_back():
    called = suspect(
        "NST101", Experiment.CHANGE, lines=frozenset({18}), chain=frozenset({(FILE, LINE), (FILE, MARKER)})
    )
    other = suspect("NST101", Experiment.CHANGE, number=2, lines=frozenset({28}), chain=frozenset({(FILE, MARKER)}))
    real = failing(error("AssertionError", "Please convert all Tensors to FakeTensors first", LINE))
    told = judge([called, other], arms([call(2.0)], [real]))
    assert (told[called.number].status, told[2].reason) == (Status.CONFIRMED, "blocked")
    assert judge([other], arms([call(2.0)], [real]))[2].status is Status.CONFIRMED


def test_no_error_of_tracing_is_due_to_a_number_that_may_become_stale():
    captured = suspect("NST104", Experiment.CHANGE, subject=SCALE)
    told = judge([captured], arms([call(2.0)], [failing(error("RuntimeError", "sizes do not match", LINE))]))
    assert told[captured.number].reason == "blocked"


def test_what_a_body_raises_says_nothing_of_its_result():
    returned = suspect("NST502")
    raised = error("AttributeError", "no such attribute", MARKER + 2, 40)
    told = judge([returned], arms([call(2.0)], [failing(raised)]))[0]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "blocked")
    refused = error("Unsupported", "torch.* op returned non-Tensor", 18)
    compiled = arms([call(2.0)], [failing(refused)])
    assert judge([returned], compiled)[0].status is Status.CONFIRMED
    # Also where something else was left out for it, and the error has no line of the user's.
    (unnamed,) = divergences(
        compiled.eager, {"calls": [failing(error("Unsupported", "torch.* op returned non-Tensor"))]}
    )
    assert fits(returned, unnamed, compiled.eager)


def test_evidence_that_several_findings_share_is_told_as_such():
    first = suspect("NST101", Experiment.CHANGE)
    second = suspect("NST101", Experiment.CHANGE, number=2, lines=frozenset({28}))
    real = "Please convert all Tensors to FakeTensors first"
    told = judge([first, second], arms([call(2.0)], [failing(error("AssertionError", real))]))
    assert [one.shared for one in told.values()] == [True, True]
    told = judge([first, second], arms([call(2.0)], [failing(error("AssertionError", real, LINE))]))
    assert [one.shared for one in told.values()] == [False, False]


def test_an_error_of_a_changed_program_has_to_name_the_finding():
    def fitting(message: str, *lines: int) -> bool:
        raised = Divergence(Channel.ERROR, 0, "no error", message, lines=tuple((FILE, line) for line in lines))
        return fits(suspect("NST402"), raised, {"calls": []})

    assert fitting("RuntimeError: whatever", MARKER, LINE)
    assert fitting("GuardOnDataDependentSymNode: u0")
    assert not fitting("RuntimeError: Unable to cast 1 to Tensor")
    assert not fitting("RuntimeError: whatever", 28)


def test_another_attribute_of_an_argument_is_not_the_mode_of_its_part() -> None:
    mode = suspect("NST105", Experiment.CHANGE, subject=Subject("argument", "model", (".drop",)))
    first = call(1.0, inputs={"model.gain": "float 1.0", "model.drop.training": "bool True"})
    gain = call(2.0, inputs={"model.gain": "float 2.0", "model.drop.training": "bool True"})
    switched = call(2.0, inputs={"model.gain": "float 1.0", "model.drop.training": "bool False"})
    for second, proven in ((gain, False), (switched, True)):
        stale = call(1.0, inputs=second["inputs"])
        made = arms([first, second], [first, stale])
        (one,) = divergences(made.eager, made.compiled["aot_eager"])
        assert fits(mode, one, made.eager) is proven


def test_words_about_tensors_of_eager_code_and_of_traces_are_told_apart():
    words = {
        "Please convert all Tensors to FakeTensors first": {"NST101", "NST207"},
        "Mixing fake modes NYI": {"NST203", "NST207"},
    }
    for text, codes in words.items():
        told = {code for code in ("NST101", "NST203", "NST207") if suspect(code).expectation.foretells(text)}
        assert told == codes, text
    refused = Divergence(Channel.ERROR, 0, "no error", "AssertionError: Mixing fake modes NYI")
    eager = {"calls": [call(1.0)]}
    assert fits(suspect("NST207", Experiment.EFFECT), refused, eager)
    assert not fits(suspect("NST203", Experiment.EFFECT), refused, eager)
    assert fits(suspect("NST203", Experiment.EFFECT), refused._replace(lines=((FILE, LINE),)), eager)
