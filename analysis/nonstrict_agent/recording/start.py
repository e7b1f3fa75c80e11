"""Where recording begins in a process: torch is not imported, only waited for."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nonstrict_agent.recording.imports import when_imported
from nonstrict_agent.recording.spool import Spool

if TYPE_CHECKING:
    from types import ModuleType

#: Distinct signatures kept for a function, unless the command says otherwise.
LIMIT = 8


class Settings(NamedTuple):
    """What `nonstrict record` asks for: functions below `root`, so many signatures each, torch.compile off or on."""

    root: str
    limit: int
    eager: bool


def start(directory: str) -> None:
    """Record calls to files in `directory`, once this process has imported torch; the environment says which."""
    limit = os.environ.get("NONSTRICT_RECORD_LIMIT", "")
    settings = Settings(
        os.path.realpath(os.environ.get("NONSTRICT_RECORD_ROOT") or os.curdir),
        int(limit) if limit.isdigit() else LIMIT,
        os.environ.get("NONSTRICT_RECORD_EAGER") == "1",
    )
    spool = Spool(directory)
    spool.write({"event": "python"})
    for name in ("torch", "torch._dynamo", "torch.fx.experimental.proxy_tensor"):
        when_imported(name, partial(_hook, name, settings, spool))


def _hook(name: str, settings: Settings, spool: Spool, module: ModuleType) -> None:
    try:
        from nonstrict_agent.recording.calls import recorder
        from nonstrict_agent.recording.marks import HOOKS

        HOOKS[name](module, recorder(settings.root, spool, settings.limit, eager=settings.eager))
    except Exception as error:  # noqa: BLE001 - the command goes on without being recorded
        spool.write({"event": "failed", "text": f"{name}: {type(error).__name__}: {error}"})
