"""Cases written in Markdown: the files of a case, what is expected, and the comparison with what is reported."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEADING = re.compile(r"#{2,3} +(?P<title>.+)")
_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,}) *(?P<language>[\w-]*)\s*$")
_FILE = re.compile(r"`(?P<name>[^`]+)`:\s*$")
_EXPECTED = re.compile(r'# (?P<severity>error|warning|note): \[(?P<code>NST\d{3})\](?: "(?P<text>[^"]+)")?')


class Fence(NamedTuple):
    """A fenced block of a page. `name` is the file that the line before it names, or ""."""

    heading: str
    line: int
    language: str
    name: str
    text: str


class Expectation(NamedTuple):
    """What has to be reported on a line; `text` is a part of the message or of its note."""

    file: str
    row: int
    severity: str
    code: str
    text: str

    def met_by(self, found: dict[str, Any], file: str) -> bool:
        """Whether a finding of `--output-format json` is the expected one."""
        return (
            (file, found["location"]["row"]) == (self.file, self.row)
            and (found["severity"], found["code"]) == (self.severity, self.code)
            and (self.text in found["message"] or self.text in (found["note"] or ""))
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A named set of files."""

    title: str
    line: int
    files: dict[str, str]

    @property
    def expectations(self) -> list[Expectation]:
        """The expectations in the comments of all files."""
        return [
            Expectation(name, row, match["severity"], match["code"], match["text"] or "")
            for name, text in self.files.items()
            for row, line in enumerate(text.split("\n"), 1)
            for match in _EXPECTED.finditer(line)
        ]

    def write(self, directory: Path) -> None:
        """Write the files into a directory."""
        for name, text in self.files.items():
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")


def fences(page: str) -> Iterator[Fence]:
    """Yield the fenced blocks of a Markdown page. A fence ends at a line with at least as many marks.

    Raises:
        ValueError: more than the language follows the marks of a fence.
    """
    heading, name, start = "", "", 0
    marks, language = "", ""
    block: list[str] = []
    for number, line in enumerate(page.split("\n"), 1):
        if marks:
            if line.startswith(marks) and not line.strip(marks[0] + " "):
                yield Fence(heading, start, language, name, "\n".join([*block, ""]))
                marks, name = "", ""
            else:
                block.append(line)
        elif opening := _FENCE.match(line):
            marks, language, start, block = opening["marks"], opening["language"], number, []
        elif line.startswith(("```", "~~~")):
            raise ValueError(f"line {number}: a fence that no case would hold: {line}")
        elif title := _HEADING.match(line):
            heading, name = title["title"], ""
        elif line.strip():
            named = _FILE.search(line)
            name = named["name"] if named else ""


def cases(page: str) -> list[Case]:
    """The cases of a suite: one per heading that has files. Unnamed Python fences together are `main.py`."""
    found: dict[str, Case] = {}
    for fence in fences(page):
        name = fence.name or ("main.py" if fence.language == "python" else "")
        if name:
            case = found.setdefault(fence.heading, Case(fence.heading, fence.line, {}))
            case.files[name] = case.files.get(name, "") + fence.text
    return list(found.values())


def problems(case: Case, directory: Path, *, alike: Mapping[str, str] | None = None) -> list[str]:
    """Write the files of a case, check them, and tell what was missed and what was not expected.

    Where `alike` is given, messages do not matter, nor whether a rule is reported or the one it maps to.
    """
    case.write(directory)
    found = [(finding, name_within(finding["filename"], directory)) for finding in checked(directory)]
    for finding, _ in found:
        finding["code"] = (alike or {}).get(finding["code"], finding["code"])
    told: list[str] = []
    for expectation in case.expectations:
        expected = expectation
        if alike is not None:
            expected = expectation._replace(text="", code=alike.get(expectation.code, expectation.code))
        hit = next((pair for pair in found if expected.met_by(*pair)), None)
        if hit is None:
            told.append(f"missed {expected.file}:{expected.row} {expected.severity} [{expected.code}] {expected.text}")
        else:
            found.remove(hit)
    for finding, file in found:
        place = f"{file}:{finding['location']['row']}:{finding['location']['column']}"
        told.append(f"not expected {place} {finding['severity']} [{finding['code']}] {finding['message']}")
    return told


def checked(directory: Path, *options: str, output: Path | None = None) -> list[dict[str, Any]]:
    """What `nonstrict check` reports on a directory, as the objects of its JSON output.

    They are written to `output`: by default a file beside the directory.
    """
    from nonstrict.cli.main import main

    output = output or directory.parent / f"{directory.name}.json"
    status = main(["check", "--output-format", "json", "--no-cache", *options, "-o", str(output), str(directory)])
    assert status in (0, 1, 2), f"exit status {status}"
    return json.loads(output.read_text(encoding="utf-8"))


def name_within(filename: str, directory: Path) -> str:
    """The name of a reported file, relative to the directory that was checked; it may lie outside (`../`)."""
    resolved = (directory / filename).resolve()
    return Path(os.path.relpath(resolved, directory.resolve())).as_posix()
