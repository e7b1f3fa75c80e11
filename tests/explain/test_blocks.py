"""Which lines of a text are one message: those of other messages give it no place."""

from __future__ import annotations

import time

import pytest

from nonstrict.explain.cleaning import cleaned
from nonstrict.explain.messages import messages

SHORT = """\
=================================== FAILURES ===================================
__________________________________ test_noisy __________________________________
test_five.py:15: in test_noisy
    torch.compile(noisy, backend="eager", fullgraph=True)(torch.ones(2))
/opt/venv/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py:1177: in compile_wrapper
    raise e.with_traceback(
E   torch._dynamo.exc.Unsupported: Failed to trace builtin operator
E     Explanation: Dynamo does not know how to trace builtin operator `print` with argument types ['str', 'Tensor']
E
E   from user code:
E      File "/job/test_five.py", line 5, in noisy
E       print("x", x)
{between}
_________________________________ test_lookup __________________________________
test_five.py:24: in test_lookup
    assert config["b"]
           ^^^^^^^^^^^
E   KeyError: 'b'
=========================== short test summary info ============================
FAILED test_five.py::test_noisy - torch._dynamo.exc.Unsupported: Import failure
{failed}FAILED test_five.py::test_lookup - KeyError: 'b'
5 failed in 6.09s
"""
UNSUPPORTED = """\
torch._dynamo.exc.Unsupported: {title}
  Explanation: Dynamo cannot trace it.

from user code:
   File "/job/a.py", line {line}, in step
    y = call(x)
"""


def told(text: str) -> list[tuple[str, list[int]]]:
    return [(one.pages[0], [frame.line for frame in one.places]) for one in messages(cleaned(text))]


def test_the_summary_of_pytest_is_no_part_of_the_last_test():
    between, failed = [], []
    for number, title in enumerate(["functools.wraps", "copy.deepcopy()", "repr() on tensor"], 30):
        between.append(f"_____ test_{number} _____\nE   {UNSUPPORTED.format(title=title, line=number)}")
        failed.append(f"FAILED test_five.py::test_{number} - torch._dynamo.exc.Unsupported: {title}\n")
    found = told(SHORT.format(between="\n".join(between), failed="".join(failed)))
    assert [lines for _, lines in found if lines] == [[5], [30], [31], [32]]
    assert [page for page, lines in found if lines] == ["GB0059", "GB0187", "GB0179", "GB0569"]
    assert ("GB0069", []) in found


def test_each_line_of_a_summary_is_a_message():
    titles = ("Import failure", "repr() on tensor")
    text = "".join(f"FAILED a.py::t - torch._dynamo.exc.Unsupported: {one}\n" for one in titles)
    assert told(text) == [("GB0069", []), ("GB0569", [])]


@pytest.mark.parametrize("between", ["", "\n", "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n\n"])
def test_an_exception_without_a_traceback_begins_a_message(between: str):
    said = {"Import failure": 3, "functools.wraps": 9}
    parts = [UNSUPPORTED.format(title=title, line=line) for title, line in said.items()]
    assert told(between.join(parts)) == [("GB0069", [3]), ("GB0187", [9])]


def test_an_exception_behind_another_one_has_its_own_place():
    text = 'Traceback (most recent call last):\n  File "/job/b.py", line 7, in load\nKeyError: 3\n'
    assert told(f"{text}torch._dynamo.exc.Unsupported: Import failure\n") == [("GB0069", [])]


def test_lines_of_pytest_are_messages():
    text = (
        "/job/a.py:3: torch._dynamo.exc.Unsupported: Import failure\n"
        "/job/a.py:9: torch._dynamo.exc.Unsupported: functools.wraps\n"
        "/job/a.py:24: KeyError: 'b'\n"
    )
    assert told(text) == [("GB0069", [3]), ("GB0187", [9])]


def test_what_a_backend_raised_belongs_to_it():
    text = (
        'Traceback (most recent call last):\n  File "/job/a.py", line 3, in step\n'
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
        "AssertionError: Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
        "'allow_non_fake_inputs'. Found in aten.add(x)\n"
    )
    ((page, places),) = told(text)
    assert (page[:3], places) == ("NST", [3])


@pytest.mark.parametrize(
    ("first", "second"),
    [("[rank0]:", "[rank1]:"), ("(Trainer pid=11) ", "(Trainer pid=12) "), ("trainer-1  | ", "trainer-2  | ")],
)
def test_lines_of_several_ranks_are_told_apart(first: str, second: str):
    one = [f"{first}{line}" for line in UNSUPPORTED.format(title="Import failure", line=3).splitlines()]
    other = [f"{second}{line}" for line in UNSUPPORTED.format(title="functools.wraps", line=9).splitlines()]
    mixed = [line for pair in zip(one, other, strict=True) for line in pair]
    assert told("\n".join(mixed)) == [("GB0069", [3]), ("GB0187", [9])]


def test_a_line_that_was_wrapped_belongs_to_its_rank():
    text = "[rank0]:Unsupported: Attempted to call function mar\nked as skipped\n[rank1]:Unsupported: Import failure\n"
    assert told(text) == [("GB0007", []), ("GB0069", [])]


@pytest.mark.parametrize("line", ["", "   ", "=" * 5_000, "_" * 5_000 + " x", "=== " + "= " * 5_000])
@pytest.mark.parametrize("head", ["from user code:", "Unsupported: Import failure", "    - 0/0: L['n'] == 3"])
def test_many_lines_of_nothing_take_no_time(line: str, head: str):
    text = "\n".join([head, *[line] * (5_000 if len(line) < 9 else 200), "end"])
    messages(cleaned("Import failure"))
    start = time.process_time()
    messages(cleaned(text))
    assert time.process_time() - start < 2
