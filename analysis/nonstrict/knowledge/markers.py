"""The APIs that mark functions for a tracing contract, under every dotted name that they have.

Source: `torch/_dynamo/decorators.py`, `torch/compiler/__init__.py`, `torch/library.py`, `torch/export/__init__.py` and
`torch/fx/experimental/proxy_tensor.py` of torch 2.13; `since` also from the sources of 2.14.1 and 2.15.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, AnyStr, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class MarkerApi(NamedTuple):
    """One API.

    `kind` is the contract: `nonstrict`, `in-graph`, `constant-result`, `leaf`, `custom-op`, `make-fx`, `compiled`,
    `disable`. `argument` is the keyword name of the marked callable, empty where it has none (`Library.impl` takes it
    second). `since` is the first torch version with this spelling, None where every supported one has it.
    `position` is the position of the marked callable among positional arguments.
    """

    kind: str
    argument: str
    since: str | None = None
    position: int = 0


#: Functions that say whether the compiler traces.
TRACE_QUESTIONS = frozenset(
    {
        "torch.compiler.is_compiling",
        "torch.compiler.is_dynamo_compiling",
        "torch._dynamo.is_compiling",
        "torch.compiler.is_exporting",
        "torch._utils.is_compiling",
        "torch._dynamo.external_utils.is_compiling",
    }
)


#: Tracers that do not say that they trace: they answer those questions as plain Python does (measured on torch 2.13).
SILENT_TRACERS = frozenset({"make_fx", "aot_function", "aot_module", "aot_module_simplified"})


def _spellings(
    kind: str, argument: str, *names: str, since: str | None = None, position: int = 0
) -> dict[str, MarkerApi]:
    return dict.fromkeys(names, MarkerApi(kind, argument, since, position))


MARKERS: dict[str, MarkerApi] = {
    **_spellings(
        "nonstrict",
        "traceable_fn",
        "torch._dynamo.nonstrict_trace",
        "torch._dynamo.decorators.nonstrict_trace",
        since="2.7",
    ),
    **_spellings("nonstrict", "traceable_fn", "torch.compiler.nonstrict_trace", since="2.14"),
    **_spellings(
        "in-graph",
        "fn",
        "torch._dynamo.allow_in_graph",
        "torch._dynamo.decorators.allow_in_graph",
        "torch.compiler.allow_in_graph",
    ),
    **_spellings(
        "constant-result",
        "fn",
        "torch._dynamo.assume_constant_result",
        "torch._dynamo.decorators.assume_constant_result",
        "torch.compiler.assume_constant_result",
    ),
    **_spellings("leaf", "fn", "torch._dynamo.decorators.leaf_function"),
    **_spellings(
        "custom-op",
        "fn",
        "torch.library.custom_op",
        "torch._library.custom_ops.custom_op",
        position=1,
    ),
    **_spellings(
        "custom-op",
        "fn",
        "torch.library.triton_op",
        "torch._library.triton_op",
        "torch._library.triton.triton_op",
        position=1,
    ),
    **_spellings("custom-op", "func", "torch.library.register_kernel", position=2),
    **_spellings("custom-op", "func", "torch.library.impl", position=2),
    **_spellings("custom-op", "func", "torch.library.register_fake", "torch.library.impl_abstract", position=1),
    **_spellings("custom-op", "fn", "torch.library.Library.impl", position=1),
    **_spellings("custom-op", "", "torch.library.define", "torch.library.Library.define", position=1),
    **_spellings(
        "make-fx",
        "f",
        "torch.fx.experimental.proxy_tensor.make_fx",
        "functorch.make_fx",
    ),
    **_spellings("make-fx", "mod", "torch.export.export", "torch.export._trace._export", "torch.export.draft_export"),
    # Gone in 2.13, but the installed torch may be older.
    **_spellings("make-fx", "mod", "torch.export.export_for_training"),
    **_spellings(
        "make-fx",
        "fn",
        "torch._functorch.aot_autograd.aot_function",
        "functorch.compile.aot_function",
    ),
    **_spellings(
        "make-fx",
        "mod",
        "torch._functorch.aot_autograd.aot_module",
        "torch._functorch.aot_autograd.aot_module_simplified",
        "functorch.compile.aot_module",
        "functorch.compile.aot_module_simplified",
    ),
    **_spellings("compiled", "model", "torch.compile"),
    **_spellings("compiled", "", "torch.nn.Module.compile", "torch.nn.modules.module.Module.compile"),
    **_spellings(
        "compiled", "", "torch.compiler.compile", "torch._dynamo.optimize", "torch._dynamo.eval_frame.optimize"
    ),
    **_spellings("compiled", "", "torch._dynamo.optimize_assert", "torch._dynamo.eval_frame.optimize_assert"),
    **_spellings(
        "disable",
        "fn",
        "torch._dynamo.disable",
        "torch._dynamo.decorators.disable",
        "torch.compiler.disable",
        "torch._dynamo.disallow_in_graph",
        "torch._dynamo.decorators.disallow_in_graph",
        "torch._dynamo.decorators.skip",
        "torch._dynamo.run",
        "torch._disable_dynamo",
    ),
    **_spellings(
        "disable",
        "original_fn",
        "torch.compiler.substitute_in_graph",
        "torch._dynamo.substitute_in_graph",
        "torch._dynamo.decorators.substitute_in_graph",
    ),
}

#: The first version whose inductor was not measured to refuse leaf functions; 2.13.0 and 2.15.0 were. On 2.15.0 it says
#: "Expected torch.Tensor, got <class 'torch.utils._pytree.TreeSpec'>".
LEAF_COMPILES = (2, 16)

#: Byte strings one of which stands in every file that applies a marker or compiles a region, each below a part of it:
#: searching for fewer parts is faster, and files that hold one are few.
_NEEDLES: dict[bytes, tuple[bytes, ...]] = {
    b"nonstrict_trace": (b"",),
    b"allow_in_graph": (b"",),
    b"assume_constant_result": (b"",),
    b"make_fx": (b"",),
    b"aot_": (b"aot_function", b"aot_module"),
    # `from torch import export` and then `export.export(model, ...)`.
    b"export": (b"torch.export", b".export(", b"draft_export"),
    # Operators and leaf functions, which the compiler does not look into.
    b"custom_op": (b"",),
    b"triton_op": (b"",),
    b"leaf_function": (b"",),
    # Regions that must not break.
    b"optimize_assert": (b"",),
    b"error_on_graph_break": (b"",),
}
#: What may compile a region, by whatever name torch goes, and how the words stand there: what does is told by whoever
#: resolves the names.
_COMPILE = {
    "compile": r"compile\b(?:(?<=\.compile)(?<!\bre\.compile)|(?<![.\w]compile))",
    **{word: rf"\b{word}\b" for word in ("fullgraph", "nopython", "optimize_assert")},
}
#: `torch._dynamo.optimize`, by whatever name its module goes: the word, but for prose ("optimize the model").
_OPTIMIZE = {"optimize": r"\boptimize\b(?![ \t]+(?!(?:as|if|else|and|or)\b)\w)"}
_COMPILES = {word: re.compile(how) for word, how in (_COMPILE | _OPTIMIZE).items()}
_COMPILES_BYTES = {word.encode(): re.compile(how.encode()) for word, how in _COMPILE.items()}
_OPTIMIZES_BYTES = {word.encode(): re.compile(how.encode()) for word, how in _OPTIMIZE.items()}


def _names(part: str) -> dict[str, re.Pattern[str]]:
    """How a text names a module by the last part of its name: `torch.export`, `from torch import export`."""
    return {part: re.compile(rf"(?<=\.){part}\b"), "import": re.compile(rf"\bimport\b[^\n]*\b{part}\b")}


#: The module of torch that makes operators, by whatever name torch goes: `th.library`, `from torch import library`.
_LIBRARY = _names("library")
_LIBRARY_BYTES = {word.encode(): re.compile(how.pattern.encode()) for word, how in _LIBRARY.items()}

#: The module of torch that exports; otherwise a word such as `export` means something else.
_EXPORT = _names("export")

#: What projects make wrappers of: markers that do not trace at once what they are given, and strict regions.
WRAPPABLE = frozenset(
    name.rpartition(".")[2]
    for name, marker in MARKERS.items()
    if marker.kind in ("nonstrict", "in-graph", "constant-result")
)
_MAY_WRAP = tuple(sorted(WRAPPABLE))
#: What traces at once, and what it stands behind where it is handed on: a helper does so in a function.
_TRACES = ("make_fx(", "partial(make_fx", "aot_function(", "aot_module(")
#: No function that is handed out is longer than so many characters.
_MAX_FUNCTION = 20_000
#: Operators that are declared in a block: by a helper, perhaps.
_OPERATOR_INSIDE = re.compile(r"^[ \t]+[^#\n]*\b(?:custom_op|triton_op)\(", re.MULTILINE)


def compiles(code: str) -> bool:
    """Whether a text may compile a region."""
    return _stands(code, _COMPILES)


def _stands(code: AnyStr, words: Mapping[AnyStr, re.Pattern[AnyStr]]) -> bool:
    """Whether one of some words stands in a text as its pattern says: many times faster than the pattern alone."""
    for word, how in words.items():
        start = code.find(word)
        while start >= 0:
            if how.match(code, start):
                return True
            start = code.find(word, start + 1)
    return False


def may_wrap(code: str) -> bool:
    """Whether a module's text holds a marker that projects wrap, or makes operators inside of functions."""
    if ".impl(" in code and "Library" in code:
        return True
    if ("custom_op(" in code or "triton_op(" in code) and _OPERATOR_INSIDE.search(code):
        return True
    if "torch" in code and compiles(code):
        return True
    return any(_holds_word(code, word) for word in _MAY_WRAP) or any(
        _in_function(code, word) for word in (*_TRACES, *(("export(",) if traces_exports(code) else ()))
    )


