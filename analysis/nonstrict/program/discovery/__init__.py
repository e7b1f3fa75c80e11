"""Where markers are applied, who calls what, and which files concern one another."""
