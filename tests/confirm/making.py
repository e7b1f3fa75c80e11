"""Values, traces and suspects made by hand, in the form in which the agent writes them."""

from __future__ import annotations

import base64
import hashlib
from array import array
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.suspects import Suspect
from nonstrict.confirm.traces import Arms
from nonstrict.findings import Subject
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE = "/project/model.py"
#: The line that suspects lie on unless they say otherwise, and that of their marker.
LINE, MARKER = 8, 5


def tensor(*numbers: float, dtype: str = "float32", shape: Sequence[int] | None = None, grad: bool = False) -> Any:
    """A leaf as `nonstrict_agent.observe.values.encode_leaf` writes it; complex numbers are pairs."""
    kind = "d" if dtype.startswith(("float", "bfloat", "complex")) else "q"
    data = array(kind, numbers).tobytes()
    return {
        "dtype": dtype,
        "shape": list(shape) if shape is not None else [len(numbers)],
        "class": "Tensor",
        "grad": grad,
        "hash": hashlib.sha256(data).hexdigest(),
        "data": base64.b64encode(data).decode(),
    }


def number(value: object) -> Any:
    """A leaf that is not a tensor."""
    return {"type": type(value).__name__, "repr": repr(value)}


def value(*leaves: Any, structure: str = "*") -> Any:
    """A value of several leaves."""
    return {"structure": structure, "leaves": list(leaves)}


def call(*result: float, **fields: Any) -> dict[str, Any]:
    """A call that returns a tensor and does nothing else."""
    return {
        "region": "step",
        "inputs": {"x": "tensor a"},
        "arguments": {"x": "tensor a"},
        "between": {},
        "out": "",
        "err": "",
        "events": [],
        "state": {},
        "leaks": [],
        "result": value(tensor(*result)),
        **fields,
    }


def error(type_: str, message: str, *lines: int, path: str = FILE, outer: Sequence[Any] = ()) -> dict[str, Any]:
    """An error whose innermost exception names some lines of a file; `outer` are (type, lines) around it."""
    links = [{"type": name, "message": "", "frames": [[path, line] for line in at]} for name, at in outer]
    links.append({"type": type_, "message": message, "frames": [[path, line] for line in lines]})
    return {"links": links, "cause": len(links) - 1, "graph_break": ""}


def failing(described: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A call that raises."""
    made = call(**fields)
    del made["result"]
    return {**made, "error": described}


def trace(*calls: Any, lines: Sequence[int] | None = None, **fields: Any) -> dict[str, Any]:
    """What an arm returns; with `lines`, that of the control arm."""
    made: dict[str, Any] = {"calls": list(calls), "missing": [], "stop": {"kind": "end"}, "files": [FILE], **fields}
    return made if lines is None else {**made, "lines": {FILE: list(lines)}, "within": {FILE: list(lines)}}


def arms(
    eager: Sequence[Any],
    compiled: Sequence[Any],
    *,
    inductor: Sequence[Any] | None = None,
    control: Sequence[Any] | None = None,
    lines: Sequence[int] = (LINE, 18, 28),
    **fields: Any,
) -> Arms:
    """The arms of one schedule: `compiled` is what aot_eager did, and Inductor too unless it is given."""
    other = compiled if inductor is None else inductor
    return Arms(
        trace(*eager, **fields),
        trace(*(eager if control is None else control), lines=lines),
        {"aot_eager": trace(*compiled), "inductor": trace(*other)},
    )


def suspect(code: str = "NST101", experiment: Experiment = Experiment.REFUSAL, **fields: Any) -> Suspect:
    """A finding on line `LINE` of a function `scaled`."""
    known = Suspect(
        number=0,
        code=code,
        expectation=RULES[code].expectation._replace(experiment=experiment),
        path=FILE,
        lines=frozenset({LINE}),
        file=FILE,
        marked_line=MARKER,
        function="scaled",
        chain=frozenset({(FILE, MARKER)}),
        writers=frozenset(),
        subject=None,
        message="",
    )
    return known._replace(**fields)


SCALE = Subject("global", "SCALE")
