"""What pytest has `conftest.py` put on `sys.path` before it imports tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from pathlib import Path


def test_tests_find_what_conftest_puts_on_the_path(tmp_path: Path) -> None:
    files = {
        "conftest.py": "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\n",
        "lib/helpers.py": "",
        "lib/near.py": "",
        "tests/near.py": "",
        "tests/deep/test_it.py": "import helpers, near\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    project = Project()
    importer = project.module(str(tmp_path / "tests/deep/test_it.py"))
    assert importer is not None
    assert project.find("helpers", importer) == str(tmp_path / "lib/helpers.py")
    assert project.find("near", importer) == str(tmp_path / "tests/near.py")
