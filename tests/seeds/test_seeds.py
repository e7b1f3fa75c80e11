"""Pages of torch's own documentation, checked as they stand: hazard examples are flagged, fixed ones are silent."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

FOLDER = Path(__file__).parent
PAGES = sorted(FOLDER.glob("*.txt"))
MODEL = FOLDER / "non_strict_tracing_model.txt"
#: The hazards of the page about the programming model: the rule, the function, and the text at the finding.
HAZARDS = [
    ("NST506", "f", "    if x.shape[0] > 2:", "x.shape[0] > 2"),
    ("NST101", "function_with_global_access", "    return y + var", "var"),
    ("NST201", "function_with_side_effect", "    print(y)", "print(y)"),
    ("NST202", "function_with_input_list_mutation", "    val = lst.pop()", "lst.pop()"),
    ("NST401", "function_with_data_ptr", "    ptr = tensor.data_ptr()", "tensor.data_ptr()"),
    ("NST506", "f", "    if x.shape[0] > 2:", "x.shape[0] > 2"),
    ("NST104", "f", "    return x + y", "y"),
]
#: What the other pages show to fail: the rule, and what stands at the finding. Pages define a name more than once.
BREAKS = {
    "dynamo_nonstrict_trace.txt": [("NST701", "torch._dynamo.graph_break()")],
    "fullgraph_true.txt": [
        ("NST701", "next(xs)"),
        ("NST701", "next(xs)"),
        ("NST701", "torch._dynamo.graph_break()"),
        ("NST702", "square_module.square_cpu(x)"),
        ("NST701", 'torch.save(y, "foo.pt")'),
    ],
    # The page is that of a later torch.
    "torch.compiler.nonstrict_trace.txt": [("NST605", "torch.compiler.nonstrict_trace")],
}
Checked: TypeAlias = Callable[..., list[dict[str, Any]]]


@pytest.fixture(params=["named", "directory"])
def checked(request: pytest.FixtureRequest, tmp_path: Path) -> Checked:
    """Checks pages by their names, or the directory that holds them."""

    def check(*pages: Path) -> list[dict[str, Any]]:
        copies = [Path(shutil.copy(page, tmp_path)) for page in pages]
        paths = [str(copy) for copy in copies] if request.param == "named" else [str(tmp_path)]
        return found(*paths)

    return check


def found(*paths: str) -> list[dict[str, Any]]:
    arguments = ["check", "--output-format", "json", "--no-cache", "--isolated", *paths]
    run = subprocess.run([sys.executable, "-m", "nonstrict", *arguments], capture_output=True, text=True, check=False)
    assert run.stderr == "" or "--confirm" in paths
    assert run.returncode in (0, 1), run.stderr
    return json.loads(run.stdout)


def grave(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [finding for finding in findings if finding["severity"] != "note"]


def told(finding: dict[str, Any], page: Path) -> tuple[str, str]:
    """The rule of a finding and the text it stands at, in one line of a page."""
    line = page.read_text(encoding="utf-8").split("\n")[finding["location"]["row"] - 1]
    assert finding["end_location"]["row"] == finding["location"]["row"]
    return finding["code"], line[finding["location"]["column"] - 1 : finding["end_location"]["column"] - 1]


def test_each_hazard_of_the_programming_model_is_flagged_where_it_stands(checked: Checked) -> None:
    lines = MODEL.read_text(encoding="utf-8").split("\n")
    hazards: list[tuple[str, str, str, str]] = []
    for finding in grave(checked(MODEL)):
        line = lines[finding["location"]["row"] - 1]
        assert finding["end_location"]["row"] == finding["location"]["row"]
        text = line[finding["location"]["column"] - 1 : finding["end_location"]["column"] - 1]
        hazards.append((finding["code"], finding["function"], line, text))
    assert hazards == HAZARDS


@pytest.mark.parametrize("example", ["function_fixed", "f"])
def test_fixed_and_pure_examples_are_silent(example: str, checked: Checked) -> None:
    lines = MODEL.read_text(encoding="utf-8").split("\n")
    starts = [row for row, line in enumerate(lines, 1) if line.startswith(f"def {example}(")]
    # The last `f` reads a global that it was not given, and says so; two others decide on a shape.
    silent = [start for start in starts if "shape" not in lines[start]][: -1 if example == "f" else None]
    assert silent
    rows = {row for start in silent for row in range(start, start + 5) if row == start or lines[row - 1][:1] == " "}
    assert not [finding for finding in checked(MODEL) if finding["location"]["row"] in rows]


@pytest.mark.parametrize("name", BREAKS)
def test_examples_that_fail_in_the_other_pages_are_flagged_and_no_others(name: str, checked: Checked) -> None:
    page = FOLDER / name
    assert [told(finding, page) for finding in grave(checked(page))] == BREAKS[name]


def test_all_pages_together(checked: Checked) -> None:
    assert len(PAGES) == 4
    findings = checked(*PAGES)
    expected = [(code, MODEL.name) for code, *_ in HAZARDS]
    expected += [(code, name) for name, broken in BREAKS.items() for code, _ in broken]
    assert sorted((finding["code"], Path(finding["filename"]).name) for finding in grave(findings)) == sorted(expected)
    assert "NST901" not in {finding["code"] for finding in findings}


@pytest.mark.parametrize(
    ("name", "before", "after", "code"),
    [
        (
            "dynamo_nonstrict_trace.txt",
            "torch._dynamo.graph_break() return torch.tensor([42]) @torch.compile",
            "print(1) return torch.tensor([42]) @torch.compile",
            "NST201",
        ),
        ("fullgraph_true.txt", "z = y.sin() return z", "z = y.data_ptr() return z", "NST401"),
        (
            "torch.compiler.nonstrict_trace.txt",
            "... torch._dynamo.graph_break() ...",
            '... print("traced") ...',
            "NST201",
        ),
    ],
)
def test_silence_is_no_blindness(name: str, before: str, after: str, code: str, tmp_path: Path) -> None:
    """Pages that lost their line breaks are read: their marked functions, made bad, are flagged at the changed text."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert before in text
    changed = text.replace(before, after)
    page = tmp_path / name
    page.write_text(changed, encoding="utf-8", newline="")
    findings = [finding for finding in grave(found(str(page))) if finding["code"] == code]
    assert findings
    lines = changed.split("\n")
    for finding in findings:
        line, column = lines[finding["location"]["row"] - 1], finding["location"]["column"] - 1
        assert line.startswith(("print(", "y.data_ptr()"), column)


@pytest.mark.torch
def test_each_hazard_of_the_page_is_confirmed(tmp_path: Path) -> None:
    shutil.copy(MODEL, tmp_path)
    verdicts = [(d["code"], d["verdict"]["status"], d["verdict"]["reason"]) for d in found(str(tmp_path), "--confirm")]
    # The page traces the branches on shapes and never calls those graphs.
    assert sorted(verdicts, key=str) == [
        ("NST101", "confirmed", None),
        ("NST104", "confirmed", None),
        ("NST201", "confirmed", None),
        ("NST202", "confirmed", None),
        ("NST401", "confirmed", None),
        ("NST506", "inconclusive", "line-not-reached"),
        ("NST506", "inconclusive", "line-not-reached"),
    ]
