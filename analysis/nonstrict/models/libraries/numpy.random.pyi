"""What `numpy.random` does: the reference of NumPy 2.4."""

from random import Random

from numpy import ndarray

from nonstrict.models import does
from nonstrict.models.terms import Changed

draws = does.random("draws a random number with NumPy")
seeds = does.seed("seeds NumPy's random generator")

class _Draws(Random):
    @draws
    def uniform(self, low, high, size) -> ndarray: ...
    beta = binomial = bytes = chisquare = choice = dirichlet = exponential = f = gamma = geometric = gumbel = uniform
    hypergeometric = integers = laplace = logistic = lognormal = logseries = multinomial = uniform
    multivariate_hypergeometric = multivariate_normal = negative_binomial = noncentral_chisquare = uniform
    noncentral_f = normal = pareto = permutation = permuted = poisson = power = rand = randint = randn = uniform
    random = random_integers = random_sample = ranf = rayleigh = sample = standard_cauchy = uniform
    standard_exponential = standard_gamma = standard_normal = standard_t = tomaxint = triangular = vonmises = uniform
    wald = weibull = zipf = uniform

    @draws
    def shuffle(self, x: Changed) -> None: ...

class Generator(_Draws):
    @draws
    def spawn(self, n_children): ...

class RandomState(_Draws):
    @draws
    def get_state(self): ...
    @seeds
    def seed(self, seed): ...
    set_state = seed

@draws
def uniform(low, high, size) -> ndarray: ...

beta = binomial = bytes = chisquare = choice = dirichlet = exponential = f = gamma = geometric = gumbel = uniform
hypergeometric = integers = laplace = logistic = lognormal = logseries = multinomial = uniform
multivariate_hypergeometric = multivariate_normal = negative_binomial = noncentral_chisquare = uniform
noncentral_f = normal = pareto = permutation = permuted = poisson = power = rand = randint = randn = uniform
random = random_integers = random_sample = ranf = rayleigh = sample = standard_cauchy = uniform
standard_exponential = standard_gamma = standard_normal = standard_t = tomaxint = triangular = vonmises = uniform
wald = weibull = zipf = uniform

@draws
def shuffle(x: Changed) -> None: ...
@draws
def get_state(): ...
@seeds
def seed(seed): ...

set_bit_generator = set_state = seed

def default_rng(seed) -> Generator: ...

class MT19937: ...
class PCG64: ...
class Philox: ...
class SeedSequence: ...
