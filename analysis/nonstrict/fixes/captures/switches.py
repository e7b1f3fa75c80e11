"""Which modules the project switches between training and evaluation: as a whole, or parts of them alone.

Names tell: objects are not followed to where they are switched.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.fixes.uses.spots import chain, root_of, step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context


def switched(context: Context) -> Iterator[tuple[Document, ast.expr]]:
    """The modules whose mode the project sets, as they are written there."""
    for writer in context.body.mode_writers():
        document = context.documents.document(writer.span.path)
        call = document.at(writer.span, ast.Call) if document is not None else None
        if document is not None and call is not None and isinstance(call.func, ast.Attribute):
            yield document, call.func.value


def is_switched_alone(context: Context, steps: Sequence[str]) -> bool:
    """Whether the project sets the mode of a layer, which some steps lead to, and not only of a module around it."""
    last = word(steps[-1]) if steps else ""
    for document, receiver in switched(context):
        parts = chain(receiver)
        if is_in_loop(document, receiver) or (len(parts) > 1 and word(step(parts[-1])) == last):
            return True
    return False


def is_switched_in_part(context: Context, steps: Sequence[str]) -> bool:
    """Whether the project sets the mode of a part of a module, which some steps lead to, and not of all of it."""
    last = word(steps[-1]) if steps else ""
    for document, receiver in switched(context):
        words = [word(step(part)) for part in chain(receiver)[1:]]
        if is_in_loop(document, receiver) or last in words[:-1] or any(one.isdecimal() for one in words[-1:]):
            return True
    return False


def is_in_loop(document: Document, node: ast.expr) -> bool:
    """Whether a variable is that of a loop over layers: `for layer in model.modules(): layer.eval()`."""
    loops = (one for one in document.around(node) if isinstance(one, (ast.For, ast.comprehension)))
    over = [one.target for one in loops if not isinstance(one.iter, (ast.Tuple, ast.List))]
    targets = {part.id for target in over for part in ast.walk(target) if isinstance(part, ast.Name)}
    root = root_of(node)
    return root is not None and root.id in targets


def word(one: str) -> str:
    """The name or key in a step: `.drop`, `['drop']`."""
    return one.strip(".[]'\"")
