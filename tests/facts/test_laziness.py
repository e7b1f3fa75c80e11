"""Caches written by hand: functions that do what they do once for each key."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.laziness import keeps_by_key, returns_what_it_kept


def function(body: str) -> ast.FunctionDef:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    node = ast.parse(f"def f(*args, **kwargs):\n{lines}").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize(
    "body",
    [
        "global RESULT\nif RESULT is not None:\n    return RESULT\nRESULT = build()\nreturn RESULT",
        "if args in CACHE:\n    return CACHE[args]\nCACHE[args] = build()\nreturn CACHE[args]",
        "found = CACHE.get(args)\nif found is not None:\n    return found\nCACHE[args] = found = build()\nreturn found",
        "found = CACHE.get(args)\nif found is None:\n    found = CACHE[args] = build()\nreturn found",
        "try:\n    return CACHE[args]\nexcept KeyError:\n    pass\nCACHE[args] = build()\nreturn CACHE[args]",
        "key = (args, tuple(sorted(kwargs)))\nif key not in CACHE:\n    CACHE[key] = build()\nreturn CACHE[key]",
        "global RESULT\nif RESULT is None:\n    print('build')\n    RESULT = build()\nreturn RESULT",
        "if not self.table:\n    self.table = build()\nreturn self.table",
    ],
)
def test_caches(body: str) -> None:
    assert keeps_by_key(function(body))


@pytest.mark.parametrize(
    "body",
    [
        "if args not in CACHE:\n    CACHE[args] = build()\nprint('called')\nreturn CACHE[args]",
        "print('called')\nif args not in CACHE:\n    CACHE[args] = build()\nreturn CACHE[args]",
        "key = next(COUNTER)\nif key not in CACHE:\n    CACHE[key] = build()\nreturn CACHE[key]",
        "if args not in CACHE:\n    CACHE[args] = build()\nelse:\n    print('again')\nreturn CACHE[args]",
        "if args not in CACHE:\n    CACHE[args] = build()\nreturn OTHER[args]",
        "if args not in CACHE:\n    OTHER[args] = build()\nreturn CACHE[args]",
        "result = None\nif result is None:\n    result = build()\nreturn result",
        "try:\n    return CACHE[args]\nexcept ValueError:\n    pass\nCACHE[args] = build()\nreturn CACHE[args]",
        "return build()",
    ],
)
def test_no_caches(body: str) -> None:
    assert not keeps_by_key(function(body))
    assert not returns_what_it_kept(function(body))
