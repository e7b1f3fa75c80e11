"""Side effects are taken out, moved to the callers, or become results (NST201 to NST210)."""
