"""torch under other names: `import torch as th`, and its attributes imported one by one."""

from __future__ import annotations

import ast

from tests.metamorphic.variants.program import Program, names, names_in_formats, stored


def torch_as_th(program: Program) -> str | None:
    """`import torch` becomes `import torch as th`."""
    if not _is_plain(program):
        return None
    edits = [program.replacing(name, "th") for name in names(program.tree) if name.id == "torch"]
    found = False
    for node in ast.walk(program.tree):
        for alias in node.names if isinstance(node, ast.Import) else []:
            if alias.asname is None and alias.name.partition(".")[0] == "torch":
                submodule = f"{alias.name}, " if alias.name != "torch" else ""
                edits.append(program.replacing(alias, f"{submodule}torch as th"))
                found = True
    return program.edited(edits) if found else None


def from_torch(program: Program) -> str | None:
    """`torch.empty_like(x)` becomes `q_empty_like(x)`, with `from torch import empty_like as q_empty_like`."""
    imports = [
        statement
        for statement in program.tree.body
        if isinstance(statement, ast.Import)
        and any(alias.name == "torch" and not alias.asname for alias in statement.names)
    ]
    if not imports or not _is_plain(program):
        return None
    read = _attributes_of_torch(program.tree)
    written = {node.attr for node in read if not isinstance(node.ctx, ast.Load)}
    edits = [program.replacing(node, _own_name(node.attr)) for node in read if node.attr not in written]
    if not edits:
        return None
    attributes = sorted({node.attr for node in read} - written)
    spelled = ", ".join(f"{name} as {_own_name(name)}" for name in attributes)
    edits.append(program.following(imports[0], f"; from torch import {spelled}"))
    return program.edited(edits)


def _attributes_of_torch(tree: ast.AST) -> list[ast.Attribute]:
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [node for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "torch"]


def _own_name(attribute: str) -> str:
    return f"q_{attribute.strip('_')}"


def _is_plain(program: Program) -> bool:
    """Whether `torch` is the package wherever it is named, and no text names it."""
    tree = program.tree
    taken = stored(tree) | names_in_formats(tree)
    foreign = any(
        alias.name == "torch" or alias.asname == "torch"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )
    annotated = any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and "torch" in node.value
        for annotation in _annotations(tree)
        for node in ast.walk(annotation)
    )
    return "torch" not in taken and not foreign and not annotated


def _annotations(tree: ast.AST) -> list[ast.expr]:
    found = [getattr(node, "annotation", None) for node in ast.walk(tree)]
    found += [getattr(node, "returns", None) for node in ast.walk(tree)]
    return [annotation for annotation in found if annotation is not None]
