"""What on the disk a run rests on: the folders to watch between runs, and which changes call for another one."""

from __future__ import annotations

import os
from contextlib import suppress
from fnmatch import fnmatch
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.cache.runs import DISTRIBUTIONS
from nonstrict.check.environment import environment_of
from nonstrict.check.files import SPECIAL_NAMES, discover
from nonstrict.confirm.runs.store import DIRECTORY as RUNS
from nonstrict.knowledge.torch_version import Looked, looked_at
from nonstrict.program.linking.disk import Ask
from nonstrict.settings.extending import configuration_files
from nonstrict.settings.model import default_settings
from nonstrict.settings.projects import Projects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.check.cache.held import Depends
    from nonstrict.check.environment import Environment
    from nonstrict.check.files import NestedSettings
    from nonstrict.settings.model import Settings

#: What git ignores in one clone alone, below the top of the repository.
_EXCLUDE = os.path.join(".git", "info", "exclude")
#: How far in nanoseconds the times of files may be behind the clock, as they follow its ticks.
_TICK = 10_000_000


class Change(NamedTuple):
    """A change of an absolute path; with `content`, of nothing but what the file holds."""

    path: str
    content: bool


class Asked(NamedTuple):
    """What was asked of the disk: whether there are `paths`, names with some beginnings by folder, and patterns."""

    paths: frozenset[str] = frozenset()
    beginnings: Mapping[str, tuple[str, ...]] = {}
    patterns: tuple[str, ...] = ()

    def about(self, path: str) -> bool:
        """Whether the answer to a question may be another one once a path comes or goes."""
        folder, name = os.path.split(path)
        begins = name.startswith(self.beginnings.get(folder, ()))
        return begins or path in self.paths or any(fnmatch(path, pattern) for pattern in self.patterns)


class Scope(NamedTuple):
    """What a run rests on, by absolute paths.

    `files` are checked, `walked` the folders in which further ones may come. `read` are other files: what is imported,
    settings, the baseline, and what links to files lead to. In the folders `noted`, all counts, in those `above`, only
    settings, in those `installed`, what says which packages there are. `environments` are those of the projects, by
    their roots, found by what was `looked` at. `folders` are those of them that exist, and those that answer what was
    `asked`, but those `aside` only have to do with environments; `names` are further names of theirs.
    """

    files: frozenset[str] = frozenset()
    walked: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    asked: Asked = Asked()
    noted: frozenset[str] = frozenset()
    installed: frozenset[str] = frozenset()
    environments: Mapping[str, Environment] = {}
    looked: Looked = Looked(frozenset(), frozenset())
    folders: frozenset[str] = frozenset()
    aside: frozenset[str] = frozenset()
    names: Mapping[str, tuple[str, ...]] = {}

    def certain(self, changes: Iterable[Change]) -> set[str]:
        """The paths of changes that call for a run whatever else there is now."""
        return {change.path for change in self._named(changes) if self._counts(change)}

    def possible(self, changes: Iterable[Change]) -> bool:
        """Whether some changes may be of files or environments that are not known yet: told by their paths alone."""
        return any(
            (not one.content and os.path.dirname(one.path) in self.walked) or self._decides(one.path)
            for one in self._named(changes)
        )

    def differing(self, later: Scope, changes: Sequence[Change]) -> set[str]:
        """Files that only one of two scopes has, and what else tells of another environment in a project of both."""
        found = set(self.files ^ later.files)
        roots = [root for root, one in later.environments.items() if self.environments.get(root, one) != one]
        if roots:
            told = {one.path for one in changes if self._decides(one.path) or later._decides(one.path)}
            found |= told or {folder for root in roots for folder in later.environments[root].site_packages}
        return found

    def _decides(self, path: str) -> bool:
        """Whether which environment is found may depend on a path."""
        return path in self.looked.paths or os.path.dirname(path) in self.looked.folders

    def _named(self, changes: Iterable[Change]) -> Iterator[Change]:
        """Changes by all names that their folders have: the system may tell any."""
        for change in changes:
            yield change
            folder, name = os.path.split(change.path)
            for other in self.names.get(folder, ()):
                yield change._replace(path=os.path.join(other, name))

    def _counts(self, change: Change) -> bool:
        path = change.path
        folder, name = os.path.split(path)
        if path in self.files or path in self.read or name in SPECIAL_NAMES or folder in self.noted:
            return True
        if change.content:
            return False
        return (
            (path in self.folders and path not in self.aside)
            or (folder in self.installed and name.endswith(DISTRIBUTIONS))
            or self.asked.about(path)
        )


