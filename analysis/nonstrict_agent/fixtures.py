"""Makes the values that a test of pytest asks for by the names of its parameters, without running pytest.

Fixtures are what pytest's decorator leaves behind, in the module of the test, its class and the `conftest.py` files
above it; of pytest's own, those that need no session: `request`, `tmp_path`, `tmp_path_factory`, `monkeypatch`.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: Values that were not given; None is one.
NOTHING: Any = object()


class UnresolvableFixtureError(Exception):
    """A test asks for something that only pytest, or a plugin of it, can make; the text says what."""


class Fixture(NamedTuple):
    """A function that makes a value; `params` are the values that its `request.param` takes, None where it has none.

    `origin` is the module or class that it is defined in.
    """

    name: str
    function: Callable[..., Any]
    autouse: bool
    params: tuple[Any, ...] | None
    origin: object


def fixture_of(name: str, value: Any, origin: object) -> Fixture | None:
    """The fixture that an attribute holds, None if it is none.

    pytest 8.4 puts an object in place of the function; before, the function was wrapped and carried the marker.
    """
    marker = getattr(value, "_fixture_function_marker", None) or getattr(value, "_pytestfixturefunction", None)
    if marker is None or isinstance(value, type):
        return None
    wrapped = getattr(value, "__pytest_wrapped__", None)
    function = getattr(value, "_fixture_function", None) or getattr(wrapped, "obj", None) or value
    if not callable(function):
        return None
    params = getattr(marker, "params", None)
    given = None if params is None else tuple(params)
    autouse = bool(getattr(marker, "autouse", False))
    return Fixture(getattr(marker, "name", None) or name, function, autouse, given, origin)


def fixtures_in(owner: Any) -> Iterator[Fixture]:
    """The fixtures among the attributes of a module or a class, those that it inherits too."""
    holders = reversed(owner.__mro__) if isinstance(owner, type) else (owner,)
    for holder in holders:
        for name, value in list(vars(holder).items()):
            found = fixture_of(name, value, owner)
            if found is not None:
                yield found


def conftests(path: str, root: str) -> tuple[list[ModuleType], list[str]]:
    """The `conftest.py` modules from a root down to a file, and a sentence for each that cannot be imported."""
    modules: list[ModuleType] = []
    failures: list[str] = []
    for file in _conftest_files(path, root):
        try:
            modules.append(_imported(file))
        except Exception as error:  # noqa: BLE001 - the fixtures in it are missing then
            failures.append(f"{file}: {type(error).__name__}: {str(error).strip()[:200]}")
    return modules, failures


def _conftest_files(path: str, root: str) -> list[str]:
    found: list[str] = []
    base = os.path.abspath(root)
    folder = os.path.dirname(os.path.abspath(path))
    while folder == base or folder.startswith(os.path.join(base, "")):
        file = os.path.join(folder, "conftest.py")
        if os.path.isfile(file):
            found.insert(0, file)
        if os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    return found


def _imported(file: str) -> ModuleType:
    """A module by the name that imports of it use: its folder is searched for modules, as pytest does it."""
    folder, name = os.path.dirname(file), "conftest"
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, last = os.path.split(folder)
        name = f"{last}.{name}"
    if folder not in sys.path:
        sys.path.insert(0, folder)
    known = sys.modules.get(name)
    if known is None:
        found = importlib.import_module(name)
        if os.path.abspath(str(found.__file__)) == file:
            return found
    elif os.path.abspath(str(known.__file__)) == file:
        return known
    # Another directory has one of the same name.
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Fixtures:
    """The fixtures that one test sees, and the values made for it so far."""

    def __init__(self, owners: list[Any], instance: object, asked: Mapping[str, Any], test: SimpleNamespace) -> None:
        """Collect the fixtures of modules and classes, the nearest last.

        `instance` is what fixtures that are methods are bound to, `asked` the values of `request.param` that
        parametrization gives, `test` what `request` tells of the test.
        """
        self._known: dict[str, list[Fixture]] = {}
        for owner in owners:
            for fixture in fixtures_in(owner):
                self._known.setdefault(fixture.name, []).append(fixture)
        self._instance = instance
        self._asked = asked
        self._test = test
        self._values: dict[tuple[str, int], Any] = {}
        #: Generators that are suspended at their `yield`; what comes after is left to the end of the process.
        self._open: list[Any] = []

    def autouse(self) -> None:
        """Make the values of those that every test gets.

        Raises:
            UnresolvableFixtureError: one of them cannot be made.
        """
        for name, found in self._known.items():
            if found[-1].autouse:
                self.value(name)

    def value(self, name: str, below: int = 0) -> Any:
        """The value of a fixture; `below` counts the overriding ones of the same name that are left out.

        Raises:
            UnresolvableFixtureError: there is no such fixture.
        """
        found = self._known.get(name, ())
        level = len(found) - 1 - below
        if level < 0:
            return self._own(name)
        key = (name, level)
        if key not in self._values:
            self._values[key] = self._made(found[level], below)
        return self._values[key]

    def arguments(self, function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a test or fixture: what parametrization gives, else values of fixtures."""
        return {name: given[name] if name in given else self.value(name) for name in parameters(function)}

    def _made(self, fixture: Fixture, below: int) -> Any:
        function = fixture.function
        if isinstance(fixture.origin, type) and not hasattr(function, "__self__"):
            function = function.__get__(self._instance)
        param = self._asked.get(fixture.name, NOTHING)
        if param is NOTHING and fixture.params:
            param = _plain(fixture.params[0])
        given: dict[str, Any] = {"request": self._request(param)}
        if fixture.name in parameters(function):
            given[fixture.name] = self.value(fixture.name, below + 1)
        result = function(**self.arguments(function, given))
        if inspect.isgenerator(result):
            self._open.append(result)
            return next(result)
        if inspect.iscoroutine(result) or inspect.isasyncgen(result):
            raise UnresolvableFixtureError(f"the fixture `{fixture.name}` is asynchronous")
        return result

    def _request(self, param: Any = NOTHING) -> SimpleNamespace:
        request = SimpleNamespace(**vars(self._test), getfixturevalue=self.value, addfinalizer=lambda _: None)
        if param is not NOTHING:
            request.param = param
        return request

    def _own(self, name: str) -> Any:
        """The value of a fixture that pytest brings along."""
        if name == "request":
            return self._request()
        if name in {"tmp_path", "tmp_path_factory", "monkeypatch"}:
            key = (name, -1)
            if key not in self._values:
                self._values[key] = _BUILT_IN[name]()
            return self._values[key]
        raise UnresolvableFixtureError(f"the fixture `{name}` is not known")


def _directory(*_: object, **__: object) -> Path:
    return Path(tempfile.mkdtemp())


def _directories() -> SimpleNamespace:
    return SimpleNamespace(mktemp=_directory, getbasetemp=_directory)


def _monkeypatch() -> Any:
    import pytest

    return pytest.MonkeyPatch()


_BUILT_IN: dict[str, Callable[[], Any]] = {
    "tmp_path": _directory,
    "tmp_path_factory": _directories,
    "monkeypatch": _monkeypatch,
}


def _plain(value: Any) -> Any:
    """A parameter out of `pytest.param(...)`."""
    if type(value).__name__ == "ParameterSet":
        return value.values[0] if len(value.values) == 1 else value.values
    return value


def parameters(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters that have to be given."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind in kinds and parameter.default is inspect.Parameter.empty
    ]
