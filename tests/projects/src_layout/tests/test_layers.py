import pytest
import torch

from quantkit import config, forward_quantized
from quantkit.layers import loss_with_residual


def test_shape(layer, inputs):
    assert forward_quantized(layer, inputs).shape == (inputs.shape[0], 4)


@pytest.mark.parametrize("bits", [8, 2])
def test_fewer_bits_fewer_values(layer, bits):
    x = torch.randn(16, 8)
    full = forward_quantized(layer, x)
    with config.bits(bits):
        rough = forward_quantized(layer, x)
    assert (bits == 8) == torch.equal(full, rough)


def test_residual_is_small(layer, inputs):
    first = loss_with_residual(layer, inputs)
    layer.gain = 2.0
    second = loss_with_residual(layer, inputs)
    torch.testing.assert_close(second, first * 4)
    assert layer.seen == [len(inputs)] * 2
