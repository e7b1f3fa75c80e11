"""Facts of one file: a pure function of its text, names still names."""
