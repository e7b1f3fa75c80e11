"""From findings to diagnostics: selection, severities, suppressions, order, and the cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from nonstrict.check import analysis, run
from nonstrict.check.analysis import Analysis, AnalysisOptions
from nonstrict.check.run import CheckResult, RunOptions, check
from nonstrict.findings import Finding, Related, Severity, Span
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import settings_in
from nonstrict.settings.model import Pattern, Settings, default_settings
from nonstrict.text.source import UnreadableSource, read_source

CODES = {"BAD": ("NST101", Severity.ERROR), "ODD": ("NST104", Severity.WARNING), "HMM": ("NST202", Severity.NOTE)}


class Fake:
    """Stands for the analysis: words of the files are findings."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], AnalysisOptions]] = []

    def __call__(self, files: list[str], options: AnalysisOptions) -> Analysis:
        self.calls.append((files, options))
        result = Analysis([], {}, [], frozenset(files))
        for path in files:
            try:
                source = options.overlays.get(path) or read_source(path)
            except UnreadableSource as error:
                result.failures.append((path, error.reason))
                continue
            result.sources[path] = source
            for row, line in enumerate(source.lines, 1):
                for column, word in enumerate(line.split(" ")):
                    if word in CODES:
                        code, severity = CODES[word]
                        span = Span(path, row, column, row, column + 1)
                        marked = Related(Span(path, 1, 0, 1, 1), "`f` is marked here")
                        result.findings.append(Finding(code, severity, span, word, function="f", related=(marked,)))
        return result


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.chdir(tmp_path)
    fake = Fake()
    monkeypatch.setattr(analysis, "analyse", fake)
    return fake


def checked(text: str | None = None, options: RunOptions | None = None, **fields: Any) -> CheckResult:
    if text is not None:
        Path("a.py").write_text(text, encoding="utf-8")
    return check(["."], default_settings(os.getcwd())._replace(**fields), options)


def codes(result: CheckResult) -> list[str]:
    return [diagnostic.code for diagnostic in result.diagnostics]


def test_diagnostics_are_in_order_and_located(fake: Fake):
    Path("b.py").write_text("BAD\n")
    result = checked("x\nx HMM BAD\nBAD\n")
    assert [(d.location.path, d.location.row, d.location.column) for d in result.diagnostics] == [
        ("a.py", 2, 2),
        ("a.py", 2, 3),
        ("a.py", 3, 1),
        ("b.py", 1, 1),
    ]
    assert result.diagnostics[0].name == "input-mutation"
    assert result.files == 2


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["NST101", "NST104", "NST202"]),
        ({"select": ("NST1",)}, ["NST101", "NST104"]),
        ({"select": ("NST1",), "ignore": ("NST104",)}, ["NST101"]),
        ({"select": ("NST104",), "ignore": ("NST1",)}, ["NST104"]),
        ({"ignore": ("ALL",), "extend_select": ("NST202",)}, ["NST202"]),
        ({"ignore": ("NST101",), "select": ("NST101",)}, []),
        ({"ignore": ("global-tensor-capture", "NST2")}, ["NST104"]),
        ({"select": ("NST5",)}, []),
    ],
)
def test_selection(fake: Fake, fields: dict[str, Any], expected: list[str]):
    assert codes(checked("BAD ODD HMM\n", **fields)) == expected


def test_a_rule_that_does_not_exist_is_an_error_with_advice(fake: Fake):
    with pytest.raises(
        ConfigurationError, match=r"no rule is called `NST999`. Correct the name; `nonstrict rule --all`"
    ):
        checked("BAD\n", select=("NST999",))
    Path("nonstrict.toml").write_text("\nignore = ['global-tensr-capture']\n")
    settings = settings_in(os.getcwd(), ["nonstrict.toml"])
    assert settings is not None
    with pytest.raises(ConfigurationError) as caught:
        check(["."], settings)
    (mistake,) = caught.value.diagnostics
    assert (mistake.location.row, mistake.location.column) == (2, 11)
    assert "global-tensor-capture" in mistake.help


def test_severities(fake: Fake):
    severity = (("NST1", Severity.NOTE), ("NST104", Severity.ERROR))
    result = checked("BAD ODD HMM\n", severity=severity)
    assert [d.severity for d in result.diagnostics] == [Severity.NOTE, Severity.ERROR, Severity.NOTE]


def test_per_file_ignores(fake: Fake):
    here = os.getcwd()
    Path("tests").mkdir()
    Path("tests/b.py").write_text("BAD ODD\n")
    ignores = ((Pattern("tests/*", here), ("NST101",)), (Pattern("!tests/*", here), ("NST104",)))
    result = checked("BAD ODD\n", per_file_ignores=ignores)
    assert [(d.location.path, d.code) for d in result.diagnostics] == [("a.py", "NST101"), ("tests/b.py", "NST104")]


