"""Statements, expressions, and calls of the program: the value of each, and what happens on the way."""
