"""What those above keep with an object whose lifetime theirs is: one object of each class."""

from __future__ import annotations

from typing import TypeVar, cast

Part = TypeVar("Part")


class Parts:
    """Holds parts of which it knows nothing."""

    def __init__(self) -> None:
        self._parts: dict[type, object] = {}

    def part(self, kind: type[Part]) -> Part:
        """The one object of a class that is kept here, made when first asked for."""
        if kind not in self._parts:
            self._parts[kind] = kind()
        return cast("Part", self._parts[kind])

    def keep(self, part: object, kind: type | None = None) -> None:
        """Take an object for the one of its class, or of another that it derives from."""
        self._parts[kind or type(part)] = part
