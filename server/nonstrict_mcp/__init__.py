"""Speaks the model context protocol with an agent: what the commands do, as tools with structured answers."""
