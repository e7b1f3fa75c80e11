import torch

from quantkit import stochastic_round
from quantkit.fake_quant import make_calibrator


class TestRounding:
    def setup_method(self):
        self.log = []

    def test_values_are_whole(self):
        compiled = torch.compile(lambda x: stochastic_round(x, self.log) + 0, fullgraph=True)
        for size in (4, 4, 4):
            out = compiled(torch.rand(size) * 10)
            torch.testing.assert_close(out, out.round())
        assert len(self.log) == 3


def test_calibration():
    calibrate = make_calibrator(torch.tensor([1.0, -4.0]))

    @torch.compile(fullgraph=True)
    def scaled(x):
        return calibrate(x) * 1.0

    for factor in (1.0, 2.0):
        x = torch.full((3,), factor)
        torch.testing.assert_close(scaled(x), x / 4 * 0.9)
