"""What a compiled arm did otherwise than the eager one, channel by channel."""

from __future__ import annotations

from typing import Any

import pytest

from nonstrict.confirm.meaning import found_in
from nonstrict.confirm.traces import Divergence, all_lines, cause_of, divergences
from nonstrict.rules.expectation import Channel
from tests.confirm.making import FILE, arms, call, error, failing, number, tensor, trace, value


def told(eager: dict[str, Any], compiled: dict[str, Any]) -> list[Divergence]:
    """What a pair of calls gives, each the second of a trace after two that agree."""
    return divergences(trace(call(1.0), eager), trace(call(1.0), compiled))


def one(eager: dict[str, Any], compiled: dict[str, Any]) -> Divergence:
    (divergence,) = told(eager, compiled)
    assert divergence.call == 1
    return divergence


def test_agreement():
    assert told(call(1.0), call(1.0)) == []


def test_values():
    divergence = one(call(1.0, 2.0), call(1.0, 4.0))
    assert divergence == Divergence(Channel.VALUES, 1, "[1, 2]", "[1, 4]", relative=0.5, apart=2.0)


def test_an_error_that_only_compiled_code_raises():
    divergence = one(call(1.0), failing(error("Unsupported", "no such op\nmore", 3, 8)))
    expected = Divergence(Channel.ERROR, 1, "no error", "Unsupported: no such op", lines=((FILE, 3), (FILE, 8)))
    assert divergence == expected


def test_an_error_of_another_type():
    divergence = one(failing(error("ValueError", "a")), failing(error("TypeError", "b")))
    assert divergence.channel is Channel.ERROR
    assert (divergence.eager, divergence.compiled) == ("ValueError: a", "TypeError: b")


def test_the_type_that_reaches_the_caller_counts():
    wrapped = error("KeyError", "a", outer=[("InternalTorchDynamoError", ())])
    assert one(failing(error("KeyError", "a")), failing(wrapped)).channel is Channel.ERROR


def test_the_same_error_with_another_text_is_agreement():
    assert told(failing(error("ValueError", "a")), failing(error("ValueError", "b"))) == []


def test_an_error_that_only_eager_code_raises():
    divergence = one(failing(error("TypeError", "missing argument", 8)), call(1.0))
    assert (divergence.eager, divergence.compiled) == ("TypeError: missing argument", "no error")
    assert divergence.lines == ((FILE, 8),)


def test_nothing_counts_after_an_error():
    broken = failing(error("Unsupported", "x"))
    found = divergences(trace(call(1.0), call(1.0)), trace(broken, call(2.0)))
    assert [divergence.channel for divergence in found] == [Channel.ERROR]


def test_nothing_counts_after_unequal_inputs():
    other = call(2.0, inputs={"x": "tensor b"}, out="text")
    assert divergences(trace(call(1.0), call(1.0)), trace(other, call(3.0))) == []


def test_arguments():
    divergence = one(call(1.0, arguments={"x": "a", "y": "b"}), call(1.0, arguments={"x": "c", "y": "b"}))
    assert divergence == Divergence(Channel.ARGUMENTS, 1, "a", "c", paths=("x",))


GIVEN, EAGER, COMPILED = (f"tensor float32 [1] {digest}" for digest in ("a0", "e0", "c0"))


def written(number: float, *, known: bool = True) -> list[Divergence]:
    """What two pairs of calls give: the first changes its argument, to 2 or to a number, and the second is given it."""
    pair = [
        trace(
            call(1.0, inputs={"x": GIVEN}, arguments={"x": after}, state={"X": [GIVEN, after]}),
            call(value_, inputs={"x": after}, arguments={"x": after}, out=f"{value_}"),
            numbers={after: tensor(value_)} if known else {},
        )
        for after, value_ in ((EAGER, 2.0), (COMPILED, number))
    ]
    return divergences(*pair)


def test_tensors_that_both_write_are_compared_by_their_numbers():
    assert written(3.0) == [
        Divergence(Channel.STATE, 0, "2", "3", paths=("X",), relative=1 / 3, apart=1.0),
        Divergence(Channel.ARGUMENTS, 0, "2", "3", paths=("x",), relative=1 / 3, apart=1.0),
    ]
    assert [one.vague for one in written(3.0, known=False)] == [True, True]


def test_calls_are_compared_on_where_they_are_given_something_rounded_otherwise():
    (told,) = written(2.000001)
    assert (told.channel, told.call, told.drifted, told.vague) == (Channel.OUTPUT, 1, True, True)
    assert {one.call for one in written(2.000001, known=False)} == {0}


def test_state():
    divergence = one(
        call(1.0, state={"COUNT": ["int 0", "int 1"], "LOG": ["list[0]", "list[1]"]}),
        call(1.0, state={"COUNT": ["int 0", "int 3"]}),
    )
    assert divergence.channel is Channel.STATE
    assert divergence.paths == ("COUNT", "LOG")
    assert (divergence.eager, divergence.compiled) == ("int 0 -> int 1", "int 0 -> int 3")


def test_state_that_eager_code_makes_otherwise_each_time_is_no_measure_for_the_rest():
    eager = call(1.0, state={"TIMES": ["list[0]", "list[1]"], "TIMES[0]": [None, "float 1.5"]})
    again = call(1.0, state={"TIMES": ["list[0]", "list[1]"], "TIMES[0]": [None, "float 2.5"]})
    compiled = call(1.0, state={"TIMES": ["list[0]", "list[3]"], "TIMES[0]": [None, "float 3.5"]})
    (found,) = found_in(arms([eager], [compiled], control=[again]))["aot_eager"]
    assert (found.paths, found.eager, found.compiled) == (("TIMES",), "list[0] -> list[1]", "list[0] -> list[3]")
    alike = {**compiled, "state": {**compiled["state"], "TIMES": ["list[0]", "list[1]"]}}
    assert not found_in(arms([eager], [alike], control=[again]))["aot_eager"]


