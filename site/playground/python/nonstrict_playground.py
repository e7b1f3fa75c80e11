"""The programs of a web page, each analysed edit by edit: texts in, JSON out.

A worker of the page calls this in Pyodide. Each program lies in a folder of its own, so that none sees another. Nothing
of a program is run.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, TypedDict, TypeVar

from nonstrict.check.faults import told_of
from nonstrict.check.live.folder import Folder
from nonstrict.coverage import Looked
from nonstrict.findings import Location
from nonstrict.report import regions
from nonstrict.report.context import Context, Lines
from nonstrict.report.records import records
from nonstrict.report.regions import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.coverage import Region
    from nonstrict.findings import Diagnostic
    from nonstrict.report.record_types import FindingRecord, RegionRecord

T = TypeVar("T")
#: What the file of a program is called.
NAME = "main.py"


class RegionText(TypedDict):
    """A compiled region as `nonstrict regions` lists it, with what people read of it."""

    record: RegionRecord
    graphs: str
    options: list[str]
    parts: list[str]


class Checked(TypedDict):
    """What is found in a program, and what it compiles."""

    findings: list[FindingRecord]
    regions: list[RegionText]


class Program:
    """One program in a folder, for one release of torch."""

    def __init__(self, folder: str, torch: str) -> None:
        """Begin without a text."""
        os.makedirs(folder, exist_ok=True)
        self._path = os.path.join(folder, NAME)
        self._root = folder
        self._folder = Folder(folder, {"torch-version": torch}, trusted=False)
        self._folder.scan()

    def check(self, text: str) -> Checked:
        """What is found in a text, and what it compiles."""
        found = self._losing("the file was not analyzed", lambda: self._found(text))
        if isinstance(found, FaultRecord):
            return {"findings": found.findings, "regions": []}
        told = self._losing("the file was not searched for what it compiles", self._regions)
        if isinstance(told, FaultRecord):
            return {"findings": [*found, *told.findings], "regions": []}
        return {"findings": found, "regions": told}

    def fixed(self) -> list[FindingRecord]:
        """The findings of the latest text, with the ways to fix them."""
        found = self._losing("no fixes were made", self._with_fixes)
        return found.findings if isinstance(found, FaultRecord) else found

    def _found(self, text: str) -> list[FindingRecord]:
        self._folder.set_text(self._path, text)
        return self._records(self._folder.diagnostics(self._path))

    def _with_fixes(self) -> list[FindingRecord]:
        found = self._folder.diagnostics(self._path)
        fixes = self._folder.fixes(self._path, found)
        return self._records([one._replace(fixes=fixes.get((one.code, one.location), one.fixes)) for one in found])

    def _regions(self) -> list[RegionText]:
        source = self._folder.source(self._path)
        if source is None:
            return []
        found = self._folder.regions(self._path)
        shown = Shown(Looked(found), {self._path: source})
        return [
            _told(region, record) for region, record in zip(found, regions.records(shown, self._context()), strict=True)
        ]

    def _records(self, found: Sequence[Diagnostic]) -> list[FindingRecord]:
        return records(found, self._context())

    def _context(self) -> Context:
        source = self._folder.source(self._path)
        return Context(Lines({self._path: source} if source is not None else {}), files=1, directory=self._root)

    def _losing(self, lost: str, work: Callable[[], T]) -> T | FaultRecord:
        """What some work returns; where an exception loses it, the finding that says so."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - the boundary of one question; reported as NST904
            return FaultRecord(self._records([told_of(error, lost, Location(self._path, 1, 1, 1, 1))]))


class FaultRecord:
    """Findings about what could not be done."""

    def __init__(self, findings: list[FindingRecord]) -> None:
        """Hold them."""
        self.findings = findings


class Programs:
    """The programs of a page, by the names that the page gives them."""

    def __init__(self, root: str) -> None:
        """Begin with none, in a folder that holds nothing else."""
        self._root = root
        self._known: dict[str, tuple[str, Program]] = {}

    def check(self, name: str, torch: str, text: str) -> str:
        """What is found in a program and what it compiles, as JSON."""
        known = self._known.get(name)
        if known is None or known[0] != torch:
            known = self._known[name] = torch, Program(os.path.join(self._root, name), torch)
        return json.dumps(known[1].check(text))

    def fixed(self, name: str) -> str:
        """The findings of a program with the ways to fix them, as JSON."""
        return json.dumps(self._known[name][1].fixed())

    def forget(self, name: str) -> None:
        """Nobody looks at a program any more."""
        self._known.pop(name, None)
        shutil.rmtree(os.path.join(self._root, name), ignore_errors=True)


def _told(region: Region, record: RegionRecord) -> RegionText:
    return {
        "record": record,
        "graphs": regions.graphs(region) if region.graphs is not None else "",
        "options": [regions.written(option) for option in region.options],
        "parts": [regions.described(part) for part in region.parts],
    }
