"""What calls of what is not the program's do and give back, where that depends on what they are given."""
