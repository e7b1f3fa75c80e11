"""What programs give to compiled functions, as Python would run them."""

from __future__ import annotations

import random
import textwrap
import time

import pytest

from nonstrict.program.rehearsal.things import UNKNOWN, Tensor
from tests.program.rehearsal.played import played

_PROBE = "import torch\nprobe = torch.compile(lambda thing: thing)\n"


def shown(code: str, **others: str) -> list[object]:
    """What a program gives its `probe`, one after the other."""
    calls, complete = played(_PROBE + textwrap.dedent(code), others=others)
    assert complete
    return [one["thing"] for one in calls]


PROGRAMS: list[tuple[str, list[object]]] = [
    (
        """
        for n in range(3): probe(n)
        """,
        [0, 1, 2],
    ),
    (
        """
        n = 0
        while n < 3:
            n += 1
            if n == 2: continue
            probe(n)
        """,
        [1, 3],
    ),
    (
        """
        for name, size in zip('ab', [1, 2]): probe(f'{name}{size:02d}')
        """,
        ["a01", "b02"],
    ),
    (
        """
        def f(a, *rest, b=2, **more): probe((a, rest, b, more))
        f(1, 3, b=4, c=5)
        """,
        [(1, (3,), 4, {"c": 5})],
    ),
    (
        """
        def outer():
            n = 1
            def inner():
                nonlocal n
                n += 1
                return n
            return inner
        f = outer()
        probe(f()), probe(f())
        """,
        [2, 3],
    ),
    (
        """
        class A:
            size = 1
            def __init__(self): self.n = self.size
            @property
            def twice(self): return 2 * self.n
        class B(A):
            size = 3
            def __init__(self):
                super().__init__()
        probe(B().twice)
        """,
        [6],
    ),
    (
        """
        def numbers():
            for n in (1, 2):
                yield n
            yield from [3]
        for n in numbers(): probe(n)
        """,
        [1, 2, 3],
    ),
    (
        """
        try:
            {}['a']
        except KeyError:
            probe(1)
        finally:
            probe(2)
        """,
        [1, 2],
    ),
    (
        """
        import contextlib
        state = {'on': False}
        @contextlib.contextmanager
        def on():
            state['on'] = True
            try:
                yield
            finally:
                state['on'] = False
        with on(): probe(state['on'])
        probe(state['on'])
        """,
        [True, False],
    ),
    (
        """
        from dataclasses import dataclass, field
        @dataclass
        class C:
            a: int
            b: int = 2
        c = C(1)
        probe((c.a, c.b))
        """,
        [(1, 2)],
    ),
    (
        """
        import enum
        class E(enum.Enum):
            A = 'a'
        probe(E.A.value)
        """,
        ["a"],
    ),
    (
        """
        import argparse
        p = argparse.ArgumentParser()
        p.add_argument('--batch-size', type=int, default='8')
        p.add_argument('--fast', action='store_true')
        a = p.parse_args()
        probe((a.batch_size, a.fast))
        """,
        [(8, False)],
    ),
    (
        """
        from functools import partial
        def f(a, b): probe((a, b))
        partial(f, b=1)(2)
        """,
        [(2, 1)],
    ),
    (
        """
        from collections import deque, defaultdict
        d = deque(maxlen=2)
        t = defaultdict(list)
        for n in range(3):
            d.append(n)
            t[n % 2].append(n)
        probe((len(d), len(t[0])))
        """,
        [(2, 2)],
    ),
    (
        """
        import math
        probe(round(math.cos(math.pi), 3))
        """,
        [-1.0],
    ),
    (
        """
        probe(sorted([3, 1, 2], key=lambda n: -n)), probe({k: v for k, v in {'a': 1}.items() if v})
        """,
        [[3, 2, 1], {"a": 1}],
    ),
    (
        """
        x, *rest = [1, 2, 3]
        probe(rest)
        if (n := len(rest)) > 1: probe(n)
        """,
        [[2, 3], 2],
    ),
    (
        """
        import helper
        probe(helper.twice(2))
        """,
        [4],
    ),
]


@pytest.mark.parametrize(("code", "values"), PROGRAMS)
def test_python_is_run_as_python_does(code: str, values: list[object]):
    assert shown(code, helper="def twice(n):\n    return 2 * n\n") == values


def test_what_is_drawn_is_what_python_draws():
    code = "import random\ng = random.Random(7)\nfor _ in range(5): probe(g.randint(1, 100))"
    generator = random.Random(7)  # noqa: S311 - no secret
    assert shown(code) == [generator.randint(1, 100) for _ in range(5)]


