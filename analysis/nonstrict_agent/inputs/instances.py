"""Instances of the user's classes: their constructors are searched as functions are."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING, Any

import torch

from nonstrict_agent.inputs import moves, signature, trying
from nonstrict_agent.inputs.exploring import SEED, Exploration
from nonstrict_agent.inputs.naming import class_name
from nonstrict_agent.inputs.specification import Spec, UnmakeableError, literal, make

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict_agent.inputs.signature import Reading
    from nonstrict_agent.inputs.trying import Choice

_SHARE = 0.1  # of the time of the whole search
_LONGER = 3
_MOST = 8  # instances that differ in an optional argument


class Instances:
    """Specifications of instances of the user's classes, found by searching the arguments of their constructors."""

    def __init__(self, namespace: Mapping[str, object], seconds: float) -> None:
        self._namespace = namespace
        self._seconds = max(_SHARE * seconds, 0.3)
        self._known: dict[type, list[Spec]] = {}
        self._building: set[type] = set()
        self.tries = 0

    def of(self, cls: type) -> list[Spec]:
        """Instances of a class and of some subclasses, none if no constructor arguments are found.

        A class that needs itself for its making is given up.
        """
        if cls not in self._known:
            if cls in self._building:
                return []
            self._building.add(cls)
            below = [each for each in cls.__subclasses__() if each.__module__ == cls.__module__][:3]
            own = [] if inspect.isabstract(cls) else self._search(cls, self._seconds)
            if not own and len(self._building) == 1 and not inspect.isabstract(cls):
                # Nothing goes without this one; what is only needed on the way is given up sooner.
                own = self._search(cls, _LONGER * self._seconds)
            self._known[cls] = own + [spec for each in below for spec in self._search(each, self._seconds)]
            self._building.discard(cls)
        return self._known[cls]

    def _search(self, cls: Any, seconds: float) -> list[Spec]:
        is_module = issubclass(cls, torch.nn.Module)
        reading = signature.read(cls.__init__, self._namespace, self.of, owner=cls)
        spec: Spec = {"kind": "module" if is_module else "object", "class": class_name(cls)}
        if is_module:
            spec["training"] = True
        if reading is None or cls.__init__ is object.__init__:
            plain: Spec = {**spec, "constructor": {"args": [], "kwargs": {}}}
            try:
                make(plain, SEED, self._namespace)
            except UnmakeableError:
                return []
            return [plain]
        state = torch.random.get_rng_state()
        reading = reading._replace(call=cls)
        search = Exploration(reading, self._namespace, time.perf_counter() + seconds, {}, 2000)
        best = search.run(accept=lambda _outcome: True)
        choices = [] if best is None else self._smaller(reading, best.choice)
        torch.random.set_rng_state(state)
        self.tries += search.tries
        return [{**spec, "constructor": trying.call_of(reading.parameters, each)} for each in choices]

    def _smaller(self, reading: Reading, choice: Choice) -> list[Choice]:
        """The choice, with large default sizes made small where that works: large modules make tries slow."""
        for least in (64, 16):

            def small(node: Spec, least: int = least) -> Spec | None:
                return literal(8) if moves.is_number(node) and node["value"] >= least else None

            shrunk = moves.each_changed(reading, choice, small)
            if shrunk == choice:
                break
            self.tries += 1
            if trying.attempt(reading, shrunk, SEED, self._namespace).error is None:
                return [shrunk, *self._others(reading, shrunk)]
        return [choice, *self._others(reading, choice)]

    def _others(self, reading: Reading, choice: Choice) -> list[Choice]:
        """The choice with an argument given that defaults to None: such arguments are often alternatives."""
        found: list[Choice] = []
        for parameter in reading.parameters:
            if parameter.default is None or parameter.default["kind"] != "none" or parameter.name in choice:
                continue
            for guess in parameter.guesses[:2] if len(found) < _MOST else ():
                other = {**choice, parameter.name: guess.spec}
                self.tries += 1
                if trying.attempt(reading, other, SEED, self._namespace).error is None:
                    found.append(other)
        return found
