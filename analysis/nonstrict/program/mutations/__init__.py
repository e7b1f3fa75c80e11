"""Who changes captured state, in the module and in other files."""
