"""The machines of a folder that keep what texts and the disk tell: one for each environment that its files are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.releases import release_of
from nonstrict.models.library import models_of
from nonstrict.program import engine
from nonstrict.program.linking.disk import Disk
from nonstrict.program.linking.project import Project
from nonstrict.program.linking.searches import Bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from nonstrict.check.environment import Environment, Environments
    from nonstrict.facts.outline import Outline
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.linking.searches import Asked
    from nonstrict.program.state.machine import Machine
    from nonstrict.text.source import Source


class Scouts:
    """What is shared by the machines that examine files; each of these is made anew."""

    def __init__(
        self,
        environments: Environments,
        files: Sequence[str],
        overlays: dict[str, Source],
        before: Scouts | None = None,
    ) -> None:
        """Nothing is read; what the texts of the scouts `before` tell is kept where they are the same."""
        self.environments = environments
        self.disk = Disk()
        self._machines: dict[Environment, Machine] = {}
        self.texts = Bytes(files, overlays)
        for environment in environments.every:
            torch, packages, models, python = environment
            project = Project(packages, overlays, models=models_of(models), python=python, disk=self.disk)
            for machine in before.machines if before is not None else ():
                project.inherit(machine.project)
            self._machines[environment] = engine.machine(project, files, release_of(torch), self.texts)
        self.main = self._machines[environments.main]
        self.machines = tuple(self._machines.values())

    def anew(self, path: str) -> Machine:
        """A machine that examines a file, of which nobody has asked anything."""
        return self._of(path).anew()

    def alone(self, path: str) -> Machine:
        """A machine that knows a file, and no others but those that it imports."""
        scout = self._of(path)
        return engine.machine(scout.project.anew(), [path], scout.torch)

    def known(self, path: str) -> Module | None:
        """The module in a file as it was last read; None if nobody did."""
        return self._of(path).project.known(path)

    def renew(self, path: str, source: Source | None, outline: Outline | None = None) -> None:
        """A file has another text, or none any more."""
        for machine in self.machines:
            machine.project.renew(path, source, outline)

    def replace_files(self, files: Sequence[str], changed: Collection[str]) -> set[Asked]:
        """There are other files, of which `changed` came or went: the questions whose answers that changes."""
        return {asked for machine in self.machines for asked in machine.replace_files(files, changed)}

    def _of(self, path: str) -> Machine:
        return self._machines[self.environments.of(path)]
