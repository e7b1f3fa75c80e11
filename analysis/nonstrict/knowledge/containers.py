"""What the methods of Python's containers do with what they are given.

By name, the same for lists, dicts, sets and deques: Built-in Types and `collections` in the documentation of Python.
Which of them change which kind of container stands in `effects.MUTATING_METHODS`.
"""

from __future__ import annotations

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
