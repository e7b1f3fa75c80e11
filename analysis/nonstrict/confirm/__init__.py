"""Turns findings into verdicts by experiments, run in the user's interpreter by `nonstrict_agent`."""

from __future__ import annotations
