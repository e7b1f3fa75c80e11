"""What a rehearsal says of tensors is what torch makes."""

from __future__ import annotations

import pytest
import torch

from nonstrict.program.rehearsal.things import Tensor
from tests.program.rehearsal.forms import EXPRESSIONS, SETUP
from tests.program.rehearsal.played import played


@pytest.fixture(scope="module")
def made() -> dict[str, torch.Tensor]:
    """What torch makes of each expression."""
    names: dict[str, object] = {}
    exec(SETUP, names)  # noqa: S102 - the text of this suite
    return {one: eval(one, names) for one in EXPRESSIONS}  # noqa: S307 - the text of this suite


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_tensor_is_as_torch_makes_it(expression: str, made: dict[str, torch.Tensor]):
    calls, complete = played(f"{SETUP}\nprobe = torch.compile(lambda thing: thing)\nprobe({expression})\n")
    thing, tensor = calls[0]["thing"], made[expression]
    assert complete
    assert isinstance(thing, Tensor)
    assert thing.shape == tuple(tensor.shape)
    assert f"torch.{thing.dtype}" == str(tensor.dtype)
    assert thing.requires_grad is tensor.requires_grad
    assert thing.parameter is isinstance(tensor, torch.nn.Parameter)


def test_two_layouts_are_told_apart():
    calls, _ = played(
        "import torch\nprobe = torch.compile(lambda a, b, c: a)\nx = torch.randn(2, 3, 4, 4)\n"
        "probe(x, x.to(memory_format=torch.channels_last), x.transpose(2, 3))\n"
    )
    assert len({getattr(one, "layout", None) for one in calls[0].values()}) == 3
