"""Loading the part of a file that an experiment needs, as the module that it would be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import HEAD, cause, effects, result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

STEP = """

@torch.compile
def step(x):
    return x * SCALE


def main():
    step(torch.ones(2))
"""


def test_only_the_kept_statements_are_executed(project: Project) -> None:
    text = "import torch\nSCALE = 2.0\nSCALE = 3.0\nraise SystemExit(1)\n" + STEP
    (call,) = project.calls(text, kept=[0, 1, 4, 5])
    assert result(call) == [2, 2]


def test_without_a_choice_the_whole_file_is_executed(project: Project) -> None:
    (call,) = project.calls("import torch\nSCALE = 2.0\nSCALE = 3.0\n" + STEP, kept=None)
    assert result(call) == [3, 3]


def test_statements_inside_functions_and_blocks_are_left_out(project: Project) -> None:
    text = """\
    import torch
    SCALE = 2.0
    for _ in range(3):
        SCALE *= 2
    if SCALE:
        pass
    else:
        raise ValueError

    @torch.compile
    def step(x):
        return x * SCALE

    def main():
        raise ValueError
        with torch.no_grad():
            raise ValueError
        step(torch.ones(2))
    """
    (call,) = project.calls(text, dropped=[[4, 4], [15, 4], [17, 8]])
    assert result(call) == [2, 2]


def test_a_dropped_top_level_statement_does_not_shift_the_kept_ones(project: Project) -> None:
    (call,) = project.calls("import torch\nSCALE = 2.0\nSCALE = 3.0\n" + STEP, kept=[0, 1, 2, 3, 4], dropped=[[3, 0]])
    assert result(call) == [2, 2]


def test_errors_name_the_file_and_the_line_of_the_whole_text(project: Project) -> None:
    text = "import torch\n\n\n\nassert 1 / 0\n"
    trace = project.arm(text)
    assert trace["failure"] == "line 5: ZeroDivisionError: division by zero"
    (link,) = trace["load_error"]["links"]
    assert link["frames"] == [[str(project.directory / "model.py"), 5]]
    assert trace["calls"] == []
    assert "stop" not in trace


def test_a_failure_is_told_at_the_line_where_it_happened(project: Project) -> None:
    text = "import torch\n\ndef scale():\n    raise KeyError('w')\n\n\nscale()\n"
    assert project.arm(text)["failure"] == "line 4: KeyError: 'w'"


def test_what_torch_refuses_in_another_module_is_told_at_the_line_of_its_import(project: Project) -> None:
    project.write("settings.py", "import torch\ntorch.nn.Linear(-1, 1)\n")
    trace = project.arm("import torch\nassert __import__('settings')\n")
    assert trace["failure"].startswith("line 2: RuntimeError: Trying to create tensor with negative dimension")
    assert trace["load_error"]["links"][0]["frames"] == [
        [str(project.directory / "model.py"), 2],
        [str(project.directory / "settings.py"), 2],
    ]


def test_text_that_does_not_parse(project: Project) -> None:
    trace = project.arm("import torch\ndef step(:\n")
    assert trace["failure"] == "line 2: invalid syntax"
    assert cause(trace["load_error"])["type"] == "SyntaxError"


def test_a_program_that_exits(project: Project) -> None:
    assert project.arm("import sys\nimport torch\nsys.exit('usage')\n")["failure"] == "line 3: SystemExit: usage"


def test_the_texts_source_is_what_tracebacks_and_inspect_show(project: Project) -> None:
    project.write("model.py", "# another text\n")
    text = """\
    import inspect
    import linecache
    import torch

    SEEN = []

    @torch.compile
    def step(x):
        SEEN.append(inspect.getsource(main).strip().splitlines()[0])
        SEEN.append(linecache.getline(__file__, 1).strip())
        return x

    def main(): step(torch.ones(2))
    """
    (call,) = project.calls(text)
    assert call["state"]["SEEN[0]"] == [None, "str 'def main(): step(torch.ones(2))'"]
    assert call["state"]["SEEN[1]"] == [None, "str 'import inspect'"]


def test_unsaved_text_of_an_imported_module(project: Project) -> None:
    saved = project.write("settings.py", "SCALE = 2.0\n")
    text = "import torch\nfrom settings import SCALE\n" + STEP
    assert result(project.calls(text)[0]) == [2, 2]
    overlays = {str(saved): "SCALE = 5.0\n"}
    assert result(project.calls(text, overlays=overlays)[0]) == [5, 5]
    assert saved.read_text() == "SCALE = 2.0\n"
    # No bytecode of the unsaved text is left behind for the next arm.
    assert result(project.calls(text)[0]) == [2, 2]


def test_unsaved_text_of_the_program_itself_and_of_what_it_imports(project: Project) -> None:
    program = project.write("model.py", "raise ValueError('saved')\n")
    helper = project.write("helper.py", "raise ValueError('saved')\n")
    overlays = {str(helper): "def scale():\n    import model\n    return model.BASE * 2\n"}
    text = "import torch\nfrom helper import scale\nBASE = 2.0\nSCALE = scale()\n" + STEP
    assert result(project.calls(text, overlays=overlays)[0]) == [4, 4]
    overlays = {**overlays, str(program): text}
    assert result(project.calls(text, overlays=overlays)[0]) == [4, 4]


def test_errors_in_unsaved_text_name_its_lines(project: Project) -> None:
    helper = project.write("helper.py", "")
    trace = project.arm("import torch\nimport helper\n", overlays={str(helper): "\n\nraise KeyError('unsaved')\n"})
    assert trace["missing"] == ["left out: helper.py, line 3: KeyError: 'unsaved'"]


def test_relative_imports_in_a_package(project: Project) -> None:
    project.write("lib/__init__.py")
    project.write("lib/base.py", "BASE = 3.0\n")
    project.write("lib/models/__init__.py", "INITIALISED = True\n")
    project.write("lib/models/parts.py", "from ..base import BASE\nSCALE = BASE * 2\n")
    text = """\
    import torch
    from . import INITIALISED
    from .parts import SCALE

    @torch.compile
    def step(x):
        assert INITIALISED
        return x * SCALE, __name__, __package__

    def main():
        step(torch.ones(1))
    """
    (call,) = project.calls(text, path="lib/models/net.py")
    tensor, name, package = call["result"]["leaves"]
    assert tensor["shape"] == [1]
    assert (name["repr"], package["repr"]) == ("'lib.models.net'", "'lib.models'")


def test_a_packages_own_file(project: Project) -> None:
    project.write("lib/__init__.py", "raise ValueError('this text is not the one to run')\n")
    project.write("lib/parts.py", "SCALE = 3.0\n")
    step = STEP.replace("SCALE", "SCALE * parts.SCALE")
    text = "import torch\nfrom .parts import SCALE\nfrom . import parts\n" + step
    trace = project.arm(text, path="lib/__init__.py")
    assert trace["missing"] == []
    assert result(trace["calls"][0]) == [9, 9]


def test_a_package_that_cannot_be_imported(project: Project) -> None:
    project.write("lib/__init__.py", "import torch\ntorch.nn.Linear(-1, 1)\n")
    trace = project.arm("import torch\n", path="lib/net.py")
    assert trace["failure"].startswith("the package `lib` cannot be imported: RuntimeError: Trying to create tensor")
    assert cause(trace["load_error"])["frames"] == [[str(project.directory / "lib/__init__.py"), 2]]


def test_modules_beside_the_program_and_below_the_root(project: Project) -> None:
    project.write("common.py", "A = 2.0\n")
    project.write("scripts/near.py", "B = 3.0\n")
    project.write("other/place/far.py", "C = 5.0\n")
    text = "import torch\nfrom common import A\nfrom near import B\nfrom far import C\nSCALE = A * B * C\n" + STEP
    calls = project.calls(text, path="scripts/train-it.py", further=[str(project.directory / "other/place")])
    assert result(calls[0]) == [30, 30]


def test_packages_whose_folders_are_called_otherwise(project: Project) -> None:
    project.write("pyproject.toml", "[tool.setuptools.package-dir]\n'acme.kernels' = 'python'\n")
    project.write("python/__init__.py", "FACTOR = 3.0\n")
    project.write("python/deep/scale.py", "from .. import FACTOR\nSCALE = FACTOR * 5.0\n")
    text = "import torch\nfrom acme.kernels.deep.scale import SCALE\n" + STEP
    assert result(project.calls(text, path="run.py")[0]) == [15, 15]
    inner = "import torch\nfrom . import FACTOR\nimport acme.kernels as k\nSCALE = FACTOR * k.FACTOR\n" + STEP
    assert result(project.calls(inner, path="python/net.py")[0]) == [9, 9]
    unsaved = {str(project.directory / "python/__init__.py"): "FACTOR = 4.0\n"}
    assert result(project.calls(inner, path="python/net.py", overlays=unsaved)[0]) == [16, 16]


def test_the_module_is_known_while_it_is_loaded(project: Project) -> None:
    project.write("helper.py", "import model\nBASE = model.BASE\n")
    text = "import torch\nBASE = 4.0\nfrom helper import BASE as SCALE\nimport model\nBASE = 5.0\n"
    text += STEP.replace("SCALE", "(SCALE + model.BASE)")
    assert result(project.calls(text)[0]) == [9, 9]


def test_star_imports(project: Project) -> None:
    project.write("settings.py", "__all__ = ['SCALE', '_FACTOR']\nSCALE = 2.0\n_FACTOR = 3.0\nother = 1\n")
    text = "import torch\nfrom settings import *\n" + STEP.replace("SCALE", "SCALE * _FACTOR")
    assert result(project.calls(text)[0]) == [6, 6]


def test_a_main_guard_runs_as_what_sets_the_program_going_but_the_name_stays(project: Project) -> None:
    text = """\
    import torch
    NAMES = []

    @torch.compile
    def step(x):
        NAMES.append(__name__)
        return x

    if __name__ == "__main__":
        step(torch.ones(1))
        step(torch.ones(1))
    """
    driver = {"kind": "guard", "name": ""}
    calls = project.calls(text, driver=driver)
    assert effects(calls[1])["NAMES[1]"] == [None, "str 'model'"]
    assert project.calls(text, driver=driver, kept=[0, 1, 2]) == []


def test_other_conditions_on_names_are_evaluated(project: Project) -> None:
    text = HEAD + "if torch.sin.__name__ == 'cos':\n    SCALE = 2.0\nelse:\n    SCALE = 3.0\n" + STEP
    assert result(project.calls(text)[0]) == [3, 3]


@pytest.mark.parametrize("rebound", ["", "annotations = {'w': 1}\n"])
def test_annotations_stay_unevaluated(project: Project, rebound: str) -> None:
    text = f"""\
