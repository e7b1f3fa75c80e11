"""Writes logs as torch does where `TORCH_TRACE` names a folder (torch 2.13)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ITEM = """\
Graph break in user code at {path}:{line}
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Unsupported Tensor.item() call with capture_scalar_outputs=False
  Explanation: Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.
  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True` to include these operations in the captured graph.

  Developer debug context: call_method TensorVariable() item () {{}}

 For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0124.html
{more}
User code traceback:
  File "{path}", line {line}, in {function}
    {text}

Traceback (most recent call last):
  File "/site-packages/torch/_dynamo/symbolic_convert.py", line 1076, in wrapper
    return inner_fn(self, inst)
"""
LOOP = """
*** While handling this graph break, another graph break occurred: ***

graph break in loop
  Explanation: torch.compile detected a graph break in a for/while loop.

 For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb7000.html
"""
_HEAD = "V1129 04:58:37.526000 4632 /venv/site-packages/torch/_logging/structured.py:28] "


class Log:
    """The log of one process, which grows by entries."""

    def __init__(self, folder: Path, rank: int | None = None, name: str = "abcd") -> None:
        folder.mkdir(exist_ok=True, parents=True)
        middle = f"rank_{rank}_" if rank is not None else ""
        self.path = folder / f"dedicated_log_torch_trace_{middle}{name}.log"
        self._before = {"rank": rank} if rank is not None else {}
        self._texts: dict[str, int] = {}
        self.path.write_text("")

    def entry(self, name: str, fields: object, key: str = "", payload: str = "") -> None:
        """One entry; `key` is the id of a compilation, `1/0`."""
        told: dict[str, Any] = {name: fields, **self._before}
        if key:
            frame, _, number = key.partition("/")
            told |= {"frame_id": int(frame), "frame_compile_id": int(number), "attempt": 0}
        lines = "".join(f"\t{line}\n" for line in payload.splitlines())
        with self.path.open("a") as file:
            file.write(f"{_HEAD}{json.dumps(told)}\n{lines}")

    def started(self, key: str, path: str, line: int, name: str, *outer: tuple[str, int, str]) -> None:
        """A compilation begins; `outer` are the lines that call the function."""
        stack: list[dict[str, Any]] = []
        for file, number, function in (*outer, (path, line, name)):
            if file not in self._texts:
                self._texts[file] = len(self._texts)
                self.entry("str", [file, self._texts[file]])
            stack.append({"line": number, "name": function, "filename": self._texts[file]})
        self.entry("dynamo_start", {"stack": stack}, key)

    def broke(self, key: str, path: str, line: int, function: str, text: str, more: str = "") -> None:
        """The graph breaks at a line."""
        told = ITEM.format(path=path, line=line, function=function, text=text, more=more)
        self.entry("artifact", {"name": "dynamo_graph_break_reason", "encoding": "string"}, key, told)

    def done(self, key: str, name: str | None, **more: Any) -> None:
        """A compilation ends."""
        fields = {
            "co_name": name,
            "graph_op_count": 4,
            "start_time": 1000.0,
            "entire_frame_compile_time_s": 0.5,
            "fail_type": None,
            "has_guarded_code": True,
            **more,
        }
        self.entry("compilation_metrics", fields, key)


def guard(text: str, path: str, line: int, function: str, code: str, key: str = "0/0") -> str:
    """Why a function is compiled again, as torch says it."""
    short = "/".join(path.split("/")[-3:])
    return (
        f"{key}: {text}   # {code}  # {short}:{line} in {function}\n"
        f'User stack trace:\n  File "{path}", line {line}, in {function}\n    {code}'
    )


#: A program of which rules foretell two breaks; a run comes to one of them, to another break, and to recompilations.
MODEL = """\
import torch


@torch.compile
def foretold(x):
    print(x)
    return x


@torch.compile
def unforetold(x, n):
    y = x * n
    return y.cos()


@torch.compile
def calm(x):
    print(x)
    return x


foretold(torch.ones(3))
unforetold(torch.ones(3), 2)
calm(torch.ones(3))
"""


def log_of_model(folder: Path, path: str, **last: Any) -> None:
    """Writes the log of a run of `MODEL` that lay at `path`; `last` are further fields of its last compilation."""
    log = Log(folder)
    log.started("0/0", path, 4, "foretold")
    log.broke("0/0", path, 6, "foretold", "print(x)", LOOP)
    log.done("0/0", "foretold", fail_type="Unsupported", has_guarded_code=False, graph_op_count=None)
    log.started("1/0", path, 10, "unforetold")
    log.broke("1/0", path, 13, "unforetold", "return y.cos()")
    log.done("1/0", "unforetold")
    for number in range(1, 4):
        log.started(f"1/{number}", path, 10, "unforetold")
        reason = guard(f"n == {number}", path, 12, "unforetold", "y = x * n")
        log.done(f"1/{number}", "unforetold", recompile_reason=reason, entire_frame_compile_time_s=4.5)
    log.started("2/0", path, 16, "calm")
    log.done("2/0", "calm", **last)
