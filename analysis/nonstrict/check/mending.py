"""Adds to findings the ways to mend them, as far as their rules know any and the text allows them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from nonstrict.check.records import Records
from nonstrict.findings import Applicability
from nonstrict.fixes.context import Context, Documents
from nonstrict.fixes.uses.leftovers import without_leftovers
from nonstrict.rules.registry import RULES
from nonstrict.text.lexer import comments
from nonstrict.text.source import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nonstrict.check.examination import Told
    from nonstrict.check.faults import Faults
    from nonstrict.findings import Edit, Finding, Fix
    from nonstrict.fixes.code.documents import Document
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.state.machine import Machine

Key = TypeVar("Key")
#: Lines of a function that are read to mend what is found in it: all of it for each finding. What remains is mended
#: once the first ones are.
_REACH = 20_000


def mended(
    machine: Machine,
    found: Mapping[Key, Finding],
    told: Iterable[Told],
    faults: Faults,
    known: dict[str, Document | None] | None = None,
    records: Records | None = None,
    least: Applicability = Applicability.DISPLAY,
) -> dict[Key, Finding]:
    """Some findings, each with the fixes of its rule; `told` are the bodies that they were found in.

    A fix whose making fails is added to the `faults`. Rules whose fixes all are of an applicability below `least` are
    not asked.

    `known` are files that were read for the fixes of other parts, and is added to; so are the `records` that were
    looked for. Among hundreds of findings in one long function the later ones get no fixes.
    """
    # Who else comes to a place is known of the findings of all only.
    each = {finding._replace(others=()): one.body for one in told for finding in one.findings}
    bodies = {one: body for one in found.values() if (body := each.get(one._replace(others=()))) is not None}
    documents = Documents(machine, known, (records or Records()).of)
    codes = {code for code, rule in RULES.items() if rule.fixes is not None and rule.surest >= least}
    wanted = _within_reach(bodies, (one for one in found.values() if one.code in codes))
    return {
        key: finding._replace(fixes=_fixes(documents, bodies, finding, faults) if finding in wanted else ())
        for key, finding in found.items()
    }


def _within_reach(bodies: Mapping[Finding, MarkedBody], found: Iterable[Finding]) -> set[Finding]:
    """The findings that fixes are looked for, of each body the first ones as long as that is done in seconds."""
    wanted: set[Finding] = set()
    read: Counter[MarkedBody] = Counter()
    for finding in sorted(found, key=lambda one: one.span):
        body = bodies.get(finding)
        if body is not None and read[body] <= _REACH:
            read[body] += _lines(body)
            wanted.add(finding)
    return wanted


def _lines(body: MarkedBody) -> int:
    node = body.mark.function.node if body.mark.function is not None else None
    return (node.end_lineno or node.lineno) - node.lineno + 1 if node is not None else 1


def _fixes(
    documents: Documents, bodies: Mapping[Finding, MarkedBody], finding: Finding, faults: Faults
) -> tuple[Fix, ...]:
    rule, body = RULES.get(finding.code), bodies.get(finding)
    if rule is None or rule.fixes is None or body is None:
        return ()
    fixes: list[Fix] = []
    subject = f"fix of {finding.code} in `{finding.function}`"
    with faults.losing("was not made", subject, finding.span, function=finding.function, marker=finding.marker):
        # Those that were made before one fails are kept.
        made = (fix for fix in rule.fixes(Context(documents, body, finding)) if _is_sound(documents, fix))
        fixes.extend(_whole(documents, body, fix) for fix in made)
    return tuple(fixes)


def _whole(documents: Documents, body: MarkedBody, fix: Fix) -> Fix:
    """A fix that leaves nothing without a use, as far as that can be taken out with it."""
    cleaned = without_leftovers(documents.uses, body, fix)
    best = cleaned if _is_sound(documents, cleaned) else fix
    return best._replace(edits=_ordered(best.edits))


def _ordered(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    return tuple(sorted(dict.fromkeys(edits), key=lambda edit: edit.span))


def _is_sound(documents: Documents, fix: Fix) -> bool:
    """Whether the edits can be made: none overlaps another one, and each replaces code as the file has it."""
    edits = _ordered(fix.edits)
    apart = all(one.span.path != other.span.path or one.span[3:] <= other.span[1:3] for one, other in pairwise(edits))
    return bool(edits) and apart and all(_is_faithful(documents, edit) for edit in edits) and _keeps(documents, edits)


def _keeps(documents: Documents, edits: tuple[Edit, ...]) -> bool:
    """Whether no comment is lost but those on the lines of what is taken out as a whole."""
    written = "".join(edit.text for edit in edits)
    for edit in edits:
        document = documents.document(edit.span.path)
        if document is None:
            return False
        start = document.offset(edit.span.line, edit.span.column)
        end = document.offset(edit.span.end_line, edit.span.end_column)
        code = document.code[start:end]
        whole = edit.text.strip() in ("", "pass") and not document.lines[edit.span.line - 1][: edit.span.column].strip()
        if not whole and any(code[first:last].rstrip() not in written for first, last in comments(code)):
            return False
    return True


def _is_faithful(documents: Documents, edit: Edit) -> bool:
    """Whether the code that an edit replaces is the text of the file: not so where magics or prompts were masked."""
    document = documents.document(edit.span.path)
    if document is None:
        return False
    source = document.source
    if source.kind is SourceKind.PYTHON:
        return True
    where = source.locate(edit.span)
    lines = [source.line_text(row, where.cell) for row in range(where.row, where.end_row + 1)]
    rows = range(edit.span.line, edit.span.end_line + 1)
    return len(rows) == len(lines) and all(
        document.lines[row - 1] == line for row, line in zip(rows, lines, strict=True)
    )
