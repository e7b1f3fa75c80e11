"""What a program does between calls of regions, which runs with CUDA graphs have and others leave out."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.programs import Schedule, drivers_for, program_of, unabridged
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import suspect

if TYPE_CHECKING:
    from nonstrict.confirm.drivers import Driver
    from nonstrict.confirm.programs import Program

PATH = "/project/model.py"
TEXT = dedent(
    """
    import torch
    import unrelated

    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    log = unrelated.init()


    class Fabric:
        def backward(self, loss):
            loss.backward()


    fabric = Fabric()


    @torch.compile(mode="reduce-overhead")
    def loss_of(x):
        return model(x).mean()


    def main():
        scaler = torch.amp.GradScaler()
        losses = []
        for _ in range(3):
            loss = loss_of(torch.ones(2))
            optimizer.zero_grad()
            BACK
            scaler.step(optimizer)
            losses.append(loss)
            print(loss)
            assert loss > 0
            torch.testing.assert_close(loss, loss)
        log.finish(losses)
    """
)
BACK = (
    "loss.backward()",
    "(loss / 2).backward()",
    "fabric.backward(loss)",
    "torch.autograd.backward(loss)",
    "gradients = torch.autograd.grad(loss, model.weight)",
    "sum(losses).backward()",
)


def made(text: str = TEXT) -> tuple[Program, Driver]:
    """A program, and how its region is set going."""
    program = program_of(PATH, text, "/project", {})
    assert program is not None
    region = suspect(
        "NST807", Experiment.OVERWRITTEN, function="loss_of", marker="torch.compile", marked_line=line(DEF)
    )
    (driver,) = drivers_for(program, region)
    return program, driver


DEF = "def loss_of(x):"


def line(text: str) -> int:
    return next(number for number, one in enumerate(TEXT.split("\n"), 1) if one.strip() == text)


def dropped(driver: Driver, text: str) -> set[str]:
    """The statements that a driver leaves out."""
    return {text.split("\n")[row - 1].strip() for row, _ in driver.dropped}


CHECKS = {"assert loss > 0", "torch.testing.assert_close(loss, loss)"}


@pytest.mark.parametrize("back", BACK)
def test_all_comes_back_but_checks_and_what_tells(back: str):
    text = TEXT.replace("BACK", back)
    program, driver = made(text)
    whole = unabridged(program, Schedule(driver), ()).driver
    assert dropped(whole, text) == {"print(loss)", *CHECKS}
    # With all that it needs, of the top level too.
    assert whole.kept == frozenset(range(9)) - (set() if "fabric" in back else {5, 6})


def test_what_tells_comes_back_where_a_finding_stands():
    text = TEXT.replace("BACK", BACK[0])
    program, driver = made(text)
    places = {(PATH, line("print(loss)")), ("/project/other.py", line("assert loss > 0"))}
    assert dropped(unabridged(program, Schedule(driver), places).driver, text) == CHECKS


def test_what_is_left_out_for_another_reason_stays_out():
    text = TEXT.replace("BACK", BACK[0])
    program, driver = made(text)
    failing = (line("scaler.step(optimizer)"), 8)
    stopped = driver._replace(dropped=driver.dropped | {failing}, idle=driver.idle - {failing})
    whole = unabridged(program, Schedule(stopped), ()).driver
    assert dropped(whole, text) == {"scaler.step(optimizer)", "print(loss)", *CHECKS}


def test_where_nothing_is_left_out_nothing_changes():
    program, driver = made(TEXT.replace("BACK", BACK[0]))
    plain = Schedule(driver._replace(dropped=frozenset(), idle=frozenset()))
    assert unabridged(program, plain, {(PATH, line("print(loss)"))}) == plain
