"""Which files of a folder are to be examined: those that hold a marker, and those that use a wrapper of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.check.analysis import Marked
from nonstrict.check.examination import Wrappers, wrappers_of
from nonstrict.knowledge.markers import may_mark, may_wrap
from nonstrict.program.discovery import roots
from nonstrict.program.discovery.exports import Applied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Finding
    from nonstrict.program.discovery.exports import Exports
    from nonstrict.program.state.machine import Machine
    from nonstrict.text.source import Source


class MarkedFiles:
    """The marked files among some files."""

    def __init__(self, files: Sequence[str]) -> None:
        """Remember the files; none was looked at yet."""
        self._files = list(files)
        self._covered = frozenset(files)
        self._holding: dict[str, Marked] = {}
        self._wrappers = Wrappers()
        self._exported: dict[str, Applied] = {}

    @property
    def exports(self) -> Exports:
        """The names by which the project applies markers."""
        return self._wrappers.exports

    def faults_in(self, path: str) -> tuple[Finding, ...]:
        """What was lost in a file while looking for these names."""
        return tuple(fault for fault in self._wrappers.faults if fault.span.path == path)

    def covers(self, path: str) -> bool:
        """Whether a file belongs to the folder at all: it may be excluded."""
        return path in self._covered

    def is_marked(self, path: str) -> bool:
        """Whether a file is to be examined."""
        return path in self._holding or path in self._wrappers.users

    def paths(self) -> set[str]:
        """All files that are to be examined."""
        return {*self._wrappers.users, *self._holding}

    def replace_files(self, files: Sequence[str]) -> None:
        """There are these files now; what is known of those that stay is kept."""
        self._files = list(files)
        self._covered = frozenset(files)
        self._holding = {path: known for path, known in self._holding.items() if path in self._covered}

    def look_at(self, path: str, overlay: Source | None) -> None:
        """Search a file, or the text that stands for it, for markers."""
        if overlay is not None:
            self._note(path, overlay.code)
            return
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return
        if may_mark(data):
            self._note(path, data.decode("utf-8", "replace"))

    def find_wrappers(self, machine: Machine) -> None:
        """Find the names by which marked files let others apply markers, and who uses them."""
        self._wrappers = wrappers_of(self._files, list(self._holding.values()), machine)

    def renew(self, path: str, code: str, machine: Machine) -> bool:
        """A file has another text; whether that changes for other files what is a marker."""
        before = self._holding.get(path)
        self._note(path, code)
        after = self._holding.get(path)
        was_user = path in self._wrappers.users
        is_user = after is None and any(name in code for name in self._wrappers.exports.known())
        wraps = any(one is not None and one.may_wrap for one in (before, after))
        if was_user == is_user and not was_user and not (wraps and self._exports_otherwise(path, machine)):
            return False
        known = self._wrappers.exports.known()
        self.find_wrappers(machine)
        return known != self._wrappers.exports.known()

    def _exports_otherwise(self, path: str, machine: Machine) -> bool:
        """Whether a marked file lets others apply markers by other names than when this was last asked."""
        module = machine.project.module(path)
        names = roots.exported(machine, module) if module is not None else Applied()
        known = self._exported.get(path)
        self._exported[path] = names
        return known != names

    def _note(self, path: str, code: str) -> None:
        if may_mark(code.encode("utf-8", "surrogatepass")):
            self._holding[path] = Marked(path, len(code), may_wrap(code))
        else:
            self._holding.pop(path, None)
