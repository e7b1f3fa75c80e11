"""Experiments for editors with a real agent: confirmed, superseded, cancelled, shown; which verdicts still hold."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.live.warm import WarmAgent
from nonstrict.check.showing import ShowError
from nonstrict.findings import UNEXPLAINED, Diagnostic, Severity, Status
from tests.agent.processes import agents
from tests.check.live.editing import OPTIONS, PROGRAM, SLOW, Editor, editor, linux

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def kept_warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One user of the agent for all tests here, so that it is started once."""
    pytest.importorskip("torch")
    with editor(tmp_path_factory.mktemp("warm") / "project") as made:
        assert made.confirm() == ()
        yield made
        marker = made.marker()
    assert agents.gone(marker), agents.processes(marker)


@pytest.fixture
def warm(kept_warm: Editor, tmp_path: Path) -> Iterator[Editor]:
    """A folder of its own that shares the warm agent."""
    with editor(tmp_path / "project") as made:
        assert made.confirmer._agent is kept_warm.confirmer._agent
        yield made


@pytest.mark.torch
def test_a_finding_is_confirmed_and_told(kept_warm: Editor) -> None:
    heard = kept_warm.heard
    assert kept_warm.statuses(PROGRAM) == [(9, Status.CONFIRMED)]
    assert heard.all("progress")[0] == (kept_warm.path, 0, 1)
    assert heard.all("progress")[-1] == (kept_warm.path, 1, 1)
    assert (kept_warm.path,) in heard.all("verdicts")
    assert ("Importing torch",) in heard.all("state")
    verdict = kept_warm.confirmer.verdict(kept_warm.diagnostics(PROGRAM)[0])
    assert verdict is not None
    assert "eager 4, compiled 3" in verdict.evidence
    assert kept_warm.strange() == ()


@pytest.mark.torch
def test_the_agent_stays_warm_and_is_shared(kept_warm: Editor, warm: Editor) -> None:
    before = kept_warm.agent
    assert warm.confirm(PROGRAM.replace("SCALE = 3.0", "SCALE = 5.0")) == ()
    assert warm.agent is before
    assert not [text for (text,) in warm.heard.all("state") if "torch" in str(text)]
    verdict = warm.confirmer.verdict(warm.diagnostics(PROGRAM.replace("SCALE = 3.0", "SCALE = 5.0"))[0])
    assert verdict is not None
    assert "eager 6, compiled 3" in verdict.evidence


@pytest.mark.torch
def test_a_verdict_outlives_edits_elsewhere_and_no_others(warm: Editor) -> None:
    assert warm.confirm() == ()
    known, unknown = Status.CONFIRMED, None
    edits = {
        "# a comment\n\n" + PROGRAM: (11, known),
        PROGRAM.replace("return 1", "return 2"): (9, known),
        PROGRAM.replace("def other", "import os\n\n\ndef other"): (9, known),
        PROGRAM.replace("def other", "def more():\n    return other()\n\n\ndef other"): (9, known),
        PROGRAM.replace("return 1", "return ("): (9, known),
        # The function, what it captures, who calls it, and what else is done to these.
        PROGRAM.replace("x * SCALE", "(x + 1) * SCALE"): (9, unknown),
        PROGRAM.replace("SCALE = 2.0", "SCALE = 4.0"): (9, unknown),
        PROGRAM.replace("SCALE = 3.0", "SCALE = 2.0"): (9, unknown),
        PROGRAM.replace("def other", "SCALE *= 2\n\n\ndef other"): (9, unknown),
        PROGRAM.replace("def other", "step = torch.no_grad()(step)\n\n\ndef other"): (9, unknown),
        PROGRAM.replace("def other", "torch.set_default_dtype(torch.float64)\n\n\ndef other"): (9, unknown),
        PROGRAM.replace("@nonstrict_trace", "# nonstrict: inputs(torch.ones(2))\n@nonstrict_trace"): (10, unknown),
        # Undone.
        PROGRAM: (9, known),
    }
    assert [warm.statuses(text)[0] for text in edits] == list(edits.values())


