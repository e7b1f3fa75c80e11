"""What methods of Python's containers, NumPy's arrays and torch's modules do, by name: their models, turned round."""

from __future__ import annotations

from nonstrict.models.library import SHIPPED

#: The classes of containers, by the names that they are called by here.
_CONTAINERS = {
    **{name: f"builtins.{name}" for name in ("list", "dict", "set", "bytearray")},
    **{name: f"collections.{name}" for name in ("deque", "defaultdict", "OrderedDict", "Counter", "ChainMap")},
    "array": "array.array",
}


def _changing(owner: str) -> frozenset[str]:
    return frozenset(name for name, entry in SHIPPED.members(owner).items() if entry.changes_self)


#: By kind of container, the methods that change it.
CHANGING: dict[str, frozenset[str]] = {kind: _changing(owner) for kind, owner in _CONTAINERS.items()}
#: The methods that change any container.
CHANGING_ANY = frozenset[str]().union(*CHANGING.values())
#: Those of the containers that hold anything.
CHANGING_COMMON = frozenset[str]().union(*(CHANGING[kind] for kind in ("list", "dict", "set", "deque")))
#: Methods by which an array of NumPy changes.
CHANGING_ARRAYS = _changing("numpy.ndarray")
#: Methods of `nn.Module`, and of its containers, that return the module itself.
RETURNING_MODULE = frozenset(
    name for name, entry in SHIPPED.members("torch.nn.Module").items() if entry.returns.name == "typing.Self"
)

# The same for lists, dicts, sets and deques: Built-in Types and `collections` in the documentation of Python.

#: Methods that put their last argument into the container.
PUTTING = frozenset({"append", "appendleft", "add", "insert", "setdefault", "__setitem__"})
#: Methods that put in what their argument holds.
SPREADING = frozenset({"extend", "extendleft", "update"})
STORING = PUTTING | SPREADING
#: Methods that take something out.
REMOVING = frozenset({"clear", "discard", "pop", "popitem", "popleft", "remove", "__delitem__"})
#: Methods of dicts that put something in under a key.
PUTTING_BY_KEY = frozenset({"setdefault", "update", "__setitem__"})
#: Methods of dicts whose first argument is a key that is looked up.
LOOKING_UP = frozenset({"get", "pop", "setdefault"})
