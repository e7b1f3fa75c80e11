"""Diagnostics as text: one file per output format, each with `render(diagnostics, context) -> str`."""
