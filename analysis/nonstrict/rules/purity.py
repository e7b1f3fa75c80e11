"""May a function be marked? What the rules on bodies say of it, and what they could not see.

Used by `nonstrict audit`, and by rules that offer a marker only for functions that are safe to mark. `RULES` is passed
in: rules cannot import the registry, which imports them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict import events
from nonstrict.events import Event
from nonstrict.findings import Finding, Related, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nonstrict.program.domain.effects import Effect
    from nonstrict.rules.base import Body, Rule

#: Headings for the families of rules, in the order of reports.
FAMILIES = {
    "NST1": "captures",
    "NST2": "effects",
    "NST3": "determinism",
    "NST4": "pointers and escapes",
    "NST5": "boundary",
    "NST6": "marker",
}


class Unseen(NamedTuple):
    """Something that was not looked into, and the calls that lead to it."""

    span: Span
    message: str
    chain: tuple[Related, ...]


class Certificate(NamedTuple):
    """What is known of a function that somebody wants to mark.

    `obstacles` go wrong when it is marked; `notes` are true and cost nothing yet; `unseen` is what nobody looked into.
    """

    function: str
    obstacles: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    unseen: tuple[Unseen, ...]

    @property
    def verdict(self) -> str:
        """`pure`, `obstacles`, or `unknown`: no obstacle was found, but something was not looked into."""
        if self.obstacles:
            return "obstacles"
        return "unknown" if self.unseen else "pure"


def family(code: str) -> str:
    """The heading under which a rule's findings stand."""
    return FAMILIES.get(code[:4], "other")


def certificate(body: Body, rules: Iterable[Rule]) -> Certificate:
    """Ask all rules that apply to the marker of a body."""
    return certified(body, (finding for _, found in asked(body, rules) for finding in found), unseen_of(body))


def asked(body: Body, rules: Iterable[Rule]) -> Iterator[tuple[str, Iterable[Finding]]]:
    """What each rule that applies to the marker of a body finds in it, by its code; none is asked before its turn."""
    for rule in rules:
        if rule.examine is not None and body.marker in rule.markers:
            yield rule.code, _turned(rule.examine, body)


def _turned(examine: Callable[[Body], Iterable[Finding]], body: Body) -> Iterator[Finding]:
    yield from examine(body)


def certified(body: Body, told: Iterable[Finding], unseen: Iterable[Unseen]) -> Certificate:
    """The certificate that some findings in a body are."""
    found: dict[tuple[str, Span], Finding] = {}
    for finding in told:
        found.setdefault((finding.code, finding.span), _without_marker(finding, body))
    findings = tuple(found.values())
    return Certificate(
        body.function,
        tuple(finding for finding in findings if finding.severity > Severity.NOTE),
        tuple(finding for finding in findings if finding.severity is Severity.NOTE),
        tuple(unseen),
    )


def _without_marker(finding: Finding, body: Body) -> Finding:
    """The finding without the link to a marker that nobody wrote."""
    kept = tuple(related for related in finding.related if related.span != body.marked_at)
    return finding._replace(related=kept, links=max(finding.links - (len(finding.related) - len(kept)), 0))


def unseen_of(body: Body) -> Iterator[Unseen]:
    """What of a body was not looked into: once for each expression, as a call covers the reading of what it calls."""
    seen: set[tuple[str, int, int]] = set()
    noted = sorted(body.observed(Event.UNSEEN), key=lambda note: note.effect.how is events.Unseen.VALUE)
    for note in noted:
        span = note.effect.span
        if (span.path, span.line, span.column) not in seen:
            seen.add((span.path, span.line, span.column))
            yield Unseen(span, _told(note.effect), body.chain(note)[1:])


def _told(effect: Effect) -> str:
    node = effect.node
    text = _short(ast.unparse(node.func if isinstance(node, ast.Call) else node))
    if effect.how is events.Unseen.OUTSIDE:
        package = effect.value.dotted.partition(".")[0]
        return f"`{text}()` is defined in `{package}`, which is not followed"
    if effect.how is events.Unseen.MODULE:
        return f"`{text}()` calls a module, and it is not known which layers it holds"
    if effect.how is events.Unseen.BUDGET:
        return f"`{text}()` was not followed: the function reaches too many others"
    if effect.how is events.Unseen.VALUE:
        return f"`{text}` is read from outside the function, and it is not known what it holds"
    if effect.how is events.Unseen.WRITE:
        return f"`{text} = ...` changes an argument, and it is not known what that is"
    return f"`{text}()`: it is not known what this calls"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 3] + "..."


_MAX_TEXT = 60
