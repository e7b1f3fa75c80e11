"""Measures which constructs Dynamo refuses to trace: constructs, the processes that try them, what they said."""

from __future__ import annotations
