"""Facts of many files linked: modules, values with an origin, and what each marked function does."""
