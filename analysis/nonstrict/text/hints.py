"""Whether a text may hold suppression comments: asked of every marked file, before what reads them is loaded."""

from __future__ import annotations

import re

#: A `noqa` for everything or for one of our rules; those for the codes of other tools are not ours.
_NOQA = re.compile(r"noqa(?!\s*:)|noqa\s*:[^\n]*NST", re.IGNORECASE)


_OURS = re.compile(r"nonstrict(?::|\s+(?:file-)?ignore\s*\[)", re.IGNORECASE)


def may_suppress(text: str, *, found: bool) -> bool:
    """Whether a text may hold suppressions that matter.

    Without findings in the file (`found`), a `noqa` of other tools says nothing; ours may be unused.
    """
    return _OURS.search(text) is not None or ((found or "NST" in text) and _NOQA.search(text) is not None)
