"""The API: it tells what the commands tell, and keeps to itself."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from nonstrict import api
from nonstrict.api import calls, results
from nonstrict.cli.main import main
from nonstrict.report import record_types

BAD = "import torch\n\nW = torch.ones(3)\n\n\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    return x * W\n"
REGION = "import torch\n\n\n@torch.compile\ndef g(x):\n    print(x)\n    return x\n\n\ng(torch.ones(2))\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "region.py").write_text(REGION)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    main([*arguments, "--output-format", "json"])
    return json.loads(capsys.readouterr().out)


def plain(value: Any) -> Any:
    """What a result says, as JSON says it."""
    if isinstance(value, api.Severity | api.Applicability):
        return value.label
    if isinstance(value, api.Status):
        return value.value
    if dataclasses.is_dataclass(value):
        told = {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
        return {**told, "fix": told["fixes"][0] if told["fixes"] else None} if "fixes" in told else told
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


# -- the same as the commands -----------------------------------------------------------------------------------------


def test_check_tells_what_the_command_tells(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / ".git").mkdir()
    result = api.check(["."], cache=False)
    assert plain(result.findings) == told_by(capsys, "check", "--no-cache")
    assert [finding.code for finding in result.findings] == ["NST101", "NST701"]
    assert (result.files, result.regions, result.regions_missed, result.marked) == (2, 1, 0, 1)
    assert (result.failures, result.known) == ((), 0)


def test_regions_tell_what_the_command_tells(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / ".git").mkdir()
    result = api.regions(["."])
    assert plain(result.regions) == told_by(capsys, "regions")
    (region,) = result.regions
    assert (region.function, len(region.breaks)) == ("g", 1)


def test_audit_tells_what_the_command_tells(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / ".git").mkdir()
    told = plain(api.audit("bad.py::f"))
    assert told.pop("failures") == []
    assert told == told_by(capsys, "audit", "bad.py::f")


@pytest.mark.torch
def test_confirm_tells_what_the_command_tells(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / ".git").mkdir()
    heard: list[tuple[int, int]] = []
    result = api.confirm("region.py", on_progress=lambda done, total: heard.append((done, total)))
    told = told_by(capsys, "confirm", "region.py", "--quiet")
    assert plain(result.findings) == told["findings"]
    assert plain(result.regions) == told["regions"]
    assert plain(result.not_run) == told["not_run"]
    (finding,) = result.findings
    assert finding.verdict is not None
    assert finding.verdict.status is api.Status.CONFIRMED
    assert heard[-1][0] == heard[-1][1] > 0


# -- its own contract -------------------------------------------------------------------------------------------------

#: Classes that are named otherwise than the JSON that they are made of, and results, which hold more.
NAMES = {
    "Obstacle": "ObstacleRecord",
    "AuditResult": "AuditRecord",
    "ConfirmResult": "ConfirmedRecord",
    "ExplainResult": "ExplainedRecord",
}
MORE = {"AuditResult": {"failures"}, "ConfirmResult": {"torch", "failures", "notices"}, "ExplainResult": {"failures"}}
OF_THE_API = {"CheckResult", "RegionsResult"}


def classes() -> list[type]:
    return [one for one in vars(results).values() if dataclasses.is_dataclass(one) and isinstance(one, type)]


JSON = [one for one in classes() if one.__name__ not in OF_THE_API]


@pytest.mark.parametrize("kind", JSON, ids=lambda one: one.__name__)
def test_a_class_has_the_fields_of_its_json(kind: type):
    record = getattr(record_types, NAMES.get(kind.__name__, f"{kind.__name__}Record"))
    own = {one.name for one in dataclasses.fields(kind)}
    assert own - MORE.get(kind.__name__, set()) == set(get_type_hints(record)) - {"fix"}


def test_every_class_is_named_and_frozen():
    assert {one.__name__ for one in classes()} < set(api.__all__)
    assert sorted(api.__all__) == api.__all__
    assert all(one.__dataclass_params__.frozen for one in classes())  # pyright: ignore[reportAttributeAccessIssue]


def test_what_is_stable():
    """A change here is a change for users: the changelog says it, and what it takes away needs a major version."""
    common = ["config", "isolated", "settings"]
    keywords = {
        "audit": ["marker", *common],
        "check": ["sources", *common, "jobs", "cache"],
        "confirm": [*common, "trust", "timeout", "device", "jobs", "cache", "on_progress"],
        "regions": ["sources", *common, "jobs"],
    }
    positional = {"audit": ["function", "paths"], "check": ["paths"], "confirm": ["target"], "regions": ["paths"]}
    for name, expected in keywords.items():
        parameters = inspect.signature(getattr(api, name)).parameters.values()
        assert [one.name for one in parameters if one.kind is one.KEYWORD_ONLY] == expected
        assert [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] == positional[name]
    fields = [one.name for one in dataclasses.fields(api.Finding)]
    assert fields == [
        *("filename", "cell", "location", "end_location", "code", "name", "severity", "message", "note", "help", "url"),
        *("fixes", "function", "marker", "observed", "related", "links", "fingerprint", "verdict", "sighting"),
    ]


def test_importing_it_is_cheap():
    heavy = "{'torch', 'numpy', 'jedi', 'parso', 'pygls', 'lsprotocol', 'mcp', 'argparse', 'subprocess', 'json'}"
    code = f"import sys; import nonstrict.api; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert run.stdout == "[]\n"


def test_it_says_nothing_and_reads_no_arguments(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "argv", ["program", "--no-such-option"])
    monkeypatch.setenv("NONSTRICT_OUTPUT_FORMAT", "no such format")
    api.check(["bad.py", "gone.py"])
    api.regions("region.py")
    api.audit("bad.py::f")
    assert capfd.readouterr() == ("", "")
    assert project.is_dir()


def test_a_second_call_tells_the_same(project: Path):
    first = api.check(project)
    assert api.check(project) == first  # from the cache
    assert api.check(str(project), cache=False) == first
    assert hash(first.findings[0]) == hash(api.check(project).findings[0])


def test_calls_of_several_threads(project: Path):
    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: api.check(project, cache=False).findings, range(8)))
    assert len(set(found)) == 1
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, stack)


@pytest.mark.torch
def test_experiments_of_several_threads(project: Path):
    (project / "other.py").write_text(REGION)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda name: api.confirm(name, cache=False), ["region.py", "other.py"]))
    verdicts = [[one.verdict.status for one in result.findings if one.verdict is not None] for result in found]
    assert verdicts == [[api.Status.CONFIRMED], [api.Status.CONFIRMED]]


# -- what is checked --------------------------------------------------------------------------------------------------


def test_a_buffer_stands_for_a_file(project: Path):
    clean = BAD.replace(" * W", "")
    assert [one.code for one in api.check(project, sources={"bad.py": clean}).findings] == ["NST701"]
    assert api.check(sources={"bad.py": clean}).findings == ()
    assert (project / "bad.py").read_text() == BAD


def test_a_buffer_of_a_file_that_is_not_there(project: Path):
    result = api.check(sources={"new/made.py": "from bad import W\n" + BAD.replace("W = torch.ones(3)\n", "")})
    assert [one.filename for one in result.findings] == [str(project / "new" / "made.py")]
    assert (result.files, result.failures) == (1, ())


def test_several_buffers_are_one_program(project: Path):
    maker = "import torch\n\nW = torch.ones(3)\n"
    user = "import torch\nfrom maker import W\n\n\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    return x * W\n"
    result = api.check(sources={"maker.py": maker, "user.py": user})
    assert [(one.code, Path(one.filename).name) for one in result.findings] == [("NST101", "user.py")]
    (region,) = api.regions(sources={"region.py": REGION.replace("print(x)", "pass")}).regions
    assert region.breaks == ()


def test_the_configuration_of_the_project_counts(project: Path, tmp_path_factory: pytest.TempPathFactory):
    (project / "nonstrict.toml").write_text('ignore = ["NST701"]\n')
    (project / "inner").mkdir()
    (project / "inner" / "nonstrict.toml").write_text('ignore = ["NST101"]\n')
    (project / "inner" / "bad.py").write_text(BAD)

    def codes(**options: Any) -> list[str]:
        return [one.code for one in api.check(project, **options).findings]

    assert codes() == ["NST101"]
    assert codes(isolated=True) == ["NST101", "NST101", "NST701"]
    assert codes(settings={"ignore": ("ALL",)}) == []
    other = tmp_path_factory.mktemp("other") / "nonstrict.toml"
    other.write_text('select = ["NST7"]\n')
    assert codes(config=other) == ["NST701"]
    with pytest.raises(api.ConfigurationError, match="exclude each other"):
        codes(config=other, isolated=True)


def test_what_the_baseline_knows_is_counted(project: Path, capsys: pytest.CaptureFixture[str]):
    main(["check", "--write-baseline"])
    result = api.check(project)
    assert (result.findings, result.known) == ((), 2)
    assert api.check(project, isolated=True).known == 0
    with pytest.raises(api.ConfigurationError, match="does not exist"):
        api.check(project, settings={"baseline": "gone.json"})
    assert capsys.readouterr().err == ""


def test_nothing_is_changed_where_settings_fix(project: Path):
    api.check(project, settings={"fix": True, "unsafe-fixes": True}, cache=False)
    assert (project / "bad.py").read_text() == BAD
    assert sorted(os.listdir(project)) == ["bad.py", "region.py"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selct": []}, "unknown key `selct`. Write `select`."),
        ({"select": ["NST999"]}, "NST999"),
        ({"fail-on": 3}, "bad value for `fail-on`"),
        ({1: 2}, "the key `1` of the settings is not a text."),
        ({"severity": {None: "note"}}, "the key `None` of the settings is not a text."),
    ],
)
def test_settings_that_are_wrong(project: Path, settings: dict[Any, object], message: str):
    with pytest.raises(api.ConfigurationError) as caught:
        api.check(project, settings=settings)
    assert message in str(caught.value)
    assert ":1:1" not in str(caught.value)


def test_what_cannot_be_read_is_a_failure(project: Path):
    result = api.check([project / "bad.py", project / "gone.py"])
    assert [one.code for one in result.findings] == ["NST101"]
    (failure,) = result.failures
    assert failure == f"{project / 'gone.py'}: does not exist"


@pytest.mark.parametrize("name", ["", "sub"])
def test_the_text_of_a_directory_is_a_failure(project: Path, name: str):
    (project / "sub").mkdir()
    result = api.check("bad.py", sources={name: "x = 1"})
    assert ([one.code for one in result.findings], result.files) == (["NST101"], 1)
    assert result.failures == (f"{(project / name)}: is a directory, and has no text",)
    assert api.regions(sources={name: "x = 1"}).failures == result.failures


@pytest.mark.parametrize(("config", "given"), [("", "nothing"), (".", "the directory .")])
def test_a_configuration_that_is_no_file(project: Path, config: str, given: str):
    with pytest.raises(api.ConfigurationError) as caught:
        api.check(project, config=config)
    assert str(caught.value) == f"`config` takes a file, not {given}."


@pytest.mark.parametrize(
    "call",
    [
        lambda: api.audit("gone.py::f"),
        lambda: api.audit("bad.py"),
        lambda: api.audit("bad.py::gone"),
        lambda: api.audit("bad.py::f", ["gone"]),
        lambda: api.audit("bad.py::f", marker="gone"),
        lambda: api.confirm("gone.py"),
        lambda: api.confirm("."),
        lambda: api.confirm("bad.py::"),
        lambda: api.confirm("bad.py::gone"),
    ],
)
def test_a_target_that_is_not_there(project: Path, call: Any):
    with pytest.raises(api.TargetError):
        call()


def test_experiments_with_another_torch_are_refused(project: Path):
    with pytest.raises(api.ConfigurationError, match=r"for torch 2\.12, and experiments would run torch 2\.13"):
        api.confirm("bad.py", settings={"torch-version": "2.12"})


# -- trust ------------------------------------------------------------------------------------------------------------


def with_interpreter(folder: Path) -> Path:
    """The mark that an interpreter of the folder leaves where it is started."""
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!{shutil.which('sh')}\necho started > '{folder}/mark'\n")
    python.chmod(0o755)
    (folder / ".venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    return folder / "mark"


@pytest.mark.torch
def test_the_interpreter_of_a_folder_is_started_where_it_is_trusted(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "config"))
    mark = with_interpreter(project)
    result = api.confirm("bad.py", cache=False)
    assert not mark.exists()
    assert "is not trusted" in " ".join(result.notices)
    result = api.confirm("bad.py", cache=False, trust=True)
    assert mark.exists()
    assert result.notices == ()
    (failure,) = result.failures
    assert failure.startswith("nothing was confirmed: ")


def test_interruption_is_raised(project: Path, monkeypatch: pytest.MonkeyPatch):
    from nonstrict.check import confirmation

    monkeypatch.setattr(confirmation, "confirm", lambda *_: confirmation.Confirmed((), interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        api.confirm("bad.py")


def test_everything_public_is_documented():
    for name in api.__all__:
        assert inspect.getdoc(getattr(api, name)), name
    assert set(calls.__all__) < set(api.__all__)
