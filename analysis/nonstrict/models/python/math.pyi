"""What `math` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.escape
def acos(x) -> float: ...

asin = atan = atan2 = ceil = copysign = cos = cosh = exp = expm1 = fabs = floor = fmod = fsum = hypot = acos
ldexp = log = log10 = log1p = log2 = pow = sin = sinh = sqrt = tan = tanh = trunc = acos

def acosh(x) -> float: ...

asinh = atanh = cbrt = degrees = dist = erf = erfc = exp2 = fma = gamma = lgamma = nextafter = radians = acosh
remainder = sumprod = ulp = acosh

def comb(n, k) -> int: ...

factorial = isqrt = perm = comb

@does.escape
def frexp(x) -> tuple: ...

modf = frexp

@does.escape
def gcd(*integers) -> int: ...

lcm = prod = gcd

@does.escape
def isclose(a, b) -> bool: ...

isfinite = isinf = isnan = isclose
