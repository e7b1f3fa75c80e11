"""What a caller of the API asks for, run, and what of a run its records ask for."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.check.audit import Question
    from nonstrict.check.files import NestedSettings
    from nonstrict.check.run import CheckResult
    from nonstrict.explain.answering import Explained
    from nonstrict.report.audit import Audited
    from nonstrict.report.context import Context
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

    #: What names a file.
    StrPath = str | os.PathLike[str]

#: An analysis sets the recursion limit and the size of stacks, which are those of the process: one at a time.
_ANALYSING = threading.Lock()


class Wanted(NamedTuple):
    """Which configuration a caller wants."""

    config: StrPath | None
    isolated: bool
    settings: Mapping[str, object] | None


class Asked(NamedTuple):
    """Absolute paths, texts by absolute path, the settings that count, and what asks for those of directories below."""

    paths: Sequence[str]
    texts: Mapping[str, str]
    settings: Settings
    nested: NestedSettings | None


def listed(paths: Iterable[StrPath] | StrPath) -> list[str]:
    """Some paths, or one, as absolute ones."""
    several = (paths,) if isinstance(paths, str | os.PathLike) else paths
    return [os.path.abspath(os.fspath(path)) for path in several]


def asked(paths: Sequence[str], sources: Mapping[str, str] | None, wanted: Wanted) -> Asked:
    """What a caller asks for, with the settings that follow.

    Raises:
        ConfigurationError: the configuration cannot be used.
    """
    from nonstrict.settings.choosing import refuse_no_file, settings_below, settings_over
    from nonstrict.settings.load import settings_from_values

    texts = {os.path.abspath(path): text for path, text in (sources or {}).items()}
    values = _table(wanted.settings or {})

    def on_top(settings: Settings) -> Settings:
        return settings_from_values(settings, values) if values else settings

    if wanted.isolated and wanted.config is not None:
        raise ConfigurationError("`isolated` and `config` exclude each other.")
    file = os.fspath(wanted.config) if wanted.config is not None else None
    if file is not None:
        refuse_no_file(file, "`config` takes a file")
    base = settings_over([*paths, *texts], file, isolated=wanted.isolated)
    settings = on_top(base._replace(baseline="") if wanted.isolated else base)
    nested = None if wanted.isolated or file is not None else settings_below(on_top)
    there = [path for path in texts if os.path.isfile(path) and path not in paths]
    return Asked([*paths, *there], texts, settings, nested)


def _plain(value: object) -> object:
    """A value as TOML would give it."""
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("Sequence[object]", value)]
    if isinstance(value, dict):
        return _table(cast("dict[object, object]", value))
    return value


def _table(values: Mapping[Any, object]) -> dict[str, object]:
    """A table as TOML would give it.

    Raises:
        ConfigurationError: a key is not a text.
    """
    for key in values:
        if not isinstance(key, str):
            raise ConfigurationError(f"the key `{key!r}` of the settings is not a text.")
    return {key: _plain(value) for key, value in values.items()}


def checked(asked: Asked, *, cache: bool = False, jobs: int = 1, **others: Any) -> CheckResult:
    """The result of a run; `others`: see `RunOptions`."""
    from nonstrict.check.run import RunOptions, check

    options = RunOptions(jobs=jobs, cache=cache, nested=asked.nested, unsaved=asked.texts, **others)
    with _ANALYSING:
        return check(asked.paths, asked.settings, options)


def audited(question: Question, paths: Sequence[str], settings: Settings) -> Audited:
    """The answer about one function.

    Raises:
        TargetError: there is no such file or function, or the file does not parse.
    """
    from nonstrict.check.audit import audit

    with _ANALYSING:
        return audit(question, paths, settings)


def answered(text: str, folder: str, asked: Asked) -> Explained:
    """What a text of torch means, for the project in a folder."""
    from nonstrict.explain.answering import explained

    with _ANALYSING:
        return explained(text, folder, asked.settings, asked.nested)


def context_of(read: Mapping[str, Source], settings: Settings) -> Context:
    """What of a run its records ask for; fingerprints name files from the repository, else from the configuration."""
    from nonstrict.check.repository import repository_around
    from nonstrict.report.context import Context, Lines

    return Context(Lines(read), repository=repository_around(settings.root) or settings.root)