def test_suppressions_and_unused_ones(fake: Fake):
    text = (
        "BAD # nonstrict: ignore[NST101] meant\nx # nonstrict: ignore[io-side-effect]\nBAD # nonstrict: ignore[tpyo]\n"
    )
    result = checked(text)
    assert [(d.code, d.location.row) for d in result.diagnostics] == [("NST902", 2), ("NST101", 3), ("NST902", 3)]
    assert "`NST201`" in result.diagnostics[0].message
    assert "no rule is called `tpyo`" in result.diagnostics[2].message
    assert codes(checked(text, ignore=("NST902",))) == ["NST101"]
    assert codes(checked(text, select=("NST902", "NST1"))) == ["NST101", "NST902"]


def test_a_finding_names_the_other_functions_that_come_to_its_place(fake: Fake, monkeypatch: pytest.MonkeyPatch):
    place, marker = Span("a.py", 1, 0, 1, 1), Span("a.py", 2, 0, 2, 1)
    others = (("", marker), ("f0", place), *((f"f{number}", marker) for number in range(9)))
    found = Finding("NST101", Severity.ERROR, place, "text", function="f2", others=others)

    def analyse(files: list[str], options: AnalysisOptions) -> Analysis:
        return Analysis([found], {"a.py": read_source("a.py")}, [], frozenset({"a.py"}))

    monkeypatch.setattr(analysis, "analyse", analyse)
    (diagnostic,) = checked("x\ny\n").diagnostics
    assert [one.message for one in diagnostic.related] == [
        f"also reached from `f{number}`, marked here" for number in (0, 1, 3, 4, 5)
    ]
    assert {one.location.row for one in diagnostic.related} == {2}


def test_settings_below_decide_for_their_files(fake: Fake):
    Path("sub").mkdir()
    Path("sub/b.py").write_text("BAD\n")
    Path("sub/nonstrict.toml").write_text("ignore = ['NST101']\n")
    assert codes(checked("BAD\n", RunOptions(nested=settings_in))) == ["NST101"]
    assert codes(checked("BAD\n")) == ["NST101", "NST101"]


def test_standard_input_stands_for_a_file(fake: Fake):
    Path("a.py").write_text("")
    settings = default_settings(os.getcwd())
    result = check([], settings, RunOptions(standard_input=("a.py", b"BAD\n"), cache=True))
    assert codes(result) == ["NST101"]
    assert fake.calls[0][1].explicit == {"a.py"}
    failed = check([], settings, RunOptions(standard_input=("a.py", b"\0\1\2\3" * 100)))
    assert failed.failures
    assert failed.files == 0


def cached(text: str | None = None, **fields: Any) -> CheckResult:
    return checked(text, RunOptions(cache=True), **fields)


def test_an_unchanged_run_is_answered_from_the_cache(fake: Fake):
    first = cached("BAD\n")
    second = cached()
    assert second.cached
    assert not first.cached
    assert second.diagnostics == first.diagnostics
    assert len(fake.calls) == 1
    assert Path(".nonstrict_cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert Path(".nonstrict_cache/.gitignore").read_text() == "*\n"


def test_any_change_is_seen(fake: Fake):
    cached("BAD\n")
    assert not cached("BAD BAD\n").cached
    assert not cached(select=("NST1",)).cached
    Path("b.py").write_text("")
    assert not cached().cached
    assert not cached(torch_version="2.9").cached
    assert cached(torch_version="2.9").cached
    os.utime("a.py", ns=(1, 1))
    assert cached(torch_version="2.9").cached


def test_files_read_besides_are_compared(fake: Fake, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run, "_dependencies", lambda result: ("other.txt2",))
    cached("BAD\n")
    assert cached().cached
    Path("other.txt2").write_text("new")
    assert not cached().cached


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe" * 40])
def test_a_broken_cache_is_no_cache(fake: Fake, content: bytes):
    cached("BAD\n")
    for entry in Path(".nonstrict_cache").glob("*/*.*"):
        entry.write_bytes(content)
    assert codes(cached()) == ["NST101"]
    assert cached().cached


def test_a_cache_that_cannot_be_written_is_no_cache(fake: Fake):
    Path(".nonstrict_cache").write_text("in the way")
    assert codes(cached("BAD\n")) == ["NST101"]


def test_settings_are_hashable_data(tmp_path: Path):
    assert isinstance(default_settings(str(tmp_path)), Settings)
    assert hash(default_settings("/a")) == hash(default_settings("/a"))
