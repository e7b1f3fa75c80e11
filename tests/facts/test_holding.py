"""Where a text keeps what a call gives."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

from nonstrict.facts.holding import Kept, Shares, Way, Where, kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.facts.steps import Steps


def parsed(text: str) -> tuple[ast.FunctionDef, frozenset[ast.AST], ast.Call]:
    """A function, its calls of `run`, and the first of these."""
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    runs = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "run"]
    return tree, frozenset(runs), min(runs, key=lambda node: (node.lineno, -node.col_offset))


def places(text: str) -> list[tuple[Way, str]]:
    """How the first call of `run` is kept, and under which names."""
    root, runs, first = parsed(text)
    return [(one.way, ".".join(one.name)) for one in kept(root, first, shares(runs))]


def shares(runs: frozenset[ast.AST], holds: Callable[[Steps], bool] = lambda _: True) -> Shares:
    def views(call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr == "view"

    def named(node: ast.AST) -> str:
        return f"builtins.{ast.unparse(node)}" if isinstance(node, ast.Name) else ""

    return Shares(views, named, runs, holds)


def test_names_and_what_they_are_bound_to_share_one_object():
    text = "def f(x):\n    y = run(x)\n    z = y.view(3)\n    a, b = z, z\n    return a"
    assert places(text) == [
        (Way.VARIABLE, "y"),
        (Way.VARIABLE, "z"),
        (Way.VARIABLE, "a"),
        (Way.RETURNED, ""),
        (Way.VARIABLE, "b"),
    ]


def test_what_computes_keeps_nothing():
    for use in ("run(x).sum()", "run(x) + 1", "print(run(x))", "g(run(x))", "-run(x)", "run(x) < 1"):
        assert places(f"def f(x):\n    {use}") == []


def test_containers():
    assert places("def f(x):\n    found.append(run(x))") == [(Way.CONTAINER, "found")]
    assert places("def f(x):\n    self.found.append(run(x))") == [(Way.CONTAINER, "self..found")]
    assert places("def f(x):\n    found = set()\n    found.add(run(x))") == [(Way.CONTAINER, "found")]
    assert places("def f(x, other):\n    other.add(run(x))\n    other.update(run(x))") == []
    assert places("def f(x):\n    found = {}\n    found[x] = run(x)") == [(Way.CONTAINER, "found")]
    assert places("def f(x):\n    found = [None] * 3\n    found[x] = run(x)") == [(Way.CONTAINER, "found")]
    assert places("def f(x):\n    found = [None] * 3\n    found[0] = run(x)") == []
    assert places("def f(x):\n    found = make()\n    found[0] = run(x)") == []
    assert places("def f(xs):\n    return [run(x) for x in xs]")[0] == (Way.CONTAINER, "")
    assert places("def f(xs):\n    return list(run(x) for x in xs)")[0] == (Way.CONTAINER, "")
    assert places("def f(xs):\n    return sum(run(x) for x in xs)") == []


def test_parts_by_numbers_are_views_and_other_indices_copies():
    assert places("def f(x):\n    return run(x)[0, 1:]") == [(Way.RETURNED, "")]
    assert places("def f(x, at):\n    return run(x)[at]") == []


def test_which_part_is_kept():
    def parts(text: str, holds: Callable[[Steps], bool] = lambda _: True) -> list[tuple[str, Where]]:
        root, runs, first = parsed(text)
        return [(ast.unparse(one.value), one.where) for one in kept(root, first, shares(runs, holds))]

    def is_first(steps: Steps) -> bool:
        return steps[:1] in ((), ("[0]",))

    assert parts("def f(x):\n    return run(x)[0]") == [("run(x)[0]", Where(("[0]",)))]
    assert parts("def f(x):\n    return run(x).logits") == [("run(x).logits", Where((".logits",)))]
    assert parts("def f(x):\n    return run(x)[1]", is_first) == []
    text = "def f(x):\n    y, n = run(x)\n    found.append({})"
    assert parts(text.format("n"), is_first) == [("run(x)", Where(("[0]",)))]
    assert parts(text.format("y"), is_first)[1:] == [("y", Where(("[0]",)))]
    text = "def f(x):\n    first, *others, last = run(x)"
    assert [where.part for _, where in parts(text)] == [("[0]",), ("[]",), ("[-1]",)]


def test_entries_of_containers_are_told_apart():
    text = "def f(x):\n    pair = (run(x), 1)\n    found.append(pair[{}])"
    assert places(text.format(0)) == [(Way.VARIABLE, "pair"), (Way.CONTAINER, "found")]
    assert places(text.format(1)) == [(Way.VARIABLE, "pair")]
    text = "def f(x):\n    named = {'y': run(x), 'n': 1}\n    found.append(named['{}'])"
    assert places(text.replace("{}", "y"))[1:] == [(Way.CONTAINER, "found")]
    assert places(text.replace("{}", "n"))[1:] == []
    root, runs, first = parsed("def f(x):\n    return 1, run(x)")
    assert kept(root, first, shares(runs))[0].where == Where((), ("[1]",))
    root, runs, first = parsed("def f(x):\n    pair = run(x)\n    return pair[0]")
    found = {at: kept(root, first, shares(runs), Where((), (f"[{at}]",))) for at in (0, 1)}
    assert [one.way for one in found[0]] == [Way.VARIABLE, Way.RETURNED]
    assert [one.way for one in found[1]] == [Way.VARIABLE]


def test_kept_names_the_place():
    root, runs, first = parsed("def f(x):\n    return run(x)")
    assert kept(root, first, shares(runs)) == [Kept(Way.RETURNED, first, first)]


def test_a_variable_is_followed_as_far_as_it_is_bound_to_it():
    text = "def f(x):\n    y = run(x)\n    y = y + 1\n    found.append(y)"
    assert places(text) == [(Way.VARIABLE, "y")]
    text = "def f(xs):\n    for x in xs:\n        x = run(x)\n        x = x + 1\n    return x"
    assert places(text) == [(Way.VARIABLE, "x")]
    text = "def f(x):\n    y = run(x)\n    if x:\n        y = 1\n    else:\n        y = 2\n    found.append(y)"
    assert places(text) == [(Way.VARIABLE, "y")]
    text = "def f(self, x):\n    self.y = run(x)\n    self.y = 1\n    found.append(self.y)"
    assert places(text) == [(Way.ATTRIBUTE, "self..y")]
    text = "def f(x):\n    y = run(x)\n    if x:\n        y = 1\n    found.append(y)"
    assert places(text) == [(Way.VARIABLE, "y"), (Way.CONTAINER, "found")]


def test_what_is_taken_apart_goes_to_the_name_in_its_place():
    text = "def f(x):\n    y, n = run(x), 1\n    return n"
    assert places(text) == [(Way.VARIABLE, "y")]
    text = "def f(x):\n    y, n = run(x)\n    return n"
    assert places(text) == [(Way.VARIABLE, "y"), (Way.VARIABLE, "n"), (Way.RETURNED, "")]


def test_what_is_kept_is_the_tensor_and_not_the_container_around_it():
    text = "def f(x):\n    found += [(run(x)[0], 1)]\n    other.append({1: run(x)})"
    root, runs, _ = parsed(text)
    values = [ast.unparse(one.value) for run in runs for one in kept(root, run, shares(runs))]  # type: ignore[arg-type]
    assert sorted(values) == ["run(x)", "run(x)[0]"]
