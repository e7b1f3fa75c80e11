"""Which files a run checks: named files, and what a walk of named directories finds."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.faults import Faults, beginning
from nonstrict.check.patterns import PathMatcher
from nonstrict.settings.model import PAGE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from nonstrict.check.gitignore import IgnoreFile
    from nonstrict.findings import Finding
    from nonstrict.settings.model import Settings

    #: Gives the settings that a configuration file in a directory asks for: (absolute directory, file names in it).
    NestedSettings = Callable[[str, Collection[str]], Settings | None]

_CONFIG_NAMES = frozenset({".nonstrict.toml", "nonstrict.toml", "pyproject.toml"})
#: Files that decide what a run checks and tells.
SPECIAL_NAMES = _CONFIG_NAMES | {".gitignore"}
_PAGE_SUFFIXES = (".md", ".txt", ".rst")


class Discovery(NamedTuple):
    """The files of a run, in order, as paths that users recognise.

    `explicit` are the files that were named; `nested` maps files below a further configuration file to its
    settings; `failures` are (path, reason) of what was named and cannot be checked; `faults` are what nonstrict's own
    mistakes lost. `links` are the files that are listed by the name of a link: by the absolute path without links.
    `folders` are the absolute paths of the directories that were walked.
    """

    files: list[str]
    explicit: frozenset[str]
    nested: dict[str, Settings]
    failures: tuple[tuple[str, str], ...]
    faults: tuple[Finding, ...] = ()
    links: Mapping[str, str] = {}
    folders: tuple[str, ...] = ()


def discover(
    paths: Sequence[str], settings: Settings, nested: NestedSettings | None = None, unsaved: Iterable[str] = ()
) -> Discovery:
    """The files that `paths` (files and directories) mean.

    Directories are walked without following links to directories, so that a loop of links is no loop. The settings of
    `unsaved` files are told as well, which are not looked for on the disk.

    Raises:
        ConfigurationError: a configuration file met on the way is not valid.
    """
    walk = _Walk(settings, nested, [*paths, *unsaved])
    for path in paths:
        with walk.faults.losing("was not looked for", "the file", beginning(path)):
            walk.add(path)
    for path in unsaved:
        with walk.faults.losing("was not looked at", "the settings of the file", beginning(path)):
            walk.configure(path)
    return Discovery(
        walk.files,
        frozenset(walk.explicit),
        walk.nested,
        tuple(walk.failures),
        tuple(walk.faults.found),
        walk.links(),
        tuple(walk.folders),
    )


def _shown(path: str) -> str:
    """A path as reports name it: relative ones by the shortest way, so that a file has one name."""
    if not path or os.path.isabs(path):
        return os.path.normpath(path) if path else path
    return os.path.relpath(path) if os.pardir in path.split(os.sep) else os.path.normpath(path)


def _prefix(shown: str) -> str:
    """What stands before the names of files in a directory, as reports name it."""
    return "" if shown == os.curdir else shown.rstrip(os.sep) + os.sep


class _Rules(NamedTuple):
    """The settings of a directory, compiled."""

    settings: Settings
    include: PathMatcher
    exclude: PathMatcher


class _Directory(NamedTuple):
    """A directory to walk: its absolute path, what stands before its names in paths shown, and what holds in it.

    `real` is its path without symbolic links. `named` says that the user named it, so that its own configuration is
    already in the rules.
    """

    path: str
    prefix: str
    rules: _Rules
    ignores: tuple[IgnoreFile, ...]
    real: str
    named: bool = False


class _Walk:
    """The state of a discovery."""

    def __init__(self, settings: Settings, nested_settings: NestedSettings | None, paths: Sequence[str]) -> None:
        self.files: list[str] = []
        self.explicit: set[str] = set()
        self.nested: dict[str, Settings] = {}
        self.folders: list[str] = []
        self.failures: list[tuple[str, str]] = []
        self.faults = Faults()
        #: by the real path of a file, as what it is listed
        self._listed: dict[str, str] = {}
        #: the real paths of those that are listed by the name of a link
        self._linked: set[str] = set()
        self._root = _compiled(settings)
        self._nested_settings = nested_settings
        #: Where nothing configures the run, its root is the working directory, which may be a project below its paths.
        self._below_root = all(_is_at_or_below(os.path.abspath(path), settings.root) for path in paths)
        self._rules_above: dict[str, _Rules] = {}

    def add(self, path: str) -> None:
        """Take a file or directory that the user named."""
        shown = _shown(path)
        absolute = os.path.abspath(shown)
        try:
            mode = os.stat(shown).st_mode
        except OSError as error:
            reason = "does not exist" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
            self.failures.append((path, reason))
            return
        if stat.S_ISDIR(mode):
            rules = self._rules_for(absolute)
            if not self._force_excluded(absolute, rules):
                prefix = _prefix(shown)
                ignores: tuple[IgnoreFile, ...] = ()
                with self.faults.losing("were not read", "the `.gitignore` files above the directory", beginning(path)):
                    ignores = self._ignores_above(absolute, rules)
                self._tree(_Directory(absolute, prefix, rules, ignores, os.path.realpath(absolute), named=True))
        elif not stat.S_ISREG(mode):
            self.failures.append((path, "is neither a file nor a directory; pipe its text to `nonstrict check -`"))
        else:
            rules = self._rules_for(os.path.dirname(absolute))
            if not self._force_excluded(absolute, rules):
                self.explicit.add(self._file(os.path.realpath(absolute), absolute, shown, rules))

    def configure(self, path: str) -> None:
        """Note which settings count for a file, whether it is there or not."""
        rules = self._rules_for(os.path.dirname(os.path.abspath(path)))
        if rules is not self._root:
            self.nested[path] = rules.settings

    def _file(self, real: str, path: str, shown: str, rules: _Rules) -> str:
        """Take a file by its real path, unless it was taken by another name; as what it is listed."""
        known = self._listed.get(real)
        if known is not None:
            return known
        self._listed[real] = shown
        if real != path:
            self._linked.add(real)
        self.files.append(shown)
        if rules is not self._root:
            self.nested[shown] = rules.settings
        return shown

    def links(self) -> dict[str, str]:
        """The files that are listed by the name of a link."""
        return {real: shown for real, shown in self._listed.items() if real in self._linked}

    def _tree(self, top: _Directory) -> None:
        """Walk a directory and all below it, however deep."""
        pending = [top]
        while pending:
            here = pending.pop()
            with self.faults.losing("was not searched", "the directory", beginning(here.prefix or ".")):
                pending += reversed(self._directory(here))

    def _directory(self, here: _Directory) -> list[_Directory]:
        """Take the files of a directory; returns the directories in it that are to be walked."""
        directory, prefix, rules, ignores, real, named = here
        self.folders.append(directory)
        try:
            with os.scandir(directory) as scan:
                entries = list(scan)
        except OSError as error:
            self.failures.append((prefix or ".", error.strerror or str(error)))
            return []
        special = SPECIAL_NAMES.intersection([entry.name for entry in entries])
        if special and not named:
            rules = self._own_rules(directory, special) or rules
        if ".gitignore" in special and rules.settings.respect_gitignore:
            with self.faults.losing("was not read", "the file", beginning(prefix + ".gitignore")):
                ignores = _with_file(ignores, os.path.join(directory, ".gitignore"), directory)
        base = directory.rstrip(os.sep) + os.sep
        files, directories = _candidates(entries, base, rules)
        here = here._replace(rules=rules, ignores=ignores)
        for entry in files:
            try:
                self._entry(entry, here, base)
            except Exception as error:  # noqa: BLE001 - the boundary of one file; told as NST904
                self.faults.lose(error, "was not looked at", "the file", [beginning(prefix + entry.name)])
        below: list[_Directory] = []
        for name in directories:
            path = base + name
            with self.faults.losing("was not searched", "the directory", beginning(prefix + name)):
                if not rules.exclude.matches(name, path) and not (ignores and _ignored(ignores, path, True)):
                    inner = _prefix(_shown(prefix + name))
                    below.append(_Directory(path, inner, rules, ignores, os.path.join(real, name)))
        return below

    def _entry(self, entry: os.DirEntry[str], here: _Directory, base: str) -> None:
        """Take a file of a directory, unless it is to be left out."""
        name = entry.name
        path = base + name
        if here.rules.exclude.matches(name, path) or (here.ignores and _ignored(here.ignores, path, False)):
            return
        if _is_regular(entry) and not (name.endswith(_PAGE_SUFFIXES) and _is_large(entry)):
            own = os.path.realpath(path) if entry.is_symlink() else os.path.join(here.real, name)
            self._file(own, path, here.prefix + name, here.rules)

    def _rules_for(self, directory: str) -> _Rules:
        """The rules of a directory that was named: of the nearest configuration at or above it, below the root's."""
        if self._nested_settings is None:
            return self._root
        known = self._rules_above.get(directory)
        if known is not None:
            return known
        root = self._root.settings.root
        rules = self._root
        if directory != root or not self._below_root:
            present = [name for name in _CONFIG_NAMES if os.path.isfile(os.path.join(directory, name))]
            own = self._own_rules(directory, present) if present else None
            parent = os.path.dirname(directory)
            if own is not None:
                rules = own
            elif parent != directory:
                rules = self._rules_for(parent)
        self._rules_above[directory] = rules
        return rules

    def _own_rules(self, directory: str, names: Collection[str]) -> _Rules | None:
        """The rules that a configuration file in a directory asks for; None if it has none."""
        if self._nested_settings is None:
            return None
        with self.faults.losing("was not read", "the configuration in the directory", beginning(_shown(directory))):
            own = self._nested_settings(directory, names)
            return _compiled(own) if own is not None else None
        return None

    def _force_excluded(self, path: str, rules: _Rules) -> bool:
        settings = rules.settings
        return settings.force_exclude and rules.exclude.matches_any_part(path, settings.root)

    def _ignores_above(self, directory: str, rules: _Rules) -> tuple[IgnoreFile, ...]:
        """The ignore files that hold in a directory for standing above it, up to the root of its repository."""
        if not rules.settings.respect_gitignore:
            return ()
        here, above = directory, list[str]()
        while not os.path.exists(os.path.join(here, ".git")):
            parent = os.path.dirname(here)
            if parent == here:
                return ()
            above.append(parent)
            here = parent
        ignores = _with_file((), os.path.join(here, ".git", "info", "exclude"), here)
        for parent in reversed(above):
            ignores = _with_file(ignores, os.path.join(parent, ".gitignore"), parent)
        # A directory that the user named is checked, also where a file above ignores it.
        return tuple(ignore for ignore in ignores if here == directory or not ignore.verdict(directory, True))


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _compiled(settings: Settings) -> _Rules:
    exclude = PathMatcher((*settings.exclude, *settings.extend_exclude))
    return _Rules(settings, PathMatcher(settings.include), exclude)