from __future__ import annotations
import torch
{rebound}
@torch.compile
def step(x: Undefined) -> Unknown[int]:
    local: Absent = x
    return local

def main():
    step(torch.ones(1))
    """
    assert len(project.calls(text)) == 1
    # The import is not needed for it: an experiment may leave the statement out.
    kept = list(range(1, 5 if rebound else 4))
    assert len(project.calls(text, kept=kept)) == 1


def test_annotations_are_evaluated_without_the_future(project: Project) -> None:
    trace = project.arm("import torch\ndef step(x: Undefined):\n    return x\n")
    assert trace["failure"] == "line 2: NameError: name 'Undefined' is not defined"


CUDA = """\
import torch
DEVICE = "cuda"
NUMBER = 1
SEEN = [torch.zeros(1, device="cuda:0"), torch.zeros(1, device=f"cuda:{NUMBER}"), torch.zeros(1).cuda(),
        torch.zeros(1).cuda(NUMBER), torch.zeros(1).cuda(non_blocking=True), torch.nn.Linear(1, 1).cuda(0).weight,
        torch.zeros(1, device=torch.device("cuda", NUMBER)), torch.zeros(1).to(DEVICE)]
WORDS = ["cudart", f"{NUMBER} cuda", "my cuda:0"]

@torch.compile
def step(x):
    with torch.autocast(DEVICE, enabled=False):
        return x, [t.device.type for t in SEEN], WORDS

