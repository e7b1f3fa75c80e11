"""What sets a marked function going from elsewhere: tests with fixtures, scripts, models in other files."""

from __future__ import annotations

import ast
import json
import os
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm import testing
from nonstrict.confirm.callers import Caller, callers_of
from nonstrict.confirm.drivers import drivers_of
from nonstrict.confirm.programs import program_of
from nonstrict.confirm.project import Project, module_names, search_path
from nonstrict.confirm.slices import statements_of
from nonstrict.confirm.suspects import Suspect
from nonstrict.confirm.testing import Reach, is_test_file
from nonstrict.rules.expectation import Expectation, Experiment
from nonstrict_agent.loading import _Dropped

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

#: Inputs that nobody guesses: the width has to be one that the text of the key gives.
OPS = """
    import torch
    from torch._dynamo import nonstrict_trace

    SCALE = 2.0
    NOTES = []
    TABLE = torch.ones(4)


    def set_scale(value):
        global SCALE
        SCALE = value


    def checked(key):
        if sum(map(ord, key)) != 1234:
            raise ValueError(key)


    @nonstrict_trace
    def scaled(x, key):
        checked(key)
        return x * SCALE


    @nonstrict_trace
    def noted(x, key):
        checked(key)
        NOTES.append(key)
        return x + 1


    @nonstrict_trace
    def shifted(x, key):
        checked(key)
        return x + TABLE


    def unrelated(x):
        return x
"""
KEY = "zzzzzzzzzz" + chr(14)
MODEL = f"""
    import torch
    from pkg import scaled
    from .ops import noted

    KEY = {KEY!r}


    class Model(torch.nn.Module):
        def __init__(self, key=KEY):
            super().__init__()
            self.key = key

        def forward(self, x):
            return scaled(x, self.key)

        def count(self, x):
            return noted(x, self.key)
"""
TEST = """
    import pytest
    from pkg.model import Model


    @pytest.fixture(params=[True, False])
    def model(request):
        yield Model()


    def test_unrelated(batch):
        assert batch is not None


    @pytest.mark.parametrize("factor", [pytest.param(0, marks=pytest.mark.skip), 1, 2])
    def test_forward(model, batch, factor):
        y = model(batch * factor)
        assert y.sum() == "no such thing"
        model(batch * factor)
"""
CASE = f"""
    import unittest
    import torch
    import pkg.ops as ops


    class ShiftTest(unittest.TestCase):
        def setUp(self):
            self.key = {KEY!r}

        def test_other(self):
            self.assertTrue(ops.unrelated(1))

        def test_shift(self):
            self.assertEqual(ops.shifted(torch.ones(4), self.key).shape, (4,))
"""
TRAIN = """
    import argparse
    import torch
    from pkg.model import Model


    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--steps", type=int, default=3)
        args = parser.parse_args()
        model = Model()
        for step in range(args.steps):
            print(model.count(torch.ones(4)))


    if __name__ == "__main__":
        main()
"""
FILES = {
    "pyproject.toml": "",
    "src/pkg/__init__.py": "from .ops import scaled as scaled\n",
    "src/pkg/ops.py": OPS,
    "src/pkg/model.py": MODEL,
    "tests/conftest.py": """
        import pytest
        import torch

        @pytest.fixture
        def batch():
            return torch.arange(4.0)
    """,
    "tests/test_model.py": TEST,
    "tests/test_cases.py": CASE,
    "train.py": TRAIN,
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")


def callers(root: Path, function: str, file: str = "src/pkg/ops.py") -> list[Caller]:
    path = str(root / file)
    text = (root / file).read_text(encoding="utf-8")
    program = program_of(path, text, str(root), {})
    assert program is not None
    line = next(n for n, one in enumerate(text.split("\n"), 1) if f"def {function.rpartition('.')[2]}(" in one)
    here = frozenset({line})
    suspect = Suspect(
        0,
        "NST104",
        Expectation(Experiment.CHANGE),
        path,
        here,
        path,
        line,
        function,
        frozenset(),
        frozenset(),
        None,
        "",
    )
    return callers_of(program, suspect, Project(str(root)))


def shown(root: Path, function: str, file: str = "src/pkg/ops.py") -> list[str]:
    return [
        f"{os.path.relpath(one.program.path, root)} {one.driver.kind} {one.driver.name}"
        for one in callers(root, function, file)
    ]


def test_tests_come_before_scripts(tmp_path: Path):
    write(tmp_path, FILES)
    expected = [
        "tests/test_model.py test test_forward",
        "train.py function main",
        "train.py guard the main guard",
    ]
    assert shown(tmp_path, "noted") == expected
    assert shown(tmp_path, "scaled") == expected
    assert shown(tmp_path, "shifted") == ["tests/test_cases.py test ShiftTest.test_shift"]


def test_nothing_else_is_a_caller(tmp_path: Path):
    write(tmp_path, {**FILES, "tests/test_cases.py": "from other import shifted\ndef test():\n    shifted(1)\n"})
    assert shown(tmp_path, "shifted") == []


@pytest.mark.parametrize(
    "source",
    [
        "from pkg.ops import scaled\ndef test():\n    scaled(1)",
        "from pkg.ops import scaled as s\ndef test():\n    s(1)",
        "from pkg.ops import *\ndef test():\n    scaled(1)",
        "from pkg import ops\ndef test():\n    ops.scaled(1)",
        "from pkg import scaled\ndef test():\n    scaled(1)",
        "import pkg\ndef test():\n    pkg.scaled(1)",
        "import pkg.ops\ndef test():\n    pkg.ops.scaled(1)",
        "import pkg.ops as o\ndef test():\n    o.scaled(1)",
        "def test():\n    from pkg.ops import scaled\n    scaled(1)",
        "from src.pkg.ops import scaled\ndef test():\n    scaled(1)",
        "from ..src.pkg.ops import scaled\ndef test():\n    scaled(1)",
        "from pkg.ops import scaled\ndef helper():\n    scaled(1)\ndef test():\n    helper()",
    ],
)
def test_the_ways_to_import_it(tmp_path: Path, source: str):
    files = {"src/pkg/__init__.py": FILES["src/pkg/__init__.py"], "src/pkg/ops.py": OPS, "tests/test_it.py": source}
    write(tmp_path, files)
    found = callers(tmp_path, "scaled")
    assert [one.driver.name for one in found] == ["test"]
    assert found[0].driver.dropped == frozenset()
    imported = found[0].program.imported
    assert str(tmp_path / "src") in (*imported.folders, *imported.further)


@pytest.mark.parametrize(
    "source",
    [
        "import pkg.ops as o\ndef test():\n    o.unrelated(1)",
        "from pkg.ops import unrelated\ndef test():\n    unrelated('scaled')",
        "from other.ops import scaled\ndef test():\n    scaled(1)",
        "def test(scaled):\n    pass  # ops",
    ],
)
def test_what_only_looks_like_it(tmp_path: Path, source: str):
    files = {"src/pkg/__init__.py": FILES["src/pkg/__init__.py"], "src/pkg/ops.py": OPS, "tests/test_it.py": source}
    write(tmp_path, files)
    assert callers(tmp_path, "scaled") == []


def test_fixtures_of_a_conftest_that_use_it(tmp_path: Path):
    conftest = "import pytest\nfrom pkg.model import Model\n@pytest.fixture\ndef net():\n    return Model()\n"
    test = "def test(net):\n    net(1)\ndef test_other():\n    pass\n"
    files = {name: FILES[name] for name in FILES if name.startswith("src")}
    write(tmp_path, {**files, "tests/conftest.py": conftest, "tests/deep/test_it.py": test})
    assert shown(tmp_path, "scaled") == ["tests/deep/test_it.py test test"]


def test_unsaved_text_of_the_functions_own_file_stands_over_it(tmp_path: Path):
    write(tmp_path, FILES)
    found = callers(tmp_path, "shifted")[0].program
    assert dict(found.overlays) == {}
    path = str(tmp_path / "src/pkg/ops.py")
    program = program_of(path, dedent(OPS), str(tmp_path), {})
    assert program is not None
    suspect = Suspect(
        0,
        "NST101",
        Expectation(Experiment.CHANGE),
        path,
        frozenset(),
        path,
        34,
        "shifted",
        frozenset(),
        frozenset(),
        None,
        "",
    )
    edited = callers_of(program, suspect, Project(str(tmp_path)))[0].program
    assert dict(edited.overlays) == {path: dedent(OPS)}


def test_the_names_of_a_module():
    assert module_names("/p/src/pkg/ops.py", "/p", "/p/src") == {"src.pkg.ops", "pkg.ops"}
    assert module_names("/p/src/pkg/__init__.py", "/p", "/p/src") == {"src.pkg", "pkg"}
    assert module_names("/p/train.py", "/p", "/p") == {"train"}
    assert module_names("/q/train.py", "/p", "/q") == frozenset()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["lib"]\n'),
        ("pytest.ini", "[pytest]\npythonpath = lib\n"),
        ("setup.cfg", "[tool:pytest]\npythonpath = lib\n"),
    ],
)
def test_where_modules_are_looked_for(tmp_path: Path, name: str, text: str):
    for folder in ("src", "lib"):
        (tmp_path / folder).mkdir()
    (tmp_path / name).write_text(text)
    assert search_path(str(tmp_path)) == [str(tmp_path), str(tmp_path / "src"), str(tmp_path / "lib")]


