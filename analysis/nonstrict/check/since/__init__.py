"""What a change caused: the state before it, from git, and the findings that are in one state and not in the other."""
