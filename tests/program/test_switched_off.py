"""Programs that switch torch off: where that surely holds nothing is told of their regions, else everything is."""

from __future__ import annotations

from pathlib import Path

import pytest

from nonstrict.check.run import RunOptions, check
from nonstrict.settings.model import default_settings
from tests.suites.cases import Case, cases

PAGES = Path(__file__).parent / "switched"


def programs(name: str) -> list[Case]:
    """The programs of a page."""
    return cases((PAGES / f"{name}.md").read_text())


def _looked_at(folder: Path, case: Case) -> tuple[list[str], list[str]]:
    """Why each region of a program is not compiled, and what is found in it."""
    case.write(folder)
    result = check([str(folder)], default_settings(str(folder)), RunOptions(jobs=1, fixes=None, regions=True))
    return [region.wasted for region in result.looked.regions], [one.code for one in result.diagnostics]


@pytest.mark.parametrize("case", programs("off"), ids=lambda case: case.title)
def test_nothing_is_told_where_torch_is_off(case: Case, tmp_path: Path) -> None:
    wasted, codes = _looked_at(tmp_path, case)
    assert len(wasted) == 1
    assert wasted[0]
    assert codes == []


@pytest.mark.parametrize("case", programs("may_compile"), ids=lambda case: case.title)
def test_breaks_are_told_where_it_may_be_on(case: Case, tmp_path: Path) -> None:
    wasted, codes = _looked_at(tmp_path, case)
    assert wasted == [""]
    assert codes == ["NST701"]


def test_the_place_is_told(tmp_path: Path) -> None:
    texts = {"settings.py": "import os\nos.environ['TORCHDYNAMO_DISABLE'] = '1'\n", "main.py": "import settings\n"}
    texts["main.py"] += "import torch\n@torch.compile\ndef region(x):\n    return x\n"
    wasted, _ = _looked_at(tmp_path, Case("", 0, texts))
    assert wasted == ["`os.environ['TORCHDYNAMO_DISABLE'] = '1'` in settings.py:2 switches compilation off"]
