"""Messages as lines, and results read with suspicion."""

from __future__ import annotations

import json
import os
import random

import pytest

from nonstrict_agent.framing import FramingError, Lines, line_of, pumped, write_all
from nonstrict_agent.results import LARGEST, Run

MESSAGES = [{"op": "run", "job": {"text": "ü\n\u2028"}}, {}, {"long": "x" * 5000}, {"list": [1, 2.5, None, True]}]
DONE = {"exit": {"reason": "done", "status": 0, "signal": "", "detail": ""}, "changes": [["written", "/a", 3]]}


@pytest.mark.parametrize("seed", range(5))
def test_messages_arrive_whatever_the_pieces(seed):
    chance = random.Random(seed)  # noqa: S311 - no secret
    data = b"".join(map(line_of, MESSAGES))
    cuts = sorted(chance.randrange(len(data)) for _ in range(40))
    lines = Lines()
    found = [
        message
        for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)
        for message in lines.feed(data[begin:end])
    ]
    assert found == MESSAGES


@pytest.mark.parametrize("garbage", [b"\x80abc\n", b"[1]\n", b"{\n", b"nothing\n", b"[" * 100_000 + b"\n"])
def test_garbage_is_refused(garbage):
    with pytest.raises(FramingError):
        Lines().feed(garbage)


def test_a_line_without_end_is_refused():
    lines = Lines(longest=1000)
    lines.feed(b'{"a": "' + b"x" * 900)
    with pytest.raises(FramingError, match="1000 bytes"):
        lines.feed(b"x" * 900)


def test_a_pumped_pipe_gives_the_same_bytes_and_its_end():
    reading, writing = os.pipe()
    data = os.urandom(300_000)
    with pumped(reading) as socket:
        received = bytearray()
        write_all(writing, data[:1000])
        while len(received) < 1000:
            received += socket.recv(4096)
        write_all(writing, data[1000:50_000])
        os.close(writing)
        while piece := socket.recv(65536):
            received += piece
    assert bytes(received) == data[:50_000]


def run_of(*lines):
    run = Run(7, {}, 5.0, 0)
    kept = [run.take(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n") for line in lines]
    return all(kept), run.result()


def test_a_result_is_what_isolation_reported():
    kept, result = run_of({"result": {"a": 1}}, DONE)
    assert kept
    assert (result["id"], result["value"], result["failure"]) == (7, {"a": 1}, "")
    assert result["changes"] == [["written", "/a", 3]]


@pytest.mark.parametrize(
    ("lines", "failure"),
    [
        ([], "crash"),
        ([{"result": {"a": 1}}], "crash"),
        ([{"result": [1]}, DONE], "crash"),
        ([{"raised": {"type": "MemoryError", "message": ""}}, DONE], "memory"),
        ([{"raised": "odd"}, DONE], "crash"),
        ([{"exit": "odd", "changes": {"a": 1}}], "crash"),
        ([{"exit": {"reason": ["odd"]}, "changes": [[1, 2], "odd", None]}], "crash"),
        ([{"exit": {"reason": "seconds"}, "memory_mb": "much"}], "timeout"),
        ([{"exit": {"reason": "sandbox", "detail": "mount"}}], "sandbox"),
        ([{"exit": {"reason": "output"}}], "size"),
    ],
)
def test_anything_else_is_a_failure(lines, failure):
    _, result = run_of(*lines)
    assert result["failure"] == failure
    assert result["detail"]
    json.dumps(result)


def test_garbage_and_floods_are_cut_off():
    kept, result = run_of(b"garbage\n")
    assert (kept, result["failure"]) == (False, "crash")
    piece = b"x" * (1 << 20)
    kept, result = run_of(*[piece] * (LARGEST // len(piece) + 1))
    assert (kept, result["failure"]) == (False, "size")
