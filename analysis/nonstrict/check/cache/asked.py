"""What linking asked of the disk, kept so that a later run can tell whether it would be told the same.

Questions are sorted by the folder whose entries answer them: where a folder is as it was, none of its is asked again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.linking.disk import Ask, Question, answers_now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.check.cache.places import Places
    from nonstrict.check.cache.runs import Cache

    #: Answers by question.
    Questions = Mapping[Question, str]

#: What no folder answers: asked every time.
_ANYWHERE = ""


class Rest(NamedTuple):
    """What answers the questions that were kept: the folders of their paths, and the digests of files that were read.

    Paths are as every clone has them. `identity` tells the questions and their answers from others.
    """

    folders: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    identity: str = ""


def kept(questions: Questions, cache: Cache, before: Rest | None) -> Rest:
    """Keep questions with their answers, together with those that a run kept `before` and still hold."""
    from nonstrict.check.cache.runs import identity

    places = cache.places
    files = dict(before.files) if before is not None else {}
    by_folder = _kept_before(cache, before) if before is not None else {}
    for question, answer in questions.items():
        path = places.shared(question.path)
        if question.ask is Ask.CONTENT:
            files[path] = answer
            continue
        folder = _ANYWHERE if question.ask is Ask.MATCHES else places.shared(os.path.dirname(question.path))
        by_folder.setdefault(folder, {})[f"{question.ask.value} {path}"] = _shared(question.ask, answer, places)
    cache.entries.keep(_name(cache), by_folder)
    return Rest(tuple(sorted(by_folder)), files, identity(by_folder))


def hold(rest: Rest, cache: Cache) -> bool:
    """Whether all questions that were kept would be answered as they were."""
    from nonstrict.check.cache.contents import folder_state

    here, contents = cache.places.here, cache.contents
    if any(contents.digest(here(path)) != digest for path, digest in rest.files.items()):
        return False
    known: dict[str, dict[str, str]] | None = None
    for folder in rest.folders:
        state = folder_state(here(folder)) if folder != _ANYWHERE else []
        # What others asked of the same folder says nothing of these questions.
        note = f"{rest.identity} {folder}"
        if folder != _ANYWHERE and contents.is_noted(note, state):
            continue
        known = _kept_before(cache, rest) if known is None else known
        if folder not in known or not _same(known[folder], cache.places):
            return False
        if folder != _ANYWHERE:
            contents.note(note, state)
    return True


def _name(cache: Cache) -> str:
    return f"{cache.kind.analysis}.disk"


def _kept_before(cache: Cache, rest: Rest) -> dict[str, dict[str, str]]:
    """The questions that were kept, by folder; each as what is asked and of which path, with its answer.

    None where another run kept others since.
    """
    from nonstrict.check.cache.runs import identity

    known: dict[str, dict[str, str]] = cache.entries.load(_name(cache)) or {}
    return known if identity(known) == rest.identity else {}


def questions_of(rest: Rest, cache: Cache) -> list[Question]:
    """The questions that were kept, but for those of what files hold."""
    kept_before = _kept_before(cache, rest).values()
    return [_question(asked, cache.places) for told in kept_before for asked in told]


def _question(asked: str, places: Places) -> Question:
    ask, _, path = asked.partition(" ")
    return Question(Ask(ask), places.here(path))


def _same(told: Mapping[str, str], places: Places) -> bool:
    questions = {_question(asked, places): answer for asked, answer in told.items()}
    return all(_shared(question.ask, now, places) == before for question, before, now in answers_now(questions))


def _shared(ask: Ask, answer: str, places: Places) -> str:
    """An answer as every clone has it."""
    if ask in (Ask.REAL, Ask.MATCHES):
        return "\n".join(map(places.shared, answer.split("\n"))) if answer else ""
    return answer
