"""A file with many marks, edited in some functions: only the marks concerned are examined, and all is as afresh."""

from __future__ import annotations

import os
import re
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nonstrict.check.live import folder as live
from nonstrict.check.live.folder import Folder
from tests.check.live.test_folder import PROJECT, Editing, fresh

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.check.examination import Examined

#: What a file with many marks shares among them: helpers, globals, classes, registrations, dispatch, a caller of all.
SHARED = """\
import torch
import state
from helpers import meter, noted, scaled
from torch._dynamo import nonstrict_trace

LIMIT = 2.0
TABLE = {"one": 1.0}
LOG = []
WEIGHT = torch.ones(3)
current = None


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second
        self.uses = 0


def flatten(pair):
    return (pair.first, pair.second), None


def unflatten(children, context):
    return Pair(*children)


torch.utils._pytree.register_pytree_node(Pair, flatten, unflatten)


def clamp(x, limit=LIMIT):
    LOG.append(1)
    return x.clamp(-limit, limit)


def mixed(x, pair):
    pair.uses += 1
    return clamp(x) * TABLE["one"]


@torch.library.custom_op("mine::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)


def switch(flag):
    global current
    current = marked_1 if flag else marked_2


def dispatch(x):
    return current(x)


def apply(function, x):
    return function(x)


compiled_apply = torch.compile(apply, fullgraph=True)


def retune():
    global LIMIT
    LIMIT = 3.0
    state.CONFIG["factor"] = 4.0
    TABLE["one"] = 2.0


"""
GROUP = """\
COUNT_{n} = 0


def bump_{n}():
    global COUNT_{n}
    COUNT_{n} += 1


@nonstrict_trace
def marked_{n}(x):
    {body}
    return x + COUNT_{n}


@torch.compile(fullgraph=True)
def region_{n}(x):
    x = clamp(x)
    return marked_{n}(x) + 1


def run_{n}():
    bump_{n}()
    return region_{n}(torch.ones(3))


"""
BODIES = [
    "x = clamp(x) * WEIGHT", "print(1)", "x = mixed(x, Pair(x, x))", "LOG.append(x.sum().item())", "x = scaled(x)",
    "x = noted(x) * state.SCALE", "x = double(x)", "meter.note(x)",
]  # fmt: skip
DENSE = {
    **PROJECT,
    "dense.py": SHARED
    + "".join(GROUP.format(n=n, body=body) for n, body in enumerate(BODIES, 1))
    + "def everything():\n    retune()\n    switch(True)\n"
    + "".join(f"    run_{n}()\n" for n in range(1, len(BODIES) + 1))
    + "    return apply(marked_1, torch.ones(3)) + compiled_apply(marked_3, torch.ones(3))\n",
    "tests.py": "import dense\nfrom dense import marked_2, region_5\n\n\ndef test_it(x):\n    dense.LIMIT = 4.0\n"
    "    return marked_2(x) + region_5(dense.clamp(x))\n",
}
_WORD = re.compile(r"[^\W\d]\w*")
_WORDS = sorted({*_WORD.findall(DENSE["dense.py"]), "x.item", "global COUNT_1;", "return", "1, x"})


@st.composite
def word_edits(draw: st.DrawFn) -> tuple[str, float, str, str]:
    """Of the file with many marks: a word that becomes another, a line that comes, goes or moves; shared code too."""
    kind = draw(st.sampled_from(["word", "word", "word", "typed", "line", "drop", "copy", "other"]))
    return kind, draw(st.floats(0, 1)), draw(st.sampled_from(_WORDS)), draw(st.sampled_from(_WORDS))


def apply_word(editing: Editing, edit: tuple[str, float, str, str]) -> None:
    kind, where, word, other = edit
    name = "dense.py" if kind != "other" else ["helpers.py", "state.py", "tests.py"][int(where * 2.99)]
    path = os.path.join(editing.root, name)
    text = editing.texts[path]
    if kind in ("word", "other"):
        places = list(_WORD.finditer(text))
        at = places[int(where * (len(places) - 1))]
        text = text[: at.start()] + word + text[at.end() :]
    elif kind == "typed":
        at = int(where * len(text))
        text = text[:at] + word[0] + text[at:]
    else:
        lines = text.split("\n")
        at = int(where * (len(lines) - 1))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        made = {"line": [f"{indent}{word} = {other}", lines[at]], "drop": [], "copy": [lines[at], lines[at]]}[kind]
        text = "\n".join([*lines[:at], *made, *lines[at + 1 :]])
    editing.change(path, text)


#: A line that moves what stands in the way of marking another function, as the help of a graph break tells.
_MOVED_OBSTACLE = [("drop", 0.375, "x", "x"), ("line", 0.3359375, "1, x", "1, x")]


@settings(
    max_examples=int(os.environ.get("NONSTRICT_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@example(_MOVED_OBSTACLE, [True] * 10)
@given(st.lists(word_edits(), min_size=1, max_size=10), st.lists(st.booleans(), min_size=10, max_size=10))
def test_many_marks_edit_by_edit_as_afresh(sequence: list[tuple[str, float, str, str]], asked: list[bool]) -> None:
    with tempfile.TemporaryDirectory() as root:
        editing = Editing(root, DENSE)
        for path, text in editing.texts.items():
            editing.folder.set_text(path, text)
        editing.found()
        for edit, ask in zip(sequence, asked, strict=False):
            apply_word(editing, edit)
            if ask:
                editing.found()
        path = os.path.join(root, "dense.py")
        assert editing.found() == fresh(root, editing.texts)
        afresh = Folder(root)
        for one, text in editing.texts.items():
            afresh.set_text(one, text)
        assert sorted(editing.folder.marks(path)) == sorted(afresh.marks(path))
        assert editing.folder.regions(path) == afresh.regions(path)


@pytest.mark.parametrize(
    ("old", "new", "looked_at"),
    [
        ("x = scaled(x)", "x = scaled(x) + 1", {"marked_5", "region_5"}),
        ("x = scaled(x)", "x = scaled(x)\n    x = x + 1", {"marked_5", "region_5"}),
        ("x = clamp(x) * WEIGHT", "x = clamp(x)", {"marked_1", "region_1", "marked_2", "apply"}),
        ("    bump_4()\n", "    bump_4()\n    bump_4()\n", {"marked_4", "region_4"}),
        ("children, context):\n    return Pair(*children)", "children, context):\n    return Pair(1, 2)", {"marked_3"}),
    ],
)
def test_an_edit_costs_the_marks_that_it_concerns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, looked_at: set[str]
) -> None:
    editing = Editing(str(tmp_path), DENSE)
    path = os.path.join(str(tmp_path), "dense.py")
    editing.folder.set_text(path, editing.texts[path])
    editing.found()
    seen: set[str] = set()
    examined = live.examined

    def spied(*given: Any) -> Examined:
        told = examined(*given)
        seen.update(one.body.function for one in told.told)
        return told

    monkeypatch.setattr(live, "examined", spied)
    editing.change(path, editing.texts[path].replace(old, new, 1))
    found = editing.found()
    monkeypatch.undo()
    assert looked_at <= seen
    assert len(seen) < len(BODIES) * 2
    assert found == fresh(editing.root, editing.texts)
