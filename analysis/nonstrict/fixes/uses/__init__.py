"""The uses of a function over all files, and what moves between a function and its callers."""
