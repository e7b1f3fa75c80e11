"""What the interpreter computes with: values and where they live, what they refer to, effects."""
