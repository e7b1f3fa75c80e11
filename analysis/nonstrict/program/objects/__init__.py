"""What names, classes, attributes and containers hold, and what it means to ask for or to change that."""
