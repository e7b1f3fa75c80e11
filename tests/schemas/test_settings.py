"""The schema of the settings takes what the tool takes, and refuses what it refuses, as far as a schema can say it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli

from nonstrict.rules.registry import RULES
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import settings_from_file
from nonstrict.settings.model import FORMATS, default_settings
from nonstrict.settings.options import OPTIONS, Option
from nonstrict.settings.values import checked
from tests.schemas.validating import schema

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = schema("settings")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
#: Configurations in pages and suites: a fence of TOML that names its file before it, or is about `[tool.nonstrict]`.
FENCE = re.compile(r"(`\.?(nonstrict|pyproject)\.toml`:\n\n)?```toml\n(?P<text>.*?)```", re.DOTALL)


def refused(text: str) -> list[str]:
    return [one.message for one in VALIDATOR.iter_errors(tomli.loads(text))]


def test_every_key_is_there_with_what_it_means():
    assert set(SCHEMA["properties"]) == set(OPTIONS)
    for option in OPTIONS.values():
        assert SCHEMA["properties"][option.key]["description"] == option.summary
    assert SCHEMA["additionalProperties"] is False


@pytest.mark.parametrize("option", OPTIONS.values(), ids=list(OPTIONS))
def test_the_example_of_a_key_is_valid(option: Option):
    assert refused(option.example) == []


@pytest.mark.parametrize("option", OPTIONS.values(), ids=list(OPTIONS))
def test_a_default_is_what_holds_where_nothing_is_said(option: Option):
    described = SCHEMA["properties"][option.key]
    if "default" not in described:
        assert option.default == "none" or " " in option.default
        return
    default = described["default"]
    assert VALIDATOR.is_valid({option.key: default})
    held = getattr(default_settings("/"), option.field)
    # Where nothing is said of these, a file of that name counts if it is there.
    assert option.key in ("baseline", "cache-dir") or checked(option, default, "/") == held


def test_words_are_those_of_the_tool():
    assert SCHEMA["properties"]["output-format"]["enum"] == list(FORMATS)
    assert SCHEMA["properties"]["fail-on"]["enum"] == ["error", "warning", "note"]
    words = SCHEMA["$defs"]["selector"]["anyOf"][0]["enum"]
    assert {*RULES, *(rule.name for rule in RULES.values()), "ALL"} < set(words)


VALID = [
    'select = ["all", "nst1", "NST101", "Global-Tensor-Capture", "NST", "NST9", "Nst101", "io-side-effect"]',
    'torch-version = "2.13.0a0+git1234"',
    'torch-version = "2.1"',
    'target-python = "3.14"',
    'exclude = ["[]]", "a/{b,c}"]',
    'per-file-ignores = { "!tests/*" = ["NST2"] }',
    'severity = { NST1 = "note", data-ptr = "error" }',
    '[budget]\n"src/a.py::f" = { graphs = 0 }\nsrc = { recompilations = 3 }\n"." = {}',
    'inputs = { "a.py::A.f" = "b.py::g" }',
    'required-version = "0.1"',
    'required-version = " ~= 0.1 , != 0.2 "',
    "",
]
INVALID = [
    "selct = []",
    'select = "ALL"',
    "select = [1]",
    'select = ["NST999"]',
    'ignore = ["no-such-rule"]',
    'extend-select = ["NST-1"]',
    'select = ["NSTx"]',
    'extend = ""',
    'baseline = ""',
    'cache-dir = ""',
    'python = ""',
    'fail-on = "fatal"',
    "fail-on = 2",
    'output-format = "xml"',
    'fix = "yes"',
    "unsafe-fixes = 1",
    'torch-version = "2.17"',
    'torch-version = "2.170"',
    'torch-version = "1.13"',
    'torch-version = "latest"',
    "torch-version = 2.13",
    'target-python = "3.7"',
    'target-python = "3"',
    'exclude = [""]',
    'include = ["/"]',
    'per-file-ignores = { "tests/*" = "NST2" }',
    'per-file-ignores = { "/" = ["NST2"] }',
    'severity = { NST101 = "bad" }',
    'severity = "error"',
    'models = ["a.py"]',
    'budget = { "a.py::" = { graphs = 1 } }',
    'budget = { "::f" = { graphs = 1 } }',
    "budget = { src = { graphs = -1 } }",
    "budget = { src = { graphs = true } }",
    "budget = { src = { breaks = 1 } }",
    "budget = { src = 1 }",
    'inputs = { "a.py" = "b.py::g" }',
    'inputs = { "a.py::f" = "b.py::" }',
    'required-version = ""',
    'required-version = "newest"',
    'required-version = ">="',
    "cache-dir = []",
]
#: What only the tool refuses: a schema cannot count brackets or look at the disk, and takes 1.0 for an integer.
BEYOND = [
    'exclude = ["a[b"]',
    'exclude = ["{a"]',
    'models = ["gone.pyi"]',
    'required-version = "1.x"',
    'budget = { "a.py" = { graphs = 1.0 } }',
]


def is_loaded(text: str, folder: Path) -> bool:
    """Whether the tool takes a configuration, the rules that it selects among it."""
    from nonstrict.check.selection import Selection

    path = folder / "nonstrict.toml"
    path.write_text(re.sub(r"(?m)^required-version = .*0\.\d.*$", "", text))
    try:
        Selection(settings_from_file(str(path)), RULES)
    except ConfigurationError:
        return False
    return True


@pytest.mark.parametrize("text", VALID)
def test_what_both_take(text: str, tmp_path: Path):
    assert is_loaded(text, tmp_path)
    assert refused(text) == []


@pytest.mark.parametrize("text", INVALID)
def test_what_both_refuse(text: str, tmp_path: Path):
    assert not is_loaded(text, tmp_path)
    assert refused(text)


@pytest.mark.parametrize("text", BEYOND)
def test_what_only_the_tool_refuses(text: str, tmp_path: Path):
    assert not is_loaded(text, tmp_path)
    assert not refused(text)


def configurations() -> list[Any]:
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "tests" / "suites").rglob("*.md"), ROOT / "README.md"]
    found: list[Any] = []
    for page in sorted(pages):
        for number, fence in enumerate(FENCE.finditer(page.read_text(encoding="utf-8"))):
            document = tomli.loads(fence["text"])
            ours = document.get("tool", {}).get("nonstrict")
            if ours is None and (fence[2] == "nonstrict" or fence["text"].startswith("#:schema ")):
                ours = document
            if ours is not None:
                name = f"{page.relative_to(ROOT).as_posix()}-{number}"
                found.append(pytest.param(ours, "error: [NST903]" in fence["text"], id=name))
    return found


@pytest.mark.parametrize(("settings", "wrong"), configurations())
def test_configurations_in_pages_and_suites(settings: dict[str, Any], wrong: bool):
    assert VALIDATOR.is_valid(settings) is not wrong


def test_there_are_configurations_of_both_kinds():
    assert {one.values[1] for one in configurations()} == {True, False}


def test_the_page_names_the_address_of_the_schema():
    assert f"#:schema {SCHEMA['$id']}\n" in (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_the_configuration_of_this_repository_is_valid():
    ours = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"].get("nonstrict", {})
    assert VALIDATOR.is_valid(ours)
