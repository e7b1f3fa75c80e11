"""Measures what Dynamo compiles anew when a value changes: by where the value comes from, its kind, and its use."""
