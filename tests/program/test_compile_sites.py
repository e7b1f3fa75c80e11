"""Applications of torch.compile, as they are gone through while the interpreter comes to more of them."""

from __future__ import annotations

import ast

from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.domain.definitions import CompileSite


def test_applications_that_are_come_to_meanwhile_are_gone_through_too():
    first, second = (ast.parse(f"torch.compile(f{number})", mode="eval").body for number in (1, 2))
    part = Compilations()
    part.at[first] = CompileSite("main.py", 0, first)
    seen: list[ast.AST] = []
    for site in part.every():
        seen.append(site.node)
        part.at[second] = CompileSite("main.py", 0, second)
    assert seen == [first, second]
