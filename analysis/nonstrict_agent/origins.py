"""Notes on every node of a graph the expression of the user's that it came from, and the user's names of constants.

Node stack traces of torch end at the call of a marked function, because Dynamo does not look into it. Its body runs
while AOTAutograd traces, so the frame that makes a node is there to be asked.
"""

from __future__ import annotations

import itertools
import linecache
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

#: Where notes are kept among a node's metadata, which torch copies along with the node.
PLACE = "nonstrict_place"
NAME = "nonstrict_name"
#: Beyond these frames it is no longer the graph's own code that is running, but what set its tracing going.
_BORDERS = tuple(
    os.path.join("torch", *parts)
    for parts in (
        ("fx", "interpreter.py"),
        ("_dynamo", "symbolic_convert.py"),
        ("_dynamo", "output_graph.py"),
        ("_dynamo", "convert_frame.py"),
    )
)
_MAX_FRAMES = 200
_MAX_PARTS = 500


class Place(NamedTuple):
    """A file, a line in it from 1, and the text of an expression there."""

    path: str
    line: int
    text: str


def install_origins(is_user: Callable[[str], bool]) -> None:
    """Note places and names from now on in this process, which ends with the job.

    Places also go into `stack_trace`, from which Inductor writes its comments.
    """
    from torch.fx.proxy import TracerBase

    original = TracerBase.create_node

    def create_node(self: Any, kind: str, *arguments: Any, **keywords: Any) -> Any:
        node = original(self, kind, *arguments, **keywords)
        if kind not in {"placeholder", "output"}:
            frames = list(_user_frames(sys._getframe(1), is_user))
            if frames:
                _note(node, self, frames)
        return node

    TracerBase.create_node = create_node


def _note(node: Any, tracer: Any, frames: list[FrameType]) -> None:
    place = place_of(frames[0])
    node.meta[PLACE] = place
    function = frames[0].f_code.co_name
    node.meta["stack_trace"] = f'  File "{place.path}", line {place.line}, in {function}\n    {place.text}\n'
    if node.op == "get_attr":
        value = _attribute(getattr(tracer, "root", None), str(node.target))
        name = next((found for frame in frames if (found := name_in(frame, value))), "")
        if name:
            node.meta[NAME] = name


def _attribute(root: Any, target: str) -> Any:
    value = root
    for part in target.split("."):
        value = getattr(value, part, None)
    return value


def _user_frames(frame: FrameType | None, is_user: Callable[[str], bool]) -> Iterator[FrameType]:
    """The frames of the user's code that belong to what is being traced, innermost first."""
    for _ in range(_MAX_FRAMES):
        if frame is None or frame.f_code.co_filename.endswith(_BORDERS):
            return
        if is_user(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def place_of(frame: FrameType) -> Place:
    """The expression that a frame is evaluating; before Python 3.11, the line that it is on."""
    code = frame.f_code
    line = frame.f_lineno
    text = linecache.getline(code.co_filename, line).strip()
    positions: Any = getattr(code, "co_positions", None)
    if positions is not None and frame.f_lasti >= 0:
        found = next(itertools.islice(positions(), frame.f_lasti // 2, None), (None,) * 4)
        text = _cut_out(code.co_filename, *found) or text
        line = found[0] or line
    return Place(code.co_filename, line, text)


def _cut_out(path: str, line: int | None, end_line: int | None, column: int | None, end_column: int | None) -> str:
    """The text between two positions; columns are UTF-8 bytes. Of several lines, the first."""
    if line is None or column is None or end_column is None:
        return ""
    raw = linecache.getline(path, line).encode("utf-8", "surrogatepass")
    if end_line != line:
        return f"{raw[column:].decode('utf-8', 'replace').rstrip()} ..."
    return raw[column:end_column].decode("utf-8", "replace")


def name_in(frame: FrameType, tensor: Any) -> str:
    """The expression by which a frame's code reaches a tensor; empty if there is none."""
    import torch

    if not isinstance(tensor, torch.Tensor):
        return ""
    names: dict[str, Any] = dict(frame.f_locals)
    names.update({name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals})
    parts = list(itertools.islice(_parts(names), _MAX_PARTS))
    return next((name for name, value in parts if value is tensor), "") or next(
        (name for name, value in parts if _shares(value, tensor)), ""
    )


def _parts(names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors under some names: themselves, of modules, one step into containers and attributes."""
    import torch

    for name, value in names.items():
        if isinstance(value, torch.Tensor):
            yield name, value
    for name, value in names.items():
        if isinstance(value, torch.nn.Module):
            for path, tensor in (*value.named_parameters(), *value.named_buffers()):
                yield f"{name}.{path}", tensor
        for step, part in _steps(value):
            if isinstance(part, torch.Tensor):
                yield f"{name}{step}", part


def _steps(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in list(value.items()))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", part) for index, part in enumerate(value))
    elif isinstance(getattr(value, "__dict__", None), dict):
        yield from ((f".{key}", part) for key, part in list(vars(value).items()))


def _shares(one: Any, other: Any) -> bool:
    """Whether two tensors are the same numbers in memory."""
    try:
        return one.shape == other.shape and one.dtype == other.dtype and 0 != one.data_ptr() == other.data_ptr()
    except Exception:  # noqa: BLE001 - tensors of the tracer have no memory
        return False
