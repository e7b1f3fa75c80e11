"""Which functions are marked, in every idiom; how the marker was applied, and who calls them."""
