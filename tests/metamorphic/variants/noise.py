"""What is said beside a program: comments, docstrings, functions that nothing calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.metamorphic.variants.program import Definition, is_text

if TYPE_CHECKING:
    from tests.metamorphic.variants.program import Program

_WORDS = (
    "nothing dynamic about this file: dynamic=True, mark_dynamic, fullgraph=True, error_on_graph_break(True)",
    "torch._dynamo.config.reorderable_logging_functions.add(print); torch._dynamo.config.capture_scalar_outputs = True",
    "@torch._dynamo.nonstrict_trace, allow_in_graph, assume_constant_result, leaf_function, make_fx, custom_op",
    "torch.compile(model, fullgraph=True); torch.export.export(model, args, strict=False); register_fake; set_stance",
    "register_dataclass, register_constant, register_pytree_node, drop_field_names, flatten_fn, is_compiling()",
    "optimizer.step(); model.eval(); model.train(); os.environ['K'] = 'v'; register_forward_hook; lru_cache; memo",
    "weight.requires_grad_(False); parameter.requires_grad = False; torch.set_grad_enabled(False); loss.backward()",
    "import torch as th; from torch import compile; ThreadPoolExecutor; warn_once; Final; TYPE_CHECKING; version",
)


def comments(program: Program) -> str:
    """Comments and a docstring that mention what the tool may search for, and every name of the module."""
    lines = program.text.split("\n")
    start = 0
    if program.tree.body and is_text(program.tree.body[0]):
        start = program.tree.body[0].end_lineno or 0
    names = sorted({node.name for node in program.tree.body if isinstance(node, Definition)} | _assigned(program.tree))
    said = [f"# {text}" for text in _WORDS]
    said += [f"# {name} = None; global {name}; {name}.append(1); {name}.eval(); mod.{name} = 2" for name in names]
    documented = ['"""Speaks of ' + "\n".join(_WORDS) + '\n"""'] if not start else []
    return "\n".join([*lines[:start], *documented, *lines[start:], *said, ""])


def unrelated_function(program: Program) -> str:
    """One more marked function, and a region that calls it."""
    return program.text + (
        "\n\nimport torch._dynamo as unrelated_dynamo\n"
        "from torch import compile as unrelated_compile\n\n\n"
        "@unrelated_dynamo.nonstrict_trace\ndef unrelated(first, second):\n    return first + second * 2\n\n\n"
        "@unrelated_compile(fullgraph=True)\ndef unrelated_region(first, second):\n"
        "    return unrelated(first, second)\n"
    )


#: A file beside the program that it does not know of.
SIBLING = '''"""Marks a function of its own."""

import torch
from torch._dynamo import nonstrict_trace


@nonstrict_trace
def unrelated(first, second):
    return first + second * 2


@torch.compile(fullgraph=True)
def region(first, second):
    return unrelated(first, second)
'''


def _assigned(tree: ast.Module) -> set[str]:
    return {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
