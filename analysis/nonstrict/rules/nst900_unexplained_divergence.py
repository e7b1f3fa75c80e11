"""# unexplained-divergence (NST900)

## What it does

Reports a function whose compiled result differs from the eager one, or that does not compile, where no finding of
another rule explains it. Only an experiment can tell: `nonstrict check --confirm`, `nonstrict confirm`.

## Why is this bad

Compiled code that computes something else than eager code is wrong without any message. What no rule knows may be a
hazard that hides from static analysis (behind `getattr`, `exec`, an installed package), or a bug of torch.

## Example

```python
import torch

STATE = {"scale": 2.0}


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * eval("STATE['scale']")


@torch.compile(fullgraph=True)
def step(x):
    return scaled(x)


def main():
    print(step(torch.ones(3)))
    STATE["scale"] = 3.0
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

Without `--confirm` nothing is reported here: `eval` hides what is read.

## Use instead

```python
import torch

STATE = {"scale": 2.0}


@torch._dynamo.nonstrict_trace
def scaled(x, scale):
    return x * scale


@torch.compile(fullgraph=True)
def step(x, scale):
    return scaled(x, scale)


def main():
    print(step(torch.ones(3), STATE["scale"]))
    STATE["scale"] = 3.0
    print(step(torch.ones(3), STATE["scale"]))


if __name__ == "__main__":
    main()
```

## Fix safety

There is no automatic fix.

## What is not reported

- Differences within the tolerances of `torch.testing.assert_close`, and small ones of Inductor alone that are there
  before anything changes: rounding is not semantics.
- Functions whose eager result differs from run to run.
- Functions that no experiment could run.

## References

- [torch.testing.assert_close](https://docs.pytorch.org/docs/stable/testing.html#torch.testing.assert_close)
- [Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html)
"""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Experiment, Rule

RULE = Rule(
    code="NST900",
    name="unexplained-divergence",
    severity=Severity.ERROR,
    summary="Compiled and eager code disagree, and no finding explains it; only an experiment can tell.",
    documentation=__doc__ or "",
    markers=frozenset(),
    experiment=Experiment.REFUSAL,
)
