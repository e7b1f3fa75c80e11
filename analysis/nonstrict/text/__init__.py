"""The text layer: one file, notebook or page read as one Python module, with positions that lead back to the file."""
