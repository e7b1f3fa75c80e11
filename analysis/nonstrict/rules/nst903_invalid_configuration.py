"""# invalid-configuration (NST903)

## What it does

Reports unknown keys and bad values in `[tool.nonstrict]` of `pyproject.toml`, and in `nonstrict.toml` or
`.nonstrict.toml`.

## Why is this bad

A mistyped key would be ignored silently, and with it what it was meant to select. The run stops instead, with exit
status 2.

## Example

`pyproject.toml`:

```toml
[tool.nonstrict]
selct = ["NST1"]  # error: [NST903]
```

## Use instead

`pyproject.toml`:

```toml
[tool.nonstrict]
select = ["NST1"]
```

`nonstrict config` lists the keys.

## Fix safety

There is no automatic fix.

## What is not reported

- Tables of other tools.

## References

- [TOML](https://toml.io/en/v1.0.0)
"""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST903",
    name="invalid-configuration",
    severity=Severity.ERROR,
    summary="The configuration holds an unknown key or a bad value.",
    documentation=__doc__ or "",
    markers=frozenset(),
)
