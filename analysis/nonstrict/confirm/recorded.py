"""Recorded calls of a project's functions: the files of `nonstrict record`, as the experiments read them.

A file belongs to one source file. Calls are specifications of arguments (`nonstrict_agent.inputs.specification`);
a hash of the function's source tells whether it has been edited since.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where records are kept, from the root of the project.
DIRECTORY = os.path.join(".nonstrict", "inputs")
FORMAT = 1
#: How many distinct calls of a function are kept, unless somebody says otherwise.
LIMIT = 8


class RecordedCall(NamedTuple):
    """The arguments of a call that happened, as `{"args": [...], "kwargs": {...}}`.

    `stale` says that the function was edited after it: the call may no longer fit. `result` is the specification of
    what it returned (`nonstrict_agent.recording.results`), None in records that do not have it.
    """

    spec: dict[str, Any]
    stale: bool
    result: dict[str, Any] | None = None


def recorded_calls(
    root: str, path: str, qualname: str, source_hash: str | None = None, directory: str | None = None
) -> tuple[RecordedCall, ...]:
    """The recorded calls of a function; none where nothing was recorded or can be read.

    The smallest come first, and those that only happened while torch traced last.

    `path` is that of the source file, absolute or from the working directory; `qualname` may leave `<locals>` out.
    `source_hash` is the function's present `function_hashes` entry; without it, the file on the disk is asked.
    """
    absolute = os.path.realpath(path)
    document = read_record(record_path(directory or os.path.join(root, DIRECTORY), root, absolute))
    wanted = plain_name(qualname)
    functions: dict[str, Any] = {plain_name(name): entry for name, entry in document.get("functions", {}).items()}
    entry = functions.get(wanted)
    present = source_hash if source_hash is not None else hashes_of_file(absolute).get(wanted, "")
    fresh = bool(present and calls_of(entry, present))
    return tuple(_call(call, stale=not fresh) for call in calls_of(entry))


def _call(fields: dict[str, Any], *, stale: bool) -> RecordedCall:
    result = fields.get("result")
    spec = {key: fields[key] for key in ("args", "kwargs")}
    return RecordedCall(spec, stale, cast("dict[str, Any]", result) if isinstance(result, dict) else None)


def calls_of(entry: object, source_hash: str | None = None) -> list[dict[str, Any]]:
    """The calls in a function's entry that are well formed; none if they are of another source than the given one."""
    fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    calls = fields.get("calls")
    if not isinstance(calls, list) or (source_hash is not None and fields.get("source") != source_hash):
        return []
    return [call for call in cast("list[Any]", calls) if _is_call(call)]


def is_traced(call: dict[str, Any]) -> bool:
    """Whether a call happened only while torch traced: what its tensors hold is not known then."""
    return "traced" in call


def function_hashes(text: str) -> dict[str, str]:
    """A hash of the source of each function, by its qualified name without `<locals>`.

    Decorators, blank lines and indentation do not count. Definitions of one name count together.

    Raises:
        SyntaxError, ValueError: the text is not Python.
    """
    from hashlib import blake2b

    # The lines of `ast`: `str.splitlines` knows more ends of lines.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    parts: dict[str, list[str]] = {}
    for name, node in functions_in(tree_of(text), ""):
        body = (line.strip() for line in lines[node.lineno - 1 : node.end_lineno])
        parts.setdefault(name, []).append("\n".join(line for line in body if line))
    return {
        name: blake2b("\0".join(bodies).encode("utf-8", "replace"), digest_size=8).hexdigest()
        for name, bodies in parts.items()
    }


def hashes_of_file(path: str) -> dict[str, str]:
    """`function_hashes` of a file on the disk; none where it cannot be read."""
    import tokenize

    try:
        with tokenize.open(path) as file:
            return function_hashes(file.read())
    except (OSError, SyntaxError, ValueError):
        return {}


def plain_name(qualname: str) -> str:
    """A qualified name as the analysis writes it: `outer.inner` for `outer.<locals>.inner`."""
    return qualname.replace(".<locals>", "")


def record_path(directory: str, root: str, path: str) -> str:
    """The file of a source file's record; both `path` and `root` are absolute."""
    relative = os.path.relpath(path, os.path.realpath(root))
    return os.path.join(directory, relative.replace(os.pardir, "_") + ".json")


def read_record(path: str) -> dict[str, Any]:
    """The record in a file; empty where there is none that this version can read."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    record = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    return record if record.get("format") == FORMAT and isinstance(record.get("functions"), dict) else {}


def _is_call(call: Any) -> bool:
    fields = cast("dict[str, Any]", call) if isinstance(call, dict) else {}
    return isinstance(fields.get("args"), list) and isinstance(fields.get("kwargs"), dict)


def functions_in(node: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Every function definition with its qualified name, in the order of the text."""
    import ast

    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = prefix + child.name
            if not isinstance(child, ast.ClassDef):
                yield name, child
            yield from functions_in(child, f"{name}.")
        else:
            yield from functions_in(child, prefix)
