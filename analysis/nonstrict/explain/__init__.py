"""Answers what a text of torch means: an error, a line of its logs, the id of a graph break."""
