"""The words in which the analysis says what programs do; everything else may use them."""
