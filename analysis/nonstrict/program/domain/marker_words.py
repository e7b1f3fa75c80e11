"""The words by which code may apply a marker: the last part of every spelling of one, whatever is bound to it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import targets
from nonstrict.facts.memo import remembered
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

#: Words that mean a marker only in modules which import them from torch.
COMMON_WORDS = frozenset({"export", "draft_export", "_export"})
#: What declares and implements custom operators and leaf functions; the common words count only beside a `Library`.
OPERATOR_WORDS = frozenset(
    {
        "leaf_function",
        "custom_op",
        "triton_op",
        "register_fake",
        "register_kernel",
        "register_effect",
        "register_autograd",
        "impl_abstract",
        "_register_fake",
    }
)
LIBRARY_WORDS = frozenset({"impl", "define"})
ALL_WORDS = frozenset(name.rpartition(".")[2] for name in MARKERS)
#: Words that count only where they are called: handed on, as in `partial(make_fx, ...)`, they mean too many things.
TRACING_WORDS = COMMON_WORDS | OPERATOR_WORDS | LIBRARY_WORDS
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def applies(node: ast.AST, names: AbstractSet[str]) -> bool:
    """Whether a name is called, decorates something, or is handed on: as an argument, entry by entry in a loop."""
    called, handed = remembered(node, "_nonstrict_applied", _applied_words)
    return not called.isdisjoint(names) or not handed.isdisjoint(names)


def _applied_words(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The names that are called or decorate, and those that are handed on and no markers that trace at once."""
    called: set[str] = set()
    handed: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Call):
            called.add(last_name(inner.func))
            handed.update(map(last_name, inner.args))
        elif isinstance(inner, (ast.For, ast.AsyncFor, ast.comprehension)):
            handed.add(last_name(inner.iter))
        elif isinstance(inner, _DEFINITION):
            called.update(map(last_name, targets.decorators(inner)))
    return frozenset(called), frozenset(handed - TRACING_WORDS)
