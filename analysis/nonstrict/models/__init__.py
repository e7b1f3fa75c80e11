"""What libraries do: one file in the form of a stub for each module, in `python`, `torch` and `libraries`.

`words` are the words that these files are written in, `stubs` reads one, `library` answers questions about names.
"""
