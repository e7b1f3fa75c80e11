"""The navigation of the site, by task; what is a list elsewhere (rules, sections of a table) is filled in."""

from __future__ import annotations

from typing import Any

from nonstrict.rules.registry import RULES
from nonstrict_site import measured
from nonstrict_site.sources import addresses
from scripts.generate_rule_docs import GROUPS, page_name

#: A part of the navigation, as MkDocs reads it: a page, or a title with a page or with parts.
Entry = Any


def navigation() -> list[Entry]:
    """The whole navigation, without the pages of single graph breaks, which the index of their section lists."""
    return [
        {"Start": ["index.md", {"First check": "start.md"}, {"VS Code": "vscode/README.md"}, *_guides()]},
        {"Rules": ["rules/README.md", *_rules()]},
        {
            "What torch does": [
                {
                    "Graph breaks": [
                        "graph-breaks/README.md",
                        *({part.title: part.path} for part in measured.head_and_sections()[1][:-1]),
                    ]
                },
                {"What recompiles": "recompilation.md"},
                {"What CUDA graphs capture": "cuda-graphs.md"},
                {"Versions of torch": "torch-versions.md"},
            ]
        },
        {
            "Confirm": [
                {"How confirm proves": "confirm.md"},
                {"Inputs from real runs": "record.md"},
                {"In your tests": "testing.md"},
            ]
        },
        {"Settings": [{"All settings": "settings.md"}, {"Configuration": "configuration.md"}]},
        {
            "For programs": [
                {"Python API": "api.md"},
                {"Output formats": "formats.md"},
                {"Agents (MCP)": "mcp.md"},
                {"Models for your library": "models.md"},
            ]
        },
        {"Project": _project()},
        {"Playground": "playground.md"},
    ]


def _guides() -> list[Entry]:
    return [
        {
            "In an editor": [
                {"Set up an editor": "editors.md"},
                {"Other editors": "other-editors.md"},
                {"While you edit": "watch.md"},
                {"Fixes": "fixes.md"},
            ]
        },
        {
            "In CI": [
                {"Set up CI": "ci.md"},
                {"Findings of a change": "changes.md"},
                {"Accept existing findings": "baseline.md"},
                {"Compile budget": "budget.md"},
                {"Cache": "cache.md"},
            ]
        },
        *([{"Explain an error": "explain.md"}] if "explain.md" in addresses().values() else []),
        {"Look closer": [{"Compiled regions": "regions.md"}, {"Audit a function": "audit.md"}]},
    ]


def _rules() -> list[Entry]:
    return [
        {title: [{f"{rule.code} {rule.name}": f"rules/{page_name(rule)}"} for rule in _group(prefix)]}
        for prefix, title in GROUPS.items()
    ]


def _group(prefix: str) -> list[Any]:
    return sorted((rule for code, rule in RULES.items() if code.startswith(prefix)), key=lambda rule: rule.code)


def _project() -> list[Entry]:
    pages = set(addresses().values())
    results = sorted(page for page in pages if page.startswith("benchmarks/") and not page.endswith("README.md"))
    return [
        {"Architecture": "architecture.md"},
        *([{"Comparison": "comparison.md"}] if "comparison.md" in pages else []),
        {"Speed": "speed.md"},
        {"Field report": "field-report.md"},
        {"Benchmarks": ["benchmarks/README.md", *results]},
        {"Contributing": "contributing.md"},
        {"Changelog": "changelog.md"},
    ]
