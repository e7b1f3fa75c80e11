"""Searches of the bytes of all files of a run: which texts they hold, what they import, replace and store.

Each question is remembered with its answer, so that an edit tells which answers it changed, and a later run need not
search again for what an earlier one was told.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nonstrict.facts.words import stands_in
from nonstrict.program.domain.parts import Parts
from nonstrict.program.linking.imports import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.text.source import Source

#: Files are kept in memory between passes up to this size in all; those of larger trees are read again. Torch's own
#: package has 46 MB.
_KEPT_BYTES = 64_000_000
#: A question: a text, or the last part of a module's name with a name. A text may stand for a replaced attribute, for
#: a name that something may be stored under, for a name that single files are asked for, or for a text that is looked
#: for in however many passes; a text may be one that is looked for as a word.
Asked: TypeAlias = "bytes | tuple[bytes, bytes]"
REPLACED = b"replaced "
STORED = b"stored "
SAID = b"said "
HELD = b"held "
#: Begins a text that is looked for as a word by itself: `grad`, not `no_grad`.
WORD = b"word "


class Index(NamedTuple):
    """What one pass through some files finds, each by what `Bytes` calls it."""

    texts: dict[bytes, list[str]]
    importers: dict[bytes, list[str]]
    replaced: dict[bytes, list[str]]
    stored: dict[bytes, list[str]]


class Answers(NamedTuple):
    """The answers to some questions, each by what `Bytes` calls it."""

    texts: dict[bytes, list[str]]
    hits: dict[tuple[bytes, bytes], list[str]]
    replaced: dict[bytes, list[str]]
    stored: dict[bytes, list[str]]
    said: dict[tuple[str, bytes], bool]


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
        self.overlays = overlays
        self._began = False
        #: what an earlier search found, good until this one begins
        self._earlier = Answers({}, {}, {}, {}, {})
        self._kept: dict[str, bytes] = {}
        self._room = _KEPT_BYTES

    @cached_property
    def size(self) -> int:
        """How many bytes all files have together, as the system tells."""
        return sum(map(self._size, self.files))

    def search(self, texts: Iterable[bytes]) -> None:
        """Go through all files for texts that nobody looked for yet."""
        wanted = [text for text in texts if text not in self.texts]
        if wanted and not self._began:
            self._begin(wanted)
        elif wanted:
            self.texts.update({text: [] for text in wanted})
            for path in self.files:
                data = self.data(path)
                for text in wanted:
                    if _holds(data, text):
                        self.texts[text].append(path)

    def indexed(self, paths: Iterable[str], texts: Iterable[bytes]) -> Index:
        """What the first pass finds in some of the files."""
        index = Index({text: [] for text in texts}, {}, {}, {})
        stems = {stem_of(path) for path in self.files}
        for path in paths:
            data = self.data(path)
            for text, found in index.texts.items():
                if _holds(data, text):
                    found.append(path)
            for name in _replaced_names(data):
                index.replaced.setdefault(name, []).append(path)
            for name in _stored_names(data):
                index.stored.setdefault(name, []).append(path)
            for stem in imported_words(data) & stems:
                index.importers.setdefault(stem, []).append(path)
        return index

    def take_over(self, indexes: Iterable[Index]) -> None:
        """Begin with what was found in all files, slice by slice in their order."""
        self._began = True
        for index in indexes:
            own = (self.texts, self.importers, self.replaced, self.stored)
            for known, found in zip(own, index, strict=True):
                for key, paths in found.items():
                    known.setdefault(key, []).extend(paths)

    def importing(self, stem: bytes) -> list[str]:
        """The files that import something whose name ends with a part."""
        self._begin()
        return self.importers.get(stem, [])

    def replacing(self, name: bytes) -> list[str]:
        """The files that may bind an attribute of a name to another function."""
        return self._found(self.replaced, self._earlier.replaced, name)

    def storing(self, name: bytes) -> list[str]:
        """The files that may store something under an attribute of a name."""
        return self._found(self.stored, self._earlier.stored, name)

    def _found(self, index: dict[bytes, list[str]], earlier: dict[bytes, list[str]], name: bytes) -> list[str]:
        if not self._began and name in earlier:
            return earlier[name]
        self._begin()
        return index.get(name, [])

    def _begin(self, texts: Sequence[bytes] = ()) -> None:
        """Go through all files the first time: for texts, and to see who imports which module, and replaces what."""
        if not self._began:
            self.take_over([self.indexed(self.files, texts)])

    def answers(self, asked: Iterable[Asked]) -> Answers:
        """The answers to questions that were asked."""
        told = Answers({}, {}, {}, {}, {})
        names: set[bytes] = set()
        for question in asked:
            if isinstance(question, tuple):
                told.hits[question] = self.hits.get(question, [])
            elif question.startswith(REPLACED):
                name = question[len(REPLACED) :]
                told.replaced[name] = self.replacing(name)
            elif question.startswith(STORED):
                name = question[len(STORED) :]
                told.stored[name] = self.storing(name)
            elif question.startswith(SAID):
                names.add(question[len(SAID) :])
            else:
                text = question.removeprefix(HELD)
                told.texts[text] = self.texts.get(text, [])
        told.said.update((key, here) for key, here in self.said.items() if key[1] in names)
        return told

    def known_answers(self) -> Answers:
        """The answers to all questions that were asked."""
        return Answers(self.texts, self.hits, self.replaced, self.stored, self.said)

    def adopt(self, answers: Answers) -> None:
        """Take over what another search of the same files found, or an earlier one that was renewed."""
        self.texts.update(answers.texts)
        self.hits.update(answers.hits)
        self.said.update(answers.said)
        if not self._began:
            self._earlier.replaced.update(answers.replaced)
            self._earlier.stored.update(answers.stored)

    def resume(self, answers: Answers) -> None:
        """Begin with the answers to some questions and no others: good for `renew` alone."""
        self._began = True
        self.adopt(answers)
        self.replaced.update(answers.replaced)
        self.stored.update(answers.stored)

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
        stems = self._stems_of_others({stem_of(path) for path in changed}) if self._began else set[bytes]()
        present = frozenset(files)
        asked = set[Asked]().union(*(self.renew(path, listed=path in present) for path in changed))
        # Of a name that no module has, nobody is taken to import it.
        for key in [key for key in self.hits if key[0] in stems]:
            found = [path for path in self.importers.get(key[0], ()) if key[1] in self.data(path)]
            asked |= {key} if found != self.hits[key] else set()
            self.hits[key][:] = found
        self.own = frozenset(files)
        return asked

    def _stems_of_others(self, stems: set[bytes]) -> set[bytes]:
        """Those of the names of files that came or went which no file had before, or none has any more."""
        present = {stem_of(path) for path in self.files}
        new = (stems & present) - self.importers.keys()
        for stem in stems - present:
            self.importers.pop(stem, None)
        for stem in new:
            holding = (path for path in self.files if stem in self.data(path))
            self.importers[stem] = [path for path in holding if stem in imported_words(self.data(path))]
        return new | (stems - present)

    def renew(self, path: str, *, listed: bool = True) -> set[Asked]:
        """Read a file once more: the questions whose answers changed by that.

        One that is no longer `listed` holds nothing, also where it is there, listed by another name.
        """
        self._room += len(self._kept.pop(path, b""))
        if path not in self.own:
            return set()
        data = self.data(path) if listed else b""
        changed = self._renewed_index(path, data) if self._began else set[Asked]()
        held = [text for text, paths in self.texts.items() if self._renewed(paths, path, here=_holds(data, text))]
        changed.update((*held, *(HELD + text for text in held)))
        for key, paths in self.hits.items():
            if self._renewed(paths, path, here=key[1] in data and path in self.importers.get(key[0], ())):
                changed.add(key)
        for asked in [asked for asked, here in self.said.items() if asked[0] == path and here != (asked[1] in data)]:
            self.said[asked] = not self.said[asked]
            changed.add(SAID + asked[1])
        return changed

    def _renewed_index(self, path: str, data: bytes) -> set[Asked]:
        """Have the index be that of another text of a file: the questions whose answers changed by that."""
        imported = imported_words(data)
        known = {stem_of(other) for other in self.files}
        for stem in known & (imported | self.importers.keys()):
            self._renewed(self.importers.setdefault(stem, []), path, here=stem in imported)
        changed: set[Asked] = set()
        for what, index, here in (
            (REPLACED, self.replaced, _replaced_names(data)),
            (STORED, self.stored, _stored_names(data)),
        ):
            for name in here | index.keys():
                if self._renewed(index.setdefault(name, []), path, here=name in here):
                    changed.add(what + name)
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

    def _size(self, path: str) -> int:
        if path in self.overlays:
            return len(self.data(path))
        try:
            return os.stat(path).st_size
        except OSError:
            return 0

    def _read(self, path: str) -> bytes:
        overlay = self.overlays.get(path)
        if overlay is not None:
            return overlay.code.encode("utf-8", "surrogatepass")
        try:
            with open(path, "rb") as handle:
                return handle.read()
        except OSError:
            return b""


def _holds(data: bytes, text: bytes) -> bool:
    return stands_in(data, text[len(WORD) :]) if text.startswith(WORD) else text in data


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
