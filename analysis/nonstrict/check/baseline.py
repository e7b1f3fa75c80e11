"""The baseline: a file of findings that are known and not reported, so that only new ones are.

A finding is known by its content, not by its line (`nonstrict.report.fingerprints`): its rule, its file, the marked
function, and the text of its line. Files are named relative to the baseline.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from nonstrict.findings import INTERNAL_FAULT, INVALID_CONFIGURATION, SYNTAX_ERROR
from nonstrict.report.fingerprints import identified
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Lines
    from nonstrict.settings.model import Settings
    from nonstrict.settings.projects import Projects

_VERSION = 1
#: What no baseline makes go away: files that cannot be analysed, and settings that cannot be used.
_NEVER = frozenset({SYNTAX_ERROR, INVALID_CONFIGURATION, INTERNAL_FAULT})


class Entry(NamedTuple):
    """A known finding; `code`, `function` and `message` are for people who read the file.

    One that is `observed` is only found again by an experiment.
    """

    path: str
    code: str
    function: str
    message: str
    fingerprint: str
    observed: bool = False


class Divided(NamedTuple):
    """Diagnostics that are new, those that are known, and the entries that the known ones matched.

    `moved` are entries of files that have another name now, with what they would be for it.
    """

    new: tuple[Diagnostic, ...]
    known: tuple[Diagnostic, ...]
    matched: frozenset[Entry]
    moved: tuple[tuple[Entry, Entry], ...] = ()


class Baseline(NamedTuple):
    """The entries of the file `path`, which is absolute and need not be there."""

    path: str
    entries: tuple[Entry, ...] = ()

    def divided(self, diagnostics: Sequence[Diagnostic], lines: Lines) -> Divided:
        """Hold diagnostics against the entries; all of a file have to be among them, in order."""
        if not self.entries:
            return Divided(tuple(diagnostics), (), frozenset())
        entries = {entry.fingerprint: entry for entry in self.entries}
        found = identified(diagnostics, lines, self._relative)
        matched = [
            entries.get(fingerprint) if diagnostic.code not in _NEVER else None
            for diagnostic, fingerprint in zip(diagnostics, found, strict=True)
        ]
        moved = self._moved(diagnostics, matched, lines)
        for number, (entry, _) in moved.items():
            matched[number] = entry
        pairs = list(zip(diagnostics, matched, strict=True))
        new = tuple(diagnostic for diagnostic, entry in pairs if entry is None)
        known = tuple(diagnostic for diagnostic, entry in pairs if entry is not None)
        return Divided(new, known, frozenset(filter(None, matched)), tuple(moved.values()))

    def _moved(
        self, diagnostics: Sequence[Diagnostic], matched: Sequence[Entry | None], lines: Lines
    ) -> dict[int, tuple[Entry, Entry]]:
        """By the number of a diagnostic, the entry of a file that is gone and said the same, and what it is now.

        A file of which nothing is known has taken the place of the one that is gone whose entries it matches most.
        """
        gone = {entry.path for entry in self.entries if not os.path.exists(self.absolute(entry.path))}
        by_path: dict[str, list[int]] = {}
        for number, diagnostic in enumerate(diagnostics):
            by_path.setdefault(diagnostic.location.path, []).append(number)
        entries = {entry.fingerprint: entry for entry in self.entries if entry.path in gone}
        found: dict[int, tuple[Entry, Entry]] = {}
        for path, numbers in by_path.items():
            if not gone or any(matched[number] is not None for number in numbers):
                continue
            own = [diagnostics[number] for number in numbers]
            told = {before: _told_as(before, own, lines, entries) for before in sorted(gone)}
            best = max(told, key=lambda before: sum(entry is not None for entry in told[before]))
            if any(told[best]):
                gone.discard(best)
            now = identified(own, lines, self._relative)
            for number, entry, fingerprint in zip(numbers, told[best], now, strict=True):
                if entry is not None and diagnostics[number].code not in _NEVER:
                    found[number] = (entry, entry._replace(path=self._relative(path), fingerprint=fingerprint))
        return found

    def with_moved(self, moved: Iterable[tuple[Entry, Entry]]) -> Baseline:
        """The baseline with entries in place of those of files that were moved."""
        other = dict(moved)
        return self._replace(entries=tuple(sorted(other.get(entry, entry) for entry in self.entries)))

    def stale(
        self, matched: frozenset[Entry], checked: Iterable[str], projects: Projects, *, without: str
    ) -> tuple[Entry, ...]:
        """The entries that match nothing any more: of files that were `checked`, or are gone.

        Nothing is known of rules that the settings of a file leave out, nor of the one `without` an experiment.
        """
        from nonstrict.check.selection import Selection
        from nonstrict.rules.registry import RULES

        absolute = projects.absolute()
        selections = {id(one): Selection(one, RULES) for one in absolute.every}

        def decides(entry: Entry) -> bool:
            path = self.absolute(entry.path)
            selection = selections[id(absolute.of(path))]
            return selection.enabled(entry.code) and entry.code not in selection.ignored_in(path)

        looked_at = {self._relative(path) for path in checked}
        return tuple(
            entry
            for entry in self.entries
            if entry not in matched
            and (entry.path in looked_at or not os.path.exists(self.absolute(entry.path)))
            and entry.code != without
            and not entry.observed
            and decides(entry)
        )

    def without(self, entries: Iterable[Entry]) -> Baseline:
        """The baseline with some entries left out."""
        gone = set(entries)
        return self._replace(entries=tuple(entry for entry in self.entries if entry not in gone))

    def replaced(self, diagnostics: Sequence[Diagnostic], checked: Iterable[str], lines: Lines) -> Baseline:
        """The baseline that knows all diagnostics of the files that were checked, and of others what it knew."""
        looked_at = {self._relative(path) for path in checked}
        kept = (
            entry for entry in self.entries if entry.path not in looked_at and os.path.exists(self.absolute(entry.path))
        )
        made = (
            Entry(self._relative(one.location.path), one.code, one.function, one.message, fingerprint, one.observed)
            for one, fingerprint in zip(diagnostics, identified(diagnostics, lines, self._relative), strict=True)
            if one.code not in _NEVER
        )
        return self._replace(entries=tuple(sorted({*kept, *made})))

    def write(self) -> None:
        """Write the file: one entry per line, so that versions of it can be merged.

        Raises:
            OSError: it cannot be written.
        """
        import json
        import tempfile

        rows = ",\n".join(f"  {json.dumps(_item(entry), ensure_ascii=False)}" for entry in self.entries)
        text = f'{{"version": {_VERSION}, "findings": [\n{rows}\n]}}\n'
        target = os.path.realpath(self.path)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target))
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
            os.chmod(temporary, _mode(target))
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, os.path.dirname(self.path)).replace(os.sep, "/")

    def absolute(self, path: str) -> str:
        """The absolute path of a file that an entry names."""
        return os.path.normpath(os.path.join(os.path.dirname(self.path), path))


def baseline_of(settings: Settings) -> Baseline | None:
    """The baseline that settings ask for; None if there is none.

    Raises:
        ConfigurationError: the file is not there although it was named, or is not a baseline.
    """
    path = settings.baseline_path
    if path is None or (not settings.baseline and not os.path.isfile(path)):
        return None
    return read_baseline(path)


def read_baseline(path: str) -> Baseline:
    """The baseline that a file holds.

    Raises:
        ConfigurationError: there is no such file, or it is not a baseline.
    """
    import json

    try:
        with open(path, "rb") as file:
            document = json.loads(file.read())
        if document["version"] != _VERSION:
            raise ConfigurationError(f"{path} was written by a newer nonstrict. Update nonstrict.")
        return Baseline(path, tuple(_entry(item) for item in document["findings"]))
    except FileNotFoundError:
        advice = "Write it, or take it out of the configuration."
        raise ConfigurationError(f"The baseline {path} does not exist. {advice}") from None
    except OSError as error:
        raise ConfigurationError(f"The baseline {path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError):
        advice = "Restore it, or write a new one."
        raise ConfigurationError(f"{path} is not a baseline of nonstrict. {advice}") from None


def _told_as(
    path: str, diagnostics: Sequence[Diagnostic], lines: Lines, entries: Mapping[str, Entry]
) -> list[Entry | None]:
    """The entries that the diagnostics of a file would match if it had another path."""
    return [entries.get(one) for one in identified(diagnostics, lines, lambda _: path)]


def _item(entry: Entry) -> dict[str, Any]:
    """An entry as JSON; that it was observed is said where it is so."""
    return {name: value for name, value in entry._asdict().items() if value is not False}


def _entry(item: dict[str, Any]) -> Entry:
    fields = [item[name] for name in Entry._fields if name != "observed"]
    if not all(isinstance(field, str) for field in fields):
        raise TypeError
    return Entry(*cast("list[str]", fields), observed=item.get("observed") is True)


def _mode(path: str) -> int:
    """The permissions that a file has, or would be made with."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