def main():
    step(torch.ones(1, device=DEVICE))
"""


def test_programs_for_a_gpu_run_on_the_cpu(project: Project) -> None:
    (call,) = project.calls(CUDA)
    told = [leaf["repr"] for leaf in call["result"]["leaves"][1:]]
    assert told == ["'cpu'"] * 8 + ["'cudart'", "'1 cuda'", "'my cuda:0'"]


def test_where_there_is_a_gpu_nothing_is_replaced(project: Project) -> None:
    text = "import torch\nNAME = 'cuda'\n\n@torch.compile\ndef step(x):\n    return NAME\n\n"
    text += "def main():\n    step(torch.ones(1))\n"
    (on_gpu,), (on_cpu,) = project.calls(text, device="cuda"), project.calls(text, device="cpu")
    assert on_gpu["result"]["leaves"][0]["repr"] == "'cuda'"
    assert on_cpu["result"]["leaves"][0]["repr"] == "'cpu'"


def test_classes_of_the_module_can_be_found_by_name(project: Project) -> None:
    text = """\
    import dataclasses
    import pickle
    import typing
    import torch

    @dataclasses.dataclass
    class Settings:
        scale: float = 2.0

    @torch.compile
    def step(x):
        return x * pickle.loads(pickle.dumps(Settings())).scale, sorted(typing.get_type_hints(Settings))

    def main():
        step(torch.ones(1))
    """
    (call,) = project.calls(text)
    assert call["result"]["leaves"][1]["repr"] == "'scale'"


def test_the_files_of_a_program_are_told(project: Project) -> None:
    project.write("helper.py", "X = 1\n")
    trace: dict[str, Any] = project.arm("import json\nimport torch\nimport helper\nSCALE = 1\n" + STEP)
    assert trace["files"] == [str(project.directory / name) for name in ("helper.py", "model.py")]
