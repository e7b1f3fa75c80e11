"""Runs one test of a program as its test runner would, with pytest's or unittest's preparations, and no report.

A test that its marks skip, or that skips itself, is left, and its next set of parameters is tried.
"""

from __future__ import annotations

import itertools
import os
import platform
import sys
import unittest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict_agent.fixtures import Fixtures, UnresolvableFixtureError, parameters
from nonstrict_agent.loading import LoadError
from nonstrict_agent.recorder import seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

#: Sets of parameters that are run, and those that are looked at for it.
_SETS, _TRIED = 2, 12
_MAX_VALUES = 16


class SkippedError(Exception):
    """The test is not to be run here, or needs what only its runner can make; the text says why."""


class _Set(NamedTuple):
    """One set of parameters: values for the test itself, and for the fixtures that take them as `request.param`."""

    values: dict[str, Any]
    asked: dict[str, Any]
    skipped: bool


def run_test(module: ModuleType, name: str, around: list[ModuleType], failures: list[str]) -> None:
    """Run a test function, or a method of a test class (`Class.method`), with its first sets of parameters.

    `around` are the `conftest.py` modules that hold for it, `failures` says which could not be imported.

    Raises:
        LoadError: there is no such test.
        SkippedError: it is skipped, or needs what cannot be made.
    """
    owner, _, method = name.rpartition(".")
    if not owner:
        _run_function(_Test(module, None, _attribute(module, name)), around, failures)
        return
    cls = _class(module, owner)
    if issubclass(cls, unittest.TestCase):
        _run_case(cls, _method(cls, method))
        return
    _run_function(_Test(module, cls, _attribute(cls, method)), around, failures)


class _Test(NamedTuple):
    module: ModuleType
    cls: type | None
    function: Callable[..., Any]

    def marks(self) -> list[Any]:
        """The marks of the test, the nearest first."""
        found: list[Any] = []
        for holder in (self.function, *(self.cls.__mro__ if self.cls is not None else ()), self.module):
            own = getattr(holder, "__dict__", {}).get("pytestmark", [])
            found += [getattr(mark, "mark", mark) for mark in (own if isinstance(own, (list, tuple)) else [own])]
        return found


def _attribute(owner: Any, name: str) -> Any:
    value = getattr(owner, name, None)
    if not callable(value):
        raise LoadError(f"there is no test `{name}`")
    return value


def _class(module: ModuleType, name: str) -> type:
    """A test class; torch's `instantiate_device_type_tests` puts those of devices in its place."""
    for candidate in (name, f"{name}CPU"):
        found = getattr(module, candidate, None)
        if isinstance(found, type):
            return found
    raise LoadError(f"there is no class `{name}`")


def _method(cls: type, name: str) -> str:
    """The name of a test method; where a decorator made several of it, the first of them."""
    if callable(getattr(cls, name, None)):
        return name
    for candidate in vars(cls):
        if candidate.startswith(f"{name}_"):
            return candidate
    raise LoadError(f"there is no test `{cls.__name__}.{name}`")


def _run_case(cls: type[unittest.TestCase], method: str) -> None:
    function = getattr(cls, method)
    if getattr(cls, "__unittest_skip__", False) or getattr(function, "__unittest_skip__", False):
        raise SkippedError(f"the test `{method}` is skipped")
    try:
        cls.setUpClass()
        cls(method).debug()
    except unittest.SkipTest as error:
        raise SkippedError(f"the test `{method}` skips itself: {error}") from error


def _run_function(test: _Test, around: list[ModuleType], failures: list[str]) -> None:
    marks = test.marks()
    if _is_skipped(marks, test.module):
        raise SkippedError(f"the test `{test.function.__name__}` is skipped")
    done = 0
    reason = "it has no parameters"
    for chosen in itertools.islice(_sets(marks, test), _TRIED):
        if chosen.skipped:
            continue
        # What the test draws does not depend on how much tracing drew in the set before.
        seed(done)
        try:
            _run_once(test, chosen, around)
        except UnresolvableFixtureError as error:
            raise SkippedError("; ".join([str(error), *failures])) from error
        except BaseException as error:
            if not is_skip(error):
                raise
            reason = str(error)
            continue
        done += 1
        if done == _SETS:
            return
    if not done:
        raise SkippedError(f"the test `{test.function.__name__}` is skipped: {reason}")


