"""Where experiments with each file are run: in the interpreter of the run, or in that of the file's sub-project."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.trust import Python, python_for
from nonstrict.knowledge.releases import release_of, shown
from nonstrict.knowledge.torch_version import installed_torch, release_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.settings.model import Settings
    from nonstrict.settings.projects import Projects


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


def venues_of(suspects: Iterable[Suspect], projects: Projects, trusted: Callable[[str], bool]) -> tuple[Venue, ...]:
    """The venues of experiments with functions of some projects."""
    absolute = projects.absolute()
    told = projects.main._replace(inputs=tuple(dict.fromkeys(pair for one in projects.every for pair in one.inputs)))
    listed: dict[int, list[Suspect]] = {}
    for suspect in suspects:
        listed.setdefault(id(absolute.of(suspect.file)), []).append(suspect)
    found: dict[tuple[str, str], Venue] = {}
    for settings in projects.every:
        mine = listed.get(id(settings))
        if mine is None:
            continue
        python = chosen_python(settings, trusted)
        why = other_torch(settings, python)
        why = f"{why}; {python.notice}" if why and python.notice else why
        before = found.get((python.path, why), Venue(python.path, told, (), (), why))
        notices = dict.fromkeys((*before.notices, *filter(None, (python.notice,))))
        found[python.path, why] = before._replace(suspects=(*before.suspects, *mine), notices=tuple(notices))
    return tuple(found.values())


def chosen_python(settings: Settings, trusted: Callable[[str], bool]) -> Python:
    """The interpreter that experiments with a project are run in; `trusted`: see `ConfirmOptions`."""
    return python_for(settings.python, settings.root, by_user=settings.python_by_user, trusted=trusted)


def other_torch(settings: Settings, python: Python) -> str:
    """Why experiments in an interpreter say nothing of findings: those are for another torch. Empty if they do.

    It is the one that the settings name, or that of an interpreter which was passed over.
    """
    wanted = settings.torch_version
    if wanted is None and python.notice:
        passed = installed_torch(settings.python, settings.root)
        wanted = shown(release_of(str(passed))) if passed is not None else None
    installed = installed_torch(python.path, settings.root) if wanted is not None else None
    if wanted is None or installed is None:
        return ""
    numbers = release_numbers(wanted)
    if installed.release[: len(numbers)] == numbers:
        return ""
    return f"the findings are for torch {wanted}, and experiments would run torch {installed}"
