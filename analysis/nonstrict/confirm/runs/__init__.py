"""Real runs as evidence: what torch says in its structured logs (`TORCH_TRACE`), kept with the project."""
