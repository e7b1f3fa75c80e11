"""Custom operators and leaf functions, with generated fakes (NST401, NST403, NST606 to NST610, NST702)."""
