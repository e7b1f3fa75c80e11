"""Ways to write a program again that change neither what it computes nor what is to be reported of it."""
