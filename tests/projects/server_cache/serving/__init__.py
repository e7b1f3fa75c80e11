"""A small inference server."""
