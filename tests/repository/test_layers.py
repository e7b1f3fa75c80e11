"""Packages import downwards only: see "Layers" in docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "analysis" / "nonstrict"

#: Height of each part of the package. A part imports itself and what is lower, never its own height.
HEIGHTS = {
    "__main__": 10,
    "api": 9,
    "cli": 9,
    "explain": 8,
    "check": 7,
    "settings": 6,
    "report": 5,
    "confirm": 5,
    "rules": 4,
    "fixes": 3,
    "program": 2,
    "facts": 1,
    "text": 0,
}
#: The ways up: `nonstrict server` and `nonstrict mcp` start servers, packages of their own on top of `check`.
UPWARDS = {("nonstrict.cli.server", "nonstrict_server.main"), ("nonstrict.cli.mcp", "nonstrict_mcp.main")}
SERVERS = ("nonstrict_server", "nonstrict_mcp")
SERVER = ROOT / "server"
PLUGIN = ROOT / "analysis" / "nonstrict_pytest"
AGENT = ROOT / "analysis" / "nonstrict_agent"
PACKAGES = {"nonstrict", *SERVERS, "nonstrict_agent", "nonstrict_pytest"}
#: What every part may import; they import only each other.
LEAVES = {"coverage", "events", "findings", "knowledge", "models", "schemas", "truth"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(module: str) -> str:
    """The part of the package a dotted name belongs to: `nonstrict.text.source` -> `text`; "" for the package."""
    return [*module.split("."), ""][1]


def imported_modules(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "relative imports hide the layer"
            whole = node.module == "nonstrict"
            names.update(f"nonstrict.{alias.name}" for alias in node.names if whole)
            names.add(node.module)
    return {name for name in names if name.split(".")[0] in PACKAGES}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_go_downwards(path: Path):
    own = part_of(module_name(path))
    for target in sorted(imported_modules(ast.parse(path.read_text(encoding="utf-8")))):
        if (module_name(path), target) in UPWARDS:
            continue
        assert target.startswith("nonstrict"), target
        assert target.split(".")[0] == "nonstrict", f"the analysis imports {target}"
        part = part_of(target)
        if part in {own, "", "__version__"} or part in LEAVES:
            continue
        assert own not in LEAVES, f"the leaf {own} imports {target}"
        assert part in HEIGHTS, f"no layer is known for {target}: add it to HEIGHTS and docs/architecture.md"
        assert own in HEIGHTS, f"no layer is known for {own}: add it to HEIGHTS and docs/architecture.md"
        assert HEIGHTS[own] > HEIGHTS[part], f"{own} must not import {target}: imports go downwards"


@pytest.mark.parametrize("path", sorted((PACKAGE / "rules").glob("nst*.py")), ids=lambda path: path.stem)
def test_no_rule_knows_another(path: Path):
    """What several rules need stands in a file that is named after it."""
    rules = "nonstrict.rules.nst"
    assert not [name for name in imported_modules(ast.parse(path.read_text("utf-8"))) if name.startswith(rules)]


@pytest.mark.parametrize("path", sorted(SERVER.rglob("*.py")), ids=lambda path: path.relative_to(SERVER).as_posix())
def test_servers_import_what_is_below_them(path: Path):
    own = path.relative_to(SERVER).parts[0]
    for target in sorted(imported_modules(ast.parse(path.read_text(encoding="utf-8")))):
        assert not target.startswith("nonstrict_agent"), f"the server imports {target}"
        assert part_of(target) not in {"cli", "__main__"} or target.startswith(SERVERS), target
        assert not target.startswith(SERVERS) or target.partition(".")[0] == own, f"{own} imports {target}"


@pytest.mark.parametrize("path", sorted(PLUGIN.rglob("*.py")), ids=lambda path: path.name)
def test_the_plugin_imports_what_is_below_it(path: Path):
    for target in sorted(imported_modules(ast.parse(path.read_text(encoding="utf-8")))):
        assert not target.startswith("nonstrict_server"), f"the plugin imports {target}"
        assert part_of(target) not in {"cli", "__main__"} or not target.startswith("nonstrict."), target


@pytest.mark.parametrize("path", sorted(AGENT.rglob("*.py")), ids=lambda path: path.relative_to(AGENT).as_posix())
def test_the_agent_imports_itself_alone(path: Path):
    targets = imported_modules(ast.parse(path.read_text(encoding="utf-8")))
    assert not [one for one in targets if one.split(".")[0] != "nonstrict_agent"]


def test_a_wrong_import_would_be_seen():
    tree = ast.parse("def f():\n    from nonstrict import cli\n    import nonstrict.check.run\n")
    assert imported_modules(tree) == {"nonstrict", "nonstrict.cli", "nonstrict.check.run"}
