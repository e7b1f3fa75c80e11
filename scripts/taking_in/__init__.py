"""How a release of torch is taken in: `scripts/take_in.py` runs it."""
