"""Configuration files: which counts, what they may say, and where mistakes are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict import __version__
from nonstrict.findings import Diagnostic, Severity
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import nearest_settings, settings_from_assignment, settings_from_file
from nonstrict.settings.model import Pattern, Settings, default_settings
from nonstrict.settings.options import OPTIONS
from nonstrict.settings.requirements import required_python

if TYPE_CHECKING:
    from pathlib import Path


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def loaded(directory: Path) -> Settings:
    settings = nearest_settings(str(directory))
    assert settings is not None
    return settings


def mistakes_of(directory: Path) -> list[Diagnostic]:
    with pytest.raises(ConfigurationError) as caught:
        nearest_settings(str(directory))
    return list(caught.value.diagnostics)


def test_every_key_is_read(tmp_path: Path):
    written(
        tmp_path / "nonstrict.toml",
        """
select = ["NST1", "io-side-effect"]
extend-select = ["NST902"]
ignore = ["NST104"]
fail-on = "error"
required-version = ">=0.0.1"
extend-fixable = ["NST1"]
target-python = "3.12"
include = ["*.py"]
exclude = ["old"]
extend-exclude = ["third_party/*"]
force-exclude = true
respect-gitignore = false
python = ".venv"
torch-version = "2.12"
output-format = "concise"
cache-dir = "cache"

[severity]
NST104 = "error"

[per-file-ignores]
"tests/*" = ["NST201"]

