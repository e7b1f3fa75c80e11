"""What may cross between a region and a marked function, and what torch makes of it."""
