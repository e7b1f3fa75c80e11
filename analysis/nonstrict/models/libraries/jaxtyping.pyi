"""What jaxtyping means: `Float[Tensor, "batch width"]` is what stands first in the brackets."""

from typing import Annotated

Float = BFloat16 = Bool = Complex = Complex128 = Complex64 = Float16 = Float32 = Float64 = Inexact = Annotated
Int = Int16 = Int32 = Int4 = Int64 = Int8 = Integer = Key = Num = Real = Shaped = Annotated
UInt = UInt16 = UInt32 = UInt4 = UInt64 = UInt8 = Annotated
