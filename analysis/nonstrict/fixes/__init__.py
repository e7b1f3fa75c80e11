"""Ways out of findings: each makes the edits that mend one, or nothing where it cannot be sure of them."""
