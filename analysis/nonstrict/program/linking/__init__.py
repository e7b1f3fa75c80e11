"""Which file an import means, where Python looks for it, and where names are used."""
