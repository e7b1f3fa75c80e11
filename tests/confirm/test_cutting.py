"""The text of slices: statements as they were written, with their comments, and without what is left out."""

from __future__ import annotations

import ast
import textwrap

from nonstrict.confirm.cutting import cut
from nonstrict.confirm.drivers import Driver, drivers_of
from nonstrict.confirm.slices import statements_of

SOURCE = textwrap.dedent("""\
    from __future__ import annotations
    import torch, wandb
    import os

    # how much
    SCALE = 2.0  # twice
    OTHER = 1; SAME = 2

    # not this one
    UNUSED = os.environ

    @torch.compile
    def scaled(x):
        # the reason
        return x * SCALE  # é


    def main():
        x = torch.ones(3, device="cuda").cuda()
        print("starting")
        scaled(x)
        if SCALE:
            print("done")
    """)


def cut_of(target: str, *, cuda: bool = True, failing: tuple[int, ...] = ()) -> str:
    tree = ast.parse(SOURCE)
    return cut(SOURCE, tree, drivers_of(statements_of(tree), [target])[0], cuda=cuda, failing=failing).text


def test_comments_stay_and_unneeded_statements_go() -> None:
    text = cut_of("scaled")
    assert "# how much\nSCALE = 2.0  # twice" in text
    assert "    # the reason\n    return x * SCALE  # é" in text
    assert "UNUSED" not in text
    assert "not this one" not in text
    assert "starting" not in text


def test_a_block_that_loses_all_statements_passes() -> None:
    text = cut_of("scaled")
    assert "done" not in text
    ast.parse(text)


def test_a_cut_means_what_the_statements_meant() -> None:
    tree = ast.parse(SOURCE)
    driver = Driver("block", "the top level", frozenset({1, 3, 4, 5, 7}))
    kept = [node for index, node in enumerate(tree.body) if index in driver.kept]
    assert ast.dump(ast.parse(cut(SOURCE, tree, driver, cuda=True).text)) == ast.dump(ast.Module(kept, []))


def test_features_come_first() -> None:
    tree = ast.parse(SOURCE)
    found = cut(SOURCE, tree, Driver("block", "", frozenset({0, 1})), cuda=True)
    assert found.futures == ("annotations",)
    assert "__future__" not in found.text


def test_without_a_gpu_programs_ask_for_the_cpu() -> None:
    assert 'x = torch.ones(3, device="cpu").cpu()' in cut_of("scaled", cuda=False)


def test_imports_that_failed_may_fail() -> None:
    assert "try:\n    import torch, wandb\nexcept ImportError:\n    pass" in cut_of("scaled", failing=(2,))
