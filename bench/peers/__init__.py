"""Speed and memory of nonstrict beside other tools, all in one interleaved run."""
