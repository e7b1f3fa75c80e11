"""The measured table of graph breaks: its shape, what it must say, and that torch still says so for a sample."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nonstrict.knowledge.graph_breaks import (
    GraphBreak,
    falls_back,
    graph_break,
    is_measured,
    is_restored,
    may_break,
    measured_version,
)
from nonstrict.knowledge.releases import BASE, measured, table, tables

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/generate_graph_breaks.py"
TABLES = {release: table("graph_breaks", release) for release in measured("graph_breaks")}
TABLE = TABLES[BASE]
PIECES_OF = {release: table("graph_breaks_in_pieces", release) for release in measured("graph_breaks_in_pieces")}
PIECES = PIECES_OF[BASE]
PAGE = (ROOT / "docs/graph-breaks.md").read_text(encoding="utf-8")
KEY = re.compile(r"(call|method|with|arg|stmt):\S+|disabled-call(:\S+)?")


def label_of(entry):
    return entry[0] if isinstance(entry, list) else entry


def test_keys_are_of_known_kinds_and_sorted():
    assert [key for key in TABLE["entries"] if not KEY.fullmatch(key)] == []
    assert list(TABLE["entries"]) == sorted(TABLE["entries"])


def test_every_break_has_its_reason():
    used = {label_of(entry) for entry in TABLE["entries"].values()} - {None, ""}
    assert used == set(TABLE["reasons"])


def test_reasons_are_torchs():
    for label, (identifier, kind, explanation, hints, url) in TABLE["reasons"].items():
        assert kind, label
        assert isinstance(explanation, str), label
        assert all(isinstance(hint, str) for hint in hints), label
        if identifier is None:
            assert url == "", label
        else:
            assert re.fullmatch(r"GB\d{4}", identifier), label
            assert url == f"https://meta-pytorch.github.io/compile-graph-break-site/gb/{identifier.lower()}.html"


def test_texts_hold_nothing_of_the_machine_that_measured():
    text = json.dumps([*TABLES.values(), *PIECES_OF.values()]) + PAGE
    assert re.findall(r"site-packages|/home/|\.venv|/tmp/|\b0x[0-9a-f]{4,}|<construct>|surroundings\.", text) == []


def test_every_entry_can_be_told():
    for key, entry in TABLE["entries"].items():
        found = graph_break(key)
        assert (found is not None) == bool(entry), key
        assert is_measured(key) == (entry is not None), key
        if found is not None:
            assert not re.search(r"\{\d*\}", " ".join((found.explanation, *found.hints))), key


def test_version_and_enough_of_everything():
    assert re.fullmatch(r"\d+\.\d+\.\d+", measured_version())
    answers = [label_of(entry) for entry in TABLE["entries"].values()]
    assert len(answers) > 3000
    assert sum(bool(answer) for answer in answers) > 800
    assert sum(answer == "" for answer in answers) > 1000


def test_the_page_says_what_the_table_says():
    assert f"torch {measured_version()}" in PAGE
    rows = dict(re.findall(r"^\| `([^`]+)` \| .* \| ([^|]+) \| [^|]*\|$", PAGE, re.MULTILINE))
    assert len(rows) > 1200
    for key, answer in rows.items():
        entry = TABLE["entries"][key]
        assert answer == ("?" if entry is None else "**yes**" if entry else "no"), key


BREAKS = {
    "call:builtins.print": "GB0059",
    "call:builtins.open": "GB0059",
    "call:time.time": "GB0007",
    "call:random.random": "GB0007",
    "call:os.getcwd": "GB0007",
    "call:os.path.exists": "GB0007",
    "call:os.remove": "GB0007",
    "call:subprocess.run": "GB0007",
    "call:warnings.warn": "GB0007",
    "call:copy.copy": "GB0007",
    "call:torch.save": "GB0007",
    "call:torch.manual_seed": "GB0007",
    "call:torch._dynamo.graph_break": "GB0025",
    "call:torch.equal": "GB0033",
    "call:torch.nn.Linear": "GB0264",
    "call:torch.Generator": "GB0363",
    "call:json.dumps": "GB0156",
    "call:torch.autograd.grad": "GB9186",
    "method:Tensor.backward": "GB0123",
    "method:Tensor.tolist": "GB0109",
    "method:Tensor.to_sparse": "GB0277",
    "method:logging.Logger.info": "GB0291",
    "method:Module.register_forward_hook": "GB0467",
    "with:threading.Lock": "GB0142",
    "with:torch.autograd.detect_anomaly": "GB0008",
    "arg:torch.ones:requires_grad=True": "GB0225",
    "arg:builtins.str:tensor": "GB0059",
    "arg:builtins.next:iterator-argument": "GB4347",
    "arg:builtins.sorted:tensors": "GB0207",
    "arg:copy.deepcopy:tensor": "GB4198",
    "stmt:raise": "GB0088",
    "stmt:if-tensor": "GB0170",
    "stmt:class-definition": "GB8977",
    "stmt:requires-grad-returned": "GB7324",
    "stmt:data-ptr-arithmetic": "GB0088",
    "disabled-call": "GB0098",
}
# What people believe to break the graph, and what torch 2.13 traces.
TRACED_KEYS = """
call:builtins.id call:builtins.locals call:re.match call:weakref.ref call:inspect.signature call:collections.deque
call:itertools.product call:torch.nonzero call:torch.unique call:torch.nn.ReLU call:torch.set_default_dtype
call:torch.set_grad_enabled call:torch.vmap call:torch.cond call:collections.Counter call:os.getenv
method:Tensor.item method:Tensor.numpy method:Tensor.tolist:int method:Tensor.register_hook method:Module.train
with:torch.no_grad with:torch.autocast with:torch.profiler.profile with:contextlib.contextmanager
with:torch.inference_mode arg:builtins.hash:tensor arg:builtins.int:tensor arg:builtins.getattr:module-of-torch
arg:numpy.array:tensor arg:torch.tensor:tensors
stmt:fstring-tensor stmt:fstring-shape stmt:assert-tensor stmt:assert-shape stmt:raise-caught stmt:try-finally
stmt:tensor-subscript-mask stmt:data-ptr-read stmt:generator-function stmt:lru-cache-call stmt:match stmt:import
stmt:enum-call stmt:dataclass-instance stmt:environ-get stmt:global-write stmt:del-dict-item stmt:recursion
stmt:object-iterator stmt:tensor-in-set stmt:tensor-dict-key stmt:requires-grad-kept
"""
TRACED = TRACED_KEYS.split()


@pytest.mark.parametrize(("key", "identifier"), BREAKS.items())
def test_breaks(key, identifier):
    found = graph_break(key)
    assert isinstance(found, GraphBreak)
    assert found.id == identifier
    assert found.type
    assert found.url.endswith(f"{identifier.lower()}.html")


@pytest.mark.parametrize("key", TRACED)
def test_folklore_is_silent(key):
    assert is_measured(key)
    assert graph_break(key) is None


def test_words_of_one_call_stand_in_its_text():
    found = graph_break("call:builtins.print")
    assert found is not None
    assert "`print`" in found.explanation
    assert any("reorderable_logging_functions" in hint for hint in found.hints)


def test_unknown_constructs_are_silent():
    assert graph_break("call:mypackage.function") is None
    assert not is_measured("call:mypackage.function")


@pytest.mark.parametrize("torch", sorted(TABLES.keys() - {BASE}))
def test_the_table_of_another_torch_holds_what_it_changes(torch):
    own = TABLES[torch]
    assert own["base"] == TABLE["torch"]
    assert set(own["entries"]) <= set(TABLE["entries"])
    assert {label_of(entry) for entry in own["entries"].values()} - {""} == set(own["reasons"])
    for key, entry in own["entries"].items():
        known = graph_break(key)
        found = graph_break(key, torch)
        assert is_measured(key, torch), key
        assert (found is not None) == bool(entry), key
        old = known.id or known.type if known else is_measured(key) or None
        assert old != (found.id or found.type if found else True), key


@pytest.mark.parametrize(
    ("key", "before", "since"),
    [
        ("call:random.random", "GB0007", None),
        ("call:heapq.heappush", "GB0007", None),
        ("stmt:object-with", "GB0142", None),
        ("call:time.time", "GB0007", "GB9193"),
        ("call:builtins.print", "GB0059", "GB0059"),
    ],
)
def test_the_answer_is_that_of_the_torch_at_hand(key, before, since):
    assert [_identifier(key, torch) for torch in ((2, 7), (2, 13), (2, 14))] == [before] * 3
    assert [_identifier(key, torch) for torch in ((2, 15), (2, 16), (3, 0))] == [since] * 3
    assert measured_version((2, 14)) == TABLE["torch"]
    assert measured_version((2, 16)) == TABLES[(2, 15)]["torch"]


@pytest.mark.parametrize(
    ("key", "before"),
    [
        ("call:re.match", "GB0007"),
        ("call:builtins.hash", "GB0059"),
        ("stmt:class-attribute-write", "GB0059"),
    ],
)
def test_what_an_older_torch_refuses(key, before):
    assert [_identifier(key, torch) for torch in ((2, 7), (2, 12), (2, 13))] == [before, before, None]


def _identifier(key, torch):
    found = graph_break(key, torch)
    return found.id if found else None


# What breaks only where the graph may, with torch's id; None for what decides on a number that is plain by then.
IN_PIECES = {
    "method:Tensor.item": "GB0124",
    "arg:builtins.float:tensor": "GB0124",
    "method:Tensor.tolist:int": "GB0033",
    "method:Tensor.nonzero": "GB0036",
    "call:torch.nonzero": "GB0036",
    "stmt:tensor-subscript-mask": "GB0036",
    "stmt:if-tensor-item": None,
    "stmt:list-subscript-item": None,
}


@pytest.mark.parametrize(("key", "identifier"), IN_PIECES.items())
def test_what_is_another_matter_in_pieces(key, identifier):
    found = graph_break(key, whole=False)
    assert (found.id if found is not None else None) == identifier
    assert (graph_break(key) is None) == (identifier is not None)
    assert may_break(key)


@pytest.mark.parametrize("key", ["call:builtins.print", "stmt:if-tensor", "method:logging.Logger.info"])
def test_what_breaks_the_same_in_pieces(key):
    assert graph_break(key, whole=False) == graph_break(key)


@pytest.mark.parametrize("torch", PIECES_OF)
def test_the_tables_of_pieces_hold_what_they_change(torch):
    pieces = PIECES_OF[torch]
    assert pieces["base"] == measured_version(torch) == pieces["torch"]
    assert set(pieces["entries"]) <= set(TABLE["entries"])
    assert {label_of(entry) for entry in pieces["entries"].values()} - {""} == set(pieces["reasons"])
    assert [key for key in pieces["entries"] if not is_measured(key, torch)] == []
    for key, entry in pieces["entries"].items():
        assert (graph_break(key, torch, whole=False) is not None) == bool(entry), key


@pytest.mark.parametrize("torch", PIECES_OF)
def test_constructs_after_which_nothing_is_compiled(torch):
    assert falls_back("stmt:for-iterator-argument", torch)
    assert not falls_back("call:builtins.print", torch)
    assert [key for key in PIECES_OF[torch]["falls_back"] if not may_break(key, torch)] == []


def test_what_a_newer_torch_resumes_after():
    assert falls_back("stmt:object-with")
    assert not falls_back("stmt:object-with", (2, 15))
    assert graph_break("stmt:object-with", (2, 15), whole=False) is None


def test_context_managers_in_whose_blocks_a_function_resumes():
    assert is_restored("with:torch.no_grad")
    assert is_restored("with:contextlib.nullcontext")
    assert not is_restored("with:contextlib.suppress")
    assert not is_restored("with:contextlib.contextmanager")
    assert [key for key in PIECES["restored"] if may_break(key)] == []


@pytest.fixture
def installed() -> tuple[int, int]:
    """The version of torch at hand, if it is one that was measured, with the same Python."""
    torch = pytest.importorskip("torch")
    major, minor = map(int, torch.__version__.split(".")[:2])
    if measured_version((major, minor)) != torch.__version__.split("+")[0]:
        pytest.skip("the tables were measured with other versions of torch")
    if TABLE["python"] != ".".join(map(str, sys.version_info[:2])):
        pytest.skip("the tables were measured with another version of Python")
    return major, minor


def measured_again(made: Path, sample: list[str], *options: str) -> dict[str, Any]:
    command = [sys.executable, str(SCRIPT), "--output", str(made), "--processes", "1", *options, "--only", *sample]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return json.loads(made.read_text(encoding="utf-8"))


def told(label: str | None) -> str:
    return (label or "").partition(".")[0]


@pytest.mark.torch
def test_torch_still_says_so_for_a_sample(tmp_path, installed):
    known = [key for key, entry in TABLE["entries"].items() if entry is not None]
    sample = sorted({*list(BREAKS)[::4], *TRACED[::6], *known[:: len(known) // 16]})
    made = measured_again(tmp_path / "made.json", sample)
    told_by = tables("graph_breaks", installed)
    entries = {key: next(one["entries"][key] for one in told_by if key in one["entries"]) for key in sample}
    assert {key: told(label_of(entry)) for key, entry in made["entries"].items()} == {
        key: told(label_of(entry)) for key, entry in entries.items()
    }


@pytest.mark.torch
def test_torch_still_says_so_where_the_graph_may_break(tmp_path, installed):
    pieces = PIECES_OF[installed]
    breaking = [key for key, entry in pieces["entries"].items() if entry]
    falling = pieces["falls_back"][::20]
    made = measured_again(tmp_path / "made.json", sorted({*breaking[::24], *falling, "with:torch.no_grad"}), "--pieces")
    assert {key: told(label_of(entry)) for key, entry in made["entries"].items() if entry} == {
        key: told(label_of(pieces["entries"][key])) for key in made["entries"] if pieces["entries"].get(key)
    }
    assert set(breaking[::24]) <= set(made["entries"])
    assert set(falling) <= set(made["falls_back"])
    assert made["restored"] == ["with:torch.no_grad"]
