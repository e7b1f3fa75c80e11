"""# thread-handoff (NST211)

## What it does

Finds traced functions that hand work to another thread or process: `threading.Thread(target=...).start()`,
`ThreadPoolExecutor.submit` and `.map`, `multiprocessing`, `asyncio.to_thread`, `concurrent.futures`.

## Why is this bad

The compiler traces by modes that are set for the current thread. Tensor work in another thread runs outside of them: it
meets fake tensors that it cannot handle, or is not recorded. The compile fails with an error that names neither the
thread nor the function (`IndexError: list index out of range`), or the result of the thread is missing in the graph.

## Example

```python
import threading

import torch


@torch._dynamo.nonstrict_trace
def two_halves(x):
    results = {}

    def work():
        results["right"] = x * 3

    thread = threading.Thread(target=work)
    thread.start()  # error: [NST211]
    thread.join()
    return x * 2 + results["right"]


@torch.compile(fullgraph=True)
def forward(x):
    return two_halves(x)


def main():
    print(forward(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def two_halves(x):
    return x * 2 + x * 3


@torch.compile(fullgraph=True)
def forward(x):
    return two_halves(x)


def main():
    print(forward(torch.ones(3)))


if __name__ == "__main__":
    main()
```

The compiled code runs its operators in parallel by itself. Loading and prefetching belong into the caller.

## Fix safety

All fixes are unsafe: work that ran beside other work now runs before it, and an exception that a thread kept for itself
is raised.

- `pool.submit(f, x).result()` and `Thread(target=f, args=(x,)).start()` become `f(x)`, `pool.map(f, items)` becomes
  `map(f, items)`; a pool or thread that the function makes goes with its last task. Threads of a list are run instead
  of started: `thread.run()`. This is offered where the work, done in the function, gives nothing else to report.
- A thread that is started with what the callers have is started by them.

## What is not reported

- Locks: `with lock:` in the function works.
- Threads started by the caller or the region's caller.

## References

- [threading](https://docs.python.org/3/library/threading.html)
- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import clause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the work that is handed to another thread or process."""
    for seen in body.observed(Event.THREAD):
        subject = clause(seen.effect.what, "hands work to another thread or process")
        message = (
            f"{subject} while `{body.api}` traces `{body.function}`: tensor work "
            "there is not traced, and torch.compile fails or loses it"
        )
        advice = "do the work in the function itself, or in the caller of the compiled region"
        yield report(RULE, body, seen, message, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Do the work where it was handed over, or let the callers hand it over."""
    from nonstrict.fixes.effects.executors import call_here
    from nonstrict.fixes.effects.moving import move_call
    from nonstrict.fixes.effects.threads import run_here

    yield from call_here(context)
    yield from run_here(context)
    yield from move_call(context)


RULE = Rule(
    code="NST211",
    name="thread-handoff",
    severity=Severity.ERROR,
    summary="A traced function hands tensor work to another thread or process, where it is not traced.",
    documentation=__doc__ or "",
    examine=examine,
    fixes=fixes,
    experiment=Experiment.REFUSAL,
)
