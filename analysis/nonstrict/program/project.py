"""Finds and loads the modules that a program's imports name, in the project and in installed packages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.program.modules import Module
from nonstrict.text.source import UnreadableSource, read_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.facts.outline import Outline
    from nonstrict.text.source import Source


class Project:
    """Modules by path and by dotted name; reads files on demand.

    `overlays` are sources that stand for files (standard input, unsaved buffers) by path.
    `site_packages` are folders of installed packages: consulted last, for definitions only.
    """

    def __init__(self, site_packages: Iterable[str] = (), overlays: dict[str, Source] | None = None) -> None:
        self.site_packages = tuple(site_packages)
        self.overlays = overlays if overlays is not None else {}
        self.unreadable: dict[str, str] = {}
        self._modules: dict[str, Module | None] = {}
        self._paths: dict[tuple[str, str], str | None] = {}
        #: what the disk answered, and modules as they were last left: true for whoever asks (`anew`)
        self._searched: dict[tuple[str, str], str | None] = {}
        self._installed: dict[str, str | None] = {}
        self._known: dict[str, Module] = {}
        self._names: dict[str, tuple[str, str]] = {}
        self._is_package: dict[str, bool] = {}

    def anew(self) -> Project:
        """The same files, with the modules loaded so far, as if no machine had asked anything of them yet.

        What texts and the disk tell is shared, what was found out by interpreting is not: answers that depend on that
        do not depend on who asked before.
        """
        other = Project(self.site_packages, self.overlays)
        other.unreadable, other._names, other._is_package = self.unreadable, self._names, self._is_package
        other._searched, other._installed, other._known = self._searched, self._installed, self._known
        for module in self.loaded():
            other.module(module.path)
        return other

    def module(self, path: str) -> Module | None:
        """The module in a file; None if it cannot be read (the reason is in `unreadable`)."""
        if path not in self._modules:
            self._modules[path] = self._load(path)
        return self._modules[path]

    def add(self, path: str, source: Source) -> Module:
        """Register a source that was already read."""
        root, name = self.name_of(path)
        return self._entered(Module(path, name, os.path.basename(path).startswith("__init__."), source), root)

    def _entered(self, module: Module, root: str) -> Module:
        path, name = module.path, module.name
        self._known[path] = module
        self._modules[path] = module
        self._paths.setdefault((root, name), path)
        return module

    def renew(self, path: str, source: Source | None, outline: Outline | None = None) -> None:
        """A file has another text, whose outline may be known already; None if it can no longer be read."""
        self.unreadable.pop(path, None)
        self._known.pop(path, None)
        was_loaded = self._modules.pop(path, None) is not None
        if source is None:
            return
        _, name = self.name_of(path)
        module = Module(path, name, os.path.basename(path).startswith("__init__."), source)
        if outline is not None:
            module.__dict__["outline"] = outline
        self._known[path] = module
        if was_loaded:
            self._modules[path] = module

    def look_again(self, changed: Iterable[str]) -> None:
        """Files came or went, none of which makes a folder a package: imports that may mean them are looked up anew."""
        names = {os.path.basename(path).rpartition(".")[0] for path in changed}
        for table in (self._searched, self._paths):
            for key in [key for key in table if not names.isdisjoint(key[1].split("."))]:
                del table[key]

    def known(self, path: str) -> Module | None:
        """A module as it was last read, by whomever; None if nobody did."""
        return self._known.get(path)

    def inherit(self, other: Project) -> None:
        """Take over what another project read, as far as it is called the same here."""
        for path, module in other._known.items():
            if self.name_of(path)[1] == module.name:
                self._known[path] = module

    def loaded(self) -> list[Module]:
        """All modules read so far."""
        return [module for module in self._modules.values() if module is not None]

    def name_of(self, path: str) -> tuple[str, str]:
        """The import root of a file and its dotted name below it: the root is the first folder that is no package."""
        folder, base = os.path.split(path)
        stem = base.rpartition(".")[0]
        parts = [] if stem == "__init__" else [stem]
        while self._package(folder):
            folder, part = os.path.split(folder)
            parts.insert(0, part)
        return folder, ".".join(parts)

    def find(self, dotted: str, importer: Module) -> str | None:
        """The file of an absolutely imported module, looked up from the importer's root.

        None if it lies outside the project.
        """
        root, _ = self._root_of(importer)
        key = (root, dotted)
        if key not in self._paths:
            if key not in self._searched:
                self._searched[key] = self._search(dotted, root)
            self._paths[key] = self._searched[key]
        return self._paths[key]

    def find_installed(self, dotted: str) -> str | None:
        """The file of an installed module: a `.py` or a compiled extension; None if it is not installed."""
        if dotted not in self._installed:
            found = (self._below(folder, dotted, extensions=True) for folder in self.site_packages)
            self._installed[dotted] = next((path for path in found if path), None)
        return self._installed[dotted]

    def absolute(self, module: str, level: int, importer: Module) -> str:
        """The dotted name that a relative import means; "" if it leaves the package."""
        if level == 0:
            return module
        package = importer.name.split(".") if importer.name else []
        if not importer.is_package:
            package = package[:-1]
        package = package[: len(package) - (level - 1)] if level > 1 else package
        return ".".join([*package, module] if module else package)

    def _load(self, path: str) -> Module | None:
        known = self._known.get(path)
        if known is not None:
            return self._entered(known.anew(), self.root_of(known))
        source = self.overlays.get(path)
        if source is None:
            try:
                source = read_source(path)
            except UnreadableSource as error:
                self.unreadable[path] = error.reason
                return None
        return self.add(path, source)

    def root_of(self, module: Module) -> str:
        """The folder from which a module's absolute imports are looked up."""
        return self._root_of(module)[0]

    def _root_of(self, module: Module) -> tuple[str, str]:
        if module.path not in self._names:
            self._names[module.path] = self.name_of(module.path)
        return self._names[module.path]

    def _package(self, folder: str) -> bool:
        if folder not in self._is_package:
            self._is_package[folder] = bool(folder) and os.path.isfile(os.path.join(folder, "__init__.py"))
        return self._is_package[folder]

    def _search(self, dotted: str, root: str) -> str | None:
        candidates = [root, os.path.join(root, "src")]
        parent = os.path.dirname(root)
        if os.path.basename(root) != "src" and parent and os.path.isfile(os.path.join(parent, "pyproject.toml")):
            candidates += [parent, os.path.join(parent, "src")]
        found = (self._below(folder, dotted, extensions=False) for folder in candidates)
        return next((path for path in found if path), None)

    def _below(self, folder: str, dotted: str, *, extensions: bool) -> str | None:
        base = os.path.join(folder, *dotted.split("."))
        for candidate in (base + ".py", os.path.join(base, "__init__.py")):
            if os.path.isfile(candidate) or candidate in self.overlays:
                return candidate
        if extensions:
            return _extension(base)
        return None


def _extension(base: str) -> str | None:
    folder, stem = os.path.split(base)
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    compiled = (name for name in names if name.startswith(stem + ".") and name.endswith((".so", ".pyd")))
    return next((os.path.join(folder, name) for name in compiled), None)
