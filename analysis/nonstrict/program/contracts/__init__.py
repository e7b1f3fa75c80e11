"""What torch promises of what markers and `torch.compile` are applied to."""