[extend-per-file-ignores]
"bench/*" = ["NST202"]
""",
    )
    root = str(tmp_path)
    assert loaded(tmp_path) == Settings(
        root=root,
        source=str(tmp_path / "nonstrict.toml"),
        select=("NST1", "io-side-effect"),
        extend_select=("NST902",),
        ignore=("NST104",),
        per_file_ignores=((Pattern("tests/*", root), ("NST201",)),),
        extend_per_file_ignores=((Pattern("bench/*", root), ("NST202",)),),
        extend_fixable=("NST1",),
        required_version=">=0.0.1",
        target_python="3.12",
        severity=(("NST104", Severity.ERROR),),
        fail_on=Severity.ERROR,
        include=(Pattern("*.py", root),),
        exclude=(Pattern("old", root),),
        extend_exclude=(Pattern("third_party/*", root),),
        force_exclude=True,
        respect_gitignore=False,
        python=str(tmp_path / ".venv"),
        torch_version="2.12",
        output_format="concise",
        cache_dir=str(tmp_path / "cache"),
    )


def is_clause(advice: str) -> bool:
    """Whether advice is one, as in every other finding, and holds in editors too, where a run does not stop."""
    return advice[:1].islower() and not advice.endswith((".", "?")) and "checked" not in advice


def test_models_are_files_next_to_the_configuration(tmp_path: Path):
    model = written(tmp_path / "models" / "acme.pyi", "def report(value: float) -> None: ...\n")
    written(tmp_path / "nonstrict.toml", 'models = ["models/acme.pyi"]\n')
    assert loaded(tmp_path).models == (str(model),)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"models"', "expected a list of strings"),
        ('["models/acme.py"]', "does not end in `.pyi`"),
        ('["models/none.pyi"]', "the model `models/none.pyi` does not exist"),
    ],
)
def test_what_is_no_model_is_told_in_the_configuration(tmp_path: Path, value: str, message: str):
    written(tmp_path / "nonstrict.toml", f"select = []\nmodels = {value}\n")
    (mistake,) = mistakes_of(tmp_path)
    assert message in mistake.message
    assert mistake.location.row == 2


def test_a_model_that_cannot_be_used_is_told_with_its_line(tmp_path: Path):
    model = written(tmp_path / "acme.pyi", "def fine(): ...\n\ndef broken() -> Missing: ...\n")
    written(tmp_path / "nonstrict.toml", 'models = ["acme.pyi"]\n')
    (mistake,) = mistakes_of(tmp_path)
    assert (mistake.location.path, mistake.location.row, mistake.location.column) == (str(model), 3, 17)
    assert mistake.message == "`Missing` is not defined"
    assert is_clause(mistake.help)


def test_a_wrong_model_of_the_command_line_is_told_with_its_line(tmp_path: Path):
    model = written(tmp_path / "acme.pyi", "def broken() -> Missing: ...\n")
    with pytest.raises(ConfigurationError, match=r"acme\.pyi:1:17: `Missing` is not defined"):
        settings_from_assignment(default_settings(str(tmp_path)), f"models = ['{model}']")


def test_the_nearest_file_counts(tmp_path: Path):
    written(tmp_path / "pyproject.toml", '[tool.nonstrict]\nselect = ["NST1"]\n')
    written(tmp_path / "inner" / "nonstrict.toml", 'select = ["NST2"]\n')
    written(tmp_path / "inner" / "deep" / "pyproject.toml", "[tool.other]\nname = 'nonstrict'\n")
    assert loaded(tmp_path / "inner" / "deep").select == ("NST2",)
    assert loaded(tmp_path).select == ("NST1",)


def test_a_hidden_file_comes_before_a_plain_one_and_pyproject(tmp_path: Path):
    written(tmp_path / "pyproject.toml", '[tool.nonstrict]\nselect = ["NST1"]\n')
    written(tmp_path / "nonstrict.toml", 'select = ["NST2"]\n')
    assert loaded(tmp_path).select == ("NST2",)
    written(tmp_path / ".nonstrict.toml", 'select = ["NST3"]\n')
    assert loaded(tmp_path).select == ("NST3",)


def test_extend(tmp_path: Path):
    written(tmp_path / "base.toml", 'select = ["NST1"]\nextend-exclude = ["a"]\ncache-dir = "c"\n')
    written(
        tmp_path / "sub" / "nonstrict.toml", 'extend = "../base.toml"\nextend-exclude = ["b"]\nignore = ["NST104"]\n'
    )
    settings = loaded(tmp_path / "sub")
    assert settings.select == ("NST1",)
    assert settings.ignore == ("NST104",)
    assert settings.extend_exclude == (Pattern("a", str(tmp_path)), Pattern("b", str(tmp_path / "sub")))
    assert settings.cache_dir == str(tmp_path / "c")
    assert settings.root == str(tmp_path / "sub")


@pytest.mark.parametrize(
    ("text", "row", "column", "message"),
    [
        ("selct = []\n", 1, 1, "unknown key `selct`"),
        ("\n  ignore = 3\n", 2, 3, "bad value for `ignore`: expected a list of strings"),
        ('fail-on = "fatal"\n', 1, 11, 'bad value for `fail-on`: expected one of "error", "warning", "note"'),
        ("[severity]\nNST101 = 'bad'\n", 2, 10, 'bad value for `severity`: expected one of "error", "warning", "note"'),
        ("force-exclude = 'yes'\n", 1, 1, "bad value for `force-exclude`: expected true or false"),
        (
            'torch-version = "latest"\n',
            1,
            17,
            'bad value for `torch-version`: expected a version such as "2.13" or "2.13.0"',
        ),
        ("select = [\n", 1, 1, "The file is not valid TOML"),
        ("x = = 1\n", 1, 5, "The file is not valid TOML"),
        ("extend = 'gone.toml'\n", 1, 1, "`extend` names"),
        ("extend = 'nonstrict.toml'\n", 1, 1, "`extend` leads back to this file"),
    ],
)
def test_mistakes_are_reported_on_their_line(tmp_path: Path, text: str, row: int, column: int, message: str):
    path = written(tmp_path / "nonstrict.toml", text)
    (mistake,) = mistakes_of(tmp_path)
    assert (mistake.code, mistake.severity, mistake.location.path) == ("NST903", Severity.ERROR, str(path))
    assert mistake.message.startswith(message)
    assert (mistake.location.row, mistake.location.column) == (row, column)
    assert is_clause(mistake.help)


def test_a_close_key_is_suggested_and_all_mistakes_are_reported(tmp_path: Path):
    written(tmp_path / "pyproject.toml", "[project]\nselect = 1\n\n[tool.nonstrict]\nextend_select = []\nselect = 1\n")
    first, second = mistakes_of(tmp_path)
    assert first.help == "write `extend-select`"
    assert (first.location.row, second.location.row) == (5, 6)


def test_bytes_that_are_no_text_are_a_mistake(tmp_path: Path):
    (tmp_path / "nonstrict.toml").write_bytes(b"select = ['\xff']\n")
    (mistake,) = mistakes_of(tmp_path)
    assert "not UTF-8" in mistake.message


def test_a_named_file_must_exist_and_concern_us(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="does not exist"):
        settings_from_file(str(tmp_path / "gone.toml"))
    path = written(tmp_path / "pyproject.toml", "[project]\n")
    with pytest.raises(ConfigurationError, match=r"no \[tool.nonstrict\] table"):
        settings_from_file(str(path))


def test_assignments(tmp_path: Path):
    settings = settings_from_assignment(default_settings(str(tmp_path)), 'fail-on = "note"')
    assert settings.fail_on is Severity.NOTE
    with pytest.raises(ConfigurationError, match=r"--config 'fial-on = 1': unknown key `fial-on`\. Write `fail-on`\."):
        settings_from_assignment(default_settings(str(tmp_path)), "fial-on = 1")


@pytest.mark.parametrize("option", OPTIONS.values(), ids=list(OPTIONS))
def test_the_example_of_every_key_is_valid(option: object, tmp_path: Path):
    from nonstrict.settings.options import Option

    assert isinstance(option, Option)
    if option.key == "extend":
        written(tmp_path / "nonstrict.toml", "")
        written(tmp_path / "sub" / "nonstrict.toml", option.example)
        assert loaded(tmp_path / "sub").source
    else:
        written(tmp_path / "models" / "mylib.pyi", "")
        written(tmp_path / "nonstrict.toml", option.example)
        assert getattr(loaded(tmp_path), option.field) is not None


@pytest.mark.parametrize(
    ("requirement", "fulfilled"),
    [
        (__version__, True),
        (f"=={__version__}", True),
        (f">={__version__}", True),
        (">=0.0.1,<99", True),
        ("~=0.0", __version__.startswith("0.")),
        ("0.0.1", False),
        ("v0.0.1", False),
        ("<0.0.1", False),
        (">=99", False),
        (f"!={__version__}", False),
    ],
)
def test_a_required_version(tmp_path: Path, requirement: str, fulfilled: bool):
    written(tmp_path / "nonstrict.toml", f'\nrequired-version = "{requirement}"\n')
    if fulfilled:
        assert loaded(tmp_path).required_version == requirement
        return
    (mistake,) = mistakes_of(tmp_path)
    assert mistake.message == f"this is nonstrict {__version__}, and `required-version` asks for `{requirement}`"
    assert mistake.location.row == 2


@pytest.mark.parametrize("requirement", ["", "newest", ">=", ">=1 <2", "1.x"])
def test_a_required_version_that_is_none(tmp_path: Path, requirement: str):
    written(tmp_path / "nonstrict.toml", f'required-version = "{requirement}"\n')
    (mistake,) = mistakes_of(tmp_path)
    assert mistake.message == "bad value for `required-version`: expected versions as PEP 440 has them"


def test_the_required_version_counts_before_anything_else(tmp_path: Path):
    written(tmp_path / "nonstrict.toml", 'extend = "gone.toml"\nunheard-of = 1\nrequired-version = ">=99"\n')
    (mistake,) = mistakes_of(tmp_path)
    assert "asks for `>=99`" in mistake.message
    written(tmp_path / "nonstrict.toml", 'extend = "base.toml"\nunheard-of = 1\n')
    written(tmp_path / "base.toml", 'required-version = ">=99"\nunheard-of-too = 1\n')
    (mistake,) = mistakes_of(tmp_path)
    assert mistake.location.path == str(tmp_path / "base.toml")


@pytest.mark.parametrize(
    ("stated", "lowest"),
    [
        (">=3.10", (3, 10)),
        (">=3.9.2", (3, 9)),
        (">3.9", (3, 9)),
        (">=3.8,!=3.8.*", (3, 9)),
        ("~=3.11", (3, 11)),
        ("==3.12.*", (3, 12)),
        ("3.11", (3, 11)),
        ("<4", (3, 8)),
        (">=2.7", (3, 8)),
        (">=99", None),
        ("new", None),
        ("", None),
    ],
)
def test_the_lowest_python_that_a_project_is_for(tmp_path: Path, stated: str, lowest: tuple[int, int] | None):
    written(tmp_path / "pyproject.toml", f'[project]\nrequires-python = "{stated}"\n')
    assert required_python(str(tmp_path)) == lowest


def test_a_project_that_says_nothing_of_python(tmp_path: Path):
    assert required_python(str(tmp_path)) is None
    for text in ("", "[project]\nname = 'requires-python'\n", "requires-python", "project = 'requires-python'\n"):
        written(tmp_path / "pyproject.toml", text)
        assert required_python(str(tmp_path)) is None
    written(tmp_path / "pyproject.toml", "[project]\nrequires-python = 3\n")
    assert required_python(str(tmp_path)) is None
