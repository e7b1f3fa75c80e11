"""Checks of configured values, one function per kind of option; each says what it wants instead."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, cast

from nonstrict.findings import Severity
from nonstrict.knowledge.standard_library import NEWEST_PYTHON, OLDEST_PYTHON
from nonstrict.knowledge.torch_version import NEWEST_KNOWN, OLDEST_KNOWN, release_numbers
from nonstrict.settings.budget import NUMBERS, Budget
from nonstrict.settings.globs import wrong_glob
from nonstrict.settings.model import FORMATS, Pattern
from nonstrict.settings.requirements import specifiers

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.settings.options import Option

_PYTHON = re.compile(r"[0-9]{1,2}\.[0-9]{1,3}")
_VERSION = re.compile(r"\d+\.\d+(\.\d+)?([+.a-zA-Z0-9]*)")


class BadValueError(Exception):
    """A value of the wrong type or out of range; `part` is the text inside the value that is wrong, if any."""

    def __init__(self, message: str, part: str = "") -> None:
        """Say what is wanted."""
        super().__init__(message)
        self.part = part


def checked(option: Option, value: object, base: str) -> object:
    """The value of a `Settings` field for what TOML holds; relative paths and globs belong to `base`.

    Raises:
        BadValueError: the value is not one that the option takes.
    """
    return _CHECKS[option.kind](value, base)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadValueError("expected a string")
    return value


def _boolean(value: object, _base: str) -> bool:
    if not isinstance(value, bool):
        raise BadValueError("expected true or false")
    return value


def _strings(value: object, _base: str = "") -> tuple[str, ...]:
    if not isinstance(value, list):
        raise BadValueError("expected a list of strings")
    items = cast("list[object]", value)
    for item in items:
        if not isinstance(item, str):
            raise BadValueError("expected a list of strings", str(item))
    return tuple(cast("list[str]", items))


def _patterns(value: object, base: str) -> tuple[Pattern, ...]:
    return tuple(_pattern(glob, base) for glob in _strings(value))


def _pattern(glob: str, base: str) -> Pattern:
    wrong = wrong_glob(glob)
    if wrong:
        raise BadValueError(f"the pattern `{glob}` {wrong}", glob)
    return Pattern(glob, base)


def _path(value: object, base: str) -> str:
    text = _text(value)
    if not text:
        raise BadValueError("expected a path")
    return os.path.normpath(os.path.join(base, os.path.expanduser(text)))


def _one_of(value: object, names: tuple[str, ...]) -> str:
    text = _text(value)
    if text not in names:
        raise BadValueError("expected one of " + ", ".join(f'"{name}"' for name in names), text)
    return text


def _severity(value: object, _base: str = "") -> Severity:
    return Severity[_one_of(value, ("error", "warning", "note")).upper()]


def _format(value: object, _base: str) -> str:
    return _one_of(value, FORMATS)


def _version(value: object, _base: str) -> str:
    return known_version(_text(value))


def known_version(text: str) -> str:
    """A version of torch that something is known of.

    Raises:
        BadValueError: it is none.
    """
    if not _VERSION.fullmatch(text):
        raise BadValueError('expected a version such as "2.13" or "2.13.0"', text)
    numbers = release_numbers(text)
    if not OLDEST_KNOWN <= numbers[:2] <= NEWEST_KNOWN:
        oldest, newest = (".".join(map(str, limit)) for limit in (OLDEST_KNOWN, NEWEST_KNOWN))
        raise BadValueError(f"expected a version from {oldest} to {newest}", text)
    return text


def _python(value: object, _base: str) -> str:
    return known_python(_text(value))


def known_python(text: str) -> str:
    """A version of Python that something is known of, as "3.12".

    Raises:
        BadValueError: it is none.
    """
    numbers = tuple(map(int, text.split("."))) if _PYTHON.fullmatch(text) else ()
    if not OLDEST_PYTHON <= numbers <= NEWEST_PYTHON:
        oldest, newest = (".".join(map(str, limit)) for limit in (OLDEST_PYTHON, NEWEST_PYTHON))
        raise BadValueError(f'expected a version of Python from "{oldest}" to "{newest}"', text)
    return text


def _requirement(value: object, _base: str) -> str:
    text = _text(value)
    if specifiers(text) is None:
        raise BadValueError("expected versions as PEP 440 has them", text)
    return text


def _table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BadValueError("expected a table")
    return cast("dict[str, object]", value)


def _severities(value: object, _base: str) -> tuple[tuple[str, Severity], ...]:
    return tuple((selector, _severity(word)) for selector, word in _table(value).items())


def _ignores(value: object, base: str) -> tuple[tuple[Pattern, tuple[str, ...]], ...]:
    return tuple((_pattern(glob, base), _strings(rules)) for glob, rules in _table(value).items())


def _models(value: object, base: str) -> tuple[str, ...]:
    paths: list[str] = []
    for text in _strings(value):
        path = _path(text, base)
        if not path.endswith(".pyi"):
            raise BadValueError(f"the model `{text}` does not end in `.pyi`", text)
        if not os.path.isfile(path):
            raise BadValueError(f"the model `{text}` does not exist", text)
        paths.append(path)
    return tuple(paths)


def _inputs(value: object, base: str) -> tuple[tuple[str, str], ...]:
    return tuple((_function(name, base), _function(_text(maker), base)) for name, maker in _table(value).items())


def _budget(value: object, base: str) -> tuple[Budget, ...]:
    return tuple(_entry(key, numbers, base) for key, numbers in _table(value).items())


def _entry(key: str, value: object, base: str) -> Budget:
    place, separator, name = key.partition("::")
    if not place or (separator and not name):
        raise BadValueError('expected a region as "FILE::FUNCTION", or a file or folder', key)
    if not isinstance(value, dict):
        raise BadValueError(f"expected a table for `{key}`", key)
    numbers = cast("dict[str, object]", value)
    for number, most in numbers.items():
        if number not in NUMBERS:
            raise BadValueError(f"`{number}` is not a number of a region: there are {' and '.join(NUMBERS)}", number)
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            raise BadValueError(f"expected a number for `{number}` of `{key}`", key)
    return Budget(key, base, **cast("dict[str, int]", numbers))


def _function(text: str, base: str) -> str:
    path, separator, name = text.partition("::")
    if not separator or not path or not name:
        raise BadValueError('expected a function as "FILE::FUNCTION"', text)
    return f"{_path(path, base)}::{name}"


_CHECKS: dict[str, Callable[[object, str], object]] = {
    "boolean": _boolean,
    "budget": _budget,
    "format": _format,
    "ignores": _ignores,
    "inputs": _inputs,
    "models": _models,
    "path": _path,
    "patterns": _patterns,
    "python": _python,
    "requirement": _requirement,
    "selectors": _strings,
    "severities": _severities,
    "severity": _severity,
    "version": _version,
}
