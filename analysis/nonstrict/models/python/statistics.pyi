"""What `statistics` does: the documentation of Python 3.14."""

def fmean(data, weights) -> float: ...

mean = median = pstdev = pvariance = stdev = variance = fmean

def multimode(data) -> list: ...
