"""Who runs experiments: processes of this machine, or the workers of a cluster."""
