"""What a run of `nonstrict check` has a use for beside findings, as it costs time: fixes, details of regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability

if TYPE_CHECKING:
    import argparse

    from nonstrict.settings.model import Settings

#: Formats that show fixes, and formats that only mark findings that `--fix` mends, and count.
_SHOWING = frozenset({"full", "json", "json-lines", "rdjson", "sarif", "html", "agent"})
_MARKING = frozenset({"concise", "grouped"})
#: Formats that tell of each compiled region what becomes of it.
_DETAILED = frozenset({"html"})


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


def details_wanted(settings: Settings, options: argparse.Namespace) -> bool:
    """Whether a run shows what becomes of each compiled region, which the cache does not keep."""
    without = options.silent or options.statistics or options.diff or settings.fix_only
    return settings.output_format in _DETAILED and not without and options.add_ignore is None


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
