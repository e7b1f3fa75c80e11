"""Bodies of marked functions whose sizes and numbers follow from data, and what torch makes of them."""