def test_what_follows_from_data_is_not_known():
    code = "n = torch.ones(3).sum().item()\nif n > 2:\n    m = 1\nelse:\n    m = 2\nprobe(m), probe(n)"
    assert shown(code) == [UNKNOWN, UNKNOWN]


def test_numbers_that_a_tensor_is_made_of_are_known():
    assert shown("for n in torch.tensor([4, 5]).tolist(): probe(n)\nprobe(int(torch.arange(6).max()))") == [4, 5, 5]


def test_batches_of_a_loader_have_their_sizes():
    code = """
        from torch.utils.data import DataLoader, TensorDataset
        data = TensorDataset(torch.randn(10, 3), torch.zeros(10))
        for x, y in DataLoader(data, batch_size=4): probe(x)
        for x, y in DataLoader(data, batch_size=4, drop_last=True): probe(x)
    """
    shapes = [one.shape for one in shown(code) if isinstance(one, Tensor)]
    assert shapes == [(4, 3), (4, 3), (2, 3), (4, 3), (4, 3)]


def test_settings_of_torch_hold_for_their_block():
    code = """
        layer = torch.nn.Linear(2, 2)
        x = torch.ones(1, 2)
        with torch.no_grad(): probe(layer(x))
        with torch.autocast("cpu", dtype=torch.bfloat16): probe(layer(x))
        probe(layer(x))
        @torch.inference_mode()
        def infer(): return probe(layer(x))
        infer()
    """
    found = [(one.requires_grad, one.dtype) for one in shown(code) if isinstance(one, Tensor)]
    assert found == [(False, "float32"), (True, "bfloat16"), (True, "float32"), (False, "float32")]


def test_only_the_outermost_compiled_function_counts():
    code = "inner = torch.compile(lambda thing: thing)\nouter = torch.compile(lambda thing: inner(thing))\nouter(1)"
    assert [len(one) for one in played(_PROBE + code)[0]] == [1]


def test_what_is_given_is_kept_as_it_was():
    assert shown("held = []\nfor n in range(3):\n    held.append(n)\n    probe(held)") == [[0], [0, 1], [0, 1, 2]]


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "def f(): return f()\nf()",
        "x = [0]\nwhile True: x = x + x",
        "x = 'a'\nwhile True: x = x + x",
        "x = 3\nwhile True: x = x * x",
        "list(range(10**12))",
        "import itertools\n[*itertools.count()]",
        "import itertools\nlist(itertools.product(range(10**9), range(10**9)))",
        "import itertools\nprint(*itertools.count())",
        "a, *b = iter(int, 1)",
        "10 ** 10 ** 10",
        "1 << 10 ** 10",
        "'%1000000000d' % 1, '{:1000000000}'.format(1), f'{1:1000000000}', 'a'.ljust(10 ** 10), 'a' * 10 ** 10",
        "import math\nmath.factorial(10 ** 9)",
        "import random\nrandom.choices([1], k=10 ** 10)",
        "torch.zeros(10 ** 9, 10 ** 9).tolist()",
        "[[[[0 for a in range(1000)] for b in range(1000)] for c in range(1000)] for d in range(1000)]",
        "x = " + "+".join(["1"] * 5000),
        "x = " + "[" * 90 + "]" * 90 + "\nx.append(x)\nprobe(x)",
        "class A:\n    def __getattr__(self, name): return getattr(self, name + 'a')\nA().b",
        "class A:\n    def __iter__(self): return self\n    def __next__(self): return self\nfor a in A(): pass",
        "raise ValueError",
        "import sys\nsys.exit(1)",
        "d = {}\nd[[]] = 1",
        "None.x.y()\n3()\nprint(undefined)",
        "def f(: pass",
        "x = {}\ndel x[[]]",
        "[] in {}",
        "torch.arange(0, 10, 0), torch.ones(3)[::0], torch.ones(3).size(5), torch.arange(1, 2, 3, 4)",
        "def f():\n    for x in g:\n        yield x\ng = f()\nfor x in g: pass",
        "import itertools\nfor x in itertools.accumulate([1, 'a']): pass",
        "f'{10 ** 18 * 10 ** 18 * 10 ** 40:f}'",
    ],
)
def test_no_program_costs_much_or_breaks_it(code: str):
    started = time.process_time()
    played(_PROBE + code)
    assert time.process_time() - started < 20


def test_a_program_that_costs_too_much_is_given_up():
    calls, complete = played(_PROBE + "for n in range(200): probe(n)", most=200)
    assert calls
    assert not complete
