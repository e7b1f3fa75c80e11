"""The one exception of models: a file that cannot be used as one."""

from __future__ import annotations

from nonstrict.findings import with_advice


class ModelError(Exception):
    """What is wrong with a model, where (row and column count from 1), and what to write instead."""

    def __init__(self, path: str, row: int, column: int, message: str, advice: str) -> None:
        """Say it in words that can stand in a diagnostic."""
        super().__init__(with_advice(f"{path}:{row}:{column}: {message}", advice))
        self.path, self.row, self.column = path, row, column
        self.message, self.advice = message, advice
