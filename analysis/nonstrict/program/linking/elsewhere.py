"""Which other files of a run use the names of a module: one pass of byte searches, so that only hits are parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.linking.imports import imports_of, spellings
from nonstrict.program.linking.searches import HELD, REPLACED, SAID, STORED, WORD, Bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.linking.project import Project
    from nonstrict.program.linking.searches import Asked

#: A name that more files use is too common to be followed.
_MAX_USERS = 60
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
        #: files whose text decided something, whether or not they were read as modules, where no question tells of it
        self.consulted: set[str] = set()
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
        return self._indexed(REPLACED, self.found.replacing, name)

    def files_storing(self, name: str) -> list[str]:
        """The files that may store something under an attribute of this name: `E.name = …`, `put(E, "name")`."""
        return self._indexed(STORED, self.found.storing, name)

    def says(self, path: str, name: str) -> bool:
        """Whether a name is in the text of a file."""
        key = name.encode("utf-8", "surrogateescape")
        self._named.add(SAID + key)
        if path not in self.found.own:
            self.consulted.add(path)
        if (path, key) not in self.found.said:
            self.found.said[path, key] = key in self.found.data(path)
        return self.found.said[path, key]

    def says_any(self, path: str, names: frozenset[str]) -> bool:
        """Whether one of some names is in the text of a file."""
        known = self._saying.get((path, names))
        if known is None:
            known = self._saying[path, names] = any(self.says(path, name) for name in names)
        return known

    def _indexed(self, what: bytes, index: Callable[[bytes], list[str]], name: str) -> list[str]:
        if not self._passes:
            self._search()
        key = name.encode("utf-8", "surrogateescape")
        self._named.add(what + key)
        return index(key)

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
        return [path for path in self.found.hits.get((_stem(module), b""), ()) if path != module.path]

    def importing(self, stem: bytes) -> list[str]:
        """The files of the run that import something whose name ends with a part."""
        if (stem, b"") not in self._asked:
            self._expected.setdefault(stem, set()).add(b"")
            self._search()
        return self.found.hits[stem, b""]

    def holding(self, texts: Iterable[str], *, whole: bool = False) -> list[str]:
        """The files of the run that contain one of some texts, or `whole` words, in however many passes that tells."""
        begin = WORD if whole else b""
        sought = [begin + text.encode("utf-8", "surrogateescape") for text in texts]
        self._named.update(HELD + text for text in sought)
        self.found.search(sought)
        found = set[str]().union(*(self.found.texts[text] for text in sought))
        return [path for path in self.found.files if path in found]

    def data(self, path: str) -> bytes:
        """The bytes of a file of the run, which decide something now; none if it cannot be read."""
        self.consulted.add(path)
        return self.found.data(path)

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
            for path in self.found.importing(stem) if names else ():
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


def _stem(module: Module) -> bytes:
    return (module.name.rpartition(".")[2] or module.name or "\0").encode("utf-8", "surrogateescape")
