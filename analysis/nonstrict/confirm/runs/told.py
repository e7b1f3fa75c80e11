"""What torch says of a break and of a guard that failed, taken apart.

The forms are those of torch 2.13: `exc.py` (`format_graph_break_message`, `augment_exc_message`), `guards.py`
(`get_guard_fail_reason`).
"""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: What Dynamo calls the function that goes on after a break: `torch_dynamo_resume_in_NAME_at_LINE`.
_RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<name>.*)_at_(?P<line>\d+)$")
_FRAME = re.compile(r"^\s*File \"(?P<path>.+)\", line (?P<line>\d+), in (?P<name>.+)$")
_AGAIN = "*** While handling this graph break, another graph break occurred: ***"
_STACK = ("User code traceback:", "User stack trace:")
_ID = re.compile(r"/gb/gb(\d+)\.html")
_CARETS = re.compile(r"^\s*[~^]+\s*$")
_WHICH = re.compile(r"^\d+/\d+(?:_\d+)?: ")
_MADE = re.compile(r"# (?P<path>\S+):(?P<line>\d+) in (?P<name>\w+)\s*$")
_TENSOR = re.compile(r"^tensor '(?P<name>.+?)' ")
_NAMED = re.compile(r"\bL\[(['\"])(?P<name>\w+)\1\]")
#: By what Dynamo reaches the content of a module or an object, beside what a program writes.
_TABLES = frozenset({"_modules", "_parameters", "_buffers", "__dict__"})
#: The variables and globals of a function in a guard, and how Dynamo names what stands in neither.
_SCOPES = frozenset({"L", "G"})
_OWN, _IMPORTED = "___", "__import_"
#: What a guard asks of that only holds for the backend, and so the options, that a function was compiled with.
BACKEND = ("torch.compile",)
_OF_BACKEND = "BACKEND_MATCH"
_MAX_TEXT = 160
_MAX_ADVICE = 400


class Frame(NamedTuple):
    """A line of a traceback: what stands in it, and what of that is meant (as positions in the text; -1: all of it)."""

    path: str
    line: int
    name: str
    text: str = ""
    start: int = -1
    end: int = -1


class Kind(NamedTuple):
    """Torch's name, id, explanation and first advice for what it could not trace."""

    type: str
    id: str = ""
    told: str = ""
    hint: str = ""


class BreakTold(NamedTuple):
    """A break: what was not traced, why torch did not go on behind it (None where it did), and the lines there."""

    kind: Kind
    then: Kind | None
    frames: tuple[Frame, ...]


class GuardTold(NamedTuple):
    """A guard that failed, as a program would write it, what it asks of, and the lines for which it was made."""

    text: str
    sources: tuple[tuple[str, ...], ...]
    frames: tuple[Frame, ...]


def resumed_from(name: str) -> tuple[str, int]:
    """The function that Dynamo resumes after a break, and the line; the name itself and 0 for one that begins.

    >>> resumed_from("torch_dynamo_resume_in_step_at_14")
    ('step', 14)
    """
    found = _RESUMED.search(name)
    return (found["name"], int(found["line"])) if found else (name, 0)


def break_told(payload: str) -> BreakTold | None:
    """A break, of the text that torch logs for it; None if it is none."""
    head, _, traceback = payload.partition(_STACK[0])
    # The first lines say where it is and what torch was doing.
    kinds = kinds_in(head.partition("\n\n")[2])
    frames = tuple(frames_in(traceback.split("\nTraceback (most recent call last)", 1)[0]))
    return BreakTold(kinds[0], kinds[1] if len(kinds) > 1 else None, frames) if kinds and frames else None


def kinds_in(text: str) -> list[Kind]:
    """What torch could not trace, and what came of that."""
    return [kind for part in text.split(_AGAIN) if (kind := _kind(part)) is not None]


def _kind(text: str) -> Kind | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    found = {"Explanation": "", "Hint": ""}
    for line in lines[1:]:
        word, _, told = line.strip().partition(": ")
        if word in found and not found[word]:
            found[word] = " ".join(told.split())[:_MAX_ADVICE]
    number = _ID.search(text)
    return Kind(lines[0].strip()[:_MAX_TEXT], f"GB{number[1]}" if number else "", found["Explanation"], found["Hint"])


