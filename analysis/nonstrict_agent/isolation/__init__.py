"""Keeps what a job does away from the machine: tiers of containment, limits, and a list of what it tried to change."""

from __future__ import annotations
