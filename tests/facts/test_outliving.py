"""What runs between the place where something is kept and those that read it."""

from __future__ import annotations

import ast

from nonstrict.facts.holding import Way, kept
from nonstrict.facts.outliving import (
    beside,
    collected,
    empties,
    is_emptied,
    is_shared,
    made,
    outlived,
    read_behind,
)
from nonstrict.facts.outliving import looked_into as looks_into
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


def test_a_run_has_to_come_behind_what_ends_the_time():
    def beyond_end(text: str) -> str:
        root, runs, first = parsed(text)
        (held,) = [one for one in kept(root, first, shares(runs)) if one.way is Way.VARIABLE]
        ends = [node for node in ast.walk(root) if isinstance(node, ast.Call) and ast.unparse(node.func) == "end"]
        found = outlived(root, held, ends, again=False, then=sorted(runs, key=begin_of))
        return ast.unparse(found.run) if found is not None else ""

    assert beyond_end("def f(a, b):\n    y = run(a)\n    end(y)\n    run(b)\n    return y") == "end(y)"
    assert beyond_end("def f(a, b):\n    y = run(a)\n    run(b)\n    end(y)\n    return y") == ""
    assert beyond_end("def f(a, b):\n    y = run(a)\n    run(b)\n    return y") == ""


def test_a_variable_that_branches_bind():
    text = "def f(a, b):\n    if b:\n        y = run(a)\n    else:\n        y = {}\n    run(b)\n    return y"
    assert beyond(text.format("a")) == ["y"]
    assert beyond(text.format("a").replace("    run(b)", "    y = 1\n    run(b)")) == []
    assert beyond("def f(a, b):\n    y = run(a) if b else a\n    run(b)\n    return y") == ["y"]
    assert beyond("def f(a, b):\n    y = run(a)\n    z = y\n    run(b)\n    return z") == ["z"]
    assert beyond(
        "def f(a, b):\n    try:\n        y = run(a)\n    except E:\n        y = a\n    run(b)\n    y.sum()"
    ) == ["y"]


def test_a_variable_that_some_rounds_bind_is_read_behind_the_loop():
    text = """\
        def f(xs):
            best = None
            for i, x in enumerate(xs):
                y = run(x)
                if {}:
                    best = y
                    {}
            return best
        """
    assert beyond(text.format("score(y) > 1", "")) == ["best"]
    assert beyond(text.format("score(y) > 1", "break")) == []
    assert beyond(text.format("i == 3", "")) == []
    assert beyond("def f(xs):\n    for x in xs:\n        y = run(x)\n    return y") == []
    assert beyond("def f(xs):\n    for x in xs:\n        if x.any():\n            y = run(x)\n    return y") == []


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


def looked_into(use: str) -> bool:
    """Whether something looks into a container of results that a function makes."""
    root, runs, first = parsed(f"def f(xs):\n    {use}")
    (one,) = [one for one in kept(root, first, shares(runs)) if one.way is Way.CONTAINER and not one.name]
    return made(root, one, first) is not None


def test_a_container_that_nobody_looks_into():
    runs = "[run(x) for x in xs]"
    for use in (f"return {runs}", f"stack({runs})", f"y = {runs}; print(y)", f"y = {runs}; z = y; z[0].sum()"):
        assert looked_into(use)
    for use in (runs, f"_ = {runs}", f"return len({runs})", f"y = {runs}; print(len(y))", f"y = {runs}; del y"):
        assert not looked_into(use)
    assert not looked_into("y = list(run(x) for x in xs)")
    assert looked_into("y = list(run(x) for x in xs); return y")


def operand(use: str) -> str:
    """What runs among the operands beside the first call of `run`, before that is used; "" for nothing."""
    root, runs, _ = parsed(f"def f(a, b):\n    {use}")
    first = min(runs, key=begin_of)
    assert isinstance(first, ast.expr)
    held = [one for one in kept(root, first, shares(runs)) if one.way is Way.OPERAND]
    found = [beside(root, one, sorted(runs, key=begin_of)) for one in held]
    return " ".join(ast.unparse(one.run) for one in found if one is not None)


def test_an_operand_is_used_after_the_others():
    for use in ("g(run(a) + run(b))", "g(run(a), run(b))", "g(x=run(a), y=run(b))", "run(a).add(1, run(b))"):
        assert operand(use) == "run(b)"
    for use in ("g([run(a), run(b)])", "return run(a), run(b)", "y, z = run(a), run(b)", "y = run(a); g(y < run(b))"):
        assert operand(use) == "run(b)"
    assert operand("g(run(a).view(3) - run(b))") == "run(b)"
    for use in ("g(run(a).sum() + run(b))", "g(a + run(b))", "g(lambda: run(a), lambda: run(b))", "run(a); run(b)"):
        assert operand(use) == ""
    for use in ("run(a), run(b)", "_ = run(a), run(b)", "g(run(a), run(b) if b else b)", "f'{run(a)}{run(b)}'"):
        assert operand(use) == ""


def parts_of(text: str) -> tuple[ast.FunctionDef, list[ast.AST]]:
    """A method, and its runs, in order."""
    root, runs, _ = parsed(text)
    return root, sorted(runs, key=begin_of)


def test_what_another_method_reads_after_a_run():
    def behind(text: str, *anew: str) -> str:
        root, runs = parts_of(text)
        again = [node for node in ast.walk(root) if isinstance(node, ast.Call) and ast.unparse(node.func) in anew]
        found = read_behind(root, ("self", ".last"), runs, again)
        return ast.unparse(found.run) if found is not None else ""

    assert behind("def f(self, x):\n    y = run(x)\n    return y - self.last") == "run(x)"
    assert behind("def f(self, x):\n    y = self.last + 1\n    return y - run(x)") == ""
    assert behind("def f(self, x):\n    y = run(x)\n    self.last = y\n    return self.last") == ""
    assert behind("def f(self, x):\n    y = run(x)\n    return self.last is None, self.last.shape, y") == ""
    text = "def f(self, x):\n    y = run(x)\n    self.observe(x)\n    return y - self.last"
    assert behind(text, "self.observe") == ""
    assert behind(text) == "run(x)"


def test_what_looks_into_a_container():
    name = ("self", ".found")
    for use in ("stack(self.found)", "self.found[0].sum()", "for y in self.found: print(y)"):
        assert looks_into(parts_of(f"def f(self, x):\n    run(x)\n    {use}")[0], name)
    for use in ("len(self.found)", "self.found.append(x)", "self.found = []", "print(found)"):
        assert not looks_into(parts_of(f"def f(self, x):\n    run(x)\n    {use}")[0], name)


def test_what_empties_a_container():
    text = "def f(self, x):\n    {}\n    self.found.append(run(x))"
    for before, surely, somewhere in (
        ("self.found.clear()", True, True),
        ("self.found = []", True, True),
        ("if x: self.found.clear()", False, True),
        ("len(self.found)", False, False),
    ):
        root, runs, first = parsed(text.format(before))
        (one,) = [one for one in kept(root, first, shares(runs)) if one.way is Way.CONTAINER]
        assert (is_emptied(root, one), empties(root, one.name)) == (surely, somewhere)


def test_what_others_may_read():
    function = ast.parse("def f(given):\n    global known\n    own = known = 1").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert [is_shared(function, (name,)) for name in ("given", "known", "own", "other")] == [True, True, False, True]
    assert is_shared(function, ("own", ".attribute"))
