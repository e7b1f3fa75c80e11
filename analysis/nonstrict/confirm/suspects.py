"""A finding as experiments see it: which lines it lies on, what state it is about, what would prove it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.spans import Span
from nonstrict.findings import Output
from nonstrict.rules.expectation import Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nonstrict.findings import Diagnostic, LocatedFix, Location, RelatedLocation, Subject
    from nonstrict.rules.base import Rule
    from nonstrict.rules.expectation import Expectation
    from nonstrict.text.source import Source

_REGISTERING = re.compile(r"\b(?:impl|py_impl|register_kernel)\(")


class Suspect(NamedTuple):
    """One finding under suspicion; all paths are absolute.

    `lines` are the lines of analysed code that its expression covers, `column` and `end_column` where it begins and
    ends, in UTF-8 bytes, -1 if that is not known. `chain` are the (file, line) of the calls that lead there and of the
    marker, `writers` those where the program changes its subject, or what else a finding rests on. `file` is the file
    of the marked function, `marked_line` the line of its marker. A function that `implements` an operator stays what it
    was: only calls of the operator run it as one. With `gives_up` the finding says that torch compiles nothing of the
    function after it, where it is `hidden`, that torch does not come to it. `output` is where what it is about is told.
    `fixes` are the ways to mend it. `about` is what of its experiment it is about, where that is more than one thing.
    """

    number: int
    code: str
    expectation: Expectation
    path: str
    lines: frozenset[int]
    file: str
    marked_line: int
    function: str
    chain: frozenset[tuple[str, int]]
    writers: frozenset[tuple[str, int]]
    subject: Subject | None
    message: str
    implements: bool = False
    marker: str = ""
    column: int = -1
    gives_up: bool = False
    hidden: bool = False
    output: Output = Output.NONE
    end_column: int = -1
    fixes: tuple[LocatedFix, ...] = ()
    about: str = ""

    @property
    def experiment(self) -> Experiment:
        """What proves or refutes it."""
        return self.expectation.experiment

    @property
    def is_probe(self) -> bool:
        """Whether it is a question and no finding: does the function compute the same when it is compiled?"""
        return self.has(Trait.QUESTION)

    def has(self, trait: Trait) -> bool:
        """Whether something sets it apart from what the same experiment decides."""
        return trait in self.expectation.traits

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """The lines of its expression with their file."""
        return frozenset((self.path, line) for line in self.lines)

    @property
    def span(self) -> Span | None:
        """Where its expression stands; None if its columns are not known."""
        if min(self.column, self.end_column) < 0:
            return None
        return Span(min(self.lines), max(self.lines), self.column, self.end_column)


def suspect_of(
    number: int, diagnostic: Diagnostic, rules: Mapping[str, Rule], sources: Mapping[str, Source]
) -> Suspect | None:
    """The suspect of a diagnostic; None where no run can tell."""
    rule = rules.get(diagnostic.code)
    if rule is None or rule.experiment is Experiment.NONE:
        return None
    related = diagnostic.related
    first = related[0].location if diagnostic.links else diagnostic.location
    where = diagnostic.location
    start = code_line(where, sources)
    return Suspect(
        number=number,
        code=diagnostic.code,
        expectation=rule.expectation,
        path=os.path.abspath(where.path),
        lines=frozenset(range(start, start + max(1, where.end_row - where.row + 1))),
        file=os.path.abspath(first.path),
        marked_line=code_line(first, sources),
        function=diagnostic.function,
        chain=_places(related[: diagnostic.links], sources),
        writers=_places(related[diagnostic.links :], sources),
        subject=diagnostic.subject,
        message=diagnostic.message,
        implements=_implements(first, sources),
        marker=diagnostic.marker,
        column=column_of(where, sources),
        end_column=column_of(where._replace(row=where.end_row, column=where.end_column), sources),
        fixes=diagnostic.fixes,
        gives_up=diagnostic.gives_up,
        hidden=diagnostic.hidden,
        output=diagnostic.output,
        about=diagnostic.about,
    )


def column_of(where: Location, sources: Mapping[str, Source]) -> int:
    """The column of a place in its line of code, in UTF-8 bytes from 0, as torch counts; -1 if it is not known."""
    source = sources.get(where.path)
    if source is None:
        return -1
    row = code_line(where, sources)
    lines = source.code.split("\n")
    line = lines[row - 1] if row <= len(lines) else ""
    column = where.column - 1
    if source.origins is not None and row <= len(source.origins):
        origin = source.origins[row - 1]
        column += origin.indent - origin.column
    return len(line[: max(column, 0)].encode("utf-8", "surrogatepass"))


def _implements(marker: Location, sources: Mapping[str, Source]) -> bool:
    """Whether a marker registers an implementation, and does not replace the function by the operator."""
    source = sources.get(marker.path)
    lines = source.code.split("\n") if source is not None else []
    line = code_line(marker, sources)
    return line <= len(lines) and _REGISTERING.search(lines[line - 1]) is not None


def _places(related: Iterable[RelatedLocation], sources: Mapping[str, Source]) -> frozenset[tuple[str, int]]:
    return frozenset((os.path.abspath(one.location.path), code_line(one.location, sources)) for one in related)


def code_line(location: Location, sources: Mapping[str, Source]) -> int:
    """The line of the analysed code that a user's position lies on; of a notebook, in the cells joined.

    A row of a page can hold several lines of code.
    """
    source = sources.get(location.path)
    if source is None or source.origins is None:
        return location.row
    origins = source.origins
    lines = [n for n, o in enumerate(origins, 1) if o.row == location.row and o.cell == location.cell]
    begun = [n for n in lines if origins[n - 1].column < location.column] or lines
    return max(begun, key=lambda n: origins[n - 1].column) if begun else location.row
