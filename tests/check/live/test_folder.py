"""A folder kept analysed edit by edit says what a fresh analysis of the same texts says, after any edits."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nonstrict.check.live.folder import Folder
from nonstrict.check.run import check
from nonstrict.settings.load import settings_in
from nonstrict.settings.model import default_settings
from tests.check.cache.test_histories import GRADIENTS

if TYPE_CHECKING:
    from nonstrict.findings import Diagnostic

PROJECT = {
    "state.py": """\
import torch

SCALE = torch.tensor(2.0)
CONFIG = {"factor": 2.0}
HISTORY = []


def set_scale(value):
    global SCALE
    SCALE = value


class Meter:
    def __init__(self):
        self.count = 0
        self.values = []

    def note(self, x):
        self.count += 1
        return x
""",
    "helpers.py": """\
from state import CONFIG, HISTORY, Meter

meter = Meter()


def scaled(x):
    return x * CONFIG["factor"]


def noted(x):
    HISTORY.append(1)
    return x
""",
    "model.py": """\
import torch
import state
from helpers import meter, noted, scaled
from torch._dynamo import nonstrict_trace


@nonstrict_trace
def body(x):
    print("é𝒳")
    return scaled(noted(x)) * state.SCALE


class Net(torch.nn.Module):
    @torch._dynamo.nonstrict_trace
    def forward(self, x):
        return meter.note(x) if self.training else x


@torch.compile(fullgraph=True)
def step(x):
    return body(x)


def later():
    state.set_scale(torch.tensor(3.0))
    state.CONFIG["factor"] = 3.0
""",
}
#: What is typed; much of it means something to some rule.
SNIPPETS = [
    "\n", " ", "    ", "x", "#", '"""', "'", "(", ")", ":", "\\", "𝒳", "é", "\r\n", "\t", "\0",
    "\n\n@nonstrict_trace\ndef fresh(x):\n    return x.item()\n", "\ndef scaled(x):\n    return x\n",
    "    print(1)\n", "\nSCALE = 3\n", "import time\n", "from state import *\n", "  # nonstrict: ignore[NST201]",
    "\nstate.SCALE = 4\n", "\nHISTORY.clear()\n", "global SCALE\n", "return x\n", "time.time()", "x.data_ptr()",
    "\nwrap = nonstrict_trace\n", "\n@wrap\ndef other(x):\n    return x.tolist()\n", "\nnet = Net()\nnet.eval()\n",
    "\nclass Meter:\n    pass\n", "def ", "class ", "\nfrom model import body\nbody(1)\n",
]  # fmt: skip


class Editing:
    """A folder whose documents are edited, and the texts that they hold."""

    def __init__(self, root: str, project: dict[str, str] = PROJECT) -> None:
        self.root = root
        self.texts = {os.path.join(root, name): text for name, text in project.items()}
        self.past: list[tuple[str, str]] = []
        for path, text in self.texts.items():
            Path(path).write_text(text, encoding="utf-8", newline="")
        self.folder = Folder(root)

    def change(self, path: str, text: str) -> None:
        self.past.append((path, self.texts[path]))
        self.texts[path] = text
        self.folder.set_text(path, text)

    def write(self, path: str, text: str) -> None:
        """A file is written by someone else."""
        Path(path).write_text(text, encoding="utf-8", newline="")
        if path not in self.texts:
            self.texts[path] = text
        self.folder.touched([path])
        self.folder.set_text(path, self.texts[path])

    def remove(self, path: str) -> None:
        """A file is closed and deleted."""
        os.unlink(path)
        del self.texts[path]
        self.past = [one for one in self.past if one[0] != path]
        self.folder.forget_text(path)
        self.folder.touched([path])

    def found(self) -> dict[str, tuple[Diagnostic, ...]]:
        return told(self.folder, self.texts)


def told(folder: Folder, texts: dict[str, str]) -> dict[str, tuple[Diagnostic, ...]]:
    folder.scan()
    for path in folder.pending():
        folder.examine(path)
    return {path: folder.diagnostics(path) for path in texts}


def fresh(root: str, texts: dict[str, str]) -> dict[str, tuple[Diagnostic, ...]]:
    folder = Folder(root)
    for path, text in texts.items():
        folder.set_text(path, text)
    return told(folder, texts)


