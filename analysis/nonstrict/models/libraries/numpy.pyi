"""What NumPy does: the reference of NumPy 2.4. A traced tensor that is given to any of its functions leaves the graph."""

from typing import Any

from nonstrict.models import does
from nonstrict.models.terms import Changed, submodule

computes = does.native("computes in NumPy")
takes_data = does.escape("reads the tensor's data into NumPy")

@computes
def __getattr__(name: str) -> ndarray: ...

# Made of data.

@takes_data
def array(object, dtype) -> ndarray: ...

asanyarray = asarray = asarray_chkfinite = ascontiguousarray = asfortranarray = asmatrix = copy = array
frombuffer = fromiter = matrix = array

@does.escape
def array2string(a) -> str: ...
@does.escape
def isscalar(element) -> bool: ...

class ndarray:
    def fill(self: Changed, value) -> None: ...
    itemset = partition = put = resize = sort = fill
    @does.io("writes to a file")
    def dump(self, file): ...
    tofile = dump
    @property
    @does.pointer
    def __array_interface__(self): ...
    ctypes: _Pointers

class _Pointers:
    @does.pointer
    def data_as(self, obj): ...

# Types of scalars: their objects are numbers.

class generic: ...

class _Scalar(generic):
    @does.escape
    def __init__(self, value): ...

class bool_(_Scalar): ...
class complex64(_Scalar): ...
class complex128(_Scalar): ...
class complex_(_Scalar): ...
class float_(_Scalar): ...
class float16(_Scalar): ...
class float32(_Scalar): ...
class float64(_Scalar): ...
class int_(_Scalar): ...
class int8(_Scalar): ...
class int16(_Scalar): ...
class int32(_Scalar): ...
class int64(_Scalar): ...
class uint8(_Scalar): ...
class uint16(_Scalar): ...
class uint32(_Scalar): ...
class uint64(_Scalar): ...

# Functions of arrays that give something else.

@computes
def allclose(a, b) -> bool: ...

array_equal = array_equiv = iterable = may_share_memory = shares_memory = allclose

@computes
def array_repr(arr) -> str: ...

array_str = base_repr = binary_repr = format_float_positional = array_repr

@computes
def array_split(ary, indices_or_sections, axis) -> list: ...

dsplit = hsplit = split = vsplit = array_split

@computes
def meshgrid(*xi) -> tuple: ...

nonzero = unravel_index = meshgrid

@computes
def common_type(*arrays) -> dtype: ...

min_scalar_type = common_type

@computes
def copyto(dst: Changed, src) -> None: ...

fill_diagonal = place = put = putmask = copyto

@computes
class nditer: ...

# Types, settings and sizes: no data is read.

def shape(a) -> tuple: ...
def ndim(a) -> int: ...

size = ndim

def can_cast(from_, to) -> bool: ...

issubdtype = can_cast

def promote_types(type1, type2) -> dtype: ...

result_type = promote_types

def broadcast_shapes(*args): ...

geterr = broadcast_shapes

def printoptions(*args) -> errstate: ...

newaxis: Any
s_: Any
index_exp: Any
testing: Any
typing: Any

class dtype: ...
class errstate: ...
class finfo: ...
class iinfo: ...
class ufunc: ...
class vectorize: ...

# Files and settings.

@does.io("writes to a file")
def save(file, arr) -> None: ...

savetxt = savez = savez_compressed = save

@does.io("reads a file")
def fromfile(file, dtype) -> ndarray: ...

genfromtxt = load = loadtxt = memmap = fromfile

@submodule
class lib:
    @submodule
    class format:
        @does.io("reads a file")
        def open_memmap(filename, mode) -> ndarray: ...

@does.environ_write("changes NumPy's settings")
def set_printoptions(precision) -> None: ...

seterr = set_printoptions

@does.environ_write("changes NumPy's settings")
def setbufsize(size) -> ndarray: ...

seterrcall = setbufsize

# Universal functions (`nin` of each), and others that write their result where `out` says.

class _OfOne(ufunc):
    @computes
    def __call__(self, x, /, out: Changed) -> ndarray: ...
    @computes
    def at(self, a: Changed, indices) -> None: ...

class _OfTwo(ufunc):
    @computes
    def __call__(self, x1, x2, /, out: Changed) -> ndarray: ...
    @computes
    def at(self, a: Changed, indices, b) -> None: ...

absolute: _OfOne
abs = acos = acosh = arccos = arccosh = arcsin = arcsinh = arctan = arctanh = asin = asinh = atan = atanh = absolute
bitwise_count = bitwise_invert = bitwise_not = cbrt = ceil = conj = conjugate = cos = cosh = deg2rad = absolute
degrees = exp = exp2 = expm1 = fabs = floor = frexp = invert = isfinite = isinf = isnan = isnat = log = absolute
log10 = log1p = log2 = logical_not = modf = negative = positive = rad2deg = radians = reciprocal = rint = absolute
sign = signbit = sin = sinh = spacing = sqrt = square = tan = tanh = trunc = absolute

add: _OfTwo
arctan2 = atan2 = bitwise_and = bitwise_left_shift = bitwise_or = bitwise_right_shift = bitwise_xor = copysign = add
divide = divmod = equal = float_power = floor_divide = fmax = fmin = fmod = gcd = greater = greater_equal = add
heaviside = hypot = lcm = ldexp = left_shift = less = less_equal = logaddexp = logaddexp2 = logical_and = add
logical_or = logical_xor = matmul = matvec = maximum = minimum = mod = multiply = nextafter = not_equal = add
pow = power = remainder = right_shift = subtract = true_divide = vecdot = vecmat = add

@computes
def fix(x, out: Changed) -> ndarray: ...

isneginf = isposinf = fix

@computes
def all(a, axis, out: Changed) -> ndarray: ...

amax = amin = any = argmax = argmin = around = choose = concat = concatenate = dot = max = median = min = all
nanargmax = nanargmin = nanmax = nanmedian = nanmin = outer = ptp = round = stack = all

@computes
def sum(a, axis, dtype, out: Changed) -> ndarray: ...

clip = compress = cumprod = cumsum = mean = nancumprod = nancumsum = nanmean = nanpercentile = nanprod = sum
nanquantile = nanstd = nansum = nanvar = percentile = prod = quantile = std = take = var = sum

@computes
def is_busday(dates, weekmask, holidays, busdaycal, out: Changed) -> ndarray: ...
@computes
def trace(a, offset, axis1, axis2, dtype, out: Changed) -> ndarray: ...

busday_count = trace

@computes
def busday_offset(dates, offsets, roll, weekmask, holidays, busdaycal, out: Changed) -> ndarray: ...
@computes
def einsum(subscripts, *operands, out: Changed) -> ndarray: ...

cumulative_prod = cumulative_sum = linalg.multi_dot = einsum
fft.fft = fft.fft2 = fft.fftn = fft.hfft = fft.ifft = fft.ifft2 = fft.ifftn = fft.ihfft = einsum
fft.irfft = fft.irfft2 = fft.irfftn = fft.rfft = fft.rfft2 = fft.rfftn = einsum
