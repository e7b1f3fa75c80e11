"""Projects with a history, drawn from a seed: what people do to code that has to do with findings in other files.

Three projects lie in one repository, and the second and third import from the first. An edit adds or takes out a
writer, a print, a suppression or a setting, moves lines, renames, adds or deletes a module, or breaks one.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROJECTS: tuple[str, ...] = ("core", "vision", "speech")
_MODULES = 4
#: Fields of a module that an edit turns around, the common ones more than once.
_FLAGS = (*["written"] * 5, *["prints"] * 3, *["marked"] * 2, "suppressed")


class Module(NamedTuple):
    """A module of a project, as what its text is made of.

    It has a number, which is `written` elsewhere in it or not, and a helper that `prints` or not. With `marked`, a
    marked function takes number and helper from the module `uses` (project, name), or its own, and a region calls it.
    A function of it sets the number of the module that it `tunes`, if there is one.
    """

    project: str
    name: str
    uses: tuple[str, str] | None
    written: bool = False
    prints: bool = False
    marked: bool = False
    suppressed: bool = False
    broken: bool = False
    tunes: tuple[str, str] | None = None
    moved: int = 0
    said: int = 0

    @property
    def path(self) -> str:
        """The path from the top of the repository."""
        return f"{self.project}/{self.project}/{self.name}.py"

    @property
    def text(self) -> str:
        """What the file holds."""
        imported = f"from {self.uses[0]} import {self.uses[1]} as other\n" if self.uses is not None else ""
        printing = "    print('helping')\n" if self.prints else ""
        text = "\n" * self.moved + f"import torch\n{imported}\nLIMIT = 2.0\n\n\n"
        text += f"def helper(x):\n{printing}    return x + 1  # version {self.said}\n"
        if self.tunes is not None:
            text += f"\n\ndef tune(value):\n    from {self.tunes[0]} import {self.tunes[1]} as tuned\n\n"
            text += "    tuned.LIMIT = value\n"
        if self.written:
            text += "\n\ndef set_limit(value):\n    global LIMIT\n    LIMIT = value\n"
        return text + (self._marked() if self.marked else "") + ("\n\ndef broken(:\n" if self.broken else "")

    def _marked(self) -> str:
        other = "other." if self.uses is not None else ""
        comment = "  # nonstrict: ignore" if self.suppressed else ""
        return (
            f"\n\n@torch._dynamo.nonstrict_trace\ndef scaled_{self.name}(x):\n    x = {other}helper(x)\n"
            f"    return x * {other}LIMIT{comment}\n"
            f"\n\n@torch.compile\ndef step_{self.name}(x):\n    return scaled_{self.name}(x)\n"
        )


class History:
    """The projects in a folder, as they change."""

    def __init__(self, folder: Path, seed: int) -> None:
        """Write them as they are at first."""
        self.folder = folder
        self._random = random.Random(seed)  # noqa: S311 - nothing is kept secret
        self._modules: list[Module] = []
        self._made = 0
        self._ignoring = dict.fromkeys(PROJECTS, False)
        for project in PROJECTS:
            self._write(f"{project}/{project}/__init__.py", "")
            self._configure(project)
            for _ in range(_MODULES):
                self._add(project)

    def edits(self, count: int) -> Iterator[str]:
        """Make so many edits, and tell after each what it was."""
        for _ in range(count):
            broken = next((one for one in self._modules if one.broken), None)
            if broken is not None and self._random.random() < 0.5:
                yield self._turn(broken, "broken")
            else:
                (edit,) = self._random.choices(list(_EDITS), list(_EDITS.values()))
                yield edit(self)

    def _any(self) -> Module:
        return self._random.choice(self._modules)

    def _break(self) -> str:
        return self._turn(self._any(), "broken")

    def _turn_something(self) -> str:
        return self._turn(self._any(), self._random.choice(_FLAGS))

    def _tune(self) -> str:
        """Have a module set the number of another one, or no longer."""
        one = self._any()
        known = [(two.project, two.name) for two in self._modules if two.project in (one.project, PROJECTS[0])]
        return self._replace(one, one._replace(tunes=None if one.tunes else self._random.choice(known)))

    def _move(self) -> str:
        """Add empty lines above, perhaps another comment."""
        one = self._any()
        said = one.said + self._random.randrange(2)
        return self._replace(one, one._replace(moved=(one.moved + 1) % 4, said=said))

    def _come(self) -> str:
        return self._add(self._random.choice(PROJECTS))

    def _go(self) -> str:
        return self._delete(self._any()) if len(self._modules) > 2 * len(PROJECTS) else self._come()

    def _set(self) -> str:
        """Turn a setting of a project around."""
        project = self._random.choice(PROJECTS)
        self._ignoring[project] = not self._ignoring[project]
        return self._configure(project)

    def _turn(self, one: Module, flag: str) -> str:
        return self._replace(one, one._replace(**{flag: not getattr(one, flag)}))

    def _replace(self, one: Module, other: Module) -> str:
        self._modules[self._modules.index(one)] = other
        self._write(other.path, other.text)
        changed = [name for name, was, now in zip(one._fields, one, other, strict=True) if was != now]
        return f"{other.path}: {', '.join(changed)}"

    def _add(self, project: str) -> str:
        """A module of a project, which uses one of it or of the first project."""
        self._made += 1
        known = [(one.project, one.name) for one in self._modules if one.project in (project, PROJECTS[0])]
        uses = self._random.choice([*known, None]) if self._made > 1 else None
        written, prints, marked = (self._random.random() < chance for chance in (0.3, 0.2, 0.7))
        one = Module(project, f"m{self._made}", uses, written, prints, marked)
        self._modules.append(one)
        self._write(one.path, one.text)
        return f"{one.path}: added"

    def _rename(self) -> str:
        """Another name for a module, which its users follow, or forget to."""
        one = self._any()
        self._made += 1
        other = one._replace(name=f"m{self._made}")
        (self.folder / one.path).unlink()
        self._replace(one, other)
        if self._random.random() < 0.8:
            for user in [user for user in self._modules if user.uses == (one.project, one.name)]:
                self._replace(user, user._replace(uses=(other.project, other.name)))
        return f"{one.path}: renamed to {other.name}"

    def _delete(self, one: Module) -> str:
        self._modules.remove(one)
        (self.folder / one.path).unlink()
        return f"{one.path}: deleted"

    def _configure(self, project: str) -> str:
        """Write the settings of a project, which imports from the first one."""
        text = f'[project]\nname = "{project}"\n\n[tool.nonstrict]\n'
        text += 'ignore = ["NST201"]\n' if self._ignoring[project] else ""
        if project != PROJECTS[0]:
            text += f'\n[tool.uv.sources]\n{PROJECTS[0]} = {{ path = "../{PROJECTS[0]}" }}\n'
        self._write(f"{project}/pyproject.toml", text)
        return f"{project}: settings"

    def _write(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


#: What may be done to a project, and how often of a hundred times.
_EDITS: dict[Callable[[History], str], int] = {
    History._turn_something: 48,
    History._move: 14,
    History._tune: 14,
    History._rename: 8,
    History._come: 6,
    History._go: 4,
    History._set: 4,
    History._break: 2,
}
