"""What the text of a function tells of the dtypes of its tensors: which are named, which surely are floating-point."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.fixes.code.names import meaning
from nonstrict.knowledge.dtypes import DTYPES
from nonstrict.program.contracts.marks.form_tables import FLOATING, is_floating
from nonstrict.program.contracts.marks.tensor_forms import Forms
from nonstrict.program.domain.values import Flag

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.tensors.kinds import Kinds
    from nonstrict.program.domain.values import Value


class Dtypes:
    """Answers for the expressions of one function."""

    def __init__(self, document: Document, kinds: Kinds) -> None:
        known = {name: _dtype(value) for name, value in kinds.arguments.items()}
        self._forms = Forms(kinds.function, meaning(document), known)

    def named(self, node: ast.expr) -> str:
        """The dtype that an expression surely has because the text names it, "" where it does not."""
        dtype = self._forms.of(node).dtype
        return dtype if dtype in DTYPES else ""

    def is_floating(self, node: ast.expr) -> bool:
        """Whether a tensor or number surely is a floating-point one."""
        number = isinstance(node, ast.Constant) and isinstance(node.value, float)
        return number or is_floating(self._forms.of(node).dtype)


def _dtype(value: Value) -> str:
    """The dtype of an argument, as far as the interpreter knows it."""
    if value.flags & Flag.BOOLEAN:
        return "bool"
    return FLOATING if all(one.flags & Flag.FLOATING for one in value.alternatives()) else ""