@st.composite
def edits(draw: st.DrawFn) -> tuple[int, str, float, float, str]:
    kind = draw(st.sampled_from(["insert", "insert", "delete", "line", "undo", "ends", "close", "goes", "comes"]))
    return (
        draw(st.integers(0, len(PROJECT) - 1)),
        kind,
        draw(st.floats(0, 1)),
        draw(st.floats(0, 0.2)),
        draw(st.sampled_from(SNIPPETS)),
    )


def apply(editing: Editing, edit: tuple[int, str, float, float, str]) -> None:
    number, kind, where, size, snippet = edit
    if kind == "comes":
        name = [*PROJECT, "extra.py"][int(where * 3.99)]
        editing.write(os.path.join(editing.root, name), PROJECT.get(name, "from model import wrap\n") + snippet)
        return
    path = [os.path.join(editing.root, name) for name in PROJECT][number]
    text = editing.texts.get(path)
    if text is None:
        return
    at = int(where * len(text))
    if kind == "goes":
        editing.remove(path)
    elif kind == "insert":
        editing.change(path, text[:at] + snippet + text[at:])
    elif kind == "delete":
        editing.change(path, text[:at] + text[at + int(size * len(text)) :])
    elif kind == "line":
        at = text.find("\n", at) + 1
        editing.change(path, text[:at] + snippet + text[at:])
    elif kind == "ends":
        plain = text.replace("\r\n", "\n")
        editing.change(path, plain if plain != text else plain.replace("\n", "\r\n"))
    elif kind == "undo" and editing.past:
        path, before = editing.past.pop()
        editing.texts[path] = before
        editing.folder.set_text(path, before)
    elif kind == "close":
        Path(path).write_text(text, encoding="utf-8", newline="")
        editing.folder.forget_text(path)
        editing.folder.set_text(path, text)


