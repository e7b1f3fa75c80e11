"""Patterns of files that cannot be meant: what is opened in them is never closed."""

from __future__ import annotations


def wrong_glob(glob: str) -> str:
    """What is wrong with a pattern, as the end of a sentence about it; "" if nothing is."""
    if not glob.strip("/! "):
        return "matches nothing"
    index, depth = 0, 0
    while index < len(glob):
        character = glob[index]
        if character == "[":
            # A bracket that stands first belongs to the class: `[]]`, `[!]]`.
            start = index + 2 + (glob[index + 1 : index + 2] in ("!", "^"))
            end = glob.find("]", start)
            if end < 0:
                return "has a `[` without its `]`"
            index = end
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return "has a `}` without its `{`"
        index += 1
    return "has a `{` without its `}`" if depth else ""
