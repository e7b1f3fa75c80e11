"""# syntax-error (NST901)

## What it does

Reports code that does not parse: in Python files, cells of notebooks, and Python fences of documentation pages.

## Why is this bad

What does not parse is not checked. The rest of the file is: the broken statements are cut out, and a broken notebook
cell or fence does not hide the others.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def scale(x):
    return x * 2


def broken(x)  # error: [NST901]
    return x
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def scale(x):
    return x * 2


def broken(x):
    return x
```

## Fix safety

There is no automatic fix.

## What is not reported

- Files that hold no marker, unless they are named on the command line: they are not parsed.
- Magics and shell lines of notebooks, prompts and options of documentation fences.

## References

- [The Python grammar](https://docs.python.org/3/reference/grammar.html)
"""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST901",
    name="syntax-error",
    severity=Severity.ERROR,
    summary="The file does not parse; the rest of it is still checked.",
    documentation=__doc__ or "",
    markers=frozenset(),
)