def test_files_of_environments_and_builds_are_none_of_the_project(tmp_path: Path):
    write(tmp_path, {"a.py": "x", "build/b.py": "x", ".hidden/c.py": "x", "env2/pyvenv.cfg": "", "env2/d.py": "x"})
    project = Project(str(tmp_path))
    assert project.paths() == [str(tmp_path / "a.py")]
    assert project.mentioning({"x"}) == [str(tmp_path / "a.py")]
    assert project.mentioning({"x"}, ()) == []


def test_unsaved_texts_count_instead_of_files(tmp_path: Path):
    write(tmp_path, {"a.py": "x = 1", "b.py": "y = 1"})
    path = str(tmp_path / "a.py")
    project = Project(str(tmp_path), {path: "from b import y\nunsaved(y)"})
    assert project.mentioning({"unsaved"}) == [path]
    file = project.file(path)
    assert file is not None
    assert file.text.endswith("unsaved(y)")
    assert len(file.statements) == 2


def test_a_new_file_changes_the_state_of_a_project(tmp_path: Path):
    write(tmp_path, {"a.py": ""})
    before = Project(str(tmp_path)).state()
    write(tmp_path, {"b.py": ""})
    assert Project(str(tmp_path)).state() != before


@pytest.mark.parametrize(("name", "is_test"), [("test_a.py", True), ("a_test.py", True), ("atest.py", False)])
def test_the_names_of_test_files(name: str, is_test: bool):
    assert is_test_file(f"/p/{name}") is is_test


