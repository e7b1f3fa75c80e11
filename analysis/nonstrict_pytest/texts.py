"""What is said of what was compiled: expected and measured, each break and each recompilation with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report.style import one_line
from nonstrict.report.summary import plural
from nonstrict_pytest.expected import COUNTED
from nonstrict_pytest.findings import checked, regions_of, reports_of, settings_of
from nonstrict_pytest.listening import is_switched_off
from nonstrict_pytest.seen import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict_pytest.expected import Expected
    from nonstrict_pytest.seen import Seen

#: So many recompilations of one guard's place are listed; the rest is counted.
_LISTED = 8
_LIMIT, _AGAIN, _BREAK = "NST803", "NST804", "NST701"


def failure(expected: Expected, seen: Seen, root: str, test: str) -> str:
    """Why a test fails: the numbers, and what was compiled."""
    wrong = "; ".join(
        f"{plural(seen.number(name), COUNTED[name])}, expected {expected.numbers[name].told}"
        for name in expected.unmet(seen)
    )
    of = f"of {', '.join(f'`{one}`' for one in expected.only)}, " if expected.only else ""
    lines = [f"{of}torch.compile made {wrong}", *_details(seen, _rules(seen, root, test))]
    return "\n".join((*lines, *(() if seen.calls else _nothing(expected, seen))))


def overview(seen: Seen) -> str:
    """What was compiled in a test that failed for another reason."""
    counts = ", ".join(plural(seen.number(name), noun) for name, noun in COUNTED.items())
    return "\n".join((f"torch.compile made {counts}", *_details(seen, {})))


def _details(seen: Seen, rules: Mapping[tuple[str, int], str]) -> Iterator[str]:
    """Each break, with the rule that foretells it if `rules` were asked, each recompilation, and the regions."""
    if seen.breaks:
        yield "graph breaks:"
    for broken in seen.breaks:
        place = (broken.path, broken.line)
        rule = rules.get(place, f"{_BREAK}, observed")
        yield f"  {shown_path(broken.path)}:{broken.line}: {broken.text} [{rule}] in `{broken.function}`"
        if broken.library:
            yield f"      in {broken.library}"
        if broken.hint:
            yield f"      {one_line(broken.hint)}"
    again = seen.recompilations
    if again:
        yield "recompilations:"
    for one in again[:_LISTED]:
        yield f"  {shown_path(one.path)}:{one.line}: `{one.function}`: {one_line(one.guard)} [{_AGAIN}]"
    if again[_LISTED:]:
        yield f"  and {len(again) - _LISTED} more"
    for one in seen.given_up:
        yield f"  {shown_path(one.path)}:{one.line}: `{one.function}` was given up: {one_line(one.guard)} [{_LIMIT}]"
    yield from _regions(seen)


def _regions(seen: Seen) -> Iterator[str]:
    graphs: dict[tuple[str, int, str], int] = {}
    skipped: dict[tuple[str, int, str], str] = {}
    for one in seen.calls:
        key = one["path"], one["line"], one["function"]
        own = 0 if one["compiled"]["again"] else len(one["compiled"]["graphs"])
        graphs[key] = graphs.get(key, 0) + own
        skipped[key] = skipped.get(key) or one["compiled"]["skipped"]
    if graphs:
        yield "compiled regions:"
    for (path, line, function), number in graphs.items():
        why = skipped[path, line, function]
        told = plural(number, "graph") + (f" ({one_line(why)})" if why and not number else "")
        yield f"  {shown_path(path)}:{line}: `{function}`: {told}"


def _nothing(expected: Expected, seen: Seen) -> Iterator[str]:
    """Why there may be nothing to count."""
    others = sorted({one["function"] for one in seen.everything})
    if expected.only and others:
        yield f"what was compiled: {', '.join(f'`{one}`' for one in others)}"
    elif is_switched_off():
        yield "torch.compile is switched off in this process (TORCH_COMPILE_DISABLE)"
    else:
        yield "nothing was compiled: no compiled function was called, or it had been compiled before"


def _rules(seen: Seen, root: str, test: str) -> dict[tuple[str, int], str]:
    """The rules whose findings foretell breaks, by the places of these."""
    from nonstrict.settings.errors import ConfigurationError

    measured = regions_of(seen.calls)
    if not any(one.breaks for one in measured):
        return {}
    try:
        reports = reports_of(measured, checked(measured, [test], settings_of(root)))
    except ConfigurationError:
        return {}
    return {
        one.broken.lines[-1][:2]: f"{one.finding.code} {one.finding.name}"
        for report in reports
        for one in report.breaks
        if one.finding is not None
    }
