"""The generated data files are what the scripts make of the installed torch, and cheap to read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "analysis/nonstrict/knowledge/data"


@pytest.mark.parametrize("name", ["break_texts", "operators", "torch_names"])
def test_data_is_up_to_date(name, tmp_path):
    torch = pytest.importorskip("torch")
    stored = (DATA / f"{name}.json").read_text(encoding="utf-8")
    if json.loads(stored)["torch"] != torch.__version__.split("+")[0]:
        pytest.skip("the data was generated with another version of torch")
    made = tmp_path / "made.json"
    script = ROOT / "scripts" / f"generate_{name}.py"
    subprocess.run([sys.executable, str(script), "--output", str(made)], check=True, capture_output=True, timeout=600)
    old, new = json.loads(stored), json.loads(made.read_text(encoding="utf-8"))
    for part in old:
        assert old[part] == new[part], f"run {script.name} again: `{part}` differs"


def test_knowledge_imports_no_torch():
    code = "import sys, nonstrict.knowledge.operators as o, nonstrict.models.library as m; o.tensor_method('add');"
    code += "m.SHIPPED.effect('numpy.sin'); assert not {'torch', 'numpy', 'pathlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-S", "-c", code], check=True, env={"PYTHONPATH": str(ROOT / "analysis")})
