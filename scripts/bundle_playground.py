"""Puts what the playground needs of this repository into site/playground/bundled: the engine, examples, releases.

    python scripts/bundle_playground.py WHEELS

The engine is what `nonstrict_playground` imports, anywhere in any function, and the data of those packages. Wheels of
other projects are kept in the directory that is named, as by bundle_server.py. `npm run build` compiles all of it.
"""

from __future__ import annotations

import ast
import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from bundle_server import fetch_wheels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
PLAYGROUND = ROOT / "site" / "playground"
BUNDLED = PLAYGROUND / "bundled"
#: Where modules are looked for, the glue first.
SOURCES = (PLAYGROUND / "python", ROOT / "analysis")
GLUE = "nonstrict_playground"
#: Found by their names, not imported by them.
PLUGINS = "nonstrict.rules"
#: What reads broken code. Other packages are asked only about folders with settings and installed packages.
WHEELS = ("parso",)
#: Data that no analysis reads.
UNUSED = (".md", "py.typed")
#: How the rule pages call their two examples, and how the menu does.
HEADINGS = {"Example": "example", "Use instead": "use instead"}


def main(wheels: Path) -> None:
    """Make the folder anew."""
    shutil.rmtree(BUNDLED, ignore_errors=True)
    BUNDLED.mkdir(parents=True)
    with zipfile.ZipFile(BUNDLED / "engine.zip", "w") as archive:
        for name, content in sorted({**engine(), **libraries(wheels)}.items()):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    (BUNDLED / "examples.json").write_text(json.dumps(examples(), indent=1) + "\n", encoding="utf-8")
    (BUNDLED / "torches.json").write_text(json.dumps(torches()) + "\n", encoding="utf-8")


# -- the engine -------------------------------------------------------------------------------------------------------


def engine() -> dict[str, bytes]:
    """The modules that the glue can reach, and the data of their packages, by their path in the archive."""
    plugins = (ROOT / "analysis" / PLUGINS.replace(".", "/")).glob("nst*.py")
    modules = reachable([GLUE, *(f"{PLUGINS}.{path.stem}" for path in plugins)])
    found = {inside: path for path in modules.values() for inside in [_inside(path)]}
    for package in sorted({path.parent for path in modules.values()} - {SOURCES[0]}):
        found.update((_inside(path), path) for path in _data(package))
    return {name: path.read_bytes() for name, path in found.items()}


def reachable(names: Iterable[str]) -> dict[str, Path]:
    """Modules of ours and all that they import while they run, by name."""
    found: dict[str, Path] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        for end in range(1, name.count(".") + 2):
            module = ".".join(name.split(".")[:end])
            path = _file(module)
            if path is not None and module not in found:
                found[module] = path
                pending += imported(path.read_text(encoding="utf-8"))
    return found


def imported(code: str) -> Iterator[str]:
    """The names that code imports, but for those that only a type checker sees."""
    pending: list[ast.AST] = [ast.parse(code)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            pending += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        pending += ast.iter_child_nodes(node)


def _file(module: str) -> Path | None:
    for source in SOURCES:
        base = source.joinpath(*module.split("."))
        for path in (base / "__init__.py", base.with_suffix(".py")):
            if path.is_file():
                return path
    return None


def _data(package: Path) -> Iterator[Path]:
    """The files that are no modules, also in folders that are no packages: models lie in such."""
    for path in package.iterdir():
        if path.is_dir() and not (path / "__init__.py").exists() and path.name != "__pycache__":
            yield from _data(path)
        elif path.is_file() and path.suffix != ".py" and not path.name.endswith(UNUSED):
            yield path


def _inside(path: Path) -> str:
    source = next(source for source in SOURCES if path.is_relative_to(source))
    return path.relative_to(source).as_posix()


def libraries(wheels: Path) -> dict[str, bytes]:
    """The files of other projects' packages, by their path in the archive."""
    fetch_wheels(wheels)
    found: dict[str, bytes] = {}
    for name in WHEELS:
        (wheel,) = wheels.glob(f"{name}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            found.update((one, archive.read(one)) for one in archive.namelist() if one.startswith(f"{name}/"))
    return found


# -- the menus --------------------------------------------------------------------------------------------------------


def examples() -> list[dict[str, object]]:
    """The programs of examples/ that stand alone, and both examples of each rule page, in groups."""
    from generate_rule_docs import GROUPS

    from nonstrict.rules.registry import RULES

    programs = [
        {"name": path.stem, "title": _summary(path), "code": path.read_text(encoding="utf-8")}
        for path in sorted((ROOT / "examples").glob("*.py"))
    ]
    groups: list[dict[str, object]] = [{"title": "Programs", "examples": programs}]
    for prefix in sorted({code[:4] for code in RULES}):
        found = [
            {"name": f"{code}-{kind.replace(' ', '-')}", "title": f"{code} {rule.name}: {kind}", "code": text}
            for code, rule in RULES.items()
            if code.startswith(prefix)
            for heading, kind in HEADINGS.items()
            if (text := example(rule.documentation, heading))
        ]
        groups.append({"title": GROUPS[prefix], "examples": found})
    return groups


def example(page: str, heading: str) -> str:
    """The Python program below a heading of a rule page; "" if there is none."""
    _, _, section = page.partition(f"\n## {heading}\n")
    section = section.partition("\n## ")[0]
    _, fence, code = section.partition("\n```python\n")
    return code.partition("\n```")[0] + "\n" if fence else ""


def _summary(path: Path) -> str:
    """`layers.py`: what the first line of the docstring says the program is."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return f"{path.name}: {told.splitlines()[0].partition(':')[0].rstrip('.')}"


def torches() -> list[str]:
    """The releases of torch that were measured, the one that all of it was measured with first."""
    from nonstrict.knowledge.releases import BASE, TABLES, measured, shown

    known = sorted({release for table in TABLES for release in measured(table)}, reverse=True)
    return [shown(BASE), *(shown(release) for release in known if release != BASE)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
