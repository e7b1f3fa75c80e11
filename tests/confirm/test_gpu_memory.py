"""A GPU that has no memory left says nothing about a program."""

from __future__ import annotations

import pytest

from nonstrict.confirm.judging import judge, why_raised
from nonstrict.confirm.traces import Captured
from nonstrict.findings import Status
from tests.confirm.making import arms, call, error, failing, suspect, trace

FULL = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free."
    "\nIncluding non-PyTorch memory, this process has 70.00 GiB memory in use."
)


@pytest.mark.parametrize(
    "message",
    [
        FULL,
        "CUDA error: out of memory\nCUDA kernel errors might be ...",
        "Triton Error [CUDA]: CUDA_ERROR_OUT_OF_MEMORY",
    ],
)
def test_eager_code_that_needs_too_much(message: str):
    assert why_raised(error("OutOfMemoryError", message, 8)) == ("gpu-memory", message.partition("\n")[0])
    assert why_raised(error("RuntimeError", "out of memory for other reasons", 8))[0] == "eager-raises"


def test_compiled_code_that_needs_too_much_is_not_refused():
    finding = suspect()
    told = judge([finding], arms([call(1.0)], [failing(error("OutOfMemoryError", FULL, 8))]))[finding.number]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "gpu-memory")
    assert told.evidence.startswith("CUDA out of memory. Tried to allocate 2.00 GiB")
    # The same error in other words is a refusal.
    told = judge([finding], arms([call(1.0)], [failing(error("RuntimeError", "no", 8))]))[finding.number]
    assert told.status is Status.CONFIRMED


def test_a_backward_pass_that_needs_too_much():
    gradients = {"error": error("OutOfMemoryError", FULL, 8)}
    made = arms([call(1.0)], [call(1.0)])
    compiled = {name: {**one, "gradients": gradients} for name, one in made.compiled.items()}
    eager = {**made.eager, "gradients": {"of": {"w": None}}}
    told = judge([suspect()], made._replace(eager=eager, compiled=compiled))[0]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "gpu-memory")


def test_a_run_with_cuda_graphs_that_needs_too_much():
    made = arms([call(1.0)], [call(1.0)])
    stop = {"kind": "raised", "error": error("OutOfMemoryError", FULL, 22)}
    captured = Captured(trace(call(1.0)), trace(call(1.0), stop=stop))
    assert judge([suspect()], made)[0].status is Status.REFUTED
    assert judge([suspect()], made._replace(captured=captured))[0].reason == "gpu-memory"
