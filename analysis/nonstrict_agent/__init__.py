"""What runs in the user's own interpreter: processes, sandbox, experiments. Standard library and torch, no more."""

from __future__ import annotations
