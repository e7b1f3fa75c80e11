"""What a first look at files told, by what they hold: after an edit only files of another text are looked at again.

It does not depend on settings: all runs of a version of nonstrict share one entry, one for each Python, which
decides what parses.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nonstrict.check.cache.contents import GONE
from nonstrict.check.shares import Glance
from nonstrict.text.source import SourceKind, source_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.check.cache.runs import Cache

_NAME = f"glances-{sys.version_info[0]}.{sys.version_info[1]}.json"
#: Looks at texts that no file of the run has are kept, up to so many in all: other runs and branches have them.
_MOST = 50_000


class Glances:
    """The looks that an earlier run took at the files of this one."""

    def __init__(self, cache: Cache) -> None:
        """Read what is kept."""
        self._cache = cache
        self._kept: dict[str, list[int] | None] = cache.entries.load(_NAME) or {}

    def known(self) -> dict[str, Glance | None]:
        """What is known, by path."""
        kept, digests = self._kept, self._cache.digests
        return {path: _glance(kept[digest]) for path, digest in digests.items() if digest in kept and _is_code(path)}

    def keep(self, found: Mapping[str, Glance | None]) -> None:
        """Keep looks at further files, unless one changed since the run began."""
        digests = {path: self._cache.known_digest(path) for path in found if _is_code(path)}
        if not digests or not self._cache.is_settled(digests):
            return
        new = {digest: _told(found[path]) for path, digest in digests.items() if digest != GONE}
        kept = {**self._kept, **new}
        if len(kept) > _MOST:
            used = set(self._cache.digests.values())
            kept = {digest: told for digest, told in kept.items() if digest in used}
        self._cache.entries.keep(_NAME, kept)


def _is_code(path: str) -> bool:
    """Whether what is code in a file is decided by its bytes alone: notebooks and pages hold more than that."""
    return source_kind(path) is SourceKind.PYTHON


def _glance(told: list[int] | None) -> Glance | None:
    return Glance(told[0], told[1], bool(told[2]), bool(told[3])) if told is not None else None


def _told(glance: Glance | None) -> list[int] | None:
    return [int(one) for one in glance] if glance is not None else None
