"""What proves nothing: rounding, refusals of the sandbox, arguments of the wrong kind, changes before the first call.

The traces are written by hand, as in `test_judging`.
"""

from __future__ import annotations

from typing import Any

import pytest

from nonstrict.confirm.input_sources import search_job
from nonstrict.confirm.judging import judge, refused_by_eager, unexplained
from nonstrict.confirm.naming import named_by_text
from nonstrict.confirm.owners import change_of
from nonstrict.confirm.programs import Program, program_of
from nonstrict.findings import Status, Subject
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, LINE, SCALE, arms, call, error, failing, suspect

MEAN = "tensor float32 [4] "
OF_STATE = suspect("NST202", Experiment.EFFECT, subject=Subject("argument", "self", (".extras",)))
TOLD = suspect("NST201", Experiment.EFFECT)
REACTS = [call(2.0), call(3.0, between={"SCALE": ["int 2", "int 3"]})]
STALE = suspect("NST104", Experiment.CHANGE, subject=SCALE)
OPENS = suspect("NST201", Experiment.EFFECT, message="this opens a socket only while ...")


def program(text: str, path: str = FILE) -> Program:
    made = program_of(path, text, "/project", {})
    assert made is not None
    return made


def status(one: Any, made: Any) -> tuple[Status, str]:
    judgement = judge([one], made)[one.number]
    return judgement.status, judgement.reason


# Rounding.


def test_tensors_in_state_that_may_differ_by_rounding_prove_nothing():
    eager = call(1.0, state={"net.mean": [MEAN + "aa", MEAN + "bb"]})
    rounded = call(1.0, state={"net.mean": [MEAN + "aa", MEAN + "cc"]})
    harmless = suspect("NST202", Experiment.EFFECT)
    twice = arms([eager, eager], [eager, eager], inductor=[rounded, rounded])
    assert status(harmless, twice) == (Status.INCONCLUSIVE, "differs-before")
    assert status(OF_STATE, arms([eager], [eager], inductor=[rounded])) == (Status.INCONCLUSIVE, "insensitive")
    lost = arms([eager], [call(1.0, state={})])
    assert status(harmless, lost)[0] is Status.CONFIRMED
    other = arms([eager], [call(1.0, state={"net.mean": [MEAN + "aa", MEAN.replace("4", "5") + "cc"]})])
    assert status(harmless, other)[0] is Status.CONFIRMED


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_arguments_that_both_arms_wrote_may_differ_by_rounding(dtype: str):
    name = f"tensor {dtype} [4] "
    given = {"inputs": {"x": name + "aa"}}
    eager, compiled = (call(1.0, **given, arguments={"x": name + end}) for end in ("bb", "cc"))
    expected = Status.CONFIRMED if dtype == "int64" else Status.INCONCLUSIVE
    assert status(suspect("NST202", Experiment.EFFECT), arms([eager], [compiled]))[0] is expected
    unwritten = call(1.0, **given, arguments=given["inputs"])
    assert status(suspect("NST202", Experiment.EFFECT), arms([eager], [unwritten]))[0] is Status.CONFIRMED


def test_a_mode_is_not_stale_in_the_first_call():
    given = {"inputs": {"net": "tensor int64 [] aa"}}
    eager, compiled = (call(1.0, **given, arguments={"net": f"tensor int64 [] {end}"}) for end in ("bb", "cc"))
    mode = suspect("NST105", Experiment.CHANGE, subject=Subject("argument", "net"))
    assert status(mode, arms([eager], [compiled]))[0] is not Status.CONFIRMED


# The sandbox.

DENIED = "[Errno 13] Permission denied"


def test_what_the_sandbox_refuses_is_no_finding():
    eager = [failing(error("PermissionError", DENIED, 3, LINE))]
    compiled = [failing(error("PermissionError", DENIED, 3, LINE, outer=[("InternalTorchDynamoError", (3,))]))]
    judgement = judge([OPENS], arms(eager, compiled))[0]
    assert (judgement.status, judgement.reason) == (Status.INCONCLUSIVE, "sandbox")
    assert DENIED in judgement.evidence
    operator = suspect("NST606", Experiment.REFUSAL)
    assert refused_by_eager(operator, arms(eager, compiled).eager) is None
    assert unexplained([], arms(eager, compiled)) is None


def test_an_error_that_the_program_raises_by_itself_is_its_own():
    raised = [failing(error("PermissionError", "only for admins", 3, LINE))]
    assert status(OPENS, arms(raised, raised)) == (Status.INCONCLUSIVE, "eager-raises")


# Arguments.

KIND = "scale() Expected a value of type 'float' for argument 'eps' but instead found type 'FakeTensor'."
OPERATOR = """\
import torch
@torch.library.custom_op("lib::scale", mutates_args=())
def scale(x: torch.Tensor, eps: float) -> torch.Tensor:
    return x.div_(eps)
@scale.register_fake
def _(x, eps):
    return torch.empty_like(x)
"""


