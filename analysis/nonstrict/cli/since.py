"""`nonstrict check --since REF`: what was there before, for findings that the change since then did not cause."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.check.cache.store import cache_directory
from nonstrict.check.run import RunOptions, check
from nonstrict.check.since.caused import Before, identities
from nonstrict.check.since.git import repository_of
from nonstrict.check.since.trees import folder_of
from nonstrict.cli.configuration import main_settings, nested_settings
from nonstrict.cli.overrides import overridden
from nonstrict.cli.wanted import least_wanted
from nonstrict.settings.choosing import common_directory
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator

    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Applicability, Diagnostic
    from nonstrict.settings.model import Settings


class Since:
    """The state that a run is compared with; with `--staged`, also the one that is checked in place of the files."""

    def __init__(self, settings: Settings, options: argparse.Namespace) -> None:
        """Ask git for the commit; nothing is analysed yet.

        Raises:
            GitError: it cannot be had.
        """
        self._settings = settings
        self._options = options
        folder = common_directory(options.paths)
        self._repository = repository_of(folder)
        self._commit = self._repository.left_at(self._repository.commit(options.since or _compared_by_default()))
        self._before: Before | None = None

    def caused(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The diagnostics of a result that were not there before.

        Raises:
            GitError: what was there before cannot be had any more.
        """
        if self._before is None:
            self._before = self._looked_before()
        return self._before.caused(result)

    def staged(self, fixes: Applicability | None) -> CheckResult:
        """What a check of what is staged finds, in the paths of the files that are checked otherwise.

        Raises:
            GitError: it cannot be had from git.
        """
        with self._checked(None, fixes) as (result, folder):
            every = {id(one): _moved(one, folder, self._repository.top) for one in result.nested.values()}
            nested = {path: every[id(one)] for path, one in result.nested.items()}
            return _with_all_texts(result._replace(nested=nested))

    def _looked_before(self) -> Before:
        repository, staged = self._repository, self._options.staged
        changed = repository.changed(self._commit, staged=staged)
        # With the same fixes, what the cache knows of the present state holds for most of the earlier one.
        fixes = None if self._options.no_cache else least_wanted(self._settings, self._options)
        with self._checked(self._commit, fixes) as (result, folder):
            found = identities(result, folder, repository.renamed(self._commit, staged=staged))
        return Before(frozenset(found), repository.top, changed)

    @contextmanager
    def _checked(self, commit: str | None, fixes: Applicability | None) -> Generator[tuple[CheckResult, str]]:
        """Check another state in a folder of its own, which is there, and the working directory, meanwhile."""
        top, options = self._repository.top, self._options
        here = os.path.relpath(os.path.realpath(os.getcwd()), top)
        within = here if here.split(os.sep)[0] != os.pardir else os.curdir
        paths = [os.path.relpath(os.path.realpath(path), os.path.join(top, within)) for path in options.paths]
        nested = nested_settings(options, lambda settings: overridden(settings, options))
        # What is found now is what the next run wants to know.
        cached = RunOptions(options.jobs, cache=not options.no_cache, keeps=False, nested=nested)
        run = cached._replace(kept=options.kept, fixes=fixes)
        with folder_of(self._repository, commit) as folder, _working_in(os.path.join(folder, within)):
            present = [path for path in paths if os.path.exists(path)]
            # What is installed now counts for both states.
            run = run._replace(home=partial(_there, before=folder, folder=top))
            yield check(present, self._settings_in(folder, present), run), folder

    def _settings_in(self, folder: str, paths: list[str]) -> Settings:
        """The settings that count in another state; those of now where its own cannot be used."""
        try:
            settings = overridden(main_settings(paths or [os.curdir], self._options), self._options)
        except ConfigurationError:
            settings = _moved(self._settings, self._repository.top, folder)
        return settings._replace(cache_dir=cache_directory(self._settings))


def _compared_by_default() -> str:
    """What staged changes are compared with: pre-commit says so where it runs for a range of commits."""
    return os.environ.get("PRE_COMMIT_FROM_REF") or "HEAD"


@contextmanager
def _working_in(folder: str) -> Generator[None]:
    before = os.getcwd()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _moved(settings: Settings, top: str, folder: str) -> Settings:
    """Settings as if their files were in another folder than the top of the repository."""

    def there(path: str) -> str:
        return _there(path, top, folder)

    def there_if_any(path: str | None) -> str | None:
        return there(path) if path else path

    return settings._replace(
        root=there(settings.root),
        source=there_if_any(settings.source),
        baseline=there_if_any(settings.baseline),
        python=there_if_any(settings.python),
        models=tuple(map(there, settings.models)),
        inputs=tuple((_with_file(one, there), _with_file(maker, there)) for one, maker in settings.inputs),
        budget=tuple(one._replace(base=there(one.base)) for one in settings.budget),
        per_file_ignores=tuple((one._replace(base=there(one.base)), rules) for one, rules in settings.per_file_ignores),
        **{
            name: tuple(one._replace(base=there(one.base)) for one in getattr(settings, name))
            for name in ("include", "exclude", "extend_exclude")
        },
    )


def _with_file(target: str, there: Callable[[str], str]) -> str:
    """A `PATH::NAME` with another path."""
    path, mark, name = target.partition("::")
    return f"{there(path)}{mark}{name}"


def _there(path: str, before: str, folder: str) -> str:
    """A path as if what lies in one folder were in another."""
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(before))
    return path if below.split(os.sep)[0] == os.pardir else os.path.normpath(os.path.join(folder, below))


def _with_all_texts(result: CheckResult) -> CheckResult:
    """A result with the texts that its findings lead to, which are not to be read where its paths lead later."""
    from nonstrict.text.source import UnreadableSource, read_source

    read = dict(result.read)
    for diagnostic in result.diagnostics:
        places = [diagnostic.location, *(related.location for related in diagnostic.related)]
        places += [edit.location for fix in diagnostic.fixes for edit in fix.edits]
        for path in {place.path for place in places}.difference(read):
            with suppress(UnreadableSource):
                read[path] = read_source(path)
    return result._replace(read=read)
