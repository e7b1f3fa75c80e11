"""Names by which some files apply markers, and which files may mean them: those that import from where they are known.

A function or variable that is called the same in a file that imports nothing of the kind is another one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from nonstrict.facts.words import identifiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.linking.project import Project

#: An import, at the top level or within a function: dots, module and names, or modules.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<module>[\w.]*)[ \t]+import\b[ \t]*"
    r"(?P<names>\([^)]*\)|(?:[^\n\\]|\\\n)*)|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)


class Applied(NamedTuple):
    """Names that apply markers: those that are a marker, or return what one made, and others, which are `applying`.

    Of the first, those that are `compiling` mark nothing: they compile regions.
    """

    marking: frozenset[str] = frozenset()
    applying: frozenset[str] = frozenset()
    compiling: frozenset[str] = frozenset()

    @property
    def every(self) -> frozenset[str]:
        """All of them."""
        return self.marking | self.applying


class Exports:
    """By name, the files that define, or hand on, what applies a marker."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        #: by name and file, whether the name is a marker there, or what it returns may be marked
        self._of: dict[str, dict[str, bool]] = {}
        #: by name, the files in which all that it does is to compile
        self._compiling: dict[str, set[str]] = {}
        self._imported: WeakKeyDictionary[Module, set[str]] = WeakKeyDictionary()

    def told(self) -> tuple[list[tuple[str, Mapping[str, bool]]], list[tuple[str, list[str]]]]:
        """All that is known, for `of`."""
        return sorted(self._of.items()), [(name, sorted(paths)) for name, paths in sorted(self._compiling.items())]

    @classmethod
    def of(
        cls, known: Iterable[tuple[str, Mapping[str, bool]]], compiling: Iterable[tuple[str, Iterable[str]]]
    ) -> Exports:
        """What is known by name: the files, with whether it is a marker there, and those where it only compiles."""
        made = cls()
        made._of = {name: dict(paths) for name, paths in known}
        made._compiling = {name: set(paths) for name, paths in compiling}
        return made

    def known(self) -> Mapping[str, frozenset[str]]:
        """The names, with the files that they are known in."""
        return {name: frozenset(paths) for name, paths in self._of.items()}

    def marking(self) -> frozenset[str]:
        """The names that are a marker somewhere, or return what one made; not those that compile and mark nothing."""
        return frozenset(
            name
            for name, marks in self._of.items()
            if any(marks[path] for path in marks.keys() - self._compiling.get(name, ()))
        )

    def add(self, path: str, names: Applied) -> None:
        """A file applies markers by some names."""
        for name in names.every:
            known = self._of.setdefault(name, {})
            known[path] = known.get(path, False) or name in names.marking
            if name in names.compiling:
                self._compiling.setdefault(name, set()).add(path)

    def hand_on(self, project: Project, modules: Iterable[Module]) -> None:
        """Add the files that import such a name from where it is known to be: others may import it from them."""
        pending = list(modules)
        while True:
            handing = [self._hands_on(project, module) for module in pending]
            if not any(handing):
                return
            pending = [module for module, hands in zip(pending, handing, strict=True) if not hands]

    def _hands_on(self, project: Project, module: Module) -> bool:
        imported = self._imports(project, module)
        handed = {
            name: marks
            for name, paths in self._of.items()
            if module.path not in paths
            and (marks := _marks(paths, imported)) is not None
            and (name in module.bindings or module.star_imports)
        }
        marking = frozenset(name for name, marks in handed.items() if marks)
        self.add(module.path, Applied(marking, frozenset(handed) - marking, self._only_compile(marking, imported)))
        return bool(handed)

    def _only_compile(self, names: Iterable[str], reached: AbstractSet[str]) -> frozenset[str]:
        """Those of some names that compile and mark nothing in all of the files that are reached."""
        known = ((name, self._of[name].keys() & reached) for name in names)
        return frozenset(name for name, paths in known if paths <= self._compiling.get(name, set()))

    def meant_in(self, project: Project, module: Module) -> Applied:
        """Those of the names that a module may mean."""
        reached = {module.path, *self._imports(project, module)}
        found = ((name, marks) for name, paths in self._of.items() if (marks := _marks(paths, reached)) is not None)
        meant = {name: marks for name, marks in found if any(True for _ in module.outline.places((name,)))}
        marking = frozenset(name for name, marks in meant.items() if marks)
        return Applied(marking, frozenset(meant) - marking, self._only_compile(marking, reached))

    def _imports(self, project: Project, module: Module) -> set[str]:
        """The files that a module imports, or imports from."""
        if module not in self._imported:
            found = (project.find(dotted, module) for dotted in _named(project, module))
            self._imported[module] = {path for path in found if path is not None}
        return self._imported[module]


def _marks(paths: Mapping[str, bool], reached: AbstractSet[str]) -> bool | None:
    """Whether what some files call by a name may be marked, of those that are reached; None if none is."""
    if reached.isdisjoint(paths):
        return None  # most names of a large tree mean nothing in most of its files
    return any(marks for path, marks in paths.items() if path in reached)


def _named(project: Project, module: Module) -> Iterator[str]:
    for match in _IMPORT.finditer(module.source.code):
        if match["modules"] is not None:
            for one in match["modules"].split(","):
                parts = one.split(" as ")[0].strip().split(".")
                yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
            continue
        dotted = project.absolute(match["module"], len(match["dots"]), module)
        yield dotted
        yield from (f"{dotted}.{name}" if dotted else name for name in identifiers(match["names"]))
