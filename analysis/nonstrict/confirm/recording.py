"""What the processes of a recorded command left, merged into the records of the project."""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from nonstrict.confirm.recorded import (
    FORMAT,
    calls_of,
    hashes_of_file,
    is_traced,
    plain_name,
    read_record,
    record_path,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

#: Levels of a record that are laid out over lines; a specification is one line.
_LEVELS = 6
_EMPTY = re.compile(r'"shape": \[(?:[^\]]*, )?0[,\]]')


class Seen(NamedTuple):
    """What a command did, as its processes told.

    `calls` maps (file, qualified name) to specifications; `marked` are the functions that were watched, `large` those
    with calls too large to keep; `failures` are sentences about what could not be hooked.
    """

    pythons: int
    torch: tuple[str, ...]
    marked: frozenset[tuple[str, str]]
    calls: dict[tuple[str, str], list[Any]]
    large: frozenset[tuple[str, str]]
    failures: tuple[str, ...]


def gather(directory: str) -> Seen:
    """Read what processes left in a directory; lines that were cut off are passed over."""
    pythons = 0
    torch: set[str] = set()
    marked: set[tuple[str, str]] = set()
    large: set[tuple[str, str]] = set()
    calls: dict[tuple[str, str], list[Any]] = {}
    failures: set[str] = set()
    for event in _events(directory):
        kind, function = event.get("event"), (str(event.get("path")), str(event.get("function")))
        if kind == "call":
            calls.setdefault(function, []).append(event["call"])
        elif kind == "marked":
            marked.add(function)
        elif kind == "large":
            large.add(function)
        elif kind == "torch":
            torch.add(str(event.get("version")))
        elif kind == "failed":
            failures.add(str(event.get("text")))
        elif kind == "python":
            pythons += 1
    return Seen(pythons, tuple(sorted(torch)), frozenset(marked), calls, frozenset(large), tuple(sorted(failures)))


def merge(seen: Seen, root: str, output: str, limit: int) -> list[str]:
    """Put calls into the records below `output`; the files that changed.

    Calls of functions that were edited since are replaced by new ones. At most `limit` calls of a function are kept.

    Raises:
        OSError: a record cannot be written.
    """
    by_file: dict[str, dict[str, list[Any]]] = {}
    for (path, name), calls in seen.calls.items():
        by_file.setdefault(path, {})[plain_name(name)] = calls
    changed: list[str] = []
    with _locked(output):
        for path in sorted(by_file):
            target = record_path(output, root, path)
            if _merge_file(target, os.path.relpath(path, root), hashes_of_file(path), by_file[path], limit):
                changed.append(target)
    return changed


def _merge_file(target: str, name: str, hashes: dict[str, str], found: dict[str, list[Any]], limit: int) -> bool:
    document = read_record(target)
    functions: dict[str, Any] = dict(document.get("functions", {}))
    for function, calls in found.items():
        source = hashes.get(function, "")
        kept = calls_of(functions.get(function), source)
        functions[function] = {
            "source": source,
            "calls": _ordered(best(distinct([*kept, *_ordered(calls)]), limit)),
        }
    text = laid_out({"format": FORMAT, "file": name.replace(os.sep, "/"), "functions": dict(sorted(functions.items()))})
    if document and laid_out(document) == text:
        return False
    os.makedirs(os.path.dirname(target), exist_ok=True)
    temporary = f"{target}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, target)
    return True


def best(calls: Sequence[Any], limit: int) -> list[Any]:
    """The first calls: what was only traced makes way for what has real values."""
    return sorted(calls, key=is_traced)[:limit]


def distinct(calls: Sequence[Any]) -> list[Any]:
    """Calls that differ in more than observed ranges, in their order; the ranges of equal ones are joined.

    Of calls with the same arguments, one without a result says nothing more, and one that was traced less than one
    with real values.
    """
    found: dict[str, Any] = {}
    for call in calls:
        key = json.dumps(_without_ranges(call), sort_keys=True)
        found[key] = _joined(found[key], call) if key in found else call
    real = {_arguments(call) for call in found.values() if not is_traced(call)}
    left = [call for call in found.values() if not is_traced(call) or _arguments(call) not in real]
    known = {_arguments(call) for call in left if "result" in call}
    return [call for call in left if "result" in call or _arguments(call) not in known]


def _arguments(call: Any) -> str:
    return json.dumps(_without_ranges({**call, "result": None, "traced": None}), sort_keys=True)


def laid_out(document: object) -> str:
    """JSON for readers and for diffs: a line for each specification."""
    return _layout(document, _LEVELS, "") + "\n"


def _layout(value: Any, levels: int, indent: str) -> str:
    if not value or levels == 0 or not isinstance(value, (dict, list)) or _is_specification(value):
        return json.dumps(value)
    deeper = indent + "  "
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        rows = [f"{json.dumps(key)}: {_layout(item, levels - 1, deeper)}" for key, item in pairs]
    else:
        rows = [_layout(item, levels - 1, deeper) for item in cast("list[Any]", value)]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return opening + ",".join(f"\n{deeper}{row}" for row in rows) + f"\n{indent}{closing}"


def _is_specification(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(cast("dict[str, Any]", value).get("kind"), str)


def _events(directory: str) -> Iterator[dict[str, Any]]:
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".jsonl"))
    except OSError:
        return
    for name in names:
        with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if isinstance(event, dict):
                    yield cast("dict[str, Any]", event)


def _ordered(calls: Sequence[Any]) -> list[Any]:
    """The smallest first, those with empty tensors last, and behind them those that were traced only.

    It is the same order whichever process was faster.
    """

    def size(call: Any) -> tuple[bool, bool, int, str]:
        text = json.dumps(call, sort_keys=True)
        return is_traced(call), _EMPTY.search(text) is not None, len(text), text

    return sorted(calls, key=size)


def _without_ranges(spec: Any) -> Any:
    if isinstance(spec, list):
        return [_without_ranges(item) for item in cast("list[Any]", spec)]
    if isinstance(spec, dict):
        fields = cast("dict[str, Any]", spec)
        drop = ("low", "high") if fields.get("kind") in {"tensor", "array"} else ()
        return {key: _without_ranges(value) for key, value in fields.items() if key not in drop}
    return spec


def _joined(first: Any, second: Any) -> Any:
    """Two specifications that are equal but for ranges, with ranges that hold both; none where one has none."""
    if isinstance(first, list):
        return [_joined(*pair) for pair in zip(cast("list[Any]", first), second, strict=True)]
    if not isinstance(first, dict):
        return first
    one = cast("dict[str, Any]", first)
    both = {key: _joined(value, second[key]) for key, value in one.items() if key in second}
    if one.get("kind") in {"tensor", "array"} and "low" in both:
        both["low"] = min(one["low"], second["low"])
        both["high"] = max(one["high"], second["high"])
    return both


@contextmanager
def _locked(directory: str) -> Generator[None]:
    """One command at a time merges into a directory; where files cannot be locked, replacing them must do."""
    os.makedirs(directory, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    # The directory is its own lock: no file is left among the records.
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