def test_an_argument_of_the_wrong_kind_is_no_finding_about_an_operator():
    made = arms([call(1.0)], [failing(error("RuntimeError", KIND))])
    assert status(suspect("NST607", Experiment.REFUSAL), made) == (Status.INCONCLUSIVE, "blocked")


def test_arguments_of_an_operator_are_searched_for_its_function():
    one = suspect("NST607", function="scale", marked_line=2, lines=frozenset({4}), marker="custom-op")
    job = search_job(program(OPERATOR), one, "cpu")
    assert job is not None
    lines = job["text"].split("\n")
    assert job["text"].startswith(OPERATOR)
    assert job["kept"] == [0, 3]
    (wanted,) = job["wanted"][FILE]
    assert lines[wanted - 1] == "    return x.div_(eps)"
    assert lines[wanted - 2] == f"def {job['name']}(x: torch.Tensor, eps: float) -> torch.Tensor:"


def test_a_wrapper_goes_by_the_name_of_what_it_wraps():
    text = program("import lib\n@lib.mark\n@lib.logged\ndef jitter(x):\n    return x\n")
    one = suspect(function="logged.<locals>.inner", marked_line=2)
    assert named_by_text(text, one).function == "jitter"
    assert named_by_text(text, one._replace(marked_line=5)).function == "logged.<locals>.inner"
    assert named_by_text(text, one._replace(file="/project/other.py")).function == "logged.<locals>.inner"


# Changes.


def test_what_was_stale_before_the_first_call_is_explained_but_not_proven():
    made = arms([call(2.0)], [call(1.0)], ahead=True)
    assert unexplained([STALE], made) is None
    assert status(STALE, made)[0] is Status.INCONCLUSIVE
    assert unexplained([STALE], arms([call(2.0)], [call(1.0)])) is not None
    moved = {"between": {"SCALE": ["int 1", "int 2"]}}
    later = arms([call(2.0), call(3.0, **moved)], [call(1.0), call(1.0, **moved)], ahead=True)
    assert judge([STALE], later)[0].evidence.startswith("call 2: eager 3, compiled 1")


def test_state_of_another_module_is_changed_where_it_is_defined():
    text = program("import conf\nfrom conf import CFG, LIMIT\nOWN = 1\n")
    there = frozenset({("/project/conf.py", 3)})
    files = ("/project/conf.py", FILE)

    def changed(name: str, *path: str, loaded: tuple[str, ...] = files) -> tuple[str, str]:
        one = suspect("NST104", Experiment.CHANGE, subject=Subject("global", name, path), writers=there)
        made = change_of(text, one, loaded)
        assert made is not None
        return made.name, made.module

    assert changed("LIMIT") == ("LIMIT", "conf")
    assert changed("OWN") == ("OWN", "model")
    assert changed("CFG", ".cap") == ("model.CFG", "model")
    assert changed("ELSE", ".cap") == ("conf.ELSE", "conf")
    assert changed("CFG", ".cap", loaded=(FILE,)) == ("CFG", "model")


def test_a_draw_is_repeated_before_it_is_said_to_vary():
    draw = suspect("NST301", Experiment.DRAW)
    eager = [call(1.0), call(2.0, inputs={"x": "tensor b"})]
    control = [call(3.0), call(4.0, inputs={"x": "tensor b"})]
    assert status(draw, arms(eager, eager, control=control)) == (Status.INCONCLUSIVE, "insensitive")
    repeated = arms([call(1.0), call(2.0)], [call(5.0), call(5.0)], control=[call(3.0), call(4.0)])
    assert status(draw, repeated)[0] is Status.CONFIRMED
    assert judge([draw], repeated._replace(foreign={0: frozenset({0}), 1: frozenset({0})}))[0].status is (
        Status.INCONCLUSIVE
    )


# What tracing decides, and what it does not.


def test_an_effect_in_a_call_that_is_compiled_refutes_nothing():
    """Tracing has the effects of the body too; whether compiled code has them shows later."""
    told = call(1.0, out="hello\n")
    assert status(TOLD, arms([told], [told])) == (Status.INCONCLUSIVE, "insensitive")
    again = call(1.0, out="hello\n", compiled={"graphs": [1], "breaks": [], "eager": [], "skipped": "", "again": []})
    assert status(TOLD, arms([told, told], [told, again])) == (Status.INCONCLUSIVE, "insensitive")


def test_a_graph_for_which_inductor_alone_has_no_code_is_judged_without_it():
    """All backends get the same graph; that one of them cannot compile it is not about the finding."""
    refused = [failing(error("AssertionError", "torch.float8_e8m0fnu missing"))] * len(REACTS)
    judgement = judge([STALE], arms(REACTS, REACTS, inductor=refused))[STALE.number]
    assert judgement.status is Status.REFUTED
    assert judgement.evidence.endswith("on aot_eager agree with eager")
    assert [one.result for one in judgement.outcomes] == ["same", "not-run"]
    both = judge([STALE], arms(REACTS, refused))[STALE.number]
    assert (both.status, both.reason) == (Status.INCONCLUSIVE, "blocked")
