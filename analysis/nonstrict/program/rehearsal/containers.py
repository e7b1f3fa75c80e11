"""Methods of texts and containers, as Python has them."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from nonstrict.program.rehearsal.stage import RaisedError
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Instance,
    Tensor,
    is_deque,
    is_known,
    is_list,
    is_set,
    is_tuple,
    plain_dict,
    plain_list,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

#: Methods of Python's containers that need nothing of what they hold but that it is there.
_PLAIN = {
    list: frozenset({"append", "pop", "insert", "clear", "copy", "reverse"}),
    deque: frozenset({"append", "appendleft", "pop", "popleft", "clear", "copy", "rotate"}),
    dict: frozenset({"get", "items", "keys", "values", "pop", "setdefault", "copy", "clear", "popitem"}),
    set: frozenset({"add", "discard", "remove", "pop", "clear", "copy"}),
}
#: The types that stand for each of them.
_KINDS: dict[type, frozenset[type]] = {
    list: frozenset({list}),
    deque: frozenset({deque}),
    set: frozenset({set}),
    dict: frozenset({dict, defaultdict, OrderedDict, Counter}),
}
_OF_SETS = frozenset({"union", "intersection", "difference", "issubset", "issuperset", "isdisjoint"})
_TEXTS = (str, bytes)
#: Longer ones are not changed.
_LONGEST_TEXT = 4096
_CHANGED_TEXTS = frozenset(
    {"encode", "decode", "maketrans", "translate", "expandtabs", "ljust", "rjust", "center", "zfill"}
)


def has(thing: Thing, name: str) -> bool:
    """Whether a name is a method of a text or container."""
    is_plain = issubclass(type(thing), (*_PLAIN, *_TEXTS, tuple, frozenset, int, float))
    return is_plain and callable(getattr(thing, name, None))


def called(stage: Stage, thing: Thing, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """What a method of a text or container gives. Raises RaisedError where Python raises."""
    try:
        return _called(stage, thing, name, given, named)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RaisedError(type(error).__name__) from None


def _called(stage: Stage, thing: Thing, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if isinstance(thing, (*_TEXTS, int, float)):
        return _of_text(stage, thing, name, given, named)
    for kind, plain in _PLAIN.items():
        if type(thing) in _KINDS[kind] and name in plain:
            found = cast("Callable[..., Thing]", getattr(thing, name))(*given)
            return list(cast("Sequence[Thing]", found)) if name in ("items", "keys", "values") else found
    entries, table = plain_list(thing), plain_dict(thing)
    if name in ("extend", "update", "extendleft") and (is_list(thing) or is_deque(thing) or is_set(thing)):
        several = [one for part in given for one in stage.iterate(part) or ()]
        if is_set(thing):
            thing.update(several)
        elif is_list(thing) or is_deque(thing):
            thing.extend(several)
        return None
    if entries is not None and name == "sort":
        entries[:] = ordered(stage, entries, named)
        return None
    if table is not None and name == "update":
        table.update(plain_dict(given[0]) or {} if given else {})
        table.update(named)
        return None
    if name in _OF_SETS and is_known(thing, *given) and hasattr(thing, name):
        return cast("Callable[..., Thing]", getattr(thing, name))(*given)
    if name in ("index", "count", "remove") and (several := sequence(thing)) is not None:
        return _sought(thing, several, name, given)
    return UNKNOWN


def _sought(thing: Thing, several: list[Thing], name: str, given: Sequence[Thing]) -> Thing:
    same = [at for at, one in enumerate(several) if one is given[0] or (is_known(one, given[0]) and one == given[0])]
    if name == "count":
        return len(same)
    if not same:
        raise RaisedError("ValueError")
    if name == "remove" and (entries := plain_list(thing)) is not None:
        del entries[same[0]]
        return None
    return same[0]


def _of_text(stage: Stage, thing: Thing, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if name == "join" and given and (parts := stage.iterate(given[0])) is not None:
        several = list(parts)
        return str(thing).join(map(str, several)) if all(isinstance(one, str) for one in several) else UNKNOWN
    size = sum(len(one) for one in (thing, *given) if isinstance(one, _TEXTS))
    if not is_known(*given, *named.values()) or name in _CHANGED_TEXTS or size > _LONGEST_TEXT:
        return UNKNOWN
    if name == "format" and any(character.isdigit() for character in str(thing)):
        return UNKNOWN  # it may tell a width
    return cast("Callable[..., Thing]", getattr(thing, name))(*given, **named)


def ordered(stage: Stage, several: list[Thing], named: dict[str, Thing]) -> list[Thing]:
    """Things in order, by a key where one is given; as they are where they cannot be compared."""
    key, backwards = named.get("key"), named.get("reverse") is True
    pairs = [
        (stage.call(key, (one,), {}, stage.here, stage.nowhere) if key is not None else one, one) for one in several
    ]
    if not is_known(*(first for first, _ in pairs)):
        return several
    keyed = cast("list[tuple[float, Thing]]", pairs)
    return [one for _, one in sorted(keyed, key=_first, reverse=backwards)]


def _first(pair: tuple[float, Thing]) -> float:
    return pair[0]


def copied(thing: Thing, known: dict[int, Thing] | None = None, depth: int = 12) -> Thing:
    """A deep copy: containers, objects and tensors anew, functions and classes as they are."""
    known = {} if known is None else known
    if id(thing) in known or not depth:
        return known.get(id(thing), thing)
    return _copy(thing, known, depth)


def _copy(thing: Thing, known: dict[int, Thing], depth: int) -> Thing:
    if isinstance(thing, Tensor):
        made: Thing = replace(thing, grad=None)
        known[id(thing)] = made
        return made
    if isinstance(thing, Instance):
        other = Instance(thing.of, {}, thing.compiled)
        known[id(thing)] = other
        other.attributes.update({name: copied(one, known, depth - 1) for name, one in thing.attributes.items()})
        return other
    if (table := plain_dict(thing)) is not None:
        return {key: copied(one, known, depth - 1) for key, one in table.items()}
    several = [copied(one, known, depth - 1) for one in sequence(thing) or ()]
    if is_list(thing):
        return several
    if is_deque(thing):
        return deque(several, thing.maxlen)
    if is_set(thing):
        return set(several)
    return tuple(several) if is_tuple(thing) else thing


def number_of(thing: Thing) -> Thing:
    """What `len` gives."""
    if isinstance(thing, (*_PLAIN, *_TEXTS, tuple, frozenset, range)):
        return len(cast("Sequence[Thing]", thing))
    if isinstance(thing, Tensor):
        return thing.shape[0] if thing.shape else UNKNOWN
    return UNKNOWN
