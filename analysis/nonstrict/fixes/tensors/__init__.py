"""Data of tensors stays in tensors, and breaking constructs are written another way (NST402, NST701)."""
