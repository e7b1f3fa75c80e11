"""Compiled regions: what Dynamo traces of them, where the graph breaks, what crosses to marked functions."""
