"""The text of a file as fixes read and change it."""
