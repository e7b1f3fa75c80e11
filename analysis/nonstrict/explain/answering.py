"""What a text of torch means: the pages that fit, the places that it names here, and what is found there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.files import discover
from nonstrict.check.run import RunOptions, check
from nonstrict.explain.cleaning import cleaned
from nonstrict.explain.found import Findings, Found
from nonstrict.explain.library import Kind, Page, named, page
from nonstrict.explain.messages import Message, messages
from nonstrict.explain.nearest import nearest
from nonstrict.explain.places import Finder, Place, Unplaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.check.files import NestedSettings
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings


class Answer(NamedTuple):
    """One message of a text: the pages that fit, the best first, the place it is about, and what is found there."""

    pages: tuple[Page, ...]
    message: Message
    place: Place | Unplaced | None = None
    found: Found = Found()


class Explained(NamedTuple):
    """The answers to a text, in its order; where there are none, the pages that are `near`, which is a guess.

    `result` is what was checked for them; None where no place is one of the project.
    """

    answers: tuple[Answer, ...]
    near: tuple[Page, ...] = ()
    result: CheckResult | None = None


def explained(text: str, root: str, settings: Settings, nested: NestedSettings | None = None) -> Explained:
    """What a text means, for the project below a folder. Nothing of it is run.

    Raises:
        ConfigurationError: the configuration of the project cannot be used.
    """
    if (alone := named(text)) is not None:
        return Explained((Answer((page(alone),), Message((alone,), frozenset(), 1, text.strip())),))
    lines = cleaned(text)
    told = messages(lines)
    if not told:
        plain = "\n".join(line.text for line in lines)
        return Explained((), tuple(map(page, nearest(plain))))
    finder = Finder(root, lambda: discover([root], settings, nested).files)
    places = [[found for frame in message.places if (found := finder.place(frame)) is not None] for message in told]
    named_files = (finder.place(frame) for message in told for frame in (*message.places, *message.around))
    files = {one.path for one in named_files if isinstance(one, Place)}
    wanted = RunOptions(nested=nested, regions=True)
    result = check(_shown(files), settings, wanted) if files else None
    findings = Findings(result) if result is not None else None
    answers = [_answer(message, found, findings) for message, found in zip(told, places, strict=True)]
    placed = {one.pages for one in answers if isinstance(one.place, Place)}
    kept = [one for one in answers if one.place is not None or one.pages not in placed]
    return Explained(tuple(kept), (), result)


def _shown(paths: Iterable[str]) -> list[str]:
    """Paths as a user would name them: below the working directory, from there."""
    here = os.path.join(os.getcwd(), "")
    return sorted(path.removeprefix(here) for path in paths)


def _answer(message: Message, places: Sequence[Place | Unplaced], findings: Findings | None) -> Answer:
    """The answer about the innermost place of the project: about one around it, if only there something is found."""
    known = [one for one in reversed(places) if isinstance(one, Place)]
    if not known or findings is None:
        return Answer(_decided(message, ()), message, next(iter(reversed(places)), None))
    found = [(one, findings.at(one, message.rules)) for one in known]
    place, there = next(
        (one for one in found if message.rules & {each.code for each in one[1].findings} and not one[1].nearby),
        found[0],
    )
    return Answer(_decided(message, there.findings), message, place, there)


def _decided(message: Message, findings: Iterable[Diagnostic]) -> tuple[Page, ...]:
    """The pages of a message: of several rules of which torch says the same, those that are found at the place.

    Where none is found, what holds without a rule comes first.
    """
    pages = tuple(map(page, message.pages))
    found = dict.fromkeys(one.code for one in findings if one.code in message.rules)
    if not found:
        return (*map(page, message.general), *pages)
    if not any(one.kind is Kind.RULE for one in pages):
        return pages
    return (*map(page, found), *(one for one in pages if one.kind is not Kind.RULE))
