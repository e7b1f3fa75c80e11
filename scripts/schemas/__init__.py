"""JSON schemas, made of the declarations that the program itself goes by."""
