import pytest
import torch

from quantkit import QuantLinear


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def layer():
    return QuantLinear(8, 4)


@pytest.fixture(params=[1, 3], ids=["single", "batch"])
def inputs(request):
    return torch.randn(request.param, 8)
