"""The steps of an optimizer, which runs with CUDA graphs have and others leave out."""

from __future__ import annotations

from textwrap import dedent

from nonstrict.confirm.drivers import Driver
from nonstrict.confirm.programs import Schedule, program_of
from nonstrict.confirm.training import with_training

TEXT = dedent(
    """
    import torch
    import wandb

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    unrelated = wandb.init()


    def main():
        scaler = torch.amp.GradScaler()
        rate = 0.5
        for _ in range(3):
            loss = loss_of(torch.ones(2))
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            unrelated.log(loss)
            scaler.update(rate)
    """
)


def line(text: str) -> int:
    return next(number for number, one in enumerate(TEXT.split("\n"), 1) if one.strip() == text)


def test_optimizers_and_what_they_need_come_back():
    program = program_of("/project/model.py", TEXT, "/project", {})
    assert program is not None
    left_out = {
        (line(one), 8 if one != "rate = 0.5" and "GradScaler" not in one else 4)
        for one in (
            "scaler = torch.amp.GradScaler()",
            "rate = 0.5",
            "optimizer.zero_grad()",
            "scaler.step(optimizer)",
            "unrelated.log(loss)",
            "scaler.update(rate)",
        )
    }
    driver = Driver("function", "main", frozenset({0, 5}), frozenset(left_out))
    made = with_training(program, Schedule(driver), ()).driver
    assert made.dropped == {(line("unrelated.log(loss)"), 8)}
    # torch, the model, its optimizer, and no package for logging.
    assert made.kept == {0, 2, 3, 5}


def test_without_an_optimizer_nothing_changes():
    program = program_of("/project/model.py", TEXT, "/project", {})
    assert program is not None
    driver = Driver("function", "main", frozenset({0, 5}), frozenset({(line("unrelated.log(loss)"), 8)}))
    assert with_training(program, Schedule(driver), ()).driver == driver


def test_the_line_of_a_finding_comes_back():
    program = program_of("/project/model.py", TEXT, "/project", {})
    assert program is not None
    place = line("unrelated.log(loss)")
    driver = Driver("function", "main", frozenset({0, 5}), frozenset({(place, 8)}))
    made = with_training(program, Schedule(driver), {("/project/model.py", place), ("/project/other.py", 3)}).driver
    assert made.dropped == frozenset()
    assert made.kept == {0, 1, 4, 5}
