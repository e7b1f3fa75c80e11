"""Which modules are of the standard library, held against lists made from the documentation of each Python."""

from __future__ import annotations

import sys

import pytest
import stdlib_list

from nonstrict.knowledge.standard_library import EVER, NEWEST_PYTHON, OLDEST_PYTHON, is_standard

VERSIONS = [(3, minor) for minor in range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1)]
#: Of one Python only for its tests, or left over from building it.
LEFT_OUT = {"test", "lib", "xxlimited", "xxsubtype", "pyexpat", "nt", "winreg"}


def listed(python: tuple[int, int]) -> set[str]:
    roots = {name.partition(".")[0] for name in stdlib_list.stdlib_list(".".join(map(str, python)))}
    return {name for name in roots if not name.startswith("_")} - LEFT_OUT


@pytest.mark.parametrize("python", VERSIONS, ids=lambda python: ".".join(map(str, python)))
def test_each_python_has_the_modules_that_are_listed(python: tuple[int, int]):
    ours = {name for name in EVER if is_standard(name, python) and not name.startswith("_")} - LEFT_OUT
    public = {name for version in VERSIONS for name in listed(version)}
    assert ours & public == listed(python)


def test_without_a_version_it_is_the_python_that_runs():
    assert {name for name in EVER if is_standard(name, None)} == sys.stdlib_module_names
