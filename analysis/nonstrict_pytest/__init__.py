"""The pytest plugin: what torch compiles while tests run, counted, asserted, and held against the findings."""
