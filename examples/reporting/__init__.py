"""Training code that reports from inside a compiled step: `python -m reporting.train` in the folder above."""
