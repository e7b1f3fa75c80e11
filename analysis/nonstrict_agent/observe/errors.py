"""What an exception really says: the whole chain behind it, and the line of the user's code that holds the cause.

torch wraps every error of a traced body in general ones ("Unsupported output type ..." for an access to `data_ptr`):
the innermost exception with a frame in the user's files holds the true reason. `__suppress_context__` is ignored on
purpose, because torch raises `from None` over user errors.
"""

from __future__ import annotations

import re
import traceback
from typing import TYPE_CHECKING, Any

from nonstrict_agent.process_groups import is_asked_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_TEXT = 600
_MAX_LINKS = 12
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_GRAPH_BREAK_ID = re.compile(r"\bgb\d{4}\b|GB\d{4}", re.IGNORECASE)


def describe_error(error: BaseException, is_user: Callable[[str], bool]) -> dict[str, Any]:
    """An error as JSON.

    `links` are the exceptions from the outermost to the innermost, each `{"type", "message", "frames"}` with the
    frames in the user's files, outermost first, and `span`, where the innermost of them is known to the column: the
    first and last line of the expression that raised, and its first and last column in UTF-8 bytes; `cause` is the
    link that holds the true reason. `asks_for_group` is there, and true, where torch asks for a default process group.
    """
    links = [_link(link, is_user) for link in _chain(error)]
    with_frames = [index for index, link in enumerate(links) if link["frames"]]
    cause = with_frames[-1] if with_frames else len(links) - 1
    found = _GRAPH_BREAK_ID.search("".join(link["text"] for link in links))
    for link in links:
        link["message"] = link.pop("text")[:_MAX_TEXT]
    told = {"links": links, "cause": cause, "graph_break": found.group(0).upper() if found else ""}
    return {**told, "asks_for_group": True} if is_asked_for(error) else told


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen and len(seen) < _MAX_LINKS:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _link(error: BaseException, is_user: Callable[[str], bool]) -> dict[str, Any]:
    text = _text(error)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_user(frame.filename)]
    own = [frame for frame in own if frame.lineno is not None]
    frames = [[frame.filename, frame.lineno] for frame in own]
    # Dynamo tells where in the user's code it stood in the text alone.
    told = [[name, int(line)] for name, line in _FRAME.findall(text) if is_user(name)]
    link = {"type": type(error).__name__, "text": text, "frames": frames + told, "told": bool(told)}
    span = _span(own[-1]) if own and not told else None
    return link if span is None else {**link, "span": span}


def _span(frame: traceback.FrameSummary) -> list[int] | None:
    """Where the expression stands that a frame was at; None where Python does not tell (before 3.11)."""
    found: list[int | None] = [getattr(frame, name, None) for name in ("lineno", "end_lineno", "colno", "end_colno")]
    known = [number for number in found if number is not None]
    return known if len(known) == len(found) else None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as second:  # noqa: BLE001 - a user's __str__ may raise anything
        return f"<str raised {type(second).__name__}>"