def left(source: str, names: set[str]) -> str:
    """What the first test of a source executes of it."""
    tree = ast.parse(dedent(source))
    driver = testing.drivers_in_tests(tree, Reach(frozenset(names)))[0]
    reduced = _Dropped(driver.dropped).visit(tree)
    return ast.unparse(ast.Module([node for i, node in enumerate(reduced.body) if i in driver.kept], []))


def plain(source: str) -> str:
    return ast.unparse(ast.parse(dedent(source)))


def test_a_test_keeps_its_fixtures_and_no_others():
    source = """
        @pytest.fixture
        def width():
            return 3

        @pytest.fixture
        def other():
            return 4

        @pytest.fixture(name="model")
        def make(width):
            return Model(width)

        @pytest.fixture(autouse=True)
        def prepared():
            pass

        def test(model):
            y = model(1)
            print(y)
            assert y == 2
            assert model(2) == 3
            torch.testing.assert_close(y, 2)
    """
    expected = """
        @pytest.fixture
        def width():
            return 3

        @pytest.fixture(name="model")
        def make(width):
            return Model(width)

        @pytest.fixture(autouse=True)
        def prepared():
            pass

        def test(model):
            y = model(1)
            assert model(2) == 3
    """
    assert left(source, {"Model"}) == plain(expected)


def test_of_a_class_one_test_is_kept():
    source = """
        class TestIt(Base):
            def setup_method(self):
                self.model = Model()

            def test_other(self):
                unknown()

            def test_model(self):
                self.assertEqual(self.model(1), 2)
    """
    expected = """
        class TestIt(Base):
            def setup_method(self):
                self.model = Model()

            def test_model(self):
                self.assertEqual(self.model(1), 2)
    """
    assert left(source, {"Model"}) == plain(expected)


def test_what_conditions_and_loops_read_stays():
    source = """
        def main():
            count = 3
            for _ in range(count):
                step(1)
    """
    assert drivers_of(statements_of(ast.parse(dedent(source))), ["step"])[0].dropped == frozenset()


@pytest.mark.torch
def test_verdicts_by_the_tests_and_scripts_of_a_project(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    write(tmp_path, FILES)
    done = nonstrict("check", "--confirm", "--output-format", "json", "src/pkg/ops.py")
    assert told(done) == {"NST101": "confirmed", "NST104": "confirmed", "NST203": "confirmed"}, done.stdout
    assert "call 3: eager" in done.stdout
    # The answers hold while the files that gave them do.
    for name in ("tests/test_model.py", "tests/test_cases.py", "train.py"):
        (tmp_path / name).unlink()
    done = nonstrict("check", "--confirm", "--output-format", "json", "src/pkg/ops.py")
    assert set(told(done).values()) == {"inconclusive"}, done.stdout


def told(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return {one["code"]: one["verdict"]["status"] for one in found}


@pytest.mark.torch
def test_a_test_with_fixtures_in_its_own_file(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    source = f"""
        import pytest

        @pytest.fixture
        def key():
            return {KEY!r}

        def test_noted(key):
            noted(torch.ones(4), key)
    """
    write(tmp_path, {"test_ops.py": dedent(OPS) + dedent(source)})
    done = nonstrict("check", "--confirm", "--output-format", "json", "test_ops.py")
    assert told(done)["NST203"] == "confirmed", done.stdout
