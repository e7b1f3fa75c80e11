import pytest
import torch

from fastops.clipping import CALLS
from fastops.rotary import rotate


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotation_keeps_lengths(interleaved):
    x = torch.randn(2, 5, 8)
    torch.testing.assert_close(rotate(x, interleaved).norm(dim=-1), x.norm(dim=-1))


def test_rotation_compiles():
    x = torch.randn(3, 8)
    compiled = torch.compile(lambda y: rotate(y, False) + 1, fullgraph=True)
    torch.testing.assert_close(compiled(x), rotate(x, False) + 1)


def test_calls_are_counted():
    torch.ops.fastclip.clip(torch.randn(4), 0.5)
    assert CALLS
