"""Answers what a name of a library does: which model describes it, and what that says.

Files are read when a name of their module is first asked for. Those of a project come before our own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.models import stubs
from nonstrict.models.entries import ANY, CallEffect, Doing, Entry, Form, Type
from nonstrict.models.errors import ModelError
from nonstrict.models.stubs import Described

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FOLDERS = ("python", "torch", "libraries")
_SUFFIX = ".pyi"
#: The name under which a model, as any stub, describes all names of a module that it does not list.
_OTHERS = "__getattr__"


class Models:
    """The models of one project: our own, and those in `paths` (absolute), which the project names itself."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        """Read the models of the project; ours are read when they are asked for.

        Raises:
            ModelError: one of `paths` cannot be used.
        """
        self._paths = _shipped()
        self._files: dict[str, Described] = {}
        self._found: dict[str, Entry | None] = {}
        self._called: dict[str, Entry | None] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        own: dict[str, dict[str, Entry]] = {}
        for path in paths:
            module = module_of(path)
            if not all(part.isidentifier() for part in module.split(".")):
                advice = "name the file after the module that it describes, as `acme.kernels.pyi`"
                raise ModelError(path, 1, 1, f"`{module}` is not a name of a module", advice)
            own.setdefault(module, {}).update(stubs.read(path, _text(path), module))
        for module, entries in own.items():
            self._files[module] = Described({**self._entries(module).all(), **entries})
        named = (one for entries in own.values() for one in entries.values())
        self._own = frozenset(one.name for one in named if one.form is not Form.MODULE)
        self._roots = frozenset(module.partition(".")[0] for module in (*self._paths, *self._files))

    def describes(self, dotted: str) -> bool:
        """Whether there is a model for the package of a dotted name."""
        return dotted.partition(".")[0] in self._roots

    def replaces(self, dotted: str) -> bool:
        """Whether the project itself describes a name, in place of its code."""
        return dotted in self._own

    def canonical(self, dotted: str) -> str:
        """The name that a name stands for, aliases followed: `tqdm.tqdm` for `tqdm.auto.tqdm`."""
        seen: set[str] = set()
        while dotted not in seen and self.describes(dotted):
            seen.add(dotted)
            entries = (self._entries(module).get(key) for module, key in _split(dotted))
            entry = next((one for one in entries if one is not None), None)
            dotted = entry.target if entry is not None and entry.form is Form.ALIAS else dotted
        return dotted

    def find(self, dotted: str) -> Entry | None:
        """What is known of a name, aliases followed; members of classes are found along their bases."""
        if dotted not in self._found:
            self._found[dotted] = None  # what leads back to itself is nothing
            self._found[dotted] = self._look_up(dotted)
        return self._found[dotted]

    def called(self, dotted: str) -> Entry | None:
        """What is known of a call of a name, called so: of a class its constructor, of an object its `__call__`."""
        if dotted not in self._called:
            self._called[dotted] = self._call(dotted)
        return self._called[dotted]

    def effect(self, dotted: str) -> CallEffect | None:
        """What a call of a name does besides computing; None if it does nothing."""
        entry = self.called(dotted)
        return entry.effect if entry is not None else None

    def result(self, dotted: str) -> Type:
        """The type of what a call of a name returns."""
        entry = self.called(dotted)
        return entry.returns if entry is not None else ANY

    def member(self, owner: str, name: str) -> Entry | None:
        """What is known of a member of a class, its own or one of its bases'."""
        for one in self.ancestors(owner):
            found = self._listed(f"{one}.{name}")
            if found is not None:
                return found
        return None

    def members(self, owner: str) -> dict[str, Entry]:
        """The members of a class by name, with those of its bases."""
        found: dict[str, Entry] = {}
        for one in self.ancestors(owner):
            module, key = next(((m, k) for m, k in _split(one) if self._entries(m).get(k)), ("", ""))
            for name in self._entries(module).members(key):
                entry = self.member(one, name)
                if entry is not None:
                    found.setdefault(name, entry)
        return found

    def ancestors(self, name: str) -> tuple[str, ...]:
        """A class and its bases by their dotted names, the nearest first; of an unknown class only itself."""
        if name not in self._ancestors:
            found: list[str] = []
            pending = [name]
            while pending:
                one = pending.pop(0)
                entry = self._listed(one)
                one = entry.name if entry is not None else one
                if one not in found:
                    found.append(one)
                    pending += entry.bases if entry is not None else ()
            self._ancestors[name] = tuple(found)
        return self._ancestors[name]

    def is_a(self, name: str, *bases: str) -> bool:
        """Whether a class is one of `bases`, or derives from one."""
        return any(one in bases for one in self.ancestors(name))

    def only_surrounds(self, dotted: str) -> bool:
        """Whether a context manager matters only to what its block does: around nothing, it does nothing."""
        entry = self.called(dotted)
        guarded = entry is not None and entry.effect is not None and entry.effect.doing is Doing.TORCH_GUARDED
        return entry is not None and (entry.surrounds or guarded)

    def assignment(self, dotted: str) -> CallEffect | None:
        """The effect of assigning to an attribute of a module or to an item of one of its objects."""
        owner = dotted
        while owner:
            owner = owner.rpartition(".")[0]
            entry = self.find(f"{owner}.__setattr__") if owner else None
            if entry is not None:
                return entry.effect
        return None

    def _call(self, dotted: str) -> Entry | None:
        entry = self.find(dotted)
        if entry is None:
            return None
        if entry.form is Form.VARIABLE:
            entry = self.member(entry.returns.name, "__call__")
        elif entry.form is Form.CLASS:
            made = self.member(entry.name, "__init__")
            effect = entry.effect or (made.effect if made is not None else None)
            entry = entry._replace(effect=effect, returns=Type(entry.name))
        return entry._replace(name=dotted) if entry is not None and entry.form is not Form.MODULE else None

    # -- files ----------------------------------------------------------------------------------------------------

    def _look_up(self, dotted: str) -> Entry | None:
        if not self.describes(dotted):
            return None
        listed = self._listed(dotted)
        if listed is not None:
            return listed
        owner, _, name = dotted.rpartition(".")
        holder = self.find(owner) if owner else None
        if holder is not None and holder.form in (Form.CLASS, Form.VARIABLE):
            return self.member(holder.name if holder.form is Form.CLASS else holder.returns.name, name)
        return self._other(dotted)

    def _listed(self, dotted: str) -> Entry | None:
        """The entry of a name that a file lists, aliases followed."""
        for module, key in _split(dotted):
            entry = self._entries(module).get(key)
            if entry is not None:
                return self.find(entry.target) if entry.form is Form.ALIAS else entry
        return None

    def _other(self, dotted: str) -> Entry | None:
        """What the nearest module says of all names that it does not list."""
        for module, _ in _split(dotted):
            entry = self._entries(module).get(_OTHERS)
            if entry is not None:
                return entry._replace(name=dotted)
        return None

    def _entries(self, module: str) -> Described:
        if module not in self._files:
            path = self._paths.get(module)
            self._files[module] = stubs.described(path, _text(path), module) if path is not None else Described({})
        return self._files[module]


