"""What torch refuses on the way to a finding is taken out like a finding, though no rule speaks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.confirm.neutralising import neutral
from nonstrict.confirm.obstacles import obstacles
from nonstrict.confirm.programs import program_of
from tests.confirm.making import FILE, call, error, failing, suspect, trace

if TYPE_CHECKING:
    from typing import Any

TEXT = """\
import torch

def scaled(x):
    if x.isnan().any():
        x = x + 1
    history.append(1)
    return x
"""


def refused(line: int, span: list[int] | None = None) -> dict[str, Any]:
    """A trace whose only call is refused on a line."""
    told = error("GuardOnDataDependentSymNode", "no", line)
    if span is not None:
        told["links"][-1]["span"] = span
    return trace(failing(told))


def test_a_branch_that_torch_refuses_is_decided() -> None:
    own = suspect("NST202", lines=frozenset({6}), column=4, end_column=21)
    found = obstacles(trace(call(1.0)), [refused(4, [4, 5, 4, 17])], own, [own])
    assert [(one.number, sorted(one.lines)) for one in found] == [(-1, [4, 5])]
    program = program_of(FILE, TEXT, "/project", {})
    assert program is not None
    programs = list(neutral(program, own, [own, *found]))
    assert {line for one in programs for line in one.program.text.split("\n") if "if " in line} == {
        "    if True:",
        "    if False:",
    }
    assert all(not one.others for one in programs)
    first = next(neutral(program, own, [own, *found], {FILE: [3, 4, 6, 7]}))
    assert first.done == ("what torch refuses (replaced by False, line 4)",)
    assert programs[0].done == ("what torch refuses (replaced by True, line 4)",)


def test_what_a_finding_is_about_or_eager_code_refuses_too_is_none() -> None:
    own = suspect("NST402", lines=frozenset({4}), column=7, end_column=22)
    assert not obstacles(trace(call(1.0)), [refused(4)], own, [own])
    other = suspect("NST202", lines=frozenset({6}))
    assert len(obstacles(trace(call(1.0)), [refused(4)], other, [other])) == 1
    assert len(obstacles(trace(call(1.0)), [refused(4)], other, [other], [("step", 0)])) == 1
    assert not obstacles(trace(call(1.0)), [refused(4)], other, [other], [("another", 3)])
    assert not obstacles(refused(4), [refused(4)], other, [other])
