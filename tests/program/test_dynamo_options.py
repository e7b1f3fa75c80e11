"""Options of Dynamo and Inductor that a program sets: in files that run with a region, however that is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.contracts.regions import options
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_OPTION = "capture_scalar_outputs"
_ON = f"import torch\ntorch._dynamo.config.{_OPTION} = True\n"


def _is_set(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether the option is set for `model.py`, in a project of some files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    paths = sorted(map(str, folder.rglob("*.py")))
    return options.is_set(
        engine.machine(Project(()), paths), _OPTION, next(path for path in paths if path.endswith("model.py"))
    )


@pytest.mark.parametrize(
    "setting",
    [
        f"torch._dynamo.config.{_OPTION} = True",
        f"import torch._dynamo.config as dynamo\ndynamo.{_OPTION} = WANTED",
        f"setattr(torch._dynamo.config, '{_OPTION}', True)",
        f"torch._dynamo.config.{_OPTION} = choose()",
        f"with torch._dynamo.config.patch({_OPTION}=True): pass",
        f"def run():\n    torch._dynamo.config.patch({{'{_OPTION}': True}}).__enter__()",
        f"@torch._dynamo.config.patch('{_OPTION}', True)\ndef run(): pass",
        f"def run():\n    options = torch._dynamo.config\n    options.{_OPTION} = True",
        f"@torch._dynamo.patch_dynamo_config({_OPTION}=True)\ndef run(): pass",
        "os.environ['TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS'] = '1'",
        "os.environ.setdefault('TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS', '1')",
        "os.environ.update({'TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS': '1'})",
    ],
)
def test_ways_to_set_an_option(tmp_path: Path, setting: str) -> None:
    assert _is_set(tmp_path, {"model.py": f"import os\nimport torch\nWANTED = True\n{setting}\n"})


@pytest.mark.parametrize(
    "code",
    [
        f"# torch._dynamo.config.{_OPTION} = True",
        f"TEXT = 'torch._dynamo.config.{_OPTION} = True'",
        f"torch._dynamo.config.{_OPTION} = False",
        f"torch._dynamo.config.{_OPTION} = UNWANTED",
        f"print(torch._dynamo.config.{_OPTION})",
        f"mine.config.{_OPTION} = True",
        f"def run(options):\n    options = options or torch._dynamo.config\n    options.{_OPTION} = True",
        f"def run():\n    options = torch._dynamo.config\n    options = mine.config\n    options.{_OPTION} = True",
        "os.environ['TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS'] = '0'",
        "os.environ['TORCHDYNAMO_CAPTURE_OUTPUTS'] = '1'",
    ],
)
def test_what_sets_no_option(tmp_path: Path, code: str) -> None:
    assert not _is_set(tmp_path, {"model.py": f"import os\nimport torch\nimport mine\nUNWANTED = False\n{code}\n"})


@pytest.mark.parametrize(
    "files",
    [
        {"model.py": "", "main.py": f"import model\n{_ON}"},
        {"model.py": "", "main.py": "import model, settings", "settings.py": _ON},
        {"model.py": "", "main.py": "def run():\n    import model\n    from settings import x", "settings.py": _ON},
        {"model.py": "from settings import x", "settings.py": "import deeper", "deeper.py": _ON},
        {"package/__init__.py": _ON, "package/part/__init__.py": "", "package/part/model.py": ""},
    ],
)
def test_files_that_run_with_the_region(tmp_path: Path, files: dict[str, str]) -> None:
    assert _is_set(tmp_path, files)


@pytest.mark.parametrize(
    "files",
    [
        {"model.py": "", "other.py": _ON},
        {"model.py": "", "other.py": _ON, "main.py": "import other", "use.py": "import model"},
    ],
)
def test_files_that_do_not(tmp_path: Path, files: dict[str, str]) -> None:
    assert not _is_set(tmp_path, files)


_INDUCTOR = f"{options.INDUCTOR}.triton.cudagraphs"


@pytest.mark.parametrize(
    ("setting", "always"),
    [
        ("torch._inductor.config.triton.cudagraphs = True", True),
        ("from torch._inductor import config\nconfig.triton.cudagraphs = True", True),
        ("import torch._inductor.config as inductor\ninductor.triton.cudagraphs = WANTED", True),
        ("torch._inductor.config.triton.cudagraphs = False", False),
        ("torch._inductor.config.triton.cudagraphs = choose()", False),
        ("torch._inductor.config.triton.cudagraph_trees = True", False),
        ("with torch._inductor.config.patch({'triton.cudagraphs': True}): pass", False),
        ("torch._inductor.config.triton.cudagraphs = True\ntorch._inductor.config.triton.cudagraphs = False", False),
        ("torch._dynamo.config.triton.cudagraphs = True", False),
        ("", False),
    ],
)
def test_an_option_of_inductor_that_is_set_for_good(tmp_path: Path, setting: str, always: bool) -> None:
    path = tmp_path / "model.py"
    path.write_text(f"import torch\nWANTED = True\n{setting}\n")
    machine = engine.machine(Project(()), [str(path)])
    assert options.is_always(machine, _INDUCTOR, str(path), value=True) is always


def test_a_patch_may_set_an_option_of_inductor(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("import torch\nwith torch._inductor.config.patch({'triton.cudagraphs': True}): pass\n")
    machine = engine.machine(Project(()), [str(path)])
    assert options.is_set(machine, _INDUCTOR, str(path))
    assert not options.is_set(machine, "triton", str(path))
