"""# internal-fault (NST904)

## What it does

Reports what a run lost to a mistake in nonstrict itself: a function or compiled region that was not analysed, a rule
that was not asked about a function, a fix that was not made, a file or directory that was not looked at, a finding that
the output format could not show. Everything else is reported as usual.

## Why is this bad

What is lost is not known to be free of findings. The run ends with exit status 2 and says on standard error what is
missing, whatever else was found, selected or suppressed. No comment, setting or baseline hides it.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def attend(q, k):
    return torch.softmax(q @ k, dim=-1)
```

Nothing is wrong with this. If a rule fails over it all the same, the run says on standard error:

    nonstrict: model.py:5: `attend` was not checked for NST101: KeyError at stores.py:88. This is a bug of ...

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def attend(q, k):
    return torch.softmax(q @ k, dim=-1)
```

Leave the code as it is, run the command again with `NONSTRICT_TRACEBACK=1` in the environment, and report the bug with
what it prints. Code that is nested too deeply to be analysed is reported likewise: split the expression, or the chain
of calls.

## Fix safety

There is no automatic fix.

## What is not reported

- Files that cannot be read, and settings that cannot be used: these have messages of their own.

## References

- [Exit statuses](https://github.com/nonstrict/nonstrict/blob/main/README.md)
"""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST904",
    name="internal-fault",
    severity=Severity.ERROR,
    summary="Part of the analysis failed by a mistake in nonstrict.",
    documentation=__doc__ or "",
    markers=frozenset(),
)