@pytest.mark.torch
def test_a_verdict_is_stale_where_its_code_is_another(warm: Editor) -> None:
    assert warm.stale(PROGRAM) == []
    assert warm.confirm() == ()
    edited = PROGRAM.replace("x * SCALE", "(x + 1) * SCALE")
    twice = PROGRAM.replace("    return x * SCALE", "    x = x + SCALE\n    return x * SCALE")
    cases = {
        PROGRAM.replace("return 1", "return 2"): [],
        "import os\n" + edited: [10],
        PROGRAM.replace("SCALE = 3.0", "SCALE = 2.0"): [9],
        # One verdict is of one finding: the nearest.
        twice: [9],
        # Another function, another cause.
        edited.replace("scaled", "shrunk"): [],
        edited.replace("SCALE", "FACTOR"): [],
        # Undone.
        PROGRAM: [],
    }
    assert [warm.stale(text) for text in cases] == list(cases.values())
    # What is confirmed anew is not stale.
    assert warm.confirm(edited) == ()
    assert warm.stale(edited) == []
    assert warm.statuses(edited) == [(9, Status.CONFIRMED)]


@pytest.mark.torch
def test_texts_of_other_open_documents_count(warm: Editor) -> None:
    root = os.path.dirname(warm.path)
    rates = os.path.join(root, "rates.py")
    with open(rates, "w", encoding="utf-8") as file:
        file.write("LATER = 3.0\n")
    text = PROGRAM.replace("import torch\n", "import torch\nimport rates\n", 1).replace(
        "SCALE = 3.0", "SCALE = rates.LATER"
    )
    warm.folder.touched([rates])
    warm.folder.set_text(rates, "LATER = 9.0\n")
    assert warm.confirm(text) == ()
    verdict = warm.confirmer.verdict(warm.diagnostics(text)[0], warm.folder.opened())
    assert verdict is not None
    assert "eager 10, compiled 3" in verdict.evidence
    warm.folder.set_text(rates, "LATER = 8.0\n")
    assert warm.statuses(text) == [(10, None)]
    warm.folder.set_text(rates, "LATER = 9.0\n")
    assert warm.statuses(text) == [(10, Status.CONFIRMED)]
    warm.folder.forget_text(rates)
    assert warm.statuses(text) == [(10, None)]


@pytest.mark.torch
def test_a_newer_request_supersedes(warm: Editor) -> None:
    warm.request(SLOW)
    warm.heard.wait(lambda: bool(warm.heard.all("progress")))
    time.sleep(0.5)
    started = time.monotonic()
    warm.request(PROGRAM)
    assert warm.heard.wait_finished(1, 5.0) == ()
    assert warm.heard.wait_finished(2) == ()
    assert time.monotonic() - started < 45, "it waited for the older one"
    assert warm.statuses(PROGRAM) == [(9, Status.CONFIRMED)]
    assert warm.statuses(SLOW)[0][1] is None
    told = [what[0] for what in warm.heard.told if what[0] in {"finished", "verdicts"}]
    assert told[0] == told[-1] == "finished"
    assert "verdicts" in told


@pytest.mark.torch
def test_what_came_to_nothing_displaces_no_verdict(warm: Editor) -> None:
    assert warm.confirm() == ()
    for number in range(12):
        begun = len(warm.heard.all("progress"))
        warm.request(SLOW + f"\n\nnumber = {number}\n")
        warm.heard.wait(lambda begun=begun: len(warm.heard.all("progress")) > begun)
    warm.confirmer.cancel()
    assert warm.statuses(PROGRAM) == [(9, Status.CONFIRMED)]
    # Asked once more in the same text, it is the same.
    assert warm.confirm() == ()
    assert warm.statuses(PROGRAM) == [(9, Status.CONFIRMED)]


