"""What `random` does: the documentation of Python 3.14."""

from nonstrict.models import does
from nonstrict.models.terms import Changed

class Random:
    @does.draw
    def random(self) -> float: ...
    betavariate = binomialvariate = expovariate = gammavariate = gauss = lognormvariate = normalvariate = random
    paretovariate = triangular = uniform = vonmisesvariate = weibullvariate = random
    @does.draw
    def randint(self, a, b) -> int: ...
    getrandbits = randrange = randint
    @does.draw
    def randbytes(self, n) -> bytes: ...
    @does.random("draws a random element")
    def choice(self, seq): ...
    @does.random("draws a random element")
    def choices(self, population) -> list: ...
    sample = choices
    @does.random("shuffles at random")
    def shuffle(self, x: Changed) -> None: ...
    @does.random("reads the random state")
    def getstate(self) -> tuple: ...
    @does.seed("seeds a random generator")
    def seed(self, a) -> None: ...
    setstate = seed

class SystemRandom(Random): ...

@does.draw
def random() -> float: ...

betavariate = binomialvariate = expovariate = gammavariate = gauss = lognormvariate = normalvariate = random
paretovariate = triangular = uniform = vonmisesvariate = weibullvariate = random

@does.draw
def randint(a, b) -> int: ...

getrandbits = randrange = randint

@does.draw
def randbytes(n) -> bytes: ...
@does.random("draws a random element")
def choice(seq): ...
@does.random("draws a random element")
def choices(population) -> list: ...

sample = choices

@does.random("shuffles at random")
def shuffle(x: Changed) -> None: ...
@does.random("reads the random state")
def getstate() -> tuple: ...
@does.seed("seeds Python's random generator")
def seed(a) -> None: ...

setstate = seed
