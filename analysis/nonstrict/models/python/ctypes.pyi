"""What `ctypes` does: the documentation of Python 3.14."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@does.native("loads a native library")
def CFUNCTYPE(restype, *argtypes): ...

PYFUNCTYPE = CFUNCTYPE

@does.pointer("makes a pointer")
def POINTER(cls): ...

byref = cast = pointer = POINTER

@does.pointer("makes a pointer")
def addressof(*args) -> int: ...
@does.pointer("writes through a pointer")
def memmove(*args): ...

memset = memmove

def sizeof(*args) -> int: ...
@does.pointer("makes a pointer")
def string_at(ptr, size) -> bytes: ...

@does.native("loads a native library")
class CDLL: ...

@does.native("loads a native library")
class LibraryLoader: ...

@does.native("loads a native library")
class OleDLL: ...

@does.native("loads a native library")
class PyDLL: ...

@does.native("loads a native library")
class WinDLL: ...

@does.pointer("makes a pointer")
class c_void_p: ...

@submodule
class cdll:
    @does.native("loads a native library")
    def LoadLibrary(name): ...

@submodule
class pydll:
    @does.native("loads a native library")
    def LoadLibrary(name): ...

@submodule
class util:
    @does.native("loads a native library")
    def find_library(name): ...

@submodule
class windll:
    @does.native("loads a native library")
    class LoadLibrary: ...
