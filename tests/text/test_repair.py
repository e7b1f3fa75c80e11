"""Code that does not parse: only what is broken goes, and the rest keeps its lines."""

from __future__ import annotations

import ast
import json
import warnings

import pytest

from nonstrict.text.source import Source, repaired, source_from_bytes


def mended(code: str, path: str = "a.py") -> Source:
    source = source_from_bytes(path, code.encode())
    fixed = repaired(source)
    ast.parse(fixed.code)
    assert fixed.code.count("\n") == source.code.count("\n")
    return fixed


def functions(source: Source) -> dict[str, int]:
    tree = ast.parse(source.code)
    return {node.name: node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("code", "kept", "line"),
    [
        ("def f(x:\n    return x\n\ndef g():\n    return 2\n", {"g": 4}, 1),
        ("def f():\n    y = 1 +\n    return y\n\ndef g():\n    return 2\n", {"f": 1, "g": 5}, 2),
        ("x = (1\ndef f():\n    return 1\n", {"f": 2}, 1),
        ("class A:\n    def f(self):\n        a b c\n    def g(self):\n        return 1\n", {"f": 2, "g": 4}, 3),
        ("def f():\n    '''open\n    return 1\n\ndef g():\n    return 2\n", {"f": 1, "g": 5}, 2),
        ("def f():\n    for 1 in x:\n        pass\n    return 1\n", {"f": 1}, 2),
        ("print 'two'\ndef f():\n    return 1\n", {"f": 2}, 1),
        ("def f():\nreturn 1\n\ndef g():\n    return 1\n", {"g": 4}, 2),
        ("    x = 1\ndef f():\n    return 1\n", {"f": 2}, 1),
        ("<<<<<<< HEAD\ndef f():\n    return 1\n=======\n>>>>>>> other\n", {"f": 2}, 1),
        ("@decorator(\ndef f():\n    return 1\n\ndef g():\n    return 1\n", {"g": 5}, 1),
        ("try:\n    x = 1\n\ndef f():\n    return 1\n", {"f": 4}, 4),
        ("def f():\n    return x.\n", {"f": 1}, 2),
        ("def f():\n\treturn 1\n\ndef g():\n        x = 1\n\treturn 2\n", {"f": 1, "g": 4}, 6),
    ],
)
def test_only_the_broken_statement_is_cut(code: str, kept: dict[str, int], line: int) -> None:
    source = mended(code)
    found = functions(source)
    assert {name: found.get(name) for name in kept} == kept
    assert source.problems[0].span.line == line


def test_several_errors_are_all_reported_and_survived() -> None:
    source = mended("a = = 1\ndef f():\n    return 1\nb = = 2\ndef g():\n    x = = 3\n    return 2\n")
    assert [problem.span.line for problem in source.problems] == [1, 4, 6]
    assert functions(source) == {"f": 2, "g": 5}


def test_problems_lie_inside_the_file() -> None:
    source = mended("x = 'é' + \ny = 'é' é é\n")
    for problem in source.problems:
        place = source.locate(problem.span)
        assert place.end_column <= len(source.line_text(place.end_row)) + 1


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 5000,
        "[" * 300 + "]" * 300,
        "+".join("a" * 50_000),
        "a" + ".b" * 50_000,
        "-" * 100_000 + "1",
        "x" + "[0]" * 9000,
    ],
    ids=["open", "brackets", "sum", "attributes", "minus", "subscripts"],
)
def test_nesting_that_is_too_deep_costs_only_its_statement(expression: str) -> None:
    source = mended(f"def f():\n    return 1\n\nx = {expression}\n\ndef g():\n    return 2\n")
    assert functions(source) == {"f": 1, "g": 6}
    assert [problem.span.line for problem in source.problems] == [4]


def test_invalid_escapes_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repaired(source_from_bytes("a.py", b"x = '\\d'\n")).problems == ()


def test_one_broken_cell_leaves_the_others_whole() -> None:
    cells = [{"cell_type": "code", "source": text} for text in ("x = (", "def f():\n  return 1", "y = '''")]
    source = mended(json.dumps({"cells": cells}), "a.ipynb")
    assert functions(source) == {"f": 2}
    assert [source.locate(problem.span).cell for problem in source.problems] == [1, 3]


def test_one_broken_fence_leaves_the_others_whole() -> None:
    source = mended("```python\nx = (\n```\n\n```python\ndef f():\n    return 1\n```\n", "a.md")
    assert functions(source) == {"f": 6}
    assert [problem.span.line for problem in source.problems] == [2]


def test_a_long_broken_function_takes_no_long_time() -> None:
    body = "".join(f"    x{i} = {i}\n" for i in range(10_000))
    source = mended(f"def f():\n{body}    y = = 1\n\ndef g():\n    return 2\n")
    assert functions(source)["g"] == 10_004
