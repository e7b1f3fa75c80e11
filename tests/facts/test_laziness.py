"""Caches written by hand: functions that do what they do once for each key."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.keeping import keeps_by_key, kept_by_key, returns_what_it_kept, ways_past


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
        "one = C.get(1)\nif one is None:\n    one = make()\n    if W:\n        return one\n    C[1] = one\nreturn one",
        "if args in C:\n    return C[args]\nif LATER:\n    return build()\nC[args] = build()\nreturn C[args]",
        "one = C.get(args)\nif one is None:\n    one = build()\n    if READY:\n        C[args] = one\nreturn one",
        "return build()",
    ],
)
def test_no_caches(body: str) -> None:
    assert not keeps_by_key(function(body))
    assert not returns_what_it_kept(function(body))


def test_ways_past_a_cache() -> None:
    body = (
        "found = CACHE.get(args)\nif found is None:\n    if args is None:\n        return 0\n    found = build()\n"
        "    if found < 0:\n        return found\n    elif found:\n        CACHE[args] = found\n    else:\n"
        "        raise ValueError\nreturn found"
    )
    kept = kept_by_key(function(body))
    assert kept is not None
    built = next(node for one in kept.fill for node in ast.walk(one) if isinstance(node, ast.Call))
    assert [ast.unparse(way) for way in ways_past(kept, built)] == ["return found"]
    assert [way.lineno for way in ways_past(kept, built)] == [8]
