"""Imports that fixes write: among those of the file, in their order."""

from __future__ import annotations

import pytest

from nonstrict.findings import LocatedEdit
from nonstrict.fixes.applying import with_edits
from nonstrict.fixes.code.documents import Document
from nonstrict.fixes.code.imports import with_import
from nonstrict.text.source import parsed, source_from_bytes


def imported(text: str, statement: str) -> str:
    """A file with one more import."""
    source, tree = parsed(source_from_bytes("model.py", text.encode()))
    edit = with_import(Document(source, tree), statement)
    return text if edit is None else with_edits("model.py", text, [LocatedEdit(source.locate(edit.span), edit.text)])


@pytest.mark.parametrize(
    ("before", "statement", "after"),
    [
        pytest.param(
            "import os\n\nimport torch\n\nX = 1\n",
            "import dataclasses",
            "import dataclasses\nimport os\n\nimport torch\n\nX = 1\n",
            id="in the order of its block",
        ),
        pytest.param(
            "import torch\n\nX = 1\n", "import os", "import os\n\nimport torch\n\nX = 1\n", id="a block of its own"
        ),
        pytest.param(
            "import os\n\nfrom .parts import x\n",
            "import torch",
            "import os\n\nimport torch\n\nfrom .parts import x\n",
            id="between two blocks",
        ),
        pytest.param(
            "from torch import nn\n", "from torch import Tensor", "from torch import Tensor, nn\n", id="one more name"
        ),
        pytest.param(
            "from torch import (\n    Tensor,\n    nn,\n)\n",
            "from torch import where",
            "from torch import (\n    Tensor,\n    nn,\n    where,\n)\n",
            id="one more name on a line of its own",
        ),
        pytest.param(
            "from torch.library import custom_op, register_fake, register_kernel, register_autograd\n",
            "from torch.library import triton_op",
            "from torch.library import (\n    custom_op,\n    register_fake,\n    register_kernel,\n"
            "    register_autograd,\n    triton_op,\n)\n",
            id="a line that would be too long",
        ),
        pytest.param(
            '"""A model."""\n\nfrom __future__ import annotations\n\nX = 1\n',
            "import torch",
            '"""A model."""\n\nfrom __future__ import annotations\n\nimport torch\n\nX = 1\n',
            id="behind the future",
        ),
        pytest.param(
            '"""A model."""\n\n\ndef f(): ...\n',
            "import torch",
            '"""A model."""\n\n\nimport torch\n\n\ndef f(): ...\n',
            id="the first import, before a function",
        ),
        pytest.param(
            "import os\n\nif TYPE_CHECKING:\n    import torch\n",
            "import torch",
            "import os\n\nimport torch\n\nif TYPE_CHECKING:\n    import torch\n",
            id="not among imports for type checkers",
        ),
        pytest.param(
            "# A license.\n\n# Third party.\nimport torch\n",
            "import os",
            "# A license.\n\nimport os\n\n# Third party.\nimport torch\n",
            id="above the comment on a block",
        ),
        pytest.param("import os, torch\n", "import torch", "import os, torch\n", id="there already"),
    ],
)
def test_imported(before: str, statement: str, after: str):
    assert imported(before, statement) == after
