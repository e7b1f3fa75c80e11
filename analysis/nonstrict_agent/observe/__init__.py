"""What an arm notes about each call of a region: values, state, streams, events, lines and errors."""

from __future__ import annotations
