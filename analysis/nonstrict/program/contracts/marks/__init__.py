"""How markers were applied, and what comes of that."""
