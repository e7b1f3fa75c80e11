"""Names by which some files apply markers, and which other files may mean them: those that import from them.

A function or variable that is called the same in a file that imports nothing of the kind is another one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nonstrict.facts.words import identifiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.modules import Module
    from nonstrict.program.project import Project

#: An import, at the top level or within a function: dots, module and names, or modules.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<module>[\w.]*)[ \t]+import\b[ \t]*"
    r"(?P<names>\([^)]*\)|(?:[^\n\\]|\\\n)*)|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)


class Exports:
    """By name, the files that define, or hand on, what applies a marker."""

    def __init__(self, project: Project) -> None:
        """Nothing is known yet."""
        self._project = project
        self._of: dict[str, set[str]] = {}
        self._imported: dict[str, set[str]] = {}

    def add(self, path: str, names: Iterable[str]) -> None:
        """A file applies markers by some names."""
        for name in names:
            self._of.setdefault(name, set()).add(path)

    def hand_on(self, modules: Iterable[Module]) -> None:
        """Add the files that import such a name from where it is known to be: others may import it from them."""
        pending = list(modules)
        while handing := [module for module in pending if self._hands_on(module)]:
            pending = [module for module in pending if module not in handing]

    def _hands_on(self, module: Module) -> bool:
        handed = [
            name
            for name, paths in self._of.items()
            if module.path not in paths and name in module.bindings and not paths.isdisjoint(self._imports(module))
        ]
        self.add(module.path, handed)
        return bool(handed)

    def meant_in(self, module: Module) -> set[str]:
        """Those of the names that a module may mean."""
        reached = {module.path, *self._imports(module)}
        names = (name for name, paths in self._of.items() if not paths.isdisjoint(reached))
        return {name for name in names if any(True for _ in module.outline.places((name,)))}

    def _imports(self, module: Module) -> set[str]:
        """The files that a module imports, or imports from."""
        if module.path not in self._imported:
            found = (self._project.find(dotted, module) for dotted in self._named(module))
            self._imported[module.path] = {path for path in found if path is not None}
        return self._imported[module.path]

    def _named(self, module: Module) -> Iterator[str]:
        for match in _IMPORT.finditer(module.source.code):
            if match["modules"] is not None:
                for one in match["modules"].split(","):
                    parts = one.split(" as ")[0].strip().split(".")
                    yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
                continue
            dotted = self._project.absolute(match["module"], len(match["dots"]), module)
            yield dotted
            yield from (f"{dotted}.{name}" if dotted else name for name in identifiers(match["names"]))
