"""Everything that compiles is found, whatever the way: each program of `forms` compiles what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from nonstrict.check.run import RunOptions, check
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.coverage import Region

_FORMS = Path(__file__).parent / "forms"
_CASE = re.compile(r"^## (?P<title>.+)\n\n(?P<names>`.+`)\n\n```python\n(?P<code>(?:.*\n)*?)```$", re.MULTILINE)


class _Form(NamedTuple):
    title: str
    names: tuple[str, ...]
    code: str


def _forms(path: Path) -> list[_Form]:
    found = _CASE.finditer(path.read_text())
    return [
        _Form(f"{path.stem}: {one['title']}", tuple(re.findall(r"`(.+?)`", one["names"])), one["code"]) for one in found
    ]


_ALL = [form for path in sorted(_FORMS.glob("*.md")) for form in _forms(path)]
_PREAMBLE = (_FORMS / "README.md").read_text().partition("```python\n")[2].partition("```")[0]


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Region]]:
    """What is known of the regions of each program, by its title; each is a project of its own."""
    root = tmp_path_factory.mktemp("forms")
    titles: dict[str, str] = {}
    for number, form in enumerate(_ALL):
        folder = root / str(number)
        folder.mkdir()
        (folder / "pyproject.toml").write_text('[project]\nname = "form"\n')
        (folder / "main.py").write_text(_PREAMBLE + form.code)
        titles[str(folder / "main.py")] = form.title
    result = check([str(root)], default_settings(str(root)), RunOptions(jobs=1, fixes=None, regions=True))
    found: dict[str, list[Region]] = {form.title: [] for form in _ALL}
    for region in result.looked.regions:
        found[titles[region.span.path]].append(region)
    return found


@pytest.mark.parametrize("form", _ALL, ids=lambda form: form.title)
def test_what_a_program_compiles_is_found(regions: Mapping[str, list[Region]], form: _Form) -> None:
    found = regions[form.title]
    assert sorted({region.function for region in found}) == sorted(form.names)
    assert not [region.missed for region in found if region.missed]
    assert all(region.breaks for region in found)
