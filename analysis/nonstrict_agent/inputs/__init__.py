"""Arguments for a user's function: their description as JSON, values made from it, and the search for some that run."""

from __future__ import annotations
