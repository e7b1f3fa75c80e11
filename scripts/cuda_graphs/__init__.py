"""Which constructs torch captures in CUDA graphs, which it leaves out, and for what it records them anew."""
