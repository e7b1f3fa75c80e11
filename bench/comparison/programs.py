"""Reads the programs and their labels.

The hazard's line has a comment `# hazard`. Lines of the docstring say more: `area:` is the kind of hazard (`Area`),
`named:` lists the codes of findings that name it, `near:` those that point at its line for another reason. The last
line of the file is `# truth:` and what running the program shows (`truth.py`).
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from bench.comparison.model import Area, Program

FOLDER = Path(__file__).parent / "programs"
LABEL = re.compile(r"^(area|named|near|# truth): (.*)$", re.MULTILINE)


def read(path: Path) -> Program:
    """A program with its labels; raises ValueError if they are not complete."""
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    labels = dict(LABEL.findall(text))
    lines = frozenset(row for row, line in enumerate(text.splitlines(), 1) if line.endswith("# hazard"))
    area = Area(labels["area"])
    if bool(lines) == (area is Area.CLEAN) or bool(labels.get("named")) == (area is Area.CLEAN):
        raise ValueError(f"{path.name}: a hazard has a line and codes, a clean program has neither")
    return Program(
        path=path,
        title=docstring.splitlines()[0],
        area=area,
        lines=lines,
        named=frozenset(labels.get("named", "").split()),
        near=frozenset(labels.get("near", "").split()),
        truth=labels.get("# truth", ""),
    )


def all_programs() -> list[Program]:
    """The programs, area by area in the order of `Area`."""
    found = [read(path) for path in sorted(FOLDER.glob("*.py"))]
    order = list(Area)
    return sorted(found, key=lambda program: (order.index(program.area), program.name))