def scope_of(paths: Sequence[str], settings: Settings | None, nested: NestedSettings | None, depends: Depends) -> Scope:
    """What a run over some paths rests on; `settings` are None where they could not be read, `depends` is what it read.

    Raises:
        ConfigurationError: a configuration file below `paths` is not valid.
    """
    named = [os.path.abspath(path) for path in paths]
    found = discover(paths, settings or default_settings(os.getcwd()), nested if settings is not None else None)
    projects = Projects(settings, found.nested).every if settings is not None else ()
    files = frozenset(map(os.path.abspath, found.files))
    asked = _asked(depends)
    # What was named counts, also once it is no longer there.
    read = {*depends.files, *(path for path in named if not os.path.isdir(path))}
    noted: set[str] = set()
    for one in projects:
        read.update(_files_of(one))
        noted.update((os.path.join(one.root, os.path.dirname(RUNS)), os.path.join(one.root, RUNS)))
    above = set(_above([*named, settings.root] if settings is not None else named))
    read.update(os.path.join(folder, _EXCLUDE) for folder in above if os.path.isdir(os.path.join(folder, ".git")))
    read.update(_behind_links((*read, *map(os.path.abspath, found.links.values()))))
    environments = {one.root: environment_of(one) for one in projects}
    installed = frozenset(os.path.abspath(path) for one in environments.values() for path in one.site_packages)
    looked, around = _looked(projects)
    places = {*found.folders, *above, *noted, *installed, *asked.beginnings}
    places.update(map(os.path.dirname, (*read, *asked.paths, *asked.patterns)))
    # A link to a folder may come to lead to another one.
    places.update([os.path.dirname(place) for place in places if os.path.islink(place)])
    missing = _missing(places)
    folders = frozenset({*places, *map(os.path.dirname, missing)} - missing)
    return Scope(
        files,
        frozenset(found.folders),
        frozenset(read) - files,
        asked._replace(paths=asked.paths | missing),
        frozenset(noted),
        installed,
        environments,
        looked,
        folders | around,
        around - folders,
        _names(folders | around),
    )


def _looked(projects: Iterable[Settings]) -> tuple[Looked, frozenset[str]]:
    """What decides which environments projects have, and the folders that tell of it."""
    every = [looked_at(one.python, one.root) for one in projects]
    paths = frozenset(path for one in every for path in one.paths)
    listed = frozenset(folder for one in every for folder in one.folders)
    around = {*listed, *map(os.path.dirname, paths)}
    missing = _missing(around)
    return Looked(paths | missing, listed), frozenset({*around, *map(os.path.dirname, missing)} - missing)


def _behind_links(paths: Iterable[str]) -> Iterator[str]:
    """What those of some files that are links lead to: each link on the way, and the file."""
    for path in paths:
        here, seen = path, set[str]()
        while os.path.islink(here) and here not in seen:
            seen.add(here)
            folder = os.path.realpath(os.path.dirname(here))
            here = os.path.normpath(os.path.join(folder, os.readlink(here)))
            yield here
        if seen:
            yield os.path.realpath(path)