def traces_exports(code: str) -> bool:
    """Whether a module's text may name `torch.export`."""
    return "export" in code and _stands(code, _EXPORT)


def makes_operators(code: str) -> bool:
    """Whether a module's text may name `torch.library`."""
    return "library" in code and _stands(code, _LIBRARY)


def _in_function(code: str, call: str) -> bool:
    """Whether a call stands in a function, as far as indentation tells."""
    start = code.find(call)
    while start >= 0:
        before = code[max(0, start - _MAX_FUNCTION) : start].split("\n")
        if any(_enclosing(before)):
            return True
        start = code.find(call, start + 1)
    return False


def _enclosing(lines: list[str]) -> Iterator[bool]:
    """For each definition around the last of some lines, from the inside out, whether it is a function."""
    indent = len(lines[-1]) - len(lines[-1].lstrip())
    for line in reversed(lines):
        text = line.lstrip()
        if len(line) - len(text) < indent and text.startswith(("def ", "async def ", "class ")):
            indent = len(line) - len(text)
            yield not text.startswith("class ")


def _holds_word(code: str, word: str) -> bool:
    """Whether a name stands in a text as a whole: many times faster than a pattern with boundaries."""
    start = code.find(word)
    while start >= 0:
        end = start + len(word)
        if not (_continues(code[start - 1 : start]) or _continues(code[end : end + 1])):
            return True
        start = code.find(word, end)
    return False


def _continues(character: str) -> bool:
    return character.isalnum() or character == "_"


def may_mark(data: bytes) -> bool:
    """Whether the bytes of a file hold a marker, or compile a region that must not break."""
    for part, needles in _NEEDLES.items():
        if part in data and any(needle in data for needle in needles):
            return True
    if b"library" in data and _stands(data, _LIBRARY_BYTES):
        return True
    if b"torch" not in data:
        return False
    if b"compile" in data and _stands(data, _COMPILES_BYTES):
        return True
    return b"dynamo" in data and _stands(data, _OPTIMIZES_BYTES)


def since(text: str) -> tuple[int, int]:
    """A version of torch as two numbers."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def spellings(kind: str, torch: tuple[int, int]) -> list[str]:
    """The names by which a version of torch has the markers of one kind, public ones of newer versions last."""
    return [
        name
        for name, marker in MARKERS.items()
        if marker.kind == kind and (marker.since is None or torch >= since(marker.since))
    ]
