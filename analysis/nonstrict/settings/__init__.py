"""Settings of a run: `[tool.nonstrict]`, `nonstrict.toml`, and what the command line puts on top."""
