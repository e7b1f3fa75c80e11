"""What a release has to be: one checker per file. Each says in sentences what is wrong, and nothing if all is well."""
