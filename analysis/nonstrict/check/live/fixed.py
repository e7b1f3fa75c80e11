"""What the texts of a folder become when fixes are applied to a fixpoint, told as edits; the texts stay as they are."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from nonstrict.check.fixing import fix
from nonstrict.check.run import CheckResult
from nonstrict.findings import LocatedEdit, Location
from nonstrict.text.decode import lossless
from nonstrict.text.source import source_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nonstrict.check.live.folder import Folder
    from nonstrict.findings import Diagnostic, LocatedFix
    from nonstrict.text.source import Source

    #: Row and column of the start and of the end, from 1.
    Place = tuple[int, int, int, int]
    #: What is to be done about the findings of a file.
    Choose = Callable[[Sequence[Diagnostic]], Iterable[tuple[Diagnostic, LocatedFix]]]


def fixed(
    folder: Folder, path: str, texts: Mapping[str, str], choose: Choose, checkpoint: Callable[[], None]
) -> tuple[LocatedEdit, ...]:
    """The edits, of whatever files, after which nothing that is chosen is left in a file.

    Args:
        folder: where the file lies; its texts are others for a while.
        path: the file whose findings are to be mended.
        texts: the open documents as `Folder.set_text` got them.
        choose: which fixes of which findings are to be made; others are not.
        checkpoint: called between rounds; what it raises ends all of this.
    """
    known = {one: data for one, text in texts.items() if (data := _bytes_of(text)) is not None}

    def examine(supposed: Mapping[str, Source]) -> CheckResult:
        checkpoint()
        with folder.supposing(supposed):
            found = folder.diagnostics(path)
            fixes = folder.fixes(path, found)
        told = tuple(one._replace(fixes=fixes.get((one.code, one.location), one.fixes)) for one in found)
        return CheckResult(told, 1, (), {})

    changes = fix(examine, lambda result: choose(result.diagnostics), known).changes
    return tuple(
        edit
        for change in changes
        for edit in differences(
            source_from_bytes(change.path, change.before), source_from_bytes(change.path, change.after)
        )
    )


def _bytes_of(text: str) -> bytes | None:
    """An open document as a file would hold it; None if its encoding cannot."""
    encoded = lossless(text.encode("utf-8", "surrogatepass"))
    data = encoded.bytes_of(text) if encoded is not None else None
    again = lossless(data) if data is not None else None
    return data if again is not None and again.text == text else None


def differences(before: Source, after: Source) -> Iterator[LocatedEdit]:
    """The edits that make one text of a file out of another, each of whole lines or within one; line ends are LF."""
    numbers = [cell.number for cell in before.cells if cell.number is not None] or [None]
    for number in numbers:
        for place, text in _joined(_differing(_lines(before, number), _lines(after, number))):
            yield LocatedEdit(Location(before.path, *place, number), text)


def _differing(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Place, str]]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    for tag, first, last, start, stop in matcher.get_opcodes():
        if tag != "equal":
            yield from _edits(old, (first + head, last + head), new[start + head : stop + head])


def _joined(edits: Iterable[tuple[Place, str]]) -> list[tuple[Place, str]]:
    """The same with those made one that touch: the order of two insertions at one place would be anybody's guess."""
    found: list[tuple[Place, str]] = []
    for place, text in edits:
        if found and found[-1][0][2:] == place[:2]:
            before, said = found.pop()
            found.append(((*before[:2], *place[2:]), said + text))
        else:
            found.append((place, text))
    return found


def _edits(old: Sequence[str], range_: tuple[int, int], new: Sequence[str]) -> Iterator[tuple[Place, str]]:
    """Replace some lines by others: as little of each as differs where they correspond, else as a whole."""
    first, last = range_
    if last - first == len(new):
        for row, (was, now) in enumerate(zip(old[first:last], new, strict=True), first + 1):
            head = _common(was, now)
            tail = _common(was[head:][::-1], now[head:][::-1])
            yield (row, head + 1, row, len(was) - tail + 1), now[head : len(now) - tail]
    elif last < len(old):
        yield (first + 1, 1, last + 1, 1), "".join(f"{line}\n" for line in new)
    elif first > 0:
        yield (first, len(old[first - 1]) + 1, last, len(old[-1]) + 1), "".join(f"\n{line}" for line in new)
    else:
        yield (1, 1, len(old), len(old[-1]) + 1), "\n".join(new)


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """How much two lines, or two texts, have in common at their beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _lines(source: Source, number: int | None) -> list[str]:
    """The lines of a file or cell as users see them."""
    if number is None:
        return source.file_lines
    found = next((one for one in source.cells if one.number == number), None)
    return [source.line_text(row, number) for row in range(1, found.lines + 1)] if found is not None else [""]
