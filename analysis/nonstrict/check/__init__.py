"""One run: which files, what the analysis finds in them, and what of that users are told."""
