"""Calls back after a module has been imported, without importing it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _Finder:
    """Asks the other finders, and has the loader of a module that is waited for call back."""

    def __init__(self) -> None:
        self.waiting: dict[str, Callable[[ModuleType], None]] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The specification of a module that is waited for; None for every other."""
        if name not in self.waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                self._follow(name, spec.loader)
                return spec
        return None

    def _follow(self, name: str, loader: Any) -> None:
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module: ModuleType) -> None:
            # Gone before the module runs: its loader looks as it always does.
            del loader.exec_module
            execute(module)
            callback = self.waiting.pop(name, None)
            if callback is not None:
                callback(module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            # A loader of fixed shape: the module is not followed.
            return


_finder = _Finder()


def when_imported(name: str, callback: Callable[[ModuleType], None]) -> None:
    """Call back once the module called `name` has been executed, at once if it has been already."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        callback(loaded)
        return
    _finder.waiting[name] = callback
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
