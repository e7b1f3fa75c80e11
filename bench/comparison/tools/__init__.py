"""The tools that are compared, in the order of the page's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.comparison.tools.explain import Explain
from bench.comparison.tools.fullgraph import Fullgraph
from bench.comparison.tools.nonstrict import Nonstrict
from bench.comparison.tools.observed import Observed
from bench.comparison.tools.ruff import Ruff
from bench.comparison.tools.semgrep import Semgrep
from bench.comparison.tools.tlparse import Tlparse
from bench.comparison.tools.torchfix import TorchFix

if TYPE_CHECKING:
    from bench.comparison.model import Tool

TOOLS: dict[str, Tool] = {
    "nonstrict": Nonstrict(),
    "observed": Observed(),
    "fullgraph": Fullgraph(),
    "explain": Explain(),
    "tlparse": Tlparse(),
    "torchfix": TorchFix(),
    "ruff": Ruff(),
    "semgrep": Semgrep(),
}
