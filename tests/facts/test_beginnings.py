"""The function by which a script begins is taken for statements of its file."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.outline import Outline

SCRIPT = '''import torch


def helper(x):
    return x


def main(steps, rate=0.5, *, seed: int):
    """Trains."""
    scale = torch.ones(3)

    @torch.compile
    def step(x):
        return helper(x) * scale

    class State:
        epoch = 0

    for _ in range(steps):
        step(scale)
    return scale


print("before")
if __name__ == "__main__":
    main(3, seed=1)
'''


def _opened(code: str) -> bool:
    return bool(Outline(code).beginnings)


def test_its_definitions_are_definitions_of_the_file():
    outline = Outline(SCRIPT)
    assert [(chunk.name, chunk.first, chunk.last) for chunk in outline.chunks] == [
        ("helper", 4, 5),
        ("step", 12, 14),
        ("State", 16, 17),
    ]
    for chunk in outline.chunks:
        node = chunk.node()
        assert node is not None
        assert node.lineno + chunk.offset == next(
            row for row, line in enumerate(SCRIPT.split("\n"), 1) if f" {chunk.name}" in line
        )


def test_its_statements_stand_where_it_is_called():
    assert [ast.unparse(statement) for statement in Outline(SCRIPT).shell.body] == [
        "import torch",
        "print('before')",
        "steps = 3",
        "rate = 0.5",
        "seed = 1",
        "'Trains.'",
        "scale = torch.ones(3)",
        "for _ in range(steps):\n    step(scale)",
        "scale",
        "if __name__ == '__main__':\n    None",
    ]


def test_its_variables_are_known():
    (beginning,) = Outline(SCRIPT).beginnings
    assert beginning.name == "main"
    assert beginning.names == {"steps", "rate", "seed", "scale", "step", "State", "_"}
    assert beginning.covers(8)
    assert beginning.covers(21)
    assert not beginning.covers(24)


@pytest.mark.parametrize("call", ["main()", "import sys\nsys.exit(main())", "if True:\n    main()"])
def test_a_call_for_effect_opens_it(call: str):
    assert _opened(f"def main():\n    x = 1\n    print(x)\n\n\n{call}\n")


@pytest.mark.parametrize(
    "code",
    [
        "def main():\n    x = 1\n    print(x)\n",
        "def main():\n    x = 1\n    print(x)\n\nmain()\nmain()\n",
        "def main():\n    x = 1\n    print(x)\n\nfor _ in range(2):\n    main()\n    print()\n",
        "def main():\n    x = 1\n    return x\n\nmade = main()\n",
        "def main():\n    x = 1\n    print(x)\n\nrun(main)\n",
        "@decorated\ndef main():\n    x = 1\n    print(x)\n\nmain()\n",
        "async def main():\n    x = 1\n    print(x)\n\nmain()\n",
        "def main(*given):\n    x = 1\n    print(x)\n\nmain()\n",
        "def main(given):\n    x = 1\n    print(x)\n\nmain(*values)\n",
        "def main():\n    yield 1\n\nmain()\n",
        "def main():\n    return make()\n\nmain()\n",
    ],
    ids=["never", "twice", "loop", "value", "handed on", "decorated", "async", "any", "starred", "generator", "name"],
)
def test_what_may_run_otherwise_stays_a_function(code: str):
    assert not _opened(code)


@pytest.mark.parametrize(
    "code",
    [
        "x = 1\n\ndef main():\n    x = 2\n    print(x)\n\nmain()\n",
        "import x\n\ndef main():\n    x = 2\n    print(x)\n\nmain()\n",
        "def x(): ...\n\ndef main():\n    x = 2\n    print(x)\n\nmain()\n",
        "def other():\n    global x\n    x = 1\n\ndef main():\n    x = 2\n    print(x)\n\nmain()\n",
        "def main():\n    max = 2\n    print(max)\n\nmain()\n",
        "def main():\n    x = 2\n    print(locals())\n\nmain()\n",
    ],
    ids=["variable", "import", "function", "global", "builtin", "locals"],
)
def test_no_name_comes_to_mean_two_things(code: str):
    assert not _opened(code)


def test_globals_that_it_declares_stay_the_files():
    (beginning,) = Outline("x = 1\n\ndef main():\n    global x\n    x = 2\n    y = x\n\nmain()\n").beginnings
    assert beginning.names == {"y"}


def test_two_of_them_share_no_variable():
    code = "def first():\n    x = 1\n    print(x)\n\n\ndef second():\n    x = 2\n    print(x)\n\n\nfirst()\nsecond()\n"
    assert [one.name for one in Outline(code).beginnings] == ["first"]


def test_it_is_opened_where_the_file_has_to_be_cut_exactly():
    code = f"if True: x = '''\n)'''\n{SCRIPT}"
    outline = Outline(code)
    outline.rebuild()
    assert [chunk.name for chunk in outline.chunks] == ["helper", "step", "State"]
    assert outline.beginnings[0].first == Outline(code).beginnings[0].first


def test_trees_are_taken_over_after_an_edit():
    before, after = Outline(SCRIPT), Outline(SCRIPT.replace("range(steps)", "range(steps + 1)"))
    trees = [chunk.node() for chunk in before.chunks]
    after.take_over(before)
    assert [chunk.node() for chunk in after.chunks] == trees
    assert "steps + 1" in ast.unparse(after.shell)


def test_it_stays_open_where_every_piece_was_parsed_first():
    code = "def main():\n    global x\n    x = 2\n\nmain()\n"
    outline = Outline(code)
    assert outline.parses()
    assert ast.unparse(outline.shell) == ast.unparse(Outline(code).shell)
    assert "def main" not in ast.unparse(outline.shell)
