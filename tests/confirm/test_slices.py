"""Slices: of a file only those top-level statements run that a marked function needs."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.confirm.slices import bound, changed, slice_for, statements_of


def kept(source: str, *names: str) -> str:
    """The statements that the slice for some names keeps, as text."""
    tree = ast.parse(dedent(source))
    cut = slice_for(statements_of(tree), names)
    return ast.unparse(ast.Module([node for index, node in enumerate(tree.body) if index in cut.kept], []))


def plain(source: str) -> str:
    return ast.unparse(ast.parse(dedent(source)))


def test_a_function_with_what_it_reads_and_what_that_is_made_of():
    source = """
        import torch
        WIDTH = 3
        SCALE = torch.ones(WIDTH)
        OTHER = torch.load("weights.pt")

        def helper(x):
            return x * SCALE

        def unrelated(x):
            return x * OTHER

        def scaled(x):
            return helper(x)
    """
    expected = """
        import torch
        WIDTH = 3
        SCALE = torch.ones(WIDTH)

        def helper(x):
            return x * SCALE

        def scaled(x):
            return helper(x)
    """
    assert kept(source, "scaled") == plain(expected)


def test_a_training_script_is_not_run():
    source = """
        import argparse
        import torch
        import wandb
        parser = argparse.ArgumentParser()
        parser.add_argument("--lr", type=float, required=True)
        args = parser.parse_args()
        wandb.init(project="x")
        model = torch.nn.Linear(3, 3)

        def scaled(x):
            return x * 2

        for epoch in range(100):
            model(torch.ones(3)).sum().backward()
        torch.save(model, "model.pt")
    """
    assert kept(source, "scaled") == plain("def scaled(x):\n    return x * 2")


@pytest.mark.parametrize(
    "change",
    [
        "CONFIG['scale'] = 3",
        "CONFIG.update(scale=3)",
        "del CONFIG['old']",
        "CONFIG['a']['b'].append(1)",
        "CONFIG |= {'a': 1}",
        "for name in ('a', 'b'):\n    CONFIG[name] = 1",
        "if True:\n    CONFIG = {}",
        "try:\n    CONFIG = {}\nexcept ValueError:\n    pass",
        "with open('x') as CONFIG:\n    pass",
        "(CONFIG := {})",
        "setattr(CONFIG, 'scale', 3)",
        "exec('scale = 3', CONFIG)",
    ],
)
def test_what_changes_a_needed_value_is_kept(change: str):
    source = f"CONFIG = {{}}\n{change}\ndef scaled(x):\n    return x * CONFIG['scale']"
    assert kept(source, "scaled") == plain(source)


@pytest.mark.parametrize(
    "statement",
    [
        "OTHER['scale'] = 3",
        "print(CONFIG)",
        "setattr(OTHER, 'scale', CONFIG)",
        "CONFIG['scale']",
        "if __name__ == '__main__':\n    CONFIG['scale'] = 3",
    ],
)
def test_what_changes_nothing_needed_is_left_out(statement: str):
    program = "CONFIG = {}\ndef scaled(x):\n    return x * CONFIG['scale']"
    assert kept(f"{program}\n{statement}", "scaled") == plain(program)


def test_what_is_looked_up_by_a_text_may_be_any_definition():
    source = """
        OTHER = open("weights.pt")
        def peak(x):
            return x
        def scaled(x):
            return globals()["peak"](x)
    """
    assert kept(source, "scaled") == plain(source.replace('OTHER = open("weights.pt")', ""))


@pytest.mark.parametrize(
    "setting",
    [
        "torch.set_default_dtype(torch.float64)",
        "torch.manual_seed(0)",
        "torch.backends.cuda.matmul.allow_tf32 = use_tf32",
        "torch._dynamo.config.suppress_errors = True",
        "os.environ['MODE'] = 'fast'",
        "warnings.filterwarnings('ignore')",
        "for name in NAMES:\n    setattr(torch._dynamo.config, name, True)",
        "if os.cpu_count() > 4:\n    torch.set_num_threads(4)",
    ],
)
def test_settings_of_libraries_count_for_everything(setting: str):
    program = f"import os, warnings\nimport torch\n{setting}\ndef scaled(x):\n    return x"
    assert ast.unparse(ast.parse(setting)) in kept(program, "scaled")


@pytest.mark.parametrize(
    "program",
    [
        "import torch as th\nsetattr(th._dynamo.config, NAME, True)",
        "from torch._dynamo import config\nsetattr(config, NAME, True)",
        "import torch._dynamo.config as options\noptions.suppress_errors = True",
    ],
)
def test_settings_count_by_whatever_name_a_library_goes(program: str):
    last = program.rpartition("\n")[2]
    assert last in kept(f"{program}\ndef scaled(x):\n    return x", "scaled").split("\n")


def test_work_that_sets_something_on_the_way_is_left_out():
    program = "import torch\ndef scaled(x):\n    return x"
    assert "for" not in kept(f"{program}\nfor seed in range(9):\n    torch.manual_seed(seed)\n    train()", "scaled")


def test_calls_of_libraries_that_set_nothing_are_left_out():
    assert "plt" not in kept("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\ndef f(x):\n    return x", "f")


def test_registrations_of_a_needed_class():
    source = """
        from torch.utils._pytree import register_pytree_node

        class Point:
            pass

        class Other:
            pass

        def flatten(point):
            return [], None

        register_pytree_node(Point, flatten, None)

        def scaled(x):
            return Point()
    """
    assert kept(source, "scaled") == plain(
        source.replace("class Other:\n            pass", "").replace("class Other", "")
    )


def test_decorators_that_register_are_kept_with_their_functions():
    source = """
        import torch

        @torch.library.register_fake("ns::op")
        def fake(x):
            return x

        @other
        def helper(x):
            return x

        def scaled(x):
            return torch.ops.ns.op(x)
    """
    text = kept(source, "scaled")
    assert "def fake" in text
    assert "def helper" not in text


def test_what_is_registered_with_something_of_the_file_is_kept_with_it():
    source = """
        from torch.library import custom_op

        @custom_op("ns::square", mutates_args=())
        def square(x):
            return built.square(x)

        @square.register_fake
        def _(x):
            return x

        def scaled(x):
            return square(x)

        def other(x):
            return x
    """
    assert "register_fake" in kept(source, "scaled")
    assert "register_fake" not in kept(source, "other")


def test_star_imports_and_future_imports_are_always_kept():
    source = "from __future__ import annotations\nfrom ops import *\nfrom os import path\ndef f(x):\n    return x"
    assert kept(source, "f") == plain(source.replace("from os import path\n", ""))


def test_parameters_and_local_variables_are_no_globals():
    source = """
        import torch
        x = torch.load("data.pt")
        total = 0
        KEPT = 1

        def scaled(x, *rest, scale=KEPT):
            total = x * scale
            return [total for _ in rest]
    """
    expected = """
        KEPT = 1

        def scaled(x, *rest, scale=KEPT):
            total = x * scale
            return [total for _ in rest]
    """
    assert kept(source, "scaled") == plain(expected)


def test_what_functions_inside_read_is_needed():
    source = """
        SCALE = 2
        SHIFT = 1
        COUNT = 0

        class Model:
            def step(self, x):
                def inner(y):
                    global COUNT
                    COUNT = COUNT + 1
                    return (lambda z: z * SCALE)(y)
                return inner(x) + SHIFT
    """
    assert kept(source, "Model") == plain(source)


def test_annotations_in_quotes_are_needed():
    source = "class Point:\n    pass\ndef f(x: 'Point'):\n    return x"
    assert kept(source, "f") == plain(source)


def test_a_decorator_is_needed():
    source = "def mark(f):\n    return f\n@mark\ndef f(x):\n    return x"
    assert kept(source, "f") == plain(source)


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("a, (b, *c) = 1, (2, 3)", {"a", "b", "c"}),
        ("import a.b, c as d", {"a", "d"}),
        ("def f():\n    inner = 1", {"f"}),
        ("for i in x:\n    y = 1", {"i", "y"}),
        ("f = lambda: (z := 1)", {"f"}),
        ("x.y = 1", set[str]()),
        ("try:\n    pass\nexcept E as e:\n    pass", {"e"}),
    ],
)
def test_bound_names(statement: str, names: set[str]):
    assert set(bound(ast.parse(statement).body[0])) == names


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("a.b.c = 1", {"a"}),
        ("a[0].b += 1", {"a"}),
        ("a.append(b)", {"a"}),
        ("f(a)", set[str]()),
        ("x = a.pop()", set[str]()),
        ("def f():\n    a.b = 1", set[str]()),
    ],
)
def test_changed_names(statement: str, names: set[str]):
    assert set(changed(ast.parse(statement).body[0])) == names


NAMES = st.sampled_from("abcdef")
STATEMENTS = st.one_of(
    st.builds("{} = {}".format, NAMES, NAMES),
    st.builds("{}.x = {}".format, NAMES, NAMES),
    st.builds("def {}():\n    return {}".format, NAMES, NAMES),
    st.builds("{}.append({})".format, NAMES, NAMES),
)


@given(st.lists(STATEMENTS, max_size=12), NAMES)
def test_a_slice_is_closed(lines: list[str], name: str):
    """Nothing that is kept reads a name of which a statement that binds or changes it is left out."""
    statements = statements_of(ast.parse("\n".join(lines)))
    cut = slice_for(statements, [name])
    read = {name} | {loaded for index in cut.kept for loaded in statements[index].loads}
    for index, statement in enumerate(statements):
        if (statement.binds | statement.changes) & read:
            assert index in cut.kept