@settings(
    max_examples=int(os.environ.get("NONSTRICT_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(edits(), min_size=1, max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_edit_by_edit_as_afresh(sequence: list[tuple[int, str, float, float, str]], asked: list[bool]) -> None:
    with tempfile.TemporaryDirectory() as root:
        editing = Editing(root)
        for edit, ask in zip(sequence, asked, strict=False):
            apply(editing, edit)
            if ask:
                editing.found()
        assert editing.found() == fresh(root, editing.texts)


@pytest.fixture
def editing(tmp_path: Path) -> Editing:
    made = Editing(str(tmp_path))
    made.found()
    return made


def codes(editing: Editing, name: str) -> list[str]:
    path = os.path.join(editing.root, name)
    editing.found()
    return [diagnostic.code for diagnostic in editing.folder.diagnostics(path)]


def test_a_folder_says_what_a_run_says(editing: Editing) -> None:
    run = check([editing.root], default_settings(editing.root))
    # While somebody types, nobody makes fixes: see `test_fixing.py`.
    expected = sorted(one._replace(fixes=()) for one in run.diagnostics)
    assert sorted(one for found in editing.found().values() for one in found) == expected
    assert run.diagnostics


def test_an_edit_adds_a_finding_and_takes_it_away(editing: Editing) -> None:
    path = os.path.join(editing.root, "model.py")
    before, text = codes(editing, "model.py"), editing.texts[path]
    editing.change(path, text.replace('    print("é𝒳")\n', '    print("é𝒳")\n    x.data_ptr()\n'))
    assert sorted(codes(editing, "model.py")) == sorted([*before, "NST401"])
    editing.change(path, text)
    assert codes(editing, "model.py") == before


def test_an_edit_of_a_helper_reaches_who_calls_it(editing: Editing) -> None:
    helpers = os.path.join(editing.root, "helpers.py")
    model = os.path.join(editing.root, "model.py")
    assert "NST203" in codes(editing, "helpers.py")
    editing.folder.set_text(helpers, PROJECT["helpers.py"].replace("    HISTORY.append(1)\n", ""))
    assert model in editing.folder.pending()
    assert model in editing.folder.examine(model) | {model}
    assert "NST203" not in [d.code for d in editing.folder.diagnostics(helpers)]


def test_an_edit_two_imports_away_is_seen(tmp_path: Path) -> None:
    for name, text in GRADIENTS.items():
        (tmp_path / name).write_text(text)
    folder = Folder(str(tmp_path))
    folder.scan()
    path, train = str(tmp_path / "ops.py"), str(tmp_path / "train.py")
    folder.set_text(path, GRADIENTS["ops.py"])
    assert [one.code for one in folder.diagnostics(path)] == ["NST611"]
    folder.set_text(train, GRADIENTS["train.py"].replace(".backward()", ""))
    assert folder.pending() == (path,)
    assert folder.diagnostics(path) == ()


def test_the_next_session_begins_with_what_this_one_found(editing: Editing) -> None:
    model = os.path.join(editing.root, "model.py")
    found = editing.folder.diagnostics(model)
    later = Folder(editing.root)
    assert later.diagnostics(model) == found
    assert set(later.files_with_findings()) >= {model}
    # Nothing was examined for that; as soon as a text differs, nothing is remembered.
    later.scan()
    assert model in later.pending()
    later.set_text(model, editing.texts[model] + "\n\n# more\n")
    assert model in later.pending()
    assert later.diagnostics(model) == found
    assert model not in later.pending()


def test_what_changed_in_between_is_not_remembered(editing: Editing) -> None:
    model = os.path.join(editing.root, "model.py")
    Path(model).write_text("import torch\n\n\ndef nothing():\n    return 1\n", encoding="utf-8")
    assert Folder(editing.root).diagnostics(model) == ()


def test_edited_texts_are_not_kept_for_later(tmp_path: Path) -> None:
    editing = Editing(str(tmp_path))
    model = os.path.join(editing.root, "model.py")
    editing.folder.set_text(model, editing.texts[model].replace("print", "str"))
    told(editing.folder, editing.texts)
    assert "NST201" in [diagnostic.code for diagnostic in Folder(editing.root).diagnostics(model)]


def test_a_document_without_a_file(editing: Editing) -> None:
    path = os.path.join(editing.root, "untitled.py")
    text = "import torch\n\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    print(x)\n    return x\n"
    editing.folder.set_text(path, text)
    assert [diagnostic.code for diagnostic in editing.folder.diagnostics(path)] == ["NST201"]


def test_whoever_examines_what_changed_is_told(editing: Editing) -> None:
    helpers, model = (os.path.join(editing.root, name) for name in ("helpers.py", "model.py"))
    editing.folder.changed()
    editing.folder.set_text(helpers, PROJECT["helpers.py"].replace("return x\n", "print(x)\n    return x\n"))
    editing.folder.diagnostics(helpers)
    editing.folder.diagnostics(model)
    assert helpers in editing.folder.changed()
    assert editing.folder.changed() == frozenset()


def test_a_broken_file_says_the_same_open_and_closed(tmp_path: Path) -> None:
    broken = "import random\n\ndef shifted(x):\n    print(x)\n    return x + randdef other(x):\n    return x\nom()\n"
    marked = (
        "import torch\nfrom helper import shifted\n\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    return shifted(x)\n"
    )
    paths = {str(tmp_path / "helper.py"): broken, str(tmp_path / "model.py"): marked}
    for path, text in paths.items():
        Path(path).write_text(text, encoding="utf-8")
    closed = told(Folder(str(tmp_path)), paths)
    places = [
        [(one.code, one.location.row) for found in each.values() for one in found if one.code != "NST901"]
        for each in (closed, fresh(str(tmp_path), paths))
    ]
    assert places == [[("NST201", 4)]] * 2


def test_a_file_without_markers_need_not_wait_for_the_scan(editing: Editing) -> None:
    helpers = os.path.join(editing.root, "helpers.py")
    found = editing.folder.diagnostics(helpers)
    folder = Folder(editing.root)
    folder.set_text(helpers, editing.texts[helpers] + "\n")
    assert folder.diagnostics(helpers) == ()
    assert folder.pending() == ()
    folder.scan()
    for path in folder.pending():
        folder.examine(path)
    assert helpers in folder.changed()
    assert folder.diagnostics(helpers) == found


def test_an_open_file_is_answered_before_the_scan(editing: Editing) -> None:
    model = os.path.join(editing.root, "model.py")
    text = editing.texts[model].replace("print", "str")  # nothing that is remembered
    editing.folder.set_text(model, text)
    found = told(editing.folder, editing.texts)[model]
    folder = Folder(editing.root)
    folder.set_text(model, text)
    early = [diagnostic.code for diagnostic in folder.diagnostics(model)]
    assert not folder.is_scanned
    assert "NST101" in early
    folder.scan()
    for path in folder.pending():
        folder.examine(path)
    assert model in folder.changed()
    assert folder.diagnostics(model) == found


def test_a_scan_makes_room_and_goes_on(editing: Editing) -> None:
    folder = Folder(editing.root)
    asked = 0

    def is_waited_for() -> bool:
        nonlocal asked
        asked += 1
        return asked % 2 == 0

    while not folder.is_scanned:
        folder.scan(cancelled=is_waited_for)
    assert asked < 4 * len(editing.texts)
    assert os.path.join(editing.root, "model.py") in folder.pending()


def test_files_come_and_go(editing: Editing) -> None:
    state = os.path.join(editing.root, "state.py")
    os.unlink(state)
    del editing.texts[state]
    editing.folder.touched([state])
    assert editing.found() == fresh(editing.root, editing.texts)
    assert editing.folder.diagnostics(state) == ()


def test_an_edit_that_nothing_depends_on_makes_nothing_doubtful(editing: Editing) -> None:
    other = os.path.join(editing.root, "other.py")
    Path(other).write_text("def unrelated():\n    return 1\n", encoding="utf-8")
    editing.folder.touched([other])
    editing.found()
    editing.folder.set_text(other, "def unrelated():\n    return 2\n")
    assert editing.folder.pending() == ()


def test_excluded_files_have_no_diagnostics(tmp_path: Path) -> None:
    (tmp_path / "nonstrict.toml").write_text('exclude = ["model.py"]\n')
    editing = Editing(str(tmp_path))
    assert codes(editing, "model.py") == []


def test_the_configuration_is_read_again(editing: Editing) -> None:
    assert "NST201" in codes(editing, "model.py")
    (Path(editing.root) / "nonstrict.toml").write_text('ignore = ["NST201"]\n')
    editing.folder.reload()
    assert "NST201" not in codes(editing, "model.py")
    editing.folder.reload({"select": ["NST201"], "ignore": []})
    assert codes(editing, "model.py") == ["NST201"]


def test_the_python_of_the_project_is_read_again(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nrequires-python = ">=3.9"\n')
    lines = ("if sys.version_info < (3, 10):", "    x = x * random.random()", "return x")
    body = "".join(f"    {line}\n" for line in lines)
    marked = f"@torch._dynamo.nonstrict_trace\ndef f(x):\n{body}"
    editing = Editing(str(tmp_path), {"model.py": f"import random\nimport sys\n\nimport torch\n\n\n{marked}"})
    assert codes(editing, "model.py") == ["NST301"]
    project.write_text('[project]\nrequires-python = ">=3.10"\n')
    editing.folder.reload()
    assert codes(editing, "model.py") == []
    editing.folder.reload({"target-python": "3.9"})
    assert codes(editing, "model.py") == ["NST301"]


def test_marks(editing: Editing) -> None:
    marks = editing.folder.marks(os.path.join(editing.root, "model.py"))
    told = [(mark.function, mark.kind, mark.location.row, mark.definition and mark.definition.row) for mark in marks]
    assert sorted(told) == [
        ("Net.forward", "nonstrict", 14, 15),
        ("body", "nonstrict", 7, 8),
        ("step", "compiled", 19, 20),
    ]


def test_nested_configuration_counts(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "nonstrict.toml").write_text('ignore = ["NST201"]\n')
    text = "import torch\n\n@torch._dynamo.nonstrict_trace\ndef f(x):\n    print(x)\n    return x\n"
    for name in ("one.py", "inner/two.py"):
        (tmp_path / name).write_text(text)
    folder = Folder(str(tmp_path))
    assert [d.code for d in folder.diagnostics(str(tmp_path / "one.py"))] == ["NST201"]
    assert folder.diagnostics(str(tmp_path / "inner" / "two.py")) == ()
    assert settings_in(str(tmp_path / "inner"), ["nonstrict.toml"]) is not None
