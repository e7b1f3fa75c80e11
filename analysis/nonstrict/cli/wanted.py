"""Which fixes a run of `nonstrict check` has a use for: to find them costs as much as to find the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability

if TYPE_CHECKING:
    import argparse

    from nonstrict.settings.model import Settings

#: Formats that show fixes, and formats that only mark findings that `--fix` mends, and count.
_SHOWING = frozenset({"full", "json", "json-lines", "rdjson", "sarif"})
_MARKING = frozenset({"concise", "grouped"})


def least_wanted(settings: Settings, options: argparse.Namespace) -> Applicability | None:
    """The least applicability of the fixes that a run shows, counts or makes; None if it does nothing with fixes."""
    if options.add_ignore is not None or options.write_baseline is not None:
        return None
    making = settings.fix or settings.fix_only or options.diff
    wanted = [_counted(settings, options)] if making else []
    if not (settings.fix_only or options.diff):
        shown = _shown(settings, options)
        wanted += [shown] if shown is not None else []
    return min(wanted, default=None)


def _shown(settings: Settings, options: argparse.Namespace) -> Applicability | None:
    if options.silent:
        return None
    if options.statistics or settings.output_format in _MARKING:
        return _counted(settings, options)
    return Applicability.DISPLAY if settings.output_format in _SHOWING else None


def _counted(settings: Settings, options: argparse.Namespace) -> Applicability:
    """What `--fix` makes, and what a closing line says that `--unsafe-fixes` would add."""
    hidden = settings.unsafe_fixes is None and not (options.quiet or options.silent)
    return Applicability.UNSAFE if hidden else settings.least
