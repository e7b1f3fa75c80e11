"""Turns verdicts into the data file `graph_breaks.json`, and those of another torch into what they change in it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from graph_breaks.wording import reasons
from nonstrict.knowledge.releases import release_of, tables

if TYPE_CHECKING:
    from graph_breaks.measuring import Verdict
    from graph_breaks.wording import Told
    from nonstrict.knowledge.releases import Release


def data_text(verdicts: list[Verdict], torch_version: str) -> str:
    """The data file: one line an entry, so that a change of torch shows as a readable difference.

    An entry is `""` where the construct is traced, null where it could not be told, and else the label of a reason,
    in a list with the words for its places if it has any.
    """
    table, told = reasons(verdicts)
    entries = {verdict.key: entry_of(verdict, told) for verdict in verdicts}
    ruled = " ".join(verdict.key for verdict in verdicts if verdict.origin == "trace-rules")
    parts = {
        "torch": json.dumps(torch_version),
        "python": json.dumps(python_version()),
        "reasons": lines({label: [r.id or None, r.type, r.explanation, r.hints, r.url] for label, r in table.items()}),
        "entries": lines(entries),
        "ruled": json.dumps(ruled),
    }
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"


def entry_of(verdict: Verdict, told: dict[str, Told]) -> Any:
    """What the data file says of one construct."""
    known = told.get(verdict.key)
    if known is None:
        return None if verdict.breaks is None else ""
    return [known.label, *known.words] if known.words else known.label


def changes_text(table: dict[str, Any], base: dict[str, Any]) -> str:
    """The data file of another torch: the entries of its table that give another answer than those of the base.

    Another answer is whether the construct breaks, or another id. Where the other one could not tell, the base stands.
    """
    changed = {
        key: entry
        for key, entry in table["entries"].items()
        if entry is not None and answer(table, entry) != answer(base, base["entries"].get(key))
    }
    used = {label for entry in changed.values() if (label := label_of(entry))}
    parts = {
        "torch": json.dumps(table["torch"]),
        "python": json.dumps(table["python"]),
        "base": json.dumps(base["torch"]),
        "reasons": lines({label: reason for label, reason in table["reasons"].items() if label in used}),
        "entries": lines(changed),
    }
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"


def changed(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The table of another torch: that of the base with what the other one says otherwise."""

    def own(label: str) -> str:
        return f"{changes['torch']} {label}"

    entries = {
        key: [own(entry[0]), *entry[1:]] if isinstance(entry, list) else own(entry) if entry else entry
        for key, entry in changes["entries"].items()
    }
    reasons_told = {own(label): reason for label, reason in changes["reasons"].items()}
    return {
        "torch": changes["torch"],
        "reasons": base["reasons"] | reasons_told,
        "entries": base["entries"] | entries,
    }


def whole(release: Release) -> dict[str, Any]:
    """The table that holds for a release, with all its entries."""
    nearest, *others = tables("graph_breaks", release)
    return changed(whole(release_of(nearest["base"])), nearest) if others else nearest


def answer(table: dict[str, Any], entry: Any) -> str | None:
    """What an entry says: None for unknown, empty for traced, else torch's id or the name of the exception."""
    label = label_of(entry)
    if not label:
        return label
    identifier, kind = table["reasons"][label][:2]
    return str(identifier or kind)


def label_of(entry: Any) -> str | None:
    """The label of the reason of an entry; None or "" where it does not break."""
    return entry[0] if isinstance(entry, list) else entry


def python_version() -> str:
    """The version of the running Python as `3.11`."""
    return ".".join(str(part) for part in sys.version_info[:2])


def lines(rows: dict[str, Any]) -> str:
    """Rows as JSON, one a line."""
    written = (f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}" for key, value in sorted(rows.items()))
    return "{\n" + ",\n".join(written) + "\n}"
