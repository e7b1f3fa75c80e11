"""Takes torch's messages apart: what is common to a kind of graph break, and what belongs to one call."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graph_breaks.measuring import Verdict


class Reason(NamedTuple):
    """What torch says about one kind of graph break; `{0}`, `{1}`, ... stand where calls differ."""

    id: str
    type: str
    explanation: str
    hints: tuple[str, ...]
    url: str


class Told(NamedTuple):
    """What torch says about one construct: the label of a reason, and the words for its places."""

    label: str
    words: tuple[str, ...] = ()


SECTION = r"(.*?)(?=^  Hint: |^  Developer debug context|^ For more details|\Z)"
# Names and values in torch's sentences.
PLACES = re.compile(
    r"`[^`]+`|<[^<>]*(?:<\w+>[^<>]*)*>|torch\.Generator\.\w+\(\)|(?<=next\(\) on )\w+|(?<=on type )\w+|'[^' ]+'|"
    r"(?<=trace )itertools\.\w+|(?<=call )[\w.]+(?= with)"
)
NOISE = (
    (r" with argument types? \[.*?\](?: \(has_kwargs \w+\))?", ""),
    (r" in file `[^`]*`", ""),
    (r" at 0x[0-9a-fA-F.]+", ""),
    (r"graph_breaks\.surroundings\.", ""),
    (r"(?<=[\w)])\.`", "`."),
    (r"(with fake tensors): call_.*", r"\1."),
    (r".*(Could not [\w ]+ data-dependent expression) .*", r"\1."),
    (r"(Pending unbacked symbols) .*", r"\1."),
    (r"(?:Lazy)?VariableTracker\(.*\)", "`...`"),
    (r"\s+", " "),
)


def reason_of(verdict: Verdict) -> Reason:
    """The parts of one message, without addresses, files and argument types."""
    message = verdict.message
    link = re.search(r"https://\S+/(gb\d+)\.html", message)
    explanation = re.search(r"^  Explanation: " + SECTION, message, re.DOTALL | re.MULTILINE)
    text = explanation.group(1) if explanation else message.strip()
    hints = re.findall(r"^  Hint: " + SECTION, message, re.DOTALL | re.MULTILINE)
    return Reason(
        link.group(1).upper() if link else "",
        verdict.type,
        first_sentence(cleaned(text)),
        tuple(cleaned(hint) for hint in hints),
        link.group() if link else "",
    )


def cleaned(text: str) -> str:
    """A text of torch without what differs from run to run."""
    for pattern, replacement in NOISE:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text.strip()


def first_sentence(text: str) -> str:
    """The text up to the first full stop that ends a sentence."""
    found = re.match(r".*?(?<!e\.g)(?<!i\.e)\.(?=\s+[A-Z`\"(]|$)", text)
    return found.group() if found else text


def reasons(verdicts: Iterable[Verdict]) -> tuple[dict[str, Reason], dict[str, Told]]:
    """The distinct reasons by label (`GB0059`, `GB0059.2`, ...), and what is told of each breaking key."""
    groups: dict[tuple[str, ...], list[tuple[str, Reason]]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.breaks:
            reason = reason_of(verdict)
            wording = (PLACES.sub("{}", text) for text in (reason.explanation, *reason.hints))
            groups[(reason.id, reason.type, *wording)].append((verdict.key, reason))
    table: dict[str, Reason] = {}
    told: dict[str, Told] = {}
    for _, members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        stem = members[0][1].id or members[0][1].type
        label = next(name for name in _numbered(stem) if name not in table)
        table[label], words = joined([reason for _, reason in members])
        told.update((key, Told(label, own)) for (key, _), own in zip(members, words, strict=True))
    return table, told


def _numbered(stem: str) -> Iterable[str]:
    yield stem
    yield from (f"{stem}.{number}" for number in range(2, 10_000))


def joined(members: list[Reason]) -> tuple[Reason, list[tuple[str, ...]]]:
    """One reason for members of the same wording, and the words of each member for its places."""
    texts = [(reason.explanation, *reason.hints) for reason in members]
    columns: dict[tuple[str, ...], int] = {}
    common: list[str] = []
    for versions in zip(*texts, strict=True):
        found = list(zip(*(PLACES.findall(version) for version in versions), strict=True))
        parts = PLACES.split(versions[0].replace("{", "(").replace("}", ")"))
        filled = [_place(column, columns) for column in found]
        common.append("".join(part + place for part, place in zip(parts, [*filled, ""], strict=True)))
    words = [tuple(column[index] for column in columns) for index in range(len(members))]
    return members[0]._replace(explanation=common[0], hints=tuple(common[1:])), words


def _place(column: tuple[str, ...], columns: dict[tuple[str, ...], int]) -> str:
    """The word that all members have in a place, or the number of the place."""
    if len(set(column)) == 1:
        return column[0].replace("{", "(").replace("}", ")")
    return "{" + str(columns.setdefault(column, len(columns))) + "}"
