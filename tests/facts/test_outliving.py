"""What runs between the place where something is kept and those that read it."""

from __future__ import annotations

import ast

from nonstrict.facts.holding import Way, kept
from nonstrict.facts.outliving import collected, is_shared, outlived
from nonstrict.facts.running_order import begin_of
from tests.facts.test_holding import parsed, shares


def beyond(text: str, *, again: bool = False) -> list[str]:
    """The lines of what reads a variable that holds the first call of `run` after another one."""
    root, runs, first = parsed(text)
    held = [one for one in kept(root, first, shares(runs)) if one.way in (Way.VARIABLE, Way.ATTRIBUTE)]
    found = [outlived(root, one, sorted(runs, key=begin_of), again=again) for one in held]
    return [ast.unparse(one.read) for one in found if one is not None]


def test_a_variable_is_read_after_another_run():
    assert beyond("def f(a, b):\n    y = run(a)\n    z = run(b)\n    return y + z") == ["y"]
    assert beyond("def f(a, b):\n    y = run(a)\n    print(y.sum())\n    return run(b)") == []
    assert beyond("def f(a, b):\n    y = run(a)\n    y = 1\n    run(b)\n    return y") == []
    assert beyond("def f(a, b):\n    y = run(a)\n    if b:\n        run(b)\n    return y") == []
    assert beyond("def f(a, b):\n    if a:\n        y = run(a)\n    else:\n        y = run(b)\n    return y") == []


def test_a_variable_lives_on_in_the_next_round():
    text = """\
        def f(xs):
            last = None
            for x in xs:
                y = run(x)
                {}
                last = y
        """
    assert beyond(text.format("print(y - last)")) == ["last"]
    assert beyond(text.format("last = None; print(last)")) == []
    assert beyond("def f(xs):\n    for x in xs:\n        print(last)\n        last = run(x)") == []


def test_metadata_stays_readable():
    text = "def f(a, b):\n    y = run(a)\n    z = run(b)\n    return {}"
    for asked in ("y.shape", "y.dtype", "y.size(0)", "y.numel()", "y is None"):
        assert beyond(text.format(asked)) == []
    for used in ("y.sum()", "y.T", "y == 1", "y.data"):
        assert beyond(text.format(used)) == ["y"]


def test_what_is_kept_on_an_object_lives_on_in_the_next_call():
    text = "def f(self, x):\n    y = run(x)\n    print(y, self.last)\n    self.last = y"
    assert beyond(text) == []
    assert beyond(text, again=True) == ["self.last"]


def collects(text: str) -> bool:
    root, runs, first = parsed(text)
    (one,) = [one for one in kept(root, first, shares(runs)) if one.way is Way.CONTAINER]
    return collected(root, one, first) is not None


def test_a_container_collects_the_rounds_of_a_loop():
    loop = "def f(xs):\n    found = []\n    for x in xs:\n        {}found.append(run(x))\n    return {}"
    assert collects(loop.format("", "found"))
    assert not collects(loop.format("found = []; ", "found"))
    assert not collects(loop.format("", "len(found)"))
    assert not collects("def f(xs):\n    found = []\n    for x in xs:\n        y = run(x)\n    found.append(y)")
    assert collects("def f(xs, found):\n    for x in xs:\n        found.append(run(x))")


def test_what_others_may_read():
    function = ast.parse("def f(given):\n    global known\n    own = known = 1").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [is_shared(function, (name,)) for name in ("given", "known", "own", "other")] == [True, True, False, True]
    assert is_shared(function, ("own", ".attribute"))
