"""`nonstrict explain`: what users see, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict import schemas
from nonstrict.explain.answering import explained
from nonstrict.explain.rendering import text as rendered
from nonstrict.report.context import Context, Lines
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from tests.cli.conftest import Command

LOGS = Path(__file__).parents[1] / "explain" / "logs"
FAKE = "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'"
ERROR = f"""\
torch._inductor.exc.InductorError: AssertionError: {FAKE}. Found in aten.mul.Tensor(FakeTensor(...))
Original traceback:
  File "/home/ci/job/bad.py", line 8, in scaled
    return x * SCALE
"""


@pytest.mark.parametrize("name", ["NST101", "nst101", "global-tensor-capture"])
def test_a_rule_is_its_page(nonstrict: Command, name: str):
    outcome = nonstrict("explain", name)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("# global-tensor-capture (NST101)\n")


def test_an_id_is_its_page(nonstrict: Command):
    outcome = nonstrict("explain", "GB0059")
    assert outcome.status == 0
    assert outcome.out.startswith("# GB0059: Failed to trace builtin operator\n")
    assert "Log outside the region" not in outcome.out
    assert "`print(x)`" in outcome.out


def test_a_topic_is_its_page(nonstrict: Command):
    assert "`torch.compiler.cudagraph_mark_step_begin()`" in nonstrict("explain", "cudagraphs-overwritten").out


def test_a_message_in_words(nonstrict: Command):
    outcome = nonstrict("explain", *f"{FAKE}. Found in aten".split())
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("NST101: global-tensor-capture\n")
    assert "  do: Pass the tensor as an argument, or build it in the function.\n" in outcome.out


def test_an_error_with_a_place(nonstrict: Command, project: Path):
    outcome = nonstrict("explain", "-", stdin=ERROR)
    assert (outcome.status, outcome.err) == (0, "")
    assert "  here: NST101 (global-tensor-capture) at bad.py:8, see below\n" in outcome.out
    assert "  place: bad.py:8 in `scaled`\n    return x * SCALE\n    1 finding there:\n" in outcome.out
    assert "error[NST101] global-tensor-capture: `scaled` captures global tensor `SCALE`\n" in outcome.out
    (project / "said.log").write_text(ERROR, encoding="utf-8")
    assert nonstrict("explain", "said.log").out == outcome.out


def test_an_error_without_a_finding(nonstrict: Command, project: Path):
    outcome = nonstrict("explain", "-", stdin=ERROR.replace("/home/ci/job/bad.py", "clean.py"))
    assert "    nonstrict has no finding there.\n" in outcome.out
    assert "    The text quotes another line: the code was edited since.\n" in outcome.out
    assert "/home/ci/job/clean.py:8 may be clean.py\n" in nonstrict("explain", ERROR.replace("bad", "clean")).out
    assert "elsewhere.py:8 is no file of this project" in nonstrict("explain", ERROR.replace("bad", "elsewhere")).out


def test_nothing_known_fits(nonstrict: Command):
    outcome = nonstrict("explain", "cannot open the door")
    assert (outcome.status, outcome.err) == (1, "")
    assert outcome.out.startswith("Nothing known fits this text.\nGive the whole message")
    guess = nonstrict("explain", "data dependent branching detected")
    assert guess.status == 1
    assert "which is a guess:\n  GB0170: Data-dependent branching\n    `nonstrict explain GB0170`\n" in guess.out


@pytest.mark.parametrize(
    "quoted",
    [
        "Please convert all Tensors to FakeTensors first",
        "AssertionError: Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode",
        "torch._inductor.exc.InductorError: AssertionError: Please convert all Tensors to FakeTensors first ...",
    ],
)
def test_a_message_may_be_quoted_without_its_end(nonstrict: Command, quoted: str):
    outcome = nonstrict("explain", quoted)
    assert outcome.status == 0
    assert outcome.out.startswith("NST10")
    assert "global-tensor-capture" in outcome.out
    assert nonstrict("explain", "Please convert all").status == 1


def test_what_cannot_be_read(nonstrict: Command, project: Path):
    assert nonstrict("explain", "-").status == 1
    assert "TEXT is missing" in nonstrict("explain").err
    assert nonstrict("explain", "nowhere.log").err == "nonstrict: There is no file nowhere.log.\n"
    (project / "core").write_bytes(b"\x7fELF\0\0")
    assert nonstrict("explain", "core").err == "nonstrict: This is a binary file and no text.\n"
    assert nonstrict("explain", "--project", "nowhere", "GB0059 there").status == 2


@pytest.mark.parametrize("given_text", ["GB0059", ERROR, "cannot open the door", "data dependent branching detected"])
def test_json_is_by_its_schema(nonstrict: Command, project: Path, given_text: str):
    outcome = nonstrict("explain", "--output-format", "json", given_text)
    jsonschema.validate(json.loads(outcome.out), json.loads(schemas.text_of("explain")))
    assert outcome.status == int("GB" not in given_text and given_text != ERROR)


def test_a_large_log(nonstrict: Command):
    log = (LOGS / "train.log").read_text(encoding="utf-8")
    parts = [log.replace("encoder.py", f"part{number}.py") for number in range(10_000_000 // len(log))]
    outcome = nonstrict("explain", "-", stdin="".join(parts))
    assert outcome.status == 0
    assert "more messages: `--output-format json` has all of them.\n" in outcome.out


TEXTS = st.sampled_from([FAKE, "Import failure", "Recompiling function ", " in ", ".py:3", "GB0059", "  - 0/0: ", "\n"])
ESCAPES = st.sampled_from("\x1b\x9b\u202e\u2066\x07[]0;31m")
ODD = st.characters(categories=["Cc", "Cf", "Cs", "Co", "Zl", "Zp"]) | ESCAPES


@given(st.lists(TEXTS | st.text(ODD, max_size=8), max_size=12))
def test_nothing_that_does_not_print_reaches_a_terminal(parts: list[str]):
    text = "".join(parts)
    told = explained(text, str(LOGS), default_settings(str(LOGS)))
    shown = rendered(told, Context(Lines({})))
    assert [one for one in shown if not one.isprintable() and one != "\n"] == []