def module_of(path: str) -> str:
    """The module that a model describes: `wandb.sdk.pyi` describes `wandb.sdk`."""
    return os.path.basename(path).removesuffix(_SUFFIX)


def _split(dotted: str) -> Iterator[tuple[str, str]]:
    """A dotted name as module and name inside it, the longest module first."""
    module, _, key = dotted.rpartition(".")
    while module:
        yield module, key
        module, _, last = module.rpartition(".")
        key = f"{last}.{key}"


def _shipped() -> dict[str, str]:
    """The files of this package by the module that each describes."""
    here = os.path.dirname(__file__)
    folders = [os.path.join(here, folder) for folder in _FOLDERS]
    return {
        module_of(name): os.path.join(folder, name)
        for folder in folders
        for name in os.listdir(folder)
        if name.endswith(_SUFFIX)
    }


def _text(path: str) -> str:
    """The text of a model.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise ModelError(path, 1, 1, f"The model cannot be read: {error.strerror}", "name another file") from None
    except UnicodeDecodeError:
        raise ModelError(path, 1, 1, "The model is not UTF-8", "save it as UTF-8") from None


#: Our own models; projects that bring none share them.
SHIPPED = Models()


def models_of(paths: Sequence[str]) -> Models:
    """The models of a project that names these files.

    Raises:
        ModelError: as `Models`; settings that hold such a file are not valid.
    """
    return Models(paths) if paths else SHIPPED