def _candidates(entries: list[os.DirEntry[str]], base: str, rules: _Rules) -> tuple[list[os.DirEntry[str]], list[str]]:
    """The entries of a directory that may be files to check, and the names of its directories, in order.

    Most files of a tree are none of ours, and most of ours are told by the end of their name: the loop is for them.
    """
    files: list[os.DirEntry[str]] = []
    directories: list[str] = []
    suffixes = rules.include.suffixes
    include = None if rules.include.only_suffixes else rules.include.matches
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            directories.append(entry.name)
        elif entry.name.endswith(suffixes) or (include is not None and include(entry.name, base + entry.name)):
            files.append(entry)
    files.sort(key=_name_of)
    directories.sort()
    return files, directories


def _name_of(entry: os.DirEntry[str]) -> str:
    return entry.name


def _is_regular(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_large(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.stat().st_size > PAGE_LIMIT
    except OSError:
        return True


def _with_file(ignores: tuple[IgnoreFile, ...], path: str, directory: str) -> tuple[IgnoreFile, ...]:
    from nonstrict.check.gitignore import read_ignore_file

    if not os.path.isfile(path):
        return ignores
    own = read_ignore_file(path, directory)
    return (own, *ignores) if own is not None else ignores


def _ignored(ignores: tuple[IgnoreFile, ...], path: str, is_directory: bool) -> bool:
    """Whether the nearest ignore file that has an opinion ignores the entry."""
    for ignore in ignores:
        verdict = ignore.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return False
