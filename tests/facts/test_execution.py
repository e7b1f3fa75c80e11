"""Which statements of a module run, and when."""

from __future__ import annotations

import ast

from nonstrict.facts.execution import is_main_guard


def test_main_guards():
    assert is_main_guard(ast.parse("if __name__ == '__main__': pass").body[0])
    assert is_main_guard(ast.parse("if '__main__' == __name__: pass").body[0])
    assert not is_main_guard(ast.parse("if DEBUG: pass").body[0])
