"""Torch says what the pages claim: the bad example of each rule, and small programs for all else, are run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict.explain.cleaning import cleaned
from nonstrict.explain.messages import fits, messages
from nonstrict.explain.rule_texts import breaks_named, torch_texts
from nonstrict.explain.templates import Template, squeezed
from nonstrict.explain.topics import topics
from nonstrict.rules.registry import RULES
from tests.rules.examples import examples

if TYPE_CHECKING:
    from nonstrict.explain.cleaning import Line
    from tests.warm.process import Warm

PROGRAMS = Path(__file__).parent / "programs"
#: What needs a GPU: read in torch's sources.
ON_GPU = {"cudagraphs-skipped", "cudagraphs-overwritten", "tensor-cores", "few-sms"}
#: Rules whose pages quote torch. The examples of all others are run with those of the documentation
#: (`tests/compiles/test_documentation_examples.py`).
QUOTING = [code for code in RULES if torch_texts(code) or breaks_named(code)]
BAD = {example.code: example.case.files for example in examples() if not example.good}

pytestmark = pytest.mark.torch


def said(warm: Warm, program: Path) -> list[Line]:
    """What a program writes to its standard error, with torch's logs of breaks and recompilations."""
    return cleaned(warm.script([program.name], program.parent, {"TORCH_LOGS": "graph_breaks,recompiles"}).stderr)


def has(lines: list[Line], text: str) -> bool:
    return any(True for _ in Template(text).found(squeezed(line.text for line in lines)))


@pytest.mark.parametrize("code", QUOTING)
def test_the_example_of_a_rule_says_what_its_page_claims(code: str, warm: Warm, tmp_path: Path):
    for name, text in BAD[code].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    lines = said(warm, tmp_path / ("main.py" if "main.py" in BAD[code] else list(BAD[code])[-1]))
    assert [text for text in torch_texts(code) if not has(lines, text)] == []
    assert all(any(name.lower() in line.text for line in lines) for name in breaks_named(code)[:1])


@pytest.fixture(scope="module")
def spoken(warm: Warm) -> list[Line]:
    return [line for name in ("errors.py", "recompilations.py") for line in said(warm, PROGRAMS / name)]


def guards(lines: list[Line]) -> list[str]:
    found = (re.match(r"\s*- \d+/\d+: (.*?)(?:  #.*)?$", line.text) for line in lines)
    return [" ".join(one[1].split()) for one in found if one]


@pytest.mark.parametrize("name", [name for name in topics() if name not in ON_GPU])
def test_torch_says_what_a_topic_claims(name: str, spoken: list[Line]):
    assert [text for text in topics()[name].texts if not has(spoken, text)] == []
    assert [text for text in topics()[name].guards if not any(fits(text, guard) for guard in guards(spoken))] == []


@pytest.mark.parametrize("name", sorted(ON_GPU))
def test_what_needs_a_gpu_stands_in_the_sources_of_torch(name: str):
    torch = pytest.importorskip("torch")
    sources = (Path(torch.__file__).parent / "_inductor").rglob("*.py")
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    for text in topics()[name].texts:
        assert max(text.split("{...}"), key=len).strip() in code


def test_every_message_of_the_programs_is_answered(spoken: list[Line]):
    told = messages(spoken)
    assert {name for one in told for name in one.pages} >= {"guard-value", "NST803", "GB0059", "vmap-item", "orig-mod"}
    assert len(told) > 40
