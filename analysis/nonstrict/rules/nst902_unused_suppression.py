"""# unused-suppression (NST902)

## What it does

Reports `# nonstrict: ignore[...]` and `# nonstrict: file-ignore[...]` comments, and codes of this tool in
`# noqa: ...`, that suppress nothing, and comments such as `# nonstrict: skip` whose directive does not exist.

## Why is this bad

A suppression that is left behind hides the next finding of that rule on the same line.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def scale(x, factor):
    return x * factor  # nonstrict: ignore[NST104]  # note: [NST902]
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def scale(x, factor):
    return x * factor
```

## Fix safety

What suppresses nothing is removed, with the whole comment and its reason where nothing is left: safe, as comments
compute nothing. A name that no rule has may be a slip, so that removing it is unsafe.

## What is not reported

- A bare `# noqa`, and codes of other tools.
- Suppressions of rules that the run does not select.

## References

- [The catalogue of rules](https://github.com/nonstrict/nonstrict/blob/main/docs/rules/)
"""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST902",
    name="unused-suppression",
    severity=Severity.NOTE,
    summary="A suppression comment suppresses nothing.",
    documentation=__doc__ or "",
    markers=frozenset(),
)
