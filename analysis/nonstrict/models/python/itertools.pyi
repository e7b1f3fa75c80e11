"""What `itertools` makes: the documentation of Python 3.14."""

from collections.abc import Iterator

class chain(Iterator):
    @classmethod
    def from_iterable(cls, iterable) -> Iterator: ...

class compress(Iterator): ...

accumulate = batched = combinations = combinations_with_replacement = count = cycle = dropwhile = filterfalse = compress
groupby = islice = pairwise = permutations = product = repeat = starmap = takewhile = zip_longest = compress
