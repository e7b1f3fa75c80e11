"""The parts of the page that the output format `html` writes."""