@pytest.mark.torch
@linux
def test_what_is_cancelled_ends_at_once(kept_warm: Editor, warm: Editor) -> None:
    idle = len(agents.processes(kept_warm.marker()))
    warm.request(SLOW)
    assert agents.wait_until(lambda: len(agents.processes(kept_warm.marker())) > idle)
    warm.confirmer.cancel(warm.path)
    assert warm.heard.wait_finished(1, 5.0) == ()
    assert agents.wait_until(lambda: len(agents.processes(kept_warm.marker())) <= idle)
    assert warm.statuses(SLOW)[0][1] is None
    assert not warm.heard.all("verdicts")


@pytest.mark.torch
def test_what_no_finding_explains(warm: Editor) -> None:
    hidden = PROGRAM.replace("x * SCALE", "x * eval('SCALE')")
    assert warm.diagnostics(hidden) == ()
    (mark,) = [one for one in warm.folder.marks(warm.path) if one.function == "scaled"]
    probe = Diagnostic(UNEXPLAINED, "probe", Severity.ERROR, mark.location, "", function="scaled", marker=mark.kind)
    warm.confirmer.request(warm.path, [probe], warm.folder.opened())
    assert warm.heard.wait_finished(1) == ()
    (extra,) = warm.strange()
    assert (extra.code, extra.function, extra.location.row) == (UNEXPLAINED, "scaled", 7)
    assert extra.verdict is not None
    assert extra.verdict.status is Status.CONFIRMED
    assert (warm.path,) in warm.heard.all("verdicts")
    warm.diagnostics("# a comment\n" + hidden)
    assert [one.location.row for one in warm.strange(warm.folder.opened())] == [8]
    warm.diagnostics(hidden.replace("SCALE = 3.0", "SCALE = 2.0"))
    assert warm.strange(warm.folder.opened()) == ()


@pytest.mark.torch
def test_verdicts_of_earlier_runs_are_used(kept_warm: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with editor(tmp_path / "project", OPTIONS._replace(cache=True)) as first:
        assert first.confirm() == ()

    def ready(*_: object) -> None:
        raise AssertionError("an agent was asked")

    monkeypatch.setattr(WarmAgent, "ready", ready)
    with editor(tmp_path / "project", OPTIONS._replace(cache=True)) as second:
        assert second.confirm() == ()
        assert second.statuses("\n" + PROGRAM) == [(10, Status.CONFIRMED)]
        assert second.statuses(PROGRAM.replace("SCALE = 3.0", "SCALE = 4.0")) == [(9, None)]
        rest = second.confirm(PROGRAM.replace("SCALE = 3.0", "SCALE = 4.0"))
        assert "an agent was asked" in rest[0]


@pytest.mark.torch
def test_showing_what_torch_makes_of_an_unsaved_text(warm: Editor) -> None:
    shown = warm.confirmer.show(warm.path, "scaled", "graph", PROGRAM.replace("SCALE = 2.0", "SCALE = 7.0"))
    lines = shown.text.splitlines()
    (row,) = [row for row, line in enumerate(lines) if "aten.mul.Tensor(x, 7.0)" in line]
    source = next(row for row, line in enumerate(PROGRAM.splitlines(), 1) if "return x * SCALE" in line)
    assert (row, warm.path, source) in shown.origins
    with pytest.raises(ShowError, match="has no function `scale`"):
        warm.confirmer.show(warm.path, "scale", "graph", None)


@pytest.mark.torch
@linux
def test_an_agent_that_is_killed_is_replaced(warm: Editor) -> None:
    before = warm.agent
    warm.request(SLOW)
    warm.heard.wait(lambda: bool(warm.heard.all("progress")))
    time.sleep(0.3)
    warm.kill()
    warm.request(PROGRAM)
    assert warm.heard.wait_finished(2) == ()
    assert warm.statuses(PROGRAM) == [(9, Status.CONFIRMED)]
    assert warm.agent is not before
