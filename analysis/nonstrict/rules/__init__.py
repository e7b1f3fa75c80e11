"""The rules, one file each: documentation, message, severity and the query over what a marked function does."""
