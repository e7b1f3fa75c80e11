"""Where experiments with each file are run: in the interpreter of the run, or in that of the file's sub-project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.trust import Python, python_for
from nonstrict.knowledge.torch_version import installed_torch, release_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.settings.model import Settings


class Venue(NamedTuple):
    """The path of an interpreter, and those of whose marked functions it is.

    `settings` are those of the run, with the makers of arguments that sub-projects name. `notices` say why it is not
    the one of a folder; `hindrance` says why nothing is run, empty if nothing hinders it.
    """

    python: str
    settings: Settings
    suspects: Sequence[Suspect]
    notices: tuple[str, ...] = ()
    hindrance: str = ""


def venues_of(
    suspects: Iterable[Suspect], settings: Settings, nested: Mapping[str, Settings], trusted: Callable[[str], bool]
) -> tuple[Venue, ...]:
    """The venues of experiments; `nested` are the settings of files of sub-projects."""
    own = {os.path.abspath(path): one for path, one in nested.items()}
    every = {id(one): one for one in (settings, *own.values())}
    inputs = tuple(dict.fromkeys(pair for one in every.values() for pair in one.inputs))
    told = settings._replace(inputs=inputs)
    listed: dict[int, list[Suspect]] = {}
    for suspect in suspects:
        listed.setdefault(id(own.get(suspect.file, settings)), []).append(suspect)
    found: dict[tuple[str, str], Venue] = {}
    for key, mine in listed.items():
        python = chosen_python(every[key], trusted)
        why = other_torch(every[key], python)
        before = found.get((python.path, why), Venue(python.path, told, (), (), why))
        notices = dict.fromkeys((*before.notices, *filter(None, (python.notice,))))
        found[python.path, why] = before._replace(suspects=(*before.suspects, *mine), notices=tuple(notices))
    return tuple(found.values())


def chosen_python(settings: Settings, trusted: Callable[[str], bool]) -> Python:
    """The interpreter that experiments with a project are run in; `trusted`: see `ConfirmOptions`."""
    return python_for(settings.python, settings.root, by_user=settings.python_by_user, trusted=trusted)


def other_torch(settings: Settings, python: Python) -> str:
    """Why experiments in an interpreter say nothing of findings: those are for another torch. Empty if they do."""
    wanted = settings.torch_version
    installed = installed_torch(python.path, settings.root) if wanted is not None else None
    if wanted is None or installed is None:
        return ""
    numbers = release_numbers(wanted)
    if installed.release[: len(numbers)] == numbers:
        return ""
    return f"the findings are for torch {wanted}, and experiments would run torch {installed}"
