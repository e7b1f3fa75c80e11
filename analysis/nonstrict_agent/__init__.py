"""What runs in the user's own interpreter: processes, sandbox and experiments. Standard library and torch, nothing else."""

from __future__ import annotations
