"""What crosses the boundary of a marked function, and how its class is registered (NST501 to NST504)."""
