"""What is done with one value: attributes, keys, elements, and what speaks for a tensor, a number or a function."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass
class Usage:
    """What is done with one value. Counts and sets only: what they mean is judged elsewhere."""

    attributes: dict[str, Usage] = field(default_factory=dict)
    keys: dict[str, Usage] = field(default_factory=dict)
    element: Usage | None = None
    ranks: list[int] = field(default_factory=list)
    least_rank: int = 0
    length: int = 0
    tensor: float = 0.0
    integer: float = 0.0
    number: float = 0.0
    called: int = -1  # arguments of the longest call
    index: bool = False
    mask: bool = False
    truth: bool = False
    none: bool = False
    strings: list[str] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    shapes: list[list[int]] = field(default_factory=list)
    dims: str = ""  # as the author describes them
    shape_of: Usage | None = None
    rank_of: Usage | None = None

    def items(self) -> Usage:
        """The usage of its elements."""
        self.element = self.element or Usage()
        return self.element


def compared(usage: Usage, operator: ast.cmpop, other: ast.expr) -> None:
    """Notes a comparison with `other`: constants, shapes and ranks that are asked for."""
    if usage.shape_of is not None and isinstance(other, (ast.Tuple, ast.List)):
        sizes = [each.value for each in other.elts if isinstance(each, ast.Constant) and type(each.value) is int]
        usage.shape_of.shapes.extend([sizes] if len(sizes) == len(other.elts) else [])
    values = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
    for each in values:
        constant = each.value if isinstance(each, ast.Constant) else ...
        if isinstance(operator, (ast.Is, ast.IsNot)) and constant is None:
            usage.none = True
        elif usage.rank_of is not None and type(constant) is int:
            at_least = isinstance(operator, (ast.Gt, ast.NotEq))
            usage.rank_of.ranks.extend([constant + 1, constant] if at_least else [constant])
        elif isinstance(constant, str):
            usage.strings.append(constant)
        elif isinstance(constant, (int, float)) and not isinstance(constant, bool):
            usage.numbers.append(constant)


def indexed(base: Usage, indices: list[ast.expr]) -> None:
    """Notes a subscript with several indices: so many dimensions, at least so many with an ellipsis."""
    base.tensor += 2
    kept = [each for each in indices if not (isinstance(each, ast.Constant) and each.value is None)]
    if any(isinstance(each, ast.Constant) and each.value is Ellipsis for each in kept):
        base.least_rank = max(base.least_rank, len(kept) - 1)
    else:
        base.ranks.append(len(kept))
