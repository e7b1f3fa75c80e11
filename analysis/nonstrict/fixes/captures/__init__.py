"""Captured state and draws become arguments (NST101 to NST105, NST204, NST206, NST301)."""