def is_skip(error: BaseException) -> bool:
    """Whether an exception says that a test is not to be run (`pytest.skip`, `importorskip`, `unittest.SkipTest`)."""
    return isinstance(error, unittest.SkipTest) or type(error).__name__ == "Skipped"


def _run_once(test: _Test, chosen: _Set, around: list[ModuleType]) -> None:
    instance = test.cls() if test.cls is not None else None
    told = SimpleNamespace(
        module=test.module,
        cls=test.cls,
        instance=instance,
        function=test.function,
        node=SimpleNamespace(name=test.function.__name__),
    )
    owners: list[Any] = [*around, test.module, *([test.cls] if test.cls is not None else [])]
    fixtures = Fixtures(owners, instance, chosen.asked, told)
    _prepare(test.module, ("setup_module", "setUpModule"), test.module)
    if test.cls is not None:
        _prepare(test.cls, ("setup_class",))
    fixtures.autouse()
    for name in _used(test.marks()):
        fixtures.value(name)
    bound = test.function if instance is None else getattr(instance, test.function.__name__)
    if instance is None:
        _prepare(test.module, ("setup_function",), bound)
    else:
        _prepare(instance, ("setup_method", "setup"), bound)
    bound(**fixtures.arguments(bound, chosen.values))


def _prepare(owner: Any, names: tuple[str, ...], given: object = None) -> None:
    """Call the first preparation that there is, with what it is for if it wants to know."""
    for name in names:
        function = getattr(owner, name, None)
        if callable(function):
            function(*([given] if parameters(function) else []))
            return


def _used(marks: Iterable[Any]) -> list[str]:
    return [name for mark in marks if getattr(mark, "name", "") == "usefixtures" for name in mark.args]


def _is_skipped(marks: Iterable[Any], module: ModuleType) -> bool:
    for mark in marks:
        name = getattr(mark, "name", "")
        if name == "skip" or (name == "xfail" and mark.kwargs.get("run") is False):
            return True
        if name == "skipif":
            conditions = mark.args or [mark.kwargs.get("condition", True)]
            if any(_holds(condition, module) for condition in conditions):
                return True
    return False


def _holds(condition: Any, module: ModuleType) -> bool:
    if not isinstance(condition, str):
        return bool(condition)
    names = {"os": os, "sys": sys, "platform": platform, **vars(module)}
    return bool(eval(condition, names))  # noqa: S307 - in the sandbox


def _sets(marks: list[Any], test: _Test) -> Iterator[_Set]:
    """The sets of parameters that the marks of a test give, one without any if they give none."""
    axes = [list(_axis(mark, test)) for mark in marks if getattr(mark, "name", "") == "parametrize"]
    for parts in itertools.product(*axes):
        values = {name: value for part in parts for name, value in part.values.items()}
        asked = {name: value for part in parts for name, value in part.asked.items()}
        yield _Set(values, asked, any(part.skipped for part in parts))


def _axis(mark: Any, test: _Test) -> Iterator[_Set]:
    """The sets of one `parametrize`."""
    given: dict[str, Any] = dict(zip(("argnames", "argvalues", "indirect"), mark.args, strict=False)) | mark.kwargs
    names = given.get("argnames", ())
    names = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    indirect = given.get("indirect", False)
    for entry in itertools.islice(given.get("argvalues", ()), _MAX_VALUES):
        packed = type(entry).__name__ == "ParameterSet"
        values = entry.values if packed else [entry] if len(names) == 1 else entry
        skipped = packed and _is_skipped((getattr(one, "mark", one) for one in entry.marks), test.module)
        by_name = dict(zip(names, values, strict=False))
        through = set(names) if indirect is True else set(indirect or ())
        asked = {name: value for name, value in by_name.items() if name in through}
        yield _Set({name: value for name, value in by_name.items() if name not in through}, asked, skipped)
