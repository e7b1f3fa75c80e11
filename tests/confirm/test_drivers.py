"""Drivers: what sets a marked function going, and how much of it is left once printing and plotting are out."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from nonstrict.confirm.drivers import MAX_DRIVERS, Driver, drivers_of
from nonstrict.confirm.slices import statements_of
from nonstrict_agent.loading import _Dropped

#: A marked function in a region; what sets it going follows.
REGION = """
import torch
SCALE = {"value": 2}

@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE["value"]

@torch.compile
def step(x):
    return scaled(x)

def set_scale(value):
    SCALE["value"] = value

def tell(x):
    print(x)
"""


def drivers(source: str) -> list[Driver]:
    return drivers_of(statements_of(ast.parse(REGION + dedent(source))), ["scaled"])


def names(source: str) -> list[str]:
    return [f"{driver.kind} {driver.name}" for driver in drivers(source)]


def left(source: str) -> str:
    """What the first driver of a source executes of it."""
    tree = ast.parse(REGION + dedent(source))
    first = drivers_of(statements_of(tree), ["scaled"])[0]
    own = len(ast.parse(REGION).body)
    reduced = _Dropped(first.dropped).visit(tree)
    return ast.unparse(ast.Module([n for i, n in enumerate(reduced.body) if i in first.kept and i >= own], []))


def plain(source: str) -> str:
    return ast.unparse(ast.parse(dedent(source)))


def test_a_function_without_parameters():
    assert names("def main():\n    step(torch.ones(3))") == ["function main"]


def test_a_function_whose_parameters_all_have_values():
    assert names("def main(count=2, *, lr=0.1):\n    step(torch.ones(count))") == ["function main"]


@pytest.mark.parametrize("signature", ["x", "*, x", "x, count=1"])
def test_a_function_that_needs_arguments_is_none(signature: str):
    assert names(f"def main({signature}):\n    step(x)") == []


def test_what_calls_nothing_of_it_is_none():
    assert names("def main():\n    print(torch.ones(3))\nmain()") == []


def test_what_only_gives_it_to_its_callers_is_none():
    source = """
    def chosen(twice=False):
        if twice:
            return {"first": scaled, "second": (step.forward, None)}
        return scaled if torch.cuda.is_available() else step

    def passed_on(twice=False):
        return chosen(twice)

    CHOSEN = passed_on()
    """
    assert names(source) == []


@pytest.mark.parametrize(
    "body",
    [
        "return chosen()(torch.ones(3))",
        "function = chosen()\n    return function(torch.ones(3))",
        "return list(map(chosen(), [torch.ones(3)]))",
        "return [run(torch.ones(3)) for run in (scaled, step)]",
        "return scaled @ torch.ones(3)",
    ],
)
def test_what_goes_on_with_what_it_is_given_is_one(body: str):
    source = f"def chosen():\n    return scaled\ndef main():\n    {body}\n"
    assert names(source) == ["function main"]
    assert names("def chosen():\n    return scaled\nchosen()(torch.ones(3))") == ["block the top level"]


def test_a_decorated_function_is_none():
    assert names("@command.line\ndef main():\n    step(torch.ones(3))") == []


def test_the_main_guard():
    assert names("if __name__ == '__main__':\n    step(torch.ones(3))") == ["guard the main guard"]


def test_the_top_level():
    assert names("for _ in range(3):\n    step(torch.ones(3))") == ["block the top level"]


def test_the_top_level_by_a_method():
    source = """
        class Trainer:
            def fit(self):
                step(torch.ones(3))

        trainer = Trainer()
        trainer.fit()
    """
    assert left(source) == plain(source)


def test_it_is_reached_through_other_functions_and_classes():
    source = """
        class Trainer:
            def fit(self):
                return step(torch.ones(3))

        def train():
            Trainer().fit()

        def test_training():
            train()
    """
    assert names(source) == ["function test_training", "function train"]


def test_the_likeliest_comes_first():
    source = """
        def warm_up():
            step(torch.ones(3))

        def main():
            step(torch.ones(3))

        step(torch.ones(3))

        if __name__ == "__main__":
            main()
    """
    assert names(source) == ["function main", "block the top level", "function warm_up", "guard the main guard"]


def test_there_are_not_too_many():
    source = "\n".join(f"def test_{number}():\n    step(torch.ones({number}))" for number in range(20))
    assert len(drivers(source)) == MAX_DRIVERS


def test_printing_plotting_and_saving_are_left_out():
    source = """
        def main():
            x = torch.ones(3)
            print("before", x)
            plt.plot([1, 2])
            wandb.log({"epoch": 1})
            logging.info("start")
            step(x)
            breakpoint()
            plt.show()
    """
    assert left(source) == plain("def main():\n    x = torch.ones(3)\n    step(x)")


def test_a_call_inside_a_print_is_a_call():
    source = "def main():\n    print(step(torch.ones(3)))\n    print('done')"
    assert left(source) == plain("def main():\n    print(step(torch.ones(3)))")


def test_what_makes_the_arguments_stays():
    source = """
        def main():
            count = 3
            label = "run"
            shape = [count]
            shape.append(2)
            x = torch.ones(shape)
            x.mul_(2)
            title = label.upper()
            step(x)
    """
    expected = """
        def main():
            count = 3
            shape = [count]
            shape.append(2)
            x = torch.ones(shape)
            x.mul_(2)
            step(x)
    """
    assert left(source) == plain(expected)


def test_what_changes_the_state_between_calls_stays():
    source = """
        def main():
            step(torch.ones(3))
            SCALE["value"] = 3
            step(torch.ones(3))
            set_scale(4)
            step(torch.ones(3))
            tell("done")
    """
    text = left(source)
    assert "SCALE['value'] = 3" in text
    assert "set_scale(4)" in text
    assert "tell(" not in text


def test_a_writer_two_calls_away_stays():
    source = """
        def reset():
            set_scale(0)

        def main():
            step(torch.ones(3))
            reset()
            step(torch.ones(3))
    """
    assert "\n    reset()\n" in left(source)


def test_what_a_loop_or_a_context_calls_them_by_stays():
    source = """
        def main():
            x = torch.ones(2)
            for number, call in enumerate((step, tell)):
                call(x)
            with opened(step) as again:
                again(x)
            for part in "ab":
                part.lower()
    """
    expected = """
        def main():
            x = torch.ones(2)
            for number, call in enumerate((step, tell)):
                call(x)
            with opened(step) as again:
                again(x)
            for part in "ab":
                pass
    """
    assert left(source) == plain(expected)


def test_what_changes_a_part_of_something_needed_stays():
    source = """
        def main():
            net = torch.nn.Sequential(torch.nn.Dropout(0.1))
            for number in range(3):
                for layer in net:
                    layer.p = number / 10
                step(net(torch.ones(2)))
    """
    assert left(source) == plain(source)


def test_blocks_keep_their_shape():
    source = """
        def main():
            for epoch in range(2):
                if epoch:
                    print(epoch)
                else:
                    step(torch.ones(3))
            with torch.no_grad():
                print("x")
    """
    expected = """
        def main():
            for epoch in range(2):
                if epoch:
                    pass
                else:
                    step(torch.ones(3))
            with torch.no_grad():
                pass
    """
    assert left(source) == plain(expected)


def test_a_guard_that_parses_arguments():
    source = """
        import argparse

        def main(args):
            step(torch.ones(args.count))

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--count", type=int, default=3)
            args = parser.parse_args()
            print(args)
            main(args)
    """
    assert left(source) == plain(source.replace("            print(args)\n", ""))


def test_what_the_top_level_calls_it_with_is_kept():
    source = """
        WIDTH = 3
        unrelated = torch.load("x.pt")
        x = torch.ones(WIDTH)
        y = step(x)
        print("sum", y.sum())
    """
    text = left(source)
    assert "x = torch.ones(WIDTH)" in text
    assert "y = step(x)" in text
    assert "unrelated" not in text
    assert 'print("sum"' not in text


@pytest.mark.parametrize(
    ("imported", "variables"),
    [("import os", "os.environ"), ("import os as system", "system.environ"), ("from os import environ", "environ")],
)
def test_environment_variables_are_set_whatever_file_reads_them(imported: str, variables: str):
    setting = f"    {variables}['EXACT'] = '1'\n    {variables}.pop('FAST', None)\n"
    main = f"def main():\n    {imported}\n    print({variables}['HOME'])\n{setting}    step(torch.ones(3))\n"
    assert left(main) == plain(f"def main():\n    {imported}\n{setting}    step(torch.ones(3))")
