"""What a file says changes with what another file begins, or ceases, to do with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.files import discover
from nonstrict.check.live.folder import Folder
from tests.check.live.test_folder import PROJECT, Editing, fresh, told

if TYPE_CHECKING:
    from nonstrict.check.files import Discovery
    from nonstrict.settings.model import Settings


def test_a_writer_that_appears_elsewhere_counts(tmp_path: Path) -> None:
    texts = {
        "limits.py": "import torch\n\nLIMIT = 2.0\n",
        "clip.py": "import torch\nimport limits\n\n@torch._dynamo.nonstrict_trace\ndef clip(x):\n"
        "    return x * limits.LIMIT\n",
        "other.py": "import limits\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    folder = Folder(str(tmp_path))
    paths = {str(tmp_path / name): text for name, text in texts.items()}
    before = told(folder, paths)
    other = str(tmp_path / "other.py")
    paths[other] = "import limits\n\ndef widen():\n    limits.LIMIT = 5.0\n"
    folder.set_text(other, paths[other])
    assert folder.pending() == (str(tmp_path / "clip.py"),)
    after = told(folder, paths)
    assert before != after
    assert after == fresh(str(tmp_path), paths)


@pytest.mark.parametrize("hands_on", [False, True], ids=["directly", "by-a-package"])
def test_a_method_that_a_file_begins_to_exchange_counts(tmp_path: Path, hands_on: bool) -> None:
    source = "package" if hands_on else "engine"
    texts = {
        "engine.py": "class Engine:\n    def scale(self, x):\n        return x * 2\n",
        "package.py": "from engine import Engine\n",
        "model.py": "import torch\nfrom engine import Engine\n\nengine = Engine()\n\n"
        "@torch._dynamo.nonstrict_trace\ndef body(x):\n    return engine.scale(x)\n",
        "other.py": f"import {source}\n\ndef halved(self, x):\n    return x / 2\n",
    }
    stores = "\ndef faster():\n    {}.Engine.scale = halved\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    folder = Folder(str(tmp_path))
    paths = {str(tmp_path / name): text for name, text in texts.items()}
    before = told(folder, paths)
    other = str(tmp_path / "other.py")
    for module in ("unknown", source):
        paths[other] = texts["other.py"] + stores.format(module)
        folder.set_text(other, paths[other])
        after = told(folder, paths)
        assert after == fresh(str(tmp_path), paths)
    assert before != after
    paths[other] = texts["other.py"] + stores.format(source).replace("Engine", "Motor")
    folder.set_text(other, paths[other])
    assert told(folder, paths) == before


@pytest.mark.parametrize("marks", ["ops.scale = mark(ops.scale)", "ops.scale = 1", "helper.seal(ops, 'scale')"])
def test_a_function_that_a_file_begins_to_mark_where_it_lies(tmp_path: Path, marks: str) -> None:
    texts = {
        "ops.py": "import zlib\n\ndef scale(x):\n    return x * zlib.crc32(b'rows')\n",
        "model.py": "import ops\nimport torch\n\n@torch.compile(fullgraph=True)\ndef region(x):\n"
        "    return ops.scale(x)\n",
        "helper.py": "import torch\n\ndef seal(module, name):\n    made = torch._dynamo.nonstrict_trace\n"
        "    setattr(module, name, made(getattr(module, name)))\n",
        "other.py": "import helper\nimport ops\nimport torch\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    folder = Folder(str(tmp_path))
    paths = {str(tmp_path / name): text for name, text in texts.items()}
    before = told(folder, paths)
    other = str(tmp_path / "other.py")
    for line in ("mark = torch._dynamo.nonstrict_trace", marks, "ops.scale(1)"):
        paths[other] += f"\n{line}\n"
        folder.set_text(other, paths[other])
        after = told(folder, paths)
        assert after == fresh(str(tmp_path), paths)
    assert (before != after) == (marks != "ops.scale = 1")
    paths[other] = texts["other.py"]
    folder.set_text(other, paths[other])
    assert told(folder, paths) == before


def test_a_file_that_comes_back_while_the_folder_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editing = Editing(str(tmp_path))
    helpers = os.path.join(editing.root, "helpers.py")
    editing.found()
    os.unlink(helpers)
    text = PROJECT["helpers.py"].replace("    HISTORY.append(1)\n", "")

    def listed(roots: list[str], settings: Settings, *rest: Any) -> Discovery:
        Path(helpers).write_text(text)
        return discover(roots, settings, *rest)

    monkeypatch.setattr("nonstrict.check.live.folder.discover", listed)
    editing.folder.touched([helpers])
    editing.folder.touched([helpers])
    editing.texts[helpers] = text
    assert editing.found() == fresh(editing.root, editing.texts)


@pytest.mark.parametrize("edited", ["train.py", "depths.py"])
def test_what_a_script_in_another_file_passes_counts(tmp_path: Path, edited: str) -> None:
    texts = {
        "model.py": "import torch\n\n@torch.compile\ndef rounds(x, number):\n    for _ in range(number):\n"
        "        x = x.sin()\n    return x\n",
        "depths.py": "import random\n\ngenerator = random.Random(1)\n\n\ndef depth():\n"
        "    return generator.randint(2, 20)\n",
        "train.py": "import torch\nfrom depths import depth\nfrom model import rounds\n\n\ndef main():\n"
        "    for _ in range(30):\n        rounds(torch.ones(3), depth())\n\n\nmain()\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    folder = Folder(str(tmp_path))
    paths = {str(tmp_path / name): text for name, text in texts.items()}
    before = told(folder, paths)
    assert before[str(tmp_path / "model.py")]
    path = str(tmp_path / edited)
    paths[path] = texts[edited].replace("generator.randint(2, 20)", "3").replace("depth())", "3)")
    folder.set_text(path, paths[path])
    after = told(folder, paths)
    assert after == fresh(str(tmp_path), paths)
    assert not after[str(tmp_path / "model.py")]