def test_state_that_appears():
    divergence = one(call(1.0, state={"CACHE['w']": [None, "int 1"]}), call(1.0))
    assert (divergence.eager, divergence.compiled) == ("absent -> int 1", "unchanged")


@pytest.mark.parametrize("name", ["<random state>", "<NumPy's random state>", "<warning filters>", "<recursion limit>"])
def test_state_that_tracing_moves_is_no_divergence(name: str):
    assert told(call(1.0, state={name: ["1", "2"]}), call(1.0, state={name: ["1", "3"]})) == []


def test_the_environment_counts_only_where_eager_code_changes_it():
    moved = {"<environment variables>": ["1", "2"]}
    assert told(call(1.0), call(1.0, state=moved)) == []
    assert one(call(1.0, state=moved), call(1.0)).paths == ("<environment variables>",)


def test_output():
    divergence = one(call(1.0, out="a\nb\n"), call(1.0, out="a\nb\n" * 3))
    assert (divergence.channel, divergence.eager, divergence.compiled) == (
        Channel.OUTPUT,
        "'a' and 1 more lines",
        "'a' and 5 more lines",
    )
    assert one(call(1.0, out="a"), call(1.0)).compiled == "nothing"


def test_warnings_of_torch_on_standard_error_are_no_divergence():
    assert told(call(1.0, err="mine\n"), call(1.0, err="W0101 torch says\nmine\n")) == []
    divergence = one(call(1.0, err="mine\n"), call(1.0, err="W0101 torch says\n"))
    assert (divergence.channel, divergence.eager) == (Channel.OUTPUT, "'mine'")


def test_events():
    event = ["open", "log.txt", FILE, 8]
    divergence = one(call(1.0, events=[event]), call(1.0, events=[event] * 3))
    assert divergence == Divergence(Channel.EVENTS, 1, "open once", "open 3 times", lines=((FILE, 8),))
    assert one(call(1.0, events=[event]), call(1.0)).compiled == "open never"


def test_events_whose_order_differs_are_the_same():
    first, second = ["open", "a", FILE, 8], ["os.remove", "a", FILE, 9]
    assert told(call(1.0, events=[first, second]), call(1.0, events=[second, first])) == []


def test_leaks():
    divergence = one(call(1.0), call(1.0, leaks=["CACHE[0]"]))
    assert (divergence.channel, divergence.paths) == (Channel.LEAK, ("CACHE[0]",))
    assert told(call(1.0, leaks=["CACHE[0]"]), call(1.0, leaks=["CACHE[0]"])) == []


def gradients(left: object, right: object) -> list[Divergence]:
    return divergences(trace(call(1.0), gradients=left), trace(call(1.0), gradients=right))


def test_gradients():
    mine, other = value(tensor(1.0)), value(tensor(2.0))
    (divergence,) = gradients({"of": {"W": mine}}, {"of": {"W": other}})
    assert divergence == Divergence(Channel.GRADIENTS, 0, "1", "2", paths=("W",), relative=0.5, apart=1.0)
    assert gradients({"of": {"W": mine}}, {"of": {"W": mine}}) == []


def test_a_gradient_that_is_lost():
    mine = value(tensor(1.0))
    (divergence,) = gradients({"of": {"W": mine}}, {"of": {"W": None}})
    assert (divergence.eager, divergence.compiled) == ("a gradient", "None")
    (divergence,) = gradients({"of": {"W": mine}}, {"error": "no result requires a gradient"})
    assert (divergence.compiled, divergence.paths) == ("no result requires a gradient", ("W",))
    (divergence,) = gradients({"of": {"W": mine}}, {"error": error("RuntimeError", "no backward")})
    assert divergence.compiled == "no backward"


@pytest.mark.parametrize("left", [None, {"error": "no result requires a gradient"}, {"of": {"W": None}}])
def test_without_gradients_in_eager_code_there_is_nothing_to_lose(left: object):
    assert gradients(left, {"error": "no result requires a gradient"}) == []


def test_every_channel_of_a_call_is_told():
    event = ["open", "log.txt", FILE, 8]
    eager = call(1.0, out="a", events=[event], state={"N": ["1", "2"]})
    compiled = call(2.0, leaks=["N"], arguments={"x": "other"})
    found = [divergence.channel for divergence in told(eager, compiled)]
    assert found == [
        *(Channel.VALUES, Channel.OUTPUT, Channel.EVENTS, Channel.STATE, Channel.LEAK, Channel.ARGUMENTS),
    ]


def test_the_cause_of_an_error_is_the_link_that_names_the_users_code():
    described = error("AssertionError", "real reason\nsecond line", 3, 8, outer=[("Unsupported", (20,))])
    cause = cause_of(described)
    assert (cause.type, cause.message, cause.lines) == ("AssertionError", "real reason", ((FILE, 3), (FILE, 8)))
    assert cause.texts == "Unsupported: \nAssertionError: real reason\nsecond line"
    assert all_lines(described) == {(FILE, 3), (FILE, 8), (FILE, 20)}


def test_an_error_without_a_line_of_its_own_has_those_around_it():
    assert cause_of(error("KeyError", "a", outer=[("Unsupported", (20,))])).lines == ((FILE, 20),)


def test_values_that_are_no_tensors():
    assert one(call(result=value(number("a"))), call(result=value(number("b")))).compiled == "'b'"
