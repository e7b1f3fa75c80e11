"""What torch raises and warns of: each part prints its exception as Python would."""

from __future__ import annotations

import functools
import sys
import traceback
import warnings

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

warnings.simplefilter("always")


def backend_fails():
    def bad(graph, inputs):
        raise ValueError("no kernel for this graph")

    torch.compile(lambda x: x + 1, backend=bad)(torch.ones(3))


def no_backend():
    torch.compile(lambda x: x + 1, backend="nope")(torch.ones(3))


def no_mode():
    torch.compile(lambda x: x + 1, mode="nope")


def no_option():
    torch.compile(lambda x: x + 1, options={"nope": 1})


def cached():
    @functools.lru_cache
    def step(number):
        return number + 1

    torch.compile(lambda x, number: x + step(number), backend="eager")(torch.ones(3), 2)


def marked_dynamic():
    x = torch.ones(4)
    torch._dynamo.mark_dynamic(x, 0)
    torch.compile(lambda x: x + 1 if x.shape[0] == 4 else x, backend="eager")(x)


def data_dependent():
    def step(x):
        return x + 1 if x.sum().item() > 2 else x

    torch.compile(step, backend="eager", fullgraph=True)(torch.ones(3))


def data_dependent_number():
    def step(x, items):
        return items[x.sum().item()]

    torch.compile(step, backend="eager", fullgraph=True)(torch.tensor([0, 1]), [torch.ones(1), torch.ones(2)])


def scalar():
    torch.compile(lambda x: x * x.sum().item(), backend="eager")(torch.ones(3))


def made_fx():
    make_fx(lambda x: x + 1 if x.sum() > 0 else x)(torch.ones(3))


def without_fake():
    @torch.library.custom_op("explained::clone", mutates_args=())
    def clone(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    torch.compile(lambda x: clone(x), backend="eager", fullgraph=True)(torch.ones(3))


def shapes():
    torch.compile(lambda x, y: x @ y, backend="eager")(torch.ones(3, 4), torch.ones(3, 4))


def expanded():
    torch.compile(lambda x, y: x.add_(y), backend="aot_eager")(torch.ones(3).expand(3, 3), torch.ones(3))


def vmap_item():
    torch.vmap(lambda x: x.item())(torch.ones(3))


def vmap_branch():
    torch.vmap(lambda x: x if x > 0 else -x)(torch.ones(3))


def vmap_random():
    torch.vmap(lambda x: x + torch.randn(1))(torch.ones(3))


def fake_tensors():
    with torch._subclasses.FakeTensorMode():
        x = torch.ones(3)
    print(x + torch.ones(3))


def fake_branch():
    with torch._subclasses.FakeTensorMode():
        print(bool(torch.ones(3).sum() > 0))


def fake_pointer():
    with torch._subclasses.FakeTensorMode():
        print(torch.ones(3).data_ptr())


def state():
    nn.Linear(3, 3).load_state_dict(torch.compile(nn.Linear(3, 3)).state_dict())


def plain_state():
    torch.compile(nn.Linear(3, 3)).load_state_dict(nn.Linear(3, 3).state_dict())


def hidden_size():
    @torch._dynamo.nonstrict_trace
    def step(x):
        return x[: x.sum().item()].sum()

    torch.compile(lambda x: step(x), backend="eager", fullgraph=True)(torch.tensor([1, 1]))


def pointer():
    make_fx(lambda x: x + x.data_ptr() % 2, tracing_mode="fake")(torch.ones(2))


def symbolic():
    torch.fx.symbolic_trace(torch.compile(lambda x: x + 1, backend="eager"))


def symbolic_module():
    torch.fx.symbolic_trace(torch.compile(nn.Linear(3, 3), backend="eager"))


def symbolic_branch():
    torch.fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)


def returned_input():
    @torch.library.custom_op("explained::same", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    same(torch.ones(3))


def generator():
    generator = torch.Generator()

    @torch._dynamo.nonstrict_trace
    def noisy(x, generator):
        return x + torch.rand(3, generator=generator)

    torch.compile(lambda x: noisy(x, generator), backend="eager", fullgraph=True)(torch.ones(3))


def limit():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    module = torch.compile(Counter(), backend="eager", fullgraph=True)
    for _ in range(10):
        module(torch.ones(2))


if __name__ == "__main__":
    parts = [
        value
        for value in list(globals().values())
        if callable(value) and getattr(value, "__module__", "") == "__main__"
    ]
    for part in parts:
        try:
            part()
        except Exception:
            traceback.print_exc()
        sys.stderr.flush()
        torch._dynamo.reset()
