"""What `typing` makes: the documentation of Python 3.14."""

import builtins
import collections
import io

class IO(io.IOBase): ...
class TextIO(IO): ...
class BinaryIO(IO): ...

ChainMap = collections.ChainMap
Counter = collections.Counter
DefaultDict = collections.defaultdict
Deque = collections.deque
OrderedDict = collections.OrderedDict
Dict = builtins.dict
List = builtins.list
Set = builtins.set

def get_type_hints(obj) -> dict: ...
def get_args(tp) -> tuple: ...
def NamedTuple(typename, fields) -> type: ...

NewType = TypeVar = NamedTuple
