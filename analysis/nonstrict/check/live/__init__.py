"""The analysis as editors need it: kept up to date edit by edit, with the verdicts of experiments."""

from __future__ import annotations
