"""What torch logs when it compiles again: a function for each kind of guard. Run with TORCH_LOGS=recompiles."""

from __future__ import annotations

import torch
from torch import nn

SCALE = 3


def sizes_and_dtypes():
    @torch.compile(backend="eager", dynamic=False)
    def step(x):
        return x + 1

    for shape in ((3,), (4,), (2, 2)):
        step(torch.ones(shape))
    step(torch.ones(3, dtype=torch.float64))
    step(torch.ones(3, requires_grad=True))
    step(torch.ones(6)[::2])
    with torch.no_grad():
        step(torch.ones(3))


def size_range():
    @torch.compile(backend="eager")
    def step(x):
        return x + 1 if x.shape[0] > 5 else x - 1

    for size in (3, 4, 8, 1):
        step(torch.ones(size))

    @torch.compile(backend="eager", dynamic=True)
    def even(x):
        return x + 1 if x.shape[0] % 2 == 0 else x

    @torch.compile(backend="eager", dynamic=True)
    def same(x, y):
        return x + 1 if x.shape[0] == y.shape[0] else x

    for size in (4, 5):
        even(torch.ones(size))
        same(torch.ones(size), torch.ones(5))


def global_value():
    global SCALE

    @torch.compile(backend="eager")
    def step(x):
        return x * SCALE

    step(torch.ones(3))
    SCALE = 4
    step(torch.ones(3))


def classes():
    class First:
        pass

    class Second:
        pass

    @torch.compile(backend="eager")
    def step(x, item):
        return x + 1 if isinstance(item, First) else x

    step(torch.ones(3), First())
    step(torch.ones(3), Second())


def functions():
    @torch.compile(backend="eager")
    def step(x, function):
        return function(x)

    step(torch.ones(3), torch.sin)
    step(torch.ones(3), torch.cos)


def aliases():
    @torch.compile(backend="eager")
    def step(x, y):
        return x + y

    same = torch.ones(3)
    step(same, same)
    step(same, torch.ones(3))


def containers():
    @torch.compile(backend="eager")
    def step(table):
        return sum(table.values())

    step({"a": torch.ones(2)})
    step({"b": torch.ones(2)})
    step({"a": torch.ones(2), "b": torch.ones(2)})

    @torch.compile(backend="eager")
    def longer(x, items, names):
        return x + len(items) if "a" in names else x

    longer(torch.ones(2), [1], {"a"})
    longer(torch.ones(2), [1, 2], {"a"})
    longer(torch.ones(2), [1], {"b"})


def training():
    module = nn.Linear(3, 3)

    @torch.compile(backend="eager")
    def step(x):
        return module(x) if module.training else x

    step(torch.ones(3))
    module.eval()
    step(torch.ones(3))


def backends():
    def step(x):
        return x + 1

    for _ in range(2):
        torch.compile(step, backend=lambda graph, _: graph)(torch.ones(3))


def limit():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    module = torch.compile(Counter(), backend="eager")
    for _ in range(10):
        module(torch.ones(2))


def all_limit():
    @torch.compile(backend="eager")
    def step(x, name):
        return x + len(name)

    with torch._dynamo.config.patch(accumulated_recompile_limit=2):
        for name in ("a", "bb", "ccc"):
            step(torch.ones(2), name)


def broken():
    @torch.compile(backend="eager")
    def step(x):
        y = x + 1
        print("sum", y)
        return y * 2

    step(torch.ones(3))


if __name__ == "__main__":
    for part in (
        sizes_and_dtypes,
        size_range,
        global_value,
        classes,
        functions,
        aliases,
        containers,
        training,
        backends,
        limit,
        all_limit,
        broken,
    ):
        part()
        torch._dynamo.reset()