def frames_in(text: str) -> Iterator[Frame]:
    """The lines of a traceback, with what stands in them."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if found := _FRAME.match(line):
            behind = [*lines[number + 1 : number + 3], "", ""]
            told = "" if _FRAME.match(behind[0]) else behind[0]
            indent = len(told) - len(told.lstrip())
            start, end = _marked(behind[1], indent, len(told.rstrip())) if told else (-1, -1)
            yield Frame(found["path"], int(found["line"]), found["name"].strip(), told.strip(), start, end)


def _marked(carets: str, indent: int, length: int) -> tuple[int, int]:
    if not _CARETS.match(carets):
        return -1, -1
    start, end = len(carets) - len(carets.lstrip()), len(carets.rstrip())
    return (start - indent, end - indent) if (start, end) != (indent, length) else (-1, -1)


def guard_told(reason: object) -> GuardTold | None:
    """The guard that failed for the latest code of a function, of torch's reasons: a text or a list of them."""
    reasons: list[Any] = cast("list[Any]", reason) if isinstance(reason, list) else [reason]
    text = str(reasons[0]) if reasons and reasons[0] else ""
    if text.startswith("["):
        try:
            return guard_told(json.loads(text))
        except ValueError:
            return None
    if not text:
        return None
    head, _, stack = text.partition(_STACK[1])
    # A comment tells for which line it was made, by the end of its path.
    guard, _, comment = _WHICH.sub("", head).partition("  #")
    guard = " ".join(guard.split())
    frames = tuple(frames_in(stack))
    if not frames and (made := _MADE.search(comment)):
        frames = (Frame(made["path"], int(made["line"]), made["name"]),)
    return GuardTold(_in_names(guard)[:_MAX_TEXT], sources_in(guard), frames)


def sources_in(guard: str) -> tuple[tuple[str, ...], ...]:
    """What a guard asks of.

    >>> sources_in("len(self._modules['body'].steps) == 3 and G['CFG']['scale'] == 2")
    (('self', 'body', 'steps'), ('CFG', 'scale'))
    >>> sources_in("tensor 'x' size mismatch at index 1. expected 8, actual 9")
    (('x',),)
    """
    if guard.startswith(_OF_BACKEND):
        return (BACKEND,)
    if found := _TENSOR.match(guard):
        return sources_in(found["name"])
    try:
        tree = ast.parse(guard, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _only((one["name"],) for one in _NAMED.finditer(guard))
    return _only(_sources(tree.body))


def _only(found: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The sources that a program has a name for, each once."""
    return tuple(dict.fromkeys(one for one in found if one and not one[0].startswith(_OWN)))


def _sources(node: ast.AST) -> Iterator[tuple[str, ...]]:
    steps = steps_of(node)
    if steps is not None:
        yield steps
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from _sources(node.func.value)  # of `x.size()`, `x`
    elif not isinstance(node, ast.Call):
        yield from (one for child in ast.iter_child_nodes(node) for one in _sources(child))
    if isinstance(node, ast.Call):
        yield from (one for argument in node.args for one in _sources(argument))


def steps_of(node: ast.AST) -> tuple[str, ...] | None:
    """The name and the steps that an expression is made of, without the scopes of a guard; None if it is no such."""
    if isinstance(node, ast.Name):
        return () if node.id in _SCOPES else (node.id,)
    if isinstance(node, ast.Attribute) and (before := steps_of(node.value)) is not None:
        return before if node.attr in _TABLES else (*before, node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        before, step = steps_of(node.value), str(node.slice.value)
        if before is None or (not before and step.startswith(_IMPORTED)):
            return before
        return (*before, step)
    return None


def _in_names(guard: str) -> str:
    """A guard without the tables of Dynamo: `history` for `G['history']`."""
    return re.sub(r"\b[LG]\[(['\"])(\w+)\1\]", r"\2", guard)
