"""Fake quantisation for training."""

from quantkit.config import QuantConfig, current
from quantkit.fake_quant import fake_quantize, stochastic_round
from quantkit.layers import QuantLinear, forward_quantized

__all__ = ["QuantConfig", "QuantLinear", "current", "fake_quantize", "forward_quantized", "stochastic_round"]
