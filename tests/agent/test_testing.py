"""Tests of a program, run without their runner: fixtures, parameters, skips, unittest."""

from __future__ import annotations

import sys
import types
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from nonstrict_agent.fixtures import conftests
from nonstrict_agent.loading import LoadError
from nonstrict_agent.testing import SkippedError, run_test

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch")


def ran(source: str, name: str, around: list[types.ModuleType] | None = None) -> list[object]:
    """What a test of a source notes in `SEEN`."""
    module = types.ModuleType("program")
    vars(module)["SEEN"] = []
    exec(dedent(source), vars(module))  # noqa: S102 - the tests of this file
    run_test(module, name, around or [], [])
    return vars(module)["SEEN"]


def test_a_test_without_parameters():
    assert ran("def test():\n    SEEN.append(1)", "test") == [1]


def test_fixtures_that_ask_for_fixtures():
    source = """
        import pytest

        @pytest.fixture
        def width():
            return 3

        @pytest.fixture(name="model")
        def _model(width):
            yield [width]
            SEEN.append("torn down")

        def test(model, width):
            SEEN.append((model, width))
    """
    assert ran(source, "test") == [([3], 3)]


def test_a_fixture_is_made_once_for_a_test():
    source = """
        import pytest

        @pytest.fixture
        def shared():
            return object()

        @pytest.fixture
        def other(shared):
            return shared

        def test(shared, other):
            SEEN.append(shared is other)
    """
    assert ran(source, "test") == [True]


def test_the_first_sets_of_parameters():
    source = """
        import pytest

        @pytest.mark.parametrize("b", [1, 2])
        @pytest.mark.parametrize(["a", "c"], [(0, "x"), pytest.param(5, "y")])
        def test(a, b, c):
            SEEN.append((a, b, c))
    """
    assert ran(source, "test") == [(0, 1, "x"), (0, 2, "x")]


def test_sets_that_are_skipped_are_passed_over():
    source = """
        import pytest

        @pytest.mark.parametrize("a", [pytest.param(0, marks=pytest.mark.skip), 1, 2, 3])
        def test(a):
            if a == 1:
                pytest.skip("not this one")
            SEEN.append(a)
    """
    assert ran(source, "test") == [2, 3]


def test_parameters_of_fixtures():
    source = """
        import pytest

        @pytest.fixture(params=[pytest.param(4), 2])
        def size(request):
            return request.param

        @pytest.fixture
        def scaled(request):
            return request.param * 10

        @pytest.mark.parametrize("scaled", [1], indirect=True)
        def test(size, scaled):
            SEEN.append((size, scaled))
    """
    assert ran(source, "test") == [(4, 10)]


def test_what_pytest_brings_along(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NONSTRICT_NOTED", "0")
    source = """
        import os

        def test(tmp_path, monkeypatch, request):
            monkeypatch.setenv("NONSTRICT_NOTED", "1")
            same = request.getfixturevalue("tmp_path") == tmp_path
            SEEN.append((tmp_path.is_dir(), os.environ["NONSTRICT_NOTED"], same))
    """
    assert ran(source, "test") == [(True, "1", True)]


def test_fixtures_that_every_test_gets_and_those_that_are_named():
    source = """
        import pytest

        @pytest.fixture(autouse=True)
        def always():
            SEEN.append("always")

        @pytest.fixture
        def named():
            SEEN.append("named")

        @pytest.mark.usefixtures("named")
        def test():
            SEEN.append("test")
    """
    assert ran(source, "test") == ["always", "named", "test"]


def test_a_class_with_its_preparations():
    source = """
        import pytest

        class TestIt:
            @classmethod
            def setup_class(cls):
                cls.base = 1

            def setup_method(self, method):
                self.prepared = method.__name__

            @pytest.fixture
            def extra(self):
                return self.base + 1

            def test(self, extra):
                SEEN.append((self.prepared, extra))
    """
    assert ran(source, "TestIt.test") == [("test", 2)]


def test_a_case_of_unittest():
    source = """
        import unittest

        class Case(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.base = 1

            def setUp(self):
                self.value = self.base + 1

            def test(self):
                with self.subTest("x"):
                    SEEN.append(self.value)
    """
    assert ran(source, "Case.test") == [2]


def test_a_method_that_a_decorator_made_several_of():
    source = """
        import unittest

        class Case(unittest.TestCase):
            pass

        setattr(Case, "test_0", lambda self: SEEN.append(0))
        setattr(Case, "test_1", lambda self: SEEN.append(1))
    """
    assert ran(source, "Case.test") == [0]


@pytest.mark.parametrize(
    "source",
    [
        "import pytest\n@pytest.mark.skip\ndef test():\n    pass",
        "import pytest\n@pytest.mark.skipif('sys.maxsize > 0', reason='')\ndef test():\n    pass",
        "import pytest\npytestmark = pytest.mark.skipif(True, reason='')\ndef test():\n    pass",
        "import pytest\ndef test():\n    pytest.importorskip('no_such_module_of_ours')",
        "def test(mocker):\n    pass",
    ],
)
def test_what_is_not_to_be_run_here(source: str):
    with pytest.raises(SkippedError):
        ran(source, "test")


def test_cases_that_are_skipped():
    source = (
        "import unittest\nclass Case(unittest.TestCase):\n    @unittest.skip('')\n    def test(self):\n        pass"
    )
    with pytest.raises(SkippedError):
        ran(source, "Case.test")


def test_the_reason_names_the_fixture_and_the_conftest_that_failed():
    module = types.ModuleType("program")
    exec("def test(batch):\n    pass", vars(module))  # noqa: S102 - the same
    with pytest.raises(SkippedError, match=r"`batch` is not known; conftest\.py: no"):
        run_test(module, "test", [], ["conftest.py: no"])


def test_there_is_no_such_test():
    with pytest.raises(LoadError, match="no test `test`"):
        ran("", "test")


def test_fixtures_of_conftests_are_overridden_by_nearer_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef size():\n    return 1\n")
    text = "import pytest\n@pytest.fixture\ndef size(size):\n    return size + 1\n"
    (inner / "conftest.py").write_text(text)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "conftest", raising=False)
    around, failures = conftests(str(inner / "test_it.py"), str(tmp_path))
    monkeypatch.delitem(sys.modules, "conftest", raising=False)
    assert (len(around), failures) == (2, [])
    assert ran("def test(size):\n    SEEN.append(size)", "test", around) == [2]


def test_a_conftest_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "conftest.py").write_text("import no_such_module_of_ours")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "conftest", raising=False)
    around, failures = conftests(str(tmp_path / "test_it.py"), str(tmp_path))
    assert around == []
    assert "no_such_module_of_ours" in failures[0]
