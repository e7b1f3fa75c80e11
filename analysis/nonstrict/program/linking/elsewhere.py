"""Which other files of a run use the names of a module: one pass of byte searches, so that only hits are parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nonstrict.program.domain.parts import Parts
from nonstrict.program.linking.imports import imports_of, spellings, stem_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.linking.project import Project
    from nonstrict.text.source import Source

#: A name that more files use is too common to be followed.
_MAX_USERS = 60
#: Files are kept in memory between passes up to this size in all; those of larger trees are read again. Torch's own
#: package has 46 MB.
_KEPT_BYTES = 64_000_000
#: Trees of more bytes than this are not read again often.
_LARGE_BYTES = 24_000_000
_MAX_PASSES = 2
#: How many modules may hand a name on until it reaches the file that uses it.
_HOPS = 2


class Use(NamedTuple):
    """A file that imports a name of another module, and the name by which it uses it.

    `first` is the name with which code says so: that of the module where the file imports the module.
    """

    module: Module
    name: str
    first: str


#: A question: a text, or the last part of a module's name with a name. A text may stand for a replaced attribute, for
#: a name that something may be stored under, or for a name that single files are asked for.
Asked: TypeAlias = "bytes | tuple[bytes, bytes]"
REPLACED = b"replaced "
STORED = b"stored "
SAID = b"said "


class Index(NamedTuple):
    """What one pass through some files finds, each by what `Bytes` calls it."""

    texts: dict[bytes, list[str]]
    importers: dict[bytes, list[str]]
    replaced: dict[bytes, list[str]]
    stored: dict[bytes, list[str]]
    size: int


class Bytes(Parts):
    """What searches of the bytes of all files found: the same for whoever asks."""

    def __init__(self, files: Sequence[str], overlays: Mapping[str, Source]) -> None:
        super().__init__()
        self.files = files
        self.own = frozenset(files)
        self._order = {path: number for number, path in enumerate(files)}
        #: by text, the files that hold it
        self.texts: dict[bytes, list[str]] = {}
        #: by the last part of a module's name and a name, the files that import the module and hold the name
        self.hits: dict[tuple[bytes, bytes], list[str]] = {}
        #: by the last part of a module's name, the files that import something so named; empty before the first pass
        self.importers: dict[bytes, list[str]] = {}
        #: by name, the files that assign an attribute of that name to a function; empty before the first pass
        self.replaced: dict[bytes, list[str]] = {}
        #: by name, the files that store under an attribute of that name, or quote it; empty before the first pass
        self.stored: dict[bytes, list[str]] = {}
        #: by file and name, whether that file contains it, once it was asked for
        self.said: dict[tuple[str, bytes], bool] = {}
        self.size = 0
        self._overlays = overlays
        self._began = False
        self._kept: dict[str, bytes] = {}
        self._room = _KEPT_BYTES

    def search(self, texts: Iterable[bytes]) -> None:
        """Go through all files for texts; the first time also to see who imports which module, and replaces what."""
        wanted = [text for text in texts if text not in self.texts]
        if not self._began:
            self.take_over([self.indexed(self.files, wanted)])
        elif wanted:
            self.texts.update({text: [] for text in wanted})
            for path in self.files:
                data = self.data(path)
                for text in wanted:
                    if text in data:
                        self.texts[text].append(path)

    def indexed(self, paths: Iterable[str], texts: Iterable[bytes]) -> Index:
        """What the first pass finds in some of the files."""
        index = Index({text: [] for text in texts}, {}, {}, {}, 0)
        stems = {stem_of(path) for path in self.files}
        size = 0
        for path in paths:
            data = self.data(path)
            size += len(data)
            for text, found in index.texts.items():
                if text in data:
                    found.append(path)
            for name in _replaced_names(data):
                index.replaced.setdefault(name, []).append(path)
            for name in _stored_names(data):
                index.stored.setdefault(name, []).append(path)
            for stem in imported_words(data) & stems:
                index.importers.setdefault(stem, []).append(path)
        return index._replace(size=size)

    def take_over(self, indexes: Iterable[Index]) -> None:
        """Begin with what was found in all files, slice by slice in their order."""
        self._began = True
        for index in indexes:
            self.size += index.size
            own = (self.texts, self.importers, self.replaced, self.stored)
            for known, found in zip(own, index[:4], strict=True):
                for key, paths in found.items():
                    known.setdefault(key, []).extend(paths)

    def data(self, path: str) -> bytes:
        """The bytes of a file; none if it cannot be read."""
        kept = self._kept.get(path)
        if kept is None:
            kept = self._read(path)
            self._room -= len(kept)
            if self._room >= 0:
                self._kept[path] = kept
            else:
                self._kept.clear()
        return kept

    def replace_files(self, files: Sequence[str], changed: Iterable[str]) -> set[Asked]:
        """There are other files, of which `changed` came or went: the questions whose answers that changes."""
        changed = sorted(changed)
        self.files = files
        # Those that went are in the lists of answers until they were read, in vain.
        self.own = frozenset((*files, *changed))
        self._order = {path: number for number, path in enumerate((*files, *sorted(set(changed) - set(files))))}
        for stem in {stem_of(path) for path in changed} - self.importers.keys() if self._began else ():
            holding = (path for path in files if stem in self.data(path))
            self.importers[stem] = [path for path in holding if stem in imported_words(self.data(path))]
        asked = set[Asked]().union(*(self.renew(path) for path in changed))
        self.own = frozenset(files)
        return asked

    def renew(self, path: str) -> set[Asked]:
        """Read a file once more: the questions whose answers changed by that."""
        self._room += len(self._kept.pop(path, b""))
        if not self._began or path not in self.own:
            return set()
        data = self.data(path)
        imported = imported_words(data)
        known = {stem_of(other) for other in self.files}
        for stem in known & (imported | self.importers.keys()):
            self._renewed(self.importers.setdefault(stem, []), path, here=stem in imported)
        changed: set[Asked] = {
            text for text, paths in self.texts.items() if self._renewed(paths, path, here=text in data)
        }
        for key, paths in self.hits.items():
            if self._renewed(paths, path, here=key[1] in data and path in self.importers.get(key[0], ())):
                changed.add(key)
        for what, index, here in (
            (REPLACED, self.replaced, _replaced_names(data)),
            (STORED, self.stored, _stored_names(data)),
        ):
            for name in here | index.keys():
                if self._renewed(index.setdefault(name, []), path, here=name in here):
                    changed.add(what + name)
        for asked in [asked for asked, here in self.said.items() if asked[0] == path and here != (asked[1] in data)]:
            self.said[asked] = not self.said[asked]
            changed.add(SAID + asked[1])
        return changed

    def _renewed(self, paths: list[str], path: str, *, here: bool) -> bool:
        """Put a path into a list of answers, or take it out; whether that changed anything."""
        if here == (path in paths):
            return False
        if here:
            # In the order of all files, as if they had been read one after the other.
            paths[:] = sorted({*paths, path}, key=self._order.__getitem__)
        else:
            paths.remove(path)
        return True

    def _read(self, path: str) -> bytes:
        overlay = self._overlays.get(path)
        if overlay is not None:
            return overlay.code.encode("utf-8", "surrogatepass")
        try:
            with open(path, "rb") as handle:
                return handle.read()
        except OSError:
            return b""


class Elsewhere:
    """Answers which files mention a module and one of its names; questions that are told ahead share one pass.

    Several of them may share their `found` bytes. Each counts the passes that it would need by itself, so that what it
    answers does not depend on what others asked.
    """

    def __init__(self, project: Project, files: Sequence[str], found: Bytes | None = None) -> None:
        self._project = project
        self.found = found or Bytes(files, project.overlays)
        self._expected: dict[bytes, set[bytes]] = {}
        self._asked: set[tuple[bytes, bytes]] = set()
        self._expected_texts: set[bytes] = set()
        self._texts: dict[bytes, list[str]] = {}
        self._named: set[bytes] = set()
        #: by file and names, whether the file contains one of them
        self._saying: dict[tuple[str, frozenset[str]], bool] = {}
        self._passes = 0
        #: texts tell of modes and of the environment: one pass for them is always made
        self._searched_texts = False
        #: how often larger trees are read
        self.max_passes = _MAX_PASSES

    def expect(self, module: Module, names: Iterable[str]) -> None:
        """These names of a module will be asked for."""
        stem = _stem(module)
        for name in names if module.path in self.found.own else ():
            if (stem, name.encode("utf-8", "surrogateescape")) not in self._asked:
                self._expected.setdefault(stem, set()).add(name.encode("utf-8", "surrogateescape"))

    def asked(self) -> frozenset[Asked]:
        """All questions so far, on whose answers depends what was found."""
        return frozenset({*self._asked, *self._texts, *self._named})

    def expect_text(self, *texts: bytes) -> None:
        """Files that contain these will be asked for."""
        self._expected_texts.update(text for text in texts if text not in self._texts)

    def files_with(self, text: bytes) -> list[str]:
        """The files of the run that contain a text."""
        if text not in self._texts:
            self._expected_texts.add(text)
            self._search()
        return self._texts[text]

    def files_replacing(self, name: str) -> list[str]:
        """The files that may bind an attribute of this name to another function: `module.name = other`."""
        return self._indexed(REPLACED, self.found.replaced, name)

    def files_storing(self, name: str) -> list[str]:
        """The files that may store something under an attribute of this name: `E.name = …`, `put(E, "name")`."""
        return self._indexed(STORED, self.found.stored, name)

    def says(self, path: str, name: str) -> bool:
        """Whether a name is in the text of a file."""
        key = name.encode("utf-8", "surrogateescape")
        self._named.add(SAID + key)
        if (path, key) not in self.found.said:
            self.found.said[path, key] = key in self.found.data(path)
        return self.found.said[path, key]

    def says_any(self, path: str, names: frozenset[str]) -> bool:
        """Whether one of some names is in the text of a file."""
        known = self._saying.get((path, names))
        if known is None:
            known = self._saying[path, names] = any(self.says(path, name) for name in names)
        return known

    def _indexed(self, what: bytes, index: dict[bytes, list[str]], name: str) -> list[str]:
        if not self._passes:
            self._search()
        key = name.encode("utf-8", "surrogateescape")
        self._named.add(what + key)
        return index.get(key, [])

    def mentions(self, module: Module, text: str) -> list[Module]:
        """The other files that name a module and contain a text; none if that is too many to tell anything."""
        if len(self.found.files) < 2 or module.path not in self.found.own:
            return []
        key = (_stem(module), text.encode("utf-8", "surrogateescape"))
        if key not in self._asked:
            self._expected.setdefault(key[0], set()).add(key[1])
            self._search()
        paths = [path for path in self.found.hits[key] if path != module.path]
        if len(paths) > _MAX_USERS:
            return []
        found = (self._project.module(path) for path in paths)
        return [user for user in found if user is not None]

    def importers(self, module: Module) -> list[str]:
        """The files of the run that may import a module, by its name; none for those outside the run."""
        self.mentions(module, "")
        return [path for path in self.found.importers.get(_stem(module), ()) if path != module.path]

    def holding(self, words: Iterable[str]) -> list[str]:
        """The files of the run that contain one of the words."""
        pattern = re.compile("|".join(re.escape(word) for word in sorted(words)).encode("utf-8", "surrogateescape"))
        return [path for path in self.found.files if pattern.search(self.found.data(path))]

    def users(
        self, module: Module, name: str, *, hand_on: bool = True, may_use: Callable[[str], bool] | None = None
    ) -> list[Use]:
        """The files that import a top-level name of a module, or the module, and whose text `may_use` accepts.

        With `hand_on` also those that import the name from a module which imports it.
        """
        found: dict[tuple[str, tuple[str, ...]], Use] = {}
        level = [(module, name)]
        for _ in range(_HOPS + 1):
            for source, exported in level:
                self.expect(source, [exported])
            following: list[tuple[Module, str]] = []
            for source, exported in level:
                for user in self.mentions(source, exported):
                    if may_use is not None and not may_use(user.source.code):
                        continue
                    for spelled in sorted(spellings(self._project, user, imports_of(user, exported), source, exported)):
                        if (user.path, spelled) not in found:
                            found[user.path, spelled] = Use(user, spelled[-1], spelled[0])
                            following += [(user, spelled[-1])] if len(spelled) == 1 and hand_on else []
            level = following
        return list(found.values())

    def _search(self) -> None:
        """Answer everything that was asked ahead: texts from all files, names from the files that import the module."""
        expected, self._expected = self._expected, {}
        texts, self._expected_texts = self._expected_texts, set()
        if texts or not self._passes:
            self._pass(texts)
        hits = self.found.hits
        for stem, asked in expected.items():
            self._asked.update((stem, name) for name in asked)
            names = [name for name in asked if (stem, name) not in hits]
            hits.update({(stem, name): [] for name in names})
            for path in self.found.importers.get(stem, ()) if names else ():
                data = self.found.data(path)
                for name in names:
                    if name in data:
                        hits[stem, name].append(path)

    def _pass(self, texts: set[bytes]) -> None:
        """Find texts; those that would cost another pass through a large tree count as found nowhere."""
        self._passes += 1
        spent = self._passes > self.max_passes and self.found.size > _LARGE_BYTES
        if spent and self._searched_texts:
            self._texts.update({text: [] for text in texts})
            return
        self._searched_texts = self._searched_texts or bool(texts)
        self.found.search(texts)
        self._texts.update({text: self.found.texts[text] for text in texts})


#: An attribute that is bound to a name, an attribute or a lambda; one that is set by its name.
_BOUND = re.compile(rb"\.([\w\x80-\xff]+) = (?:[A-Za-z_][\w.]*\r?\n|lambda )")
_SET = re.compile(rb"setattr\(\s*[\w.]+,\s*[\"'](\w+)[\"']")


def _replaced_names(data: bytes) -> set[bytes]:
    """The names of attributes, of anything but `self`, that a file binds to a name or a lambda."""
    found = {match[1] for match in _BOUND.finditer(data) if not data.endswith(b"self", 0, match.start())}
    if b"setattr(" in data:
        found |= {match[1] for match in _SET.finditer(data)}
    return found


#: What something is stored under: an attribute that is assigned, a name in quotes.
_STORED = re.compile(rb"\.([\w\x80-\xff]+)\s*(?::[^=\n]*)?=[^=]|[\"']([A-Za-z_\x80-\xff][\w\x80-\xff]*)[\"']")


def _stored_names(data: bytes) -> set[bytes]:
    """The names that a file may store something under: attributes that are assigned, names in quotes."""
    return {match[1] or match[2] for match in _STORED.finditer(data)}


def imported_words(data: bytes) -> set[bytes]:
    """The identifiers on lines that hold `import`, to the closing parenthesis where the line opens one."""
    found: set[bytes] = set()
    at = data.find(b"import")
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if data.find(b"(", at, end) >= 0 and data.find(b")", at, end) < 0:
            end = data.find(b")", end)
            end = len(data) if end < 0 else end
        found.update(_WORD.findall(data, data.rfind(b"\n", 0, at) + 1, end))
        at = data.find(b"import", end)
    return found


_WORD = re.compile(rb"[\w\x80-\xff]+")


def _stem(module: Module) -> bytes:
    return (module.name.rpartition(".")[2] or module.name or "\0").encode("utf-8", "surrogateescape")