def _names(folders: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """By each name of a folder, the others under which it is watched, and its real path."""
    known: dict[str, str] = {}
    same: dict[str, set[str]] = {}
    for folder in folders:
        real = _real(folder, known)
        same.setdefault(real, {real}).add(folder)
    return {one: tuple(sorted(names - {one})) for names in same.values() if len(names) > 1 for one in names}


def _real(folder: str, known: dict[str, str]) -> str:
    """The real path of a folder; `known` are those of others, which most have in common with those above them."""
    if folder not in known:
        above, name = os.path.split(folder)
        plain = name and not os.path.islink(folder)
        known[folder] = os.path.join(_real(above, known), name) if plain else os.path.realpath(folder)
    return known[folder]


def _asked(depends: Depends) -> Asked:
    paths: set[str] = set()
    beginnings: dict[str, set[str]] = {}
    patterns: set[str] = set()
    for question in depends.questions:
        folder, name = os.path.split(question.path)
        folder = os.path.abspath(folder)
        if question.ask is Ask.BEGINNING:
            beginnings.setdefault(folder, set()).add(name)
        elif question.ask is Ask.MATCHES:
            patterns.add(os.path.join(folder, name))
        else:
            paths.add(os.path.join(folder, name))
    return Asked(frozenset(paths), {folder: tuple(starts) for folder, starts in beginnings.items()}, tuple(patterns))


def _missing(folders: Iterable[str]) -> set[str]:
    """The folders that are not there, and those above them that are not."""
    missing: set[str] = set()
    for folder in folders:
        here = folder
        while here not in missing and not os.path.isdir(here):
            missing.add(here)
            here = os.path.dirname(here)
    return missing


def _files_of(settings: Settings) -> Iterator[str]:
    """The files that settings are read from, and those that they name."""
    if settings.source is not None:
        yield from configuration_files(settings.source)
    if settings.baseline_path is not None:
        yield settings.baseline_path
    yield from settings.models


def _above(paths: Iterable[str]) -> Iterator[str]:
    """The folders of some paths and those above them, up to the top of the repository, or the next one without."""
    for path in paths:
        here = path if os.path.isdir(path) else os.path.dirname(path)
        folders = [os.path.dirname(path), here]
        while not os.path.exists(os.path.join(here, ".git")) and os.path.dirname(here) != here:
            here = os.path.dirname(here)
            folders.append(here)
        yield from folders if os.path.exists(os.path.join(here, ".git")) else folders[:2]


def below(paths: Iterable[str], changes: Iterable[Change]) -> set[str]:
    """Those of some paths that changed, or that lie below a folder which did."""
    changed = {change.path for change in changes}
    return {path for path in paths if any(one in changed for one in _upwards(path))}


def _upwards(path: str) -> Iterator[str]:
    yield path
    while (above := os.path.dirname(path)) != path:
        path = above
        yield path


def changed_since(moment: int, scope: Scope, folders: frozenset[str]) -> list[Change]:
    """What in some folders changed, or came, since a moment in nanoseconds."""
    moment -= _TICK
    files = (path for path in scope.files | scope.read | scope.looked.paths if os.path.dirname(path) in folders)
    entries = (path for folder in folders if _changed_at(folder) >= moment for path in _entries(folder))
    found = [Change(path, content=True) for path in files if _changed_at(path) >= moment]
    return [*found, *(Change(path, content=False) for path in entries if _changed_at(path) >= moment)]


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []


def states_of(scope: Scope) -> dict[str, tuple[int, int]]:
    """The time and size of the files of a scope; of those that are not there, nothing."""
    found: dict[str, tuple[int, int]] = {}
    for path in scope.files | scope.read:
        with suppress(OSError):
            status = os.stat(path)
            found[path] = (status.st_mtime_ns, status.st_size)
    return found


def _changed_at(path: str) -> int:
    try:
        status = os.stat(path)
    except OSError:
        return 0
    return max(status.st_mtime_ns, status.st_ctime_ns)
