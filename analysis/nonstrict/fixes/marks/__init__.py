"""The marker itself: which, where, and beside which decorators (NST601 to NST605)."""
