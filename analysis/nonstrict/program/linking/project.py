"""Finds and loads the modules that a program's imports name, in the project and in installed packages."""

from __future__ import annotations

import os
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from nonstrict.knowledge.standard_library import is_standard
from nonstrict.models.library import SHIPPED, Models
from nonstrict.program.domain.modules import Module
from nonstrict.program.linking.disk import Disk
from nonstrict.program.linking.search_path import folders_above, has_init, import_root, search_path
from nonstrict.program.linking.source_folders import Sources, sources_of
from nonstrict.program.linking.sys_path import changes_path
from nonstrict.text.source import UnreadableSource, read_source

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict.facts.outline import Outline
    from nonstrict.program.domain.modules import Reached
    from nonstrict.text.source import Source


class Project:
    """Modules by path and by dotted name; reads files on demand.

    `overlays` are sources that stand for files (standard input, unsaved buffers) by path.
    `site_packages` are folders of installed packages: consulted last, for definitions only. `links` are the files of a
    run that are called by the name of a link: by their absolute path without links. `models` describe libraries.
    `python` is the lowest version that the code is for, None if nothing says so.
    """

    def __init__(
        self,
        site_packages: Iterable[str] = (),
        overlays: dict[str, Source] | None = None,
        links: Mapping[str, str] | None = None,
        models: Models = SHIPPED,
        python: tuple[int, int] | None = None,
        disk: Disk | None = None,
    ) -> None:
        self.site_packages = tuple(site_packages)
        self.overlays = overlays if overlays is not None else {}
        self.models = models
        self.python = python
        self.disk = disk or Disk()
        self.unreadable: dict[str, str] = {}
        self._modules: dict[str, Module | None] = {}
        #: what the disk answered, and modules as they were last left: true for whoever asks (`anew`)
        self._searched: dict[tuple[tuple[str, ...], str, bool], str | None] = {}
        #: by import statement, what it reaches (`nonstrict.program.linking.imports`)
        self.reached: WeakKeyDictionary[ast.AST, Reached] = WeakKeyDictionary()
        self._begun: dict[tuple[str, str], bool] = {}
        #: by folder and dotted name, the file of a module that may change `sys.path`, whether or not it does
        self._lying: dict[tuple[str, str], str | None] = {}
        self._folders: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, Sources] = {}
        #: by file, whether it may put something on `sys.path`
        self._changing: dict[str, bool] = {}
        self._spelled: dict[str, str] = dict(links or {})
        self._listed: tuple[str, ...] = ()
        self._real_folders: dict[str, str] = {}
        #: overlays named relative to the working directory
        self._unsaved = {os.path.abspath(path) for path in self.overlays if not os.path.isabs(path)}
        self._installed: dict[str, str | None] = {}
        self._known: dict[str, Module] = {}
        self._names: dict[str, tuple[str, str]] = {}
        self._is_package: dict[str, bool] = {}
        #: by the folder that holds the outermost package of files, the folders around it
        self._outer: dict[str, list[str]] = {}

    def anew(self) -> Project:
        """The same files, as if no machine had asked anything of them yet.

        What texts and the disk tell is shared, what was found out by interpreting is not, nor which modules are loaded:
        answers that depend on that do not depend on who asked before.
        """
        other = Project(self.site_packages, self.overlays, models=self.models, python=self.python, disk=self.disk)
        other.unreadable, other._names, other._is_package = self.unreadable, self._names, self._is_package
        other._searched, other._installed, other._known = self._searched, self._installed, self._known
        other._begun, other._folders, other._spelled = self._begun, self._folders, self._spelled
        other._sources, other._changing, other._outer = self._sources, self._changing, self._outer
        other._real_folders, other._lying, other.reached = self._real_folders, self._lying, self.reached
        return other

    def module(self, path: str) -> Module | None:
        """The module in a file; None if it cannot be read (the reason is in `unreadable`)."""
        if path not in self._modules:
            self._modules[path] = self._load(path)
        return self._modules[path]

    def add(self, path: str, source: Source) -> Module:
        """Register a source that was already read."""
        return self._entered(self._made(path, source))

    def spelling(self, files: Iterable[str]) -> Project:
        """This project, as one of a run with some files: what imports find is called as it is called there."""
        self._listed = tuple(files)
        self._spelled.update(_spelled_by_path(self._listed, os.getcwd()))
        return self

    def _made(self, path: str, source: Source) -> Module:
        self._names[path] = self._named(path, source.code)
        return Module(path, self._names[path][1], os.path.basename(path).startswith("__init__."), source)

    def _entered(self, module: Module) -> Module:
        self._known[module.path] = module
        self._modules[module.path] = module
        return module

    def renew(self, path: str, source: Source | None, outline: Outline | None = None) -> None:
        """A file has another text, whose outline may be known already; None if it can no longer be read."""
        self.unreadable.pop(path, None)
        self._known.pop(path, None)
        self._names.pop(path, None)
        self._folders.pop(path, None)
        if self._changing.pop(os.path.abspath(path), False) or (source is not None and changes_path(source.code)):
            self._folders.clear()
            self._changing.clear()
        was_loaded = self._modules.pop(path, None) is not None
        if source is None:
            return
        module = self._made(path, source)
        if outline is not None:
            module.__dict__["outline"] = outline
        self._known[path] = module
        if was_loaded:
            self._modules[path] = module

    def look_again(self, changed: Iterable[str]) -> None:
        """Files came or went, none of which makes a folder a package: imports that may mean them are looked up anew."""
        names = {os.path.basename(path).rpartition(".")[0] for path in changed}
        self.reached.clear()
        self._begun.clear()
        self._lying.clear()
        self._folders.clear()
        self._sources.clear()
        self._outer.clear()
        self._changing.clear()
        for key in [key for key in self._searched if not names.isdisjoint(key[1].split("."))]:
            del self._searched[key]

    def known(self, path: str) -> Module | None:
        """A module as it was last read, by whomever; None if nobody did."""
        return self._known.get(path)

    def inherit(self, other: Project) -> None:
        """Take over what another project read, as far as it is called the same here."""
        for path, module in other._known.items():
            if self._named(path, module.source.code)[1] == module.name:
                self._known[path] = module

    def loaded(self) -> list[Module]:
        """All modules read so far."""
        return [module for module in self._modules.values() if module is not None]

    def name_of(self, path: str) -> tuple[str, str]:
        """The import root of a file, absolute, and its dotted name below it.

        The root is the first folder that is not a package. A folder without `__init__.py` is one if the file imports
        relative to it.
        """
        return self._names.get(path) or self._named(path, "")

    def _named(self, path: str, code: str) -> tuple[str, str]:
        root, name = import_root(path, code, self._package)
        if root not in self._outer:
            self._outer[root] = folders_above(root, self.disk, frozenset(self.site_packages))
        for folder in self._outer[root]:
            for package, place in self._told(folder).packages:
                below = os.path.relpath(os.path.join(root, *name.split(".")), place)
                if below.split(os.sep)[0] != os.pardir:
                    return folder, ".".join([package, *below.split(os.sep)] if below != os.curdir else [package])
        return root, name

    def spellings(self, path: str, importer: Module) -> list[str]:
        """The dotted names by which a module may import the one in a file, the likeliest first.

        That is by a package that it imports already, else as the project calls it.
        """
        folders = self.folders_of(importer)
        names = dict.fromkeys([self.name_of(path)[1], *(".".join(_parts(path, folder)) for folder in folders)])
        bindings = (one for bound in importer.bindings.values() for one in bound if not one.level)
        imported = {one.module.partition(".")[0] for one in bindings}
        known = [one for one in names if one and self.find(one, importer) == path]
        return sorted(known, key=lambda one: one.partition(".")[0] not in imported)

    def find(self, dotted: str, importer: Module) -> str | None:
        """The file of an absolutely imported module, looked up where Python would from the importer.

        None if it lies outside the project.
        """
        folders = self.folders_of(importer)
        key = (folders, dotted, os.path.isabs(importer.path))
        if key not in self._searched:
            self._searched[key] = self._search(dotted, importer)
        return self._searched[key]

    def folders_of(self, importer: Module) -> tuple[str, ...]:
        """The folders from which the absolute imports of a module are looked up (`search_path`)."""
        found = self._folders.get(importer.path)
        if found is None:
            found = search_path(importer, self._root_of(importer)[0], frozenset(self.site_packages), self)
            self._folders[importer.path] = found
        return found

    def renamed(self, importer: Module) -> tuple[tuple[str, str], ...]:
        """The packages that a module may import and whose folders are called otherwise: (dotted name, folder)."""
        told = [one for folder in self.folders_of(importer) for one in self._told(folder).packages]
        return tuple(dict(reversed(told)).items())

    def sources(self, folder: str) -> tuple[str, ...]:
        """The folders of sources of a project in a folder."""
        return self._told(folder).folders

    def _told(self, folder: str) -> Sources:
        if folder not in self._sources:
            self._sources[folder] = sources_of(folder, self.disk)
        return self._sources[folder]

    def changing(self, folder: str, dotted: str, importer: Module) -> Module | None:
        """The module of a dotted name below a folder, if it may put something on `sys.path`."""
        first = dotted.partition(".")[0]
        if first == "torch" or is_standard(first, self.python) or not self._begins(folder, first):
            return None
        if (folder, dotted) not in self._lying:
            self._lying[folder, dotted] = self._below(folder, dotted)
        path = self._lying[folder, dotted]
        if path is None:
            return None
        if path not in self._changing:
            self._changing[path] = self._changes(path)
        return self.module(self._called(path, importer)) if self._changing[path] else None

    def _changes(self, path: str) -> bool:
        overlay = self.overlays.get(path) or self.overlays.get(os.path.relpath(path))
        if overlay is not None:
            return changes_path(overlay.code)
        # Whoever remembers what was found takes care of the texts of the run.
        content = self.disk.read(path) if self._is_listed(path) else self.disk.content(path)
        return content is not None and changes_path(content.decode("utf-8", "replace"))

    def _called(self, path: str, importer: Module) -> str:
        """A file as files of the run are called: as it was listed, else absolute if the importer is."""
        if path in self._spelled:
            return self._spelled[path]
        real = self._without_links(path)
        path = real if real != path and self._is_listed(real) else path
        return self._spelled.get(path) or (path if os.path.isabs(importer.path) else os.path.relpath(path))

    def _is_listed(self, path: str) -> bool:
        """Whether a file of the run is called by an absolute path, or by one that means the same."""
        return path in self._spelled or path in self._listed_paths

    @cached_property
    def _listed_paths(self) -> frozenset[str]:
        return _absolute(self._listed, os.getcwd())

    def _without_links(self, path: str) -> str:
        """The path of a file that leads over no link."""
        folder, name = os.path.split(path)
        if folder not in self._real_folders:
            self._real_folders[folder] = self.disk.real(folder)
        return self.disk.real(os.path.join(self._real_folders[folder], name))

    def beside(self, module: Module, name: str) -> Iterator[Module]:
        """The files of a name in the folder of a module and in those above, up to the root of the project."""
        own = os.path.dirname(os.path.abspath(module.path))
        for folder in folders_above(own, self.disk, frozenset(self.site_packages)):
            path = os.path.join(folder, name)
            found = self.module(self._called(path, module)) if self._is_file(path) else None
            if found is not None:
                yield found

    def relative(self, path: str, importer: Module) -> tuple[str, str] | None:
        """The package from which a module may import the one in a file by a relative import, and its name there.

        None if they are no parts of one package.
        """
        own = importer.name.split(".")
        package = own if importer.is_package else own[:-1]
        target = _parts(path, self._root_of(importer)[0])
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(package, target[:-1], strict=False))
        common = len(list(shared))
        if not common:
            return None
        return "." * (len(package) - common + 1) + ".".join(target[common:-1]), target[-1]

    def find_installed(self, dotted: str) -> str | None:
        """The file of an installed module: a `.py` or a compiled extension; None if it is not installed."""
        if dotted not in self._installed:
            found = (self._below(folder, dotted) or self._extension(folder, dotted) for folder in self.site_packages)
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
            return self._entered(known.anew())
        source = self.overlays.get(path)
        if source is None:
            try:
                source = read_source(path)
            except UnreadableSource as error:
                self.unreadable[path] = error.reason
                return None
        return self.add(path, source)

    def _root_of(self, module: Module) -> tuple[str, str]:
        if module.path not in self._names:
            self._names[module.path] = self._named(module.path, module.source.code)
        return self._names[module.path]

    def _package(self, folder: str) -> bool:
        if folder not in self._is_package:
            self._is_package[folder] = has_init(folder, self.disk)
        return self._is_package[folder]

    def _search(self, dotted: str, importer: Module) -> str | None:
        first = dotted.partition(".")[0]
        folders = self.folders_of(importer)
        if first == "torch" or is_standard(first, self.python):
            # Of these only what stands beside a script comes before the library.
            folders = (self._root_of(importer)[0],)
        found = (self._below(folder, dotted) for folder in folders if self._begins(folder, first))
        path = next((path for path in found if path), None)
        return self._called(path, importer) if path is not None else None

    def _begins(self, folder: str, first: str) -> bool:
        """Whether a folder holds something by the first part of a dotted name."""
        key = (folder, first)
        if key not in self._begun:
            base = os.path.join(folder, first)
            named = any(package.partition(".")[0] == first for package, _ in self._told(folder).packages)
            self._begun[key] = named or self.disk.is_folder(base) or self._is_file(base + ".py")
        return self._begun[key] or any(path.startswith(folder) for path in (*self.overlays, *self._unsaved))

    def _below(self, folder: str, dotted: str) -> str | None:
        """A module below a folder: a package goes before a file of the same name, as Python has it."""
        base = self._called_otherwise(folder, dotted) or os.path.join(folder, *dotted.split("."))
        for candidate in (os.path.join(base, "__init__.py"), base + ".py"):
            if self._is_file(candidate):
                return candidate
        return None

    def _called_otherwise(self, folder: str, dotted: str) -> str:
        """Where a module lies that the settings of a project in a folder tell by its package; "" if they do not."""
        fitting = [one for one in self._told(folder).packages if f"{dotted}.".startswith(f"{one[0]}.")]
        package, place = max(fitting, key=lambda one: len(one[0]), default=("", ""))
        return os.path.join(place, *dotted[len(package) + 1 :].split(".")).rstrip(os.sep) if place else ""

    def _is_file(self, path: str) -> bool:
        return self.disk.is_file(path) or path in self.overlays or path in self._unsaved

    def _extension(self, folder: str, dotted: str) -> str | None:
        """The compiled extension of a dotted name below a folder."""
        base = os.path.join(folder, *dotted.split(".")) + "."
        compiled = (name for name in self.disk.beginning(base) if name.endswith((".so", ".pyd")))
        return next((os.path.join(os.path.dirname(base), name) for name in compiled), None)


def _parts(path: str, folder: str) -> list[str]:
    """The dotted name of a file below a folder, part by part; empty if it lies elsewhere."""
    parts = os.path.splitext(os.path.relpath(path, folder))[0].split(os.sep)
    if parts[0] == os.pardir:
        return []
    return parts[:-1] if parts[-1] == "__init__" else parts


@lru_cache(maxsize=2)  # each part of a run has a project of its own, of the same files
def _absolute(paths: tuple[str, ...], folder: str) -> frozenset[str]:
    """The absolute paths of files as they are called from a folder."""
    return frozenset(os.path.normpath(os.path.join(folder, path)) for path in paths)


@lru_cache(maxsize=4)
def _spelled_by_path(paths: tuple[str, ...], folder: str) -> Mapping[str, str]:
    """Where some files are called by absolute paths and others from a folder: by the absolute path, the given one."""
    if len(set(map(os.path.isabs, paths))) <= 1:
        return {}
    return {os.path.normpath(os.path.join(folder, path)): path for path in reversed(paths)}
