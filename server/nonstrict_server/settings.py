"""The settings of the client, section `nonstrict`: read leniently, as every editor hands them over in its own way."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, cast

SECTION = "nonstrict"
#: What users meet as `[tool.nonstrict]` keys and may set in the editor as well.
_PASSED_ON = {"select": "select", "ignore": "ignore", "extendSelect": "extend-select", "torchVersion": "torch-version"}


class ClientSettings(NamedTuple):
    """What the user set in the editor, for one workspace folder.

    `overrides` go on top of the configuration files, by their keys. `confirm` is `off`, `onDemand` or `onSave`,
    `log_level` one of `nonstrict_server.tracing.LEVELS`, empty if the user says nothing.
    """

    enable: bool = True
    overrides: tuple[tuple[str, object], ...] = ()
    whole_workspace: bool = False
    on_save: bool = False
    confirm: str = "onDemand"
    device: str = "auto"
    timeout: float = 60.0
    code_lens: bool = True
    inlay_hints: bool = True
    break_hints: bool = True
    symbols: bool = True
    tokens: bool = False
    fix_all: bool = True
    syntax_errors: bool = True
    show_messages: bool = True
    log_level: str = ""


DEFAULTS = ClientSettings()


def client_settings(value: object, root: str = "") -> ClientSettings:
    """The settings in what a client sent; what is missing or makes no sense has its default.

    Nested tables and dotted keys are the same; relative paths belong to `root`.
    """
    given = _Given(value)
    mode = given.text("confirm.mode", DEFAULTS.confirm)
    device = given.text("confirm.device", DEFAULTS.device)
    notifications = given.text("showNotifications", "onError")
    return ClientSettings(
        enable=given.flag("enable", True),
        overrides=tuple(_overrides(given, root)),
        whole_workspace=given.text("diagnosticMode", "") == "workspace",
        on_save=given.text("lint.run", "onType") == "onSave",
        confirm=mode if mode in {"off", "onDemand", "onSave"} else DEFAULTS.confirm,
        device=device if device in {"auto", "cpu", "cuda"} else DEFAULTS.device,
        timeout=given.number("confirm.timeout", DEFAULTS.timeout),
        code_lens=given.flag("codeLens.enable", True),
        inlay_hints=given.flag("inlayHints.enable", True),
        break_hints=given.flag("inlayHints.graphBreaks", True),
        symbols=given.flag("documentSymbols.enable", True),
        tokens=given.flag("semanticTokens.enable", False),
        fix_all=given.flag("fixAll", True),
        syntax_errors=given.flag("syntaxErrors", True),
        show_messages=notifications != "off",
        log_level=given.text("logLevel", ""),
    )


def section_of(value: object) -> object:
    """The part of what a client sent that is about us: some send the section by its name, others its contents."""
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    for key in (SECTION, "settings"):
        if isinstance(table.get(key), dict):
            return section_of(table[key])
    return table


def _overrides(given: _Given, root: str) -> list[tuple[str, object]]:
    """The keys of `[tool.nonstrict]` that the editor sets."""
    found: list[tuple[str, object]] = []
    configuration = given.get("configuration")
    if isinstance(configuration, str) and configuration:
        found.append(("extend", os.path.join(root, os.path.expanduser(configuration))))
    elif isinstance(configuration, dict):
        found += cast("dict[str, object]", configuration).items()
    for name, key in _PASSED_ON.items():
        value = given.get(name)
        if value is not None and value != []:
            found.append((key, value))
    interpreter = given.get("interpreter")
    if isinstance(interpreter, list):
        interpreter = next(iter(cast("list[object]", interpreter)), None)
    if isinstance(interpreter, str) and interpreter:
        path = os.path.expanduser(interpreter.replace("${workspaceFolder}", root))
        found.append(("python", os.path.join(root, path)))
    return found


class _Given:
    """What a client sent, asked by dotted keys."""

    def __init__(self, value: object) -> None:
        self._table = cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    def get(self, key: str) -> object:
        if key in self._table:
            return self._table[key]
        here: object = self._table
        for part in key.split("."):
            here = cast("dict[str, object]", here).get(part) if isinstance(here, dict) else None
        return here

    def flag(self, key: str, default: bool) -> bool:
        value = self.get(key)
        return value if isinstance(value, bool) else default

    def text(self, key: str, default: str) -> str:
        value = self.get(key)
        return value if isinstance(value, str) else default

    def number(self, key: str, default: float) -> float:
        value = self.get(key)
        known = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        return float(cast("float", value)) if known else default
