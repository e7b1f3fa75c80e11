"""nonstrict beside other tools: what is drawn and judged is what was measured, and the measurers count all there is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import processes
from bench.peers import chart, page
from bench.peers.__main__ import main
from bench.peers.corpora import DENSE, DENSE_LONG, DENSE_SHORT, TORCH
from bench.peers.dense import dense_file, middle
from bench.peers.edit import edit
from bench.peers.results import COMMAND_FIGURES, FILE, SERVER_FIGURES, Results, commands_of, load, servers_of
from bench.peers.running import version
from bench.peers.targets import TARGETS
from bench.peers.tools import CLONE, COLD, CONCISE, EDIT, SLOW, TOOLS, cases

ROOT = Path(__file__).resolve().parents[2]
CSS = chart.COLORS.read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def command(cpu: float, private: float = 100.0, *, timed_out: bool = False) -> dict[str, Any]:
    figures = dict.fromkeys(COMMAND_FIGURES, 1.0) | {
        "cpu_s": cpu,
        "private_mb": private,
        "timed_out": timed_out,
        "failed": False,
    }
    return figures | {"runs": 3, "cpu_min": cpu, "cpu_max": cpu}


def server(p95: float, missed: int = 0) -> dict[str, Any]:
    return dict.fromkeys(SERVER_FIGURES, 1.0) | {"p95_ms": p95, "missed": missed}


def results(ours: float = 2.0, edited: float = 0.3, private: float = 250.0, key: float = 10.0) -> Results:
    own = {COLD: command(ours, private), EDIT: command(edited), CLONE: command(0.1)}
    others = {"ruff F": 0.5, "ruff ALL": 1.0, "ty": 20.0}
    tools = {"nonstrict": own} | {tool: {COLD: command(cpu)} for tool, cpu in others.items()}
    size = {"files": 3, "loc": 1234, "mb": 1.0, "json": False}
    servers = {"servers": {"nonstrict": server(key), "ruff": server(5.0)}, "lines": 500}
    kind = {"cores": "2", "system": "Linux", "Python": "3.11.7", "load before": "0.1", "ruff": "0.17.5"}
    return Results(
        kind, {TORCH: size, DENSE: size}, {TORCH: tools, DENSE: tools}, {DENSE_SHORT: servers, DENSE_LONG: servers}
    )


def judged(found: Results) -> dict[str, tuple[float | None, bool | None]]:
    return {f"{one.what} {one.beside}".strip(): (one.value(found), one.met(found)) for one in TARGETS}


def test_what_is_made_of_the_results_is_up_to_date():
    found = load()
    made = page.files(found)
    assert page.stale(made) == [], "run `python -m bench.peers page`"
    pictures = {f"docs/images/{path.name}" for path in (ROOT / "docs" / "images").glob("speed-*.svg")}
    assert pictures <= set(made), "of no results"
    if found is not None:
        assert found.written() == FILE.read_text(encoding="utf-8")


def test_without_results_the_page_has_no_figures():
    made = page.files(None)
    assert list(made) == [page.PAGE]
    assert "## Results" not in made[page.PAGE]
    assert "{{" not in made[page.PAGE]


def test_targets_are_ratios_of_what_was_measured():
    found = judged(results())
    assert found["torch, cold `ruff check --select F`"] == (4.0, True)
    assert found["torch, cold `ty check`"] == (0.1, True)
    assert found["dense project, cold `ruff check --select ALL`"] == (2.0, True)
    assert found["torch, one edit its own cold check"] == (0.15, True)
    assert found["torch, fresh clone with the cache its own cold check"] == (0.05, True)
    assert found["torch, cold, private memory"] == (250.0, True)
    assert found["dense file of 500 lines, an edit, p95 ruff's server"] == (2.0, True)
    assert found["dense file of 3000 lines, an edit, p95 ruff's server"] == (2.0, False)


@pytest.mark.parametrize(
    ("worse", "target"),
    [
        ({"ours": 2.001, "edited": 0.1}, "torch, cold `ruff check --select F`"),
        ({"edited": 0.3001}, "dense project, one edit its own cold check"),
        ({"private": 250.4}, "torch, cold, private memory"),
        ({"key": 25.1}, "dense file of 500 lines, an edit, p95 ruff's server"),
    ],
)
def test_a_little_more_than_the_target_is_not_met(worse: dict[str, float], target: str):
    assert judged(results())[target][1] is True
    assert judged(results(**worse))[target][1] is False


def test_what_did_not_end_is_not_measured():
    found = results()
    found.commands[TORCH]["ty"][COLD] = command(900.0, timed_out=True)
    found.editors[DENSE_LONG]["servers"]["ruff"] = server(5.0, missed=1)
    assert judged(found)["torch, cold `ty check`"] == (None, None)
    assert judged(found)["dense file of 3000 lines, an edit, p95 ruff's server"] == (None, None)
    assert "more than" in page.tables(found)
    assert "1 edits without an answer" in page.tables(found)


def test_a_later_run_renews_the_tables_that_it_measured():
    before, newer = results(), results(ours=1.0)
    kept = next(iter(before.commands))
    newer = replace(newer, commands={name: rows for name, rows in newer.commands.items() if name != kept}, editors={})
    renewed = before.renewed(newer)
    assert renewed.commands == {**newer.commands, kept: before.commands[kept]}
    assert renewed.editors == before.editors
    elsewhere = replace(newer, machine={**newer.machine, "cores": "64"})
    assert before.renewed(elsewhere) == elsewhere


def test_the_tables_say_what_the_targets_say():
    text = page.tables(results())
    assert "| dense file of 3000 lines, an edit, p95 | ruff's server | 1.2x | 2.00x | not met |" in text
    assert "| torch, cold | `ruff check --select F` | 4x | 4.00x | met |" in text
    assert "| ruff F | 0.50 (0.50..0.50) | 0.25 |" in text
    assert "The machine had other work" not in text
    made = page.files(results())
    assert page.targets(results()) in made[page.PAGE]
    for link in re.findall(r"\]\((images/[^)]+)\)", made[page.PAGE]):
        assert f"docs/{link}" in made


def dots(svg: str) -> list[float]:
    return [float(dot.attrib["cx"]) for dot in ET.fromstring(svg).iter(f"{SVG}circle")]  # noqa: S314 - our own


def test_dots_are_as_far_apart_as_the_ratios():
    panel = chart.Panel("A & B", "s", {"nonstrict": 10.0, "ty": 100.0, "ruff F": 1.0})
    svg = chart.drawn("A <title>", [panel], CSS)
    first, second, third = dots(svg)
    assert first < second < third
    assert second - first == pytest.approx(third - second, abs=0.2)
    shown = ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own
    assert shown[:2] == ["A <title>", "A & B"]
    assert [shown.index(name) for name in ("ruff F", "nonstrict", "ty")] == sorted(map(shown.index, panel.figures))[:3]
    assert "1 s" in shown
    assert "100 s" in shown


def test_a_chart_has_the_colors_of_the_site():
    light, _, dark = chart.style(CSS).partition("@media (prefers-color-scheme: dark)")
    for scheme, told in {"default": light, "slate": dark}.items():
        for color in chart.colors(CSS, scheme).values():
            assert color in told
    with pytest.raises(ValueError, match="no colors"):
        chart.colors(CSS, "sepia")


@pytest.mark.parametrize(
    ("value", "told"), [(0.01234, "0.0123"), (0.5, "0.500"), (3.456, "3.46"), (42.42, "42.4"), (1234.5, "1,234")]
)
def test_figures_have_three_digits(value: float, told: str):
    assert chart.told(value) == told


def test_a_scale_holds_all_figures():
    assert chart.scale([0.02, 3.0]) == (-2, 1)
    assert chart.scale([10.0, 10.0]) == (1, 2)


def measured_row(**changed: Any) -> dict[str, Any]:
    row = command(1.23456) | {"corpus": "c", "case": "ty, cold", "rc": [1], "tail": "/home/x: error"}
    return row | {"labels": {"tool": "ty", "doing": COLD}} | changed


def test_rows_are_kept_without_what_names_a_place():
    kept = commands_of({"rows": [measured_row()]})
    assert kept["c"]["ty"][COLD]["cpu_s"] == 1.235
    assert "/home" not in json.dumps(kept)
    row = server(float("nan")) | {"cmd": "/home/x/ruff server", "edits_ms": [1.0, 2.0]}
    found = servers_of({"lines": 3, "servers": {"ruff+pull": row}})
    assert found["servers"]["ruff"]["p95_ms"] is None
    assert found["servers"]["ruff"]["edits"] == 2
    assert "/home" not in json.dumps(found)


def test_a_command_that_failed_is_no_result(capsys: pytest.CaptureFixture[str]):
    found = results()
    found.commands[TORCH]["ty"] = commands_of({"rows": [measured_row(rc=[0, 2])]})["c"]["ty"]
    assert judged(found)["torch, cold `ty check`"] == (None, None)
    assert "| ty | failed |  |" in page.tables(found)
    assert "ty, cold failed on c: /home/x: error" in capsys.readouterr().err
    assert commands_of({"rows": [measured_row(rc=[-9], timed_out=True)]})["c"]["ty"][COLD]["timed_out"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ruff 0.17.5\n", "0.17.5"),
        ("basedpyright 1.40.2\nbased on pyright 1.1.414\n", "1.40.2"),
        ("7.5.0 (TorchFix: 0.7.0, mccabe: 0.7.0) CPython 3.11.7", "0.7.0"),
        ("", ""),
    ],
)
def test_versions(text: str, expected: str):
    assert version(text) == expected


def test_each_tool_has_its_cold_run_and_each_case_a_name_of_its_own():
    found = cases(CONCISE, SLOW)
    assert {case.tool for case in found if case.doing == COLD} == set(TOOLS)
    names = [case.as_written("c")["name"] for case in found]
    assert len(set(names)) == len(names)


def test_each_edit_is_of_another_module(tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    for number in range(4):
        (project / f"m{number}.py").write_text(f"x = {number}\n")
    assert {edit(project).name for _ in range(4)} == {f"m{number}.py" for number in range(4)}
    assert (project / "m2.py").read_text() == "# edited\nx = 2\n"


@pytest.mark.parametrize("lines", [500, 3000])
def test_a_dense_file(lines: int):
    text = dense_file(lines)
    compile(text, "dense.py", "exec")
    assert text == dense_file(lines)
    assert lines - 40 < text.count("\n") <= lines
    assert text.count("@nonstrict_trace") == text.count("@torch.compile") > lines // 40
    assert f"def {middle(text)}(" in text


def test_the_rollup_of_a_process():
    text = "7f-8f ---p 0 0:0 0 [rollup]\nRss: 90 kB\nPss: 40 kB\nPrivate_Clean: 3 kB\nPrivate_Dirty: 20 kB\n"
    assert processes.rollup(text) == (23 * 1024, 40 * 1024)


def test_memory_is_that_of_all_processes_below():
    held = "x = bytearray(b'x') * 60_000_000; print(flush=True); input()"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {held!r}])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdout.readline()
        used = processes.usage(running.pid)
        with processes.Sampler(running.pid, 0.01) as sampler:
            time.sleep(0.5)
            running.stdin.write(b"\n")
            running.stdin.close()
            running.wait()
    assert 60_000_000 < used.private <= used.pss <= used.rss
    assert sampler.peaks.private > 60_000_000


def bench(tmp_path: Path, case: dict[str, Any]) -> dict[str, Any]:
    """The row of a case that `cli_bench.py` runs on an empty corpus."""
    (tmp_path / "corpus").mkdir()
    file, out = tmp_path / "cases.json", tmp_path / "out.json"
    file.write_text(json.dumps([case]))
    command = [sys.executable, str(ROOT / "bench" / "cli_bench.py"), "--cases", str(file), "--runs", "2"]
    command += ["--corpus", f"c={tmp_path / 'corpus'}", "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads(out.read_text())["rows"][0]


def test_time_of_processes_that_nobody_waits_for_counts(tmp_path: Path):
    burn = "import time\nwhile time.process_time() < 0.4: pass"
    lose = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {burn!r}]); time.sleep(2)"
    row = bench(tmp_path, {"name": "a", "cmd": [sys.executable, "-c", lose]})
    assert row["cpu_s"] > 0.4


def test_what_prepares_a_case_runs_once_and_edits_run_each_time(tmp_path: Path):
    case = {
        "name": "a",
        "cmd": ["cat", "{tmp}/log"],
        "setup": "echo setup >> {tmp}/log",
        "prep": "echo prep >> {tmp}/log",
        "repeat": 2,
        "labels": {"tool": "cat"},
    }
    row = bench(tmp_path, case)
    assert (row["runs"], row["labels"]) == (4, {"tool": "cat"})
    assert row["tail"].split() == ["setup", *["prep"] * 4]


def test_a_slow_case_is_run_once(tmp_path: Path):
    assert bench(tmp_path, {"name": "a", "cmd": ["true"], "runs": 1})["runs"] == 1


def test_a_run_writes_the_page_and_the_tables(tmp_path: Path):
    only = "commands,small dense project,nonstrict,ruff F"
    assert main(["run", "--only", only, "--runs", "1", "--small", "12", "--out", str(tmp_path)]) == 0
    found = load(tmp_path / FILE.relative_to(ROOT))
    assert found is not None
    own = found.commands["small dense project"]["nonstrict"]
    assert {doing: row["runs"] for doing, row in own.items()} == {COLD: 1, "nothing changed": 1, EDIT: 3, CLONE: 1}
    assert own["nothing changed"]["out_bytes"] == own[COLD]["out_bytes"] > 1000
    assert own[EDIT]["out_bytes"] > 1000
    assert own[CLONE]["cpu_s"] < own[COLD]["cpu_s"]
    assert "## small dense project" in (tmp_path / page.TABLES).read_text()
    assert "nonstrict" in (tmp_path / "docs" / "images" / "speed-check.svg").read_text()
