"""What comments may tell nonstrict: suppressions (`# nonstrict: ignore[...]`), and inputs for experiments."""

from __future__ import annotations

import re

#: The directives of suppressions.
SUPPRESSIONS = ("ignore", "file-ignore")
#: The one that gives arguments, and its form: group 1 is the call.
INPUTS = "inputs"
INPUTS_FORM = re.compile(r"#\s*nonstrict:\s*(inputs\(.*\))\s*$", re.MULTILINE)
#: What stands before a directive that lacks its colon.
WITHOUT_COLON = "nonstrict "
#: A comment, or a part of one, that begins as directives do.
BEGINNING = re.compile(r"#\s*nonstrict(?::\s*(?P<word>[\w-]*)|\s+(?P<bare>(?:file-)?ignore)(?=\s*\[))", re.IGNORECASE)


def misspelled(comment: str, start: int, found: re.Match[str]) -> str | None:
    """The word of a beginning at `start` that no directive has; None for what is one."""
    if found["bare"]:
        return f"{WITHOUT_COLON}{found['bare']}"
    word = found["word"]
    if word.lower() in SUPPRESSIONS or (word == INPUTS and INPUTS_FORM.match(comment, start)):
        return None
    return word


def advice_on(word: str) -> tuple[str, str]:
    """What is wrong with a comment whose word no directive has, and what to do about it."""
    from difflib import get_close_matches

    if word == INPUTS:
        return f"`{INPUTS}` gives no arguments: the comment does nothing", "write `inputs(x=expression)` on one line"
    if not word:
        return "a comment without a directive suppresses nothing", _FORMS
    said = f"`{word}` is not a directive: the comment suppresses nothing"
    if word.startswith(WITHOUT_COLON):
        return said, "put a colon after `nonstrict`"
    known = (*SUPPRESSIONS, INPUTS)
    turned = "-".join(reversed(word.lower().split("-")))
    close = [turned] if turned in known else get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return said, f"did you mean `{close[0]}`?" if close else _FORMS


_FORMS = "write `ignore[RULE]` or `file-ignore[RULE]`"
