"""Calls of Python's own functions and of its library, on things that are known."""

from __future__ import annotations

import builtins
import itertools
import math
import random
from collections import Counter, OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, cast

from nonstrict.program.rehearsal import layers
from nonstrict.program.rehearsal.containers import copied, number_of, ordered
from nonstrict.program.rehearsal.operations import truth
from nonstrict.program.rehearsal.stage import RaisedError
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Closure,
    Compiled,
    Definition,
    External,
    Instance,
    Method,
    Partial,
    Tensor,
    is_known,
    is_tuple,
    plain_dict,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

#: Functions that give for known things what Python gives.
_COMPUTED: dict[str, Callable[..., Thing]] = {
    **{
        f"builtins.{name}": getattr(builtins, name)
        for name in ("abs", "round", "divmod", "pow", "ord", "chr", "repr", "hash", "bin")
    },
    **{f"builtins.{name}": getattr(builtins, name) for name in ("str", "complex", "range", "slice")},
    **{
        f"math.{name}": getattr(math, name)
        for name in dir(math)
        if not name.startswith("_") and callable(getattr(math, name))
    },
}
#: What a field of a data class is told beside its default.
FIELD = "dataclasses.field"
_SUMMED = frozenset({"sum", "max", "min", "any", "all"})
#: More entries are not made.
_MOST = 1 << 16
_KINDS: dict[str, type | tuple[type, ...]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bool": bool,
    "builtins.list": list,
    "builtins.tuple": tuple,
    "builtins.dict": dict,
    "builtins.set": set,
}


def called(stage: Stage, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """What a call of something of Python gives; `UNKNOWN` for what is not known. Raises RaisedError as Python does."""
    library, _, name = dotted.rpartition(".")
    try:
        if dotted in _COMPUTED and is_known(*given, *named.values()) and not _is_large(given):
            return _COMPUTED[dotted](*given, **named)
        if library == "builtins":
            return _builtin(stage, name, given, named)
        if library == "random":
            return _random(stage, stage.random, name, given)
        if library == "itertools":
            return _itertools(stage, name, given, named)
        return _other(stage, dotted, given, named)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise RaisedError(type(error).__name__) from None


def _is_large(given: Sequence[Thing]) -> bool:
    """Whether a number or text is too large to compute with: factorials, powers."""
    return any(abs(one) > _MOST for one in given if isinstance(one, int)) or any(
        len(one) > _MOST for one in given if isinstance(one, str)
    )


def _entries(stage: Stage, thing: Thing) -> list[Thing] | None:
    found = stage.iterate(thing)
    return list(found) if found is not None else None


# -- builtins -----------------------------------------------------------------------------------------------------


def _builtin(stage: Stage, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if name in _BUILTINS:
        return _BUILTINS[name](stage, given, named)
    if name in _SUMMED:
        return _summed(stage, name, given, named)
    if name in ("list", "tuple", "set", "frozenset"):
        several = _entries(stage, given[0]) if given else []
        return UNKNOWN if several is None else cast("Callable[..., Thing]", getattr(builtins, name))(several)
    if name.endswith(("Error", "Exception")):
        return UNKNOWN
    return UNKNOWN


def _int(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    thing = given[0] if given else 0
    if isinstance(thing, Tensor):
        return int(thing.numbers[0]) if thing.numbers is not None and len(thing.numbers) == 1 else UNKNOWN
    return int(cast("str", thing), *cast("tuple[int]", given[1:])) if is_known(thing) else UNKNOWN


def _float(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    thing = given[0] if given else 0.0
    if isinstance(thing, Tensor):
        return float(thing.numbers[0]) if thing.numbers is not None and len(thing.numbers) == 1 else UNKNOWN
    return float(cast("str", thing)) if is_known(thing) else UNKNOWN


def _bool(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    decided = truth(stage, given[0]) if given else False
    return UNKNOWN if decided is None else decided


def _len(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    thing = given[0]
    if isinstance(thing, Instance) and isinstance(thing.of, Definition):
        return stage.call(stage.member(thing, "__len__"), (), {}, stage.here, stage.nowhere)
    if isinstance(thing, Instance) and layers.is_module(thing):
        return len(layers.entries(thing))
    return number_of(thing)


def _dict(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    held = plain_dict(given[0]) if given else {}
    if held is None:
        pairs = [sequence(one) for one in _entries(stage, given[0]) or ()]
        held = {one[0]: one[1] for one in pairs if one is not None and len(one) == 2}
    return {**held, **named}


def _enumerate(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several, start = stage.iterate(given[0]), given[1] if len(given) > 1 else named.get("start", 0)
    return enumerate(several, start) if several is not None and isinstance(start, int) else UNKNOWN


def _zip(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = [stage.iterate(one) for one in given]
    known = [one for one in several if one is not None]
    return zip(*known, strict=False) if len(known) == len(several) else UNKNOWN


def _map(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = [stage.iterate(one) for one in given[1:]]
    known = [one for one in several if one is not None]
    if len(known) != len(several):
        return UNKNOWN
    return (stage.call(given[0], one, {}, stage.here, stage.nowhere) for one in zip(*known, strict=False))


def _filter(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = _entries(stage, given[1])
    if several is None:
        return UNKNOWN
    kept = [
        (one, stage.call(given[0], (one,), {}, stage.here, stage.nowhere) if given[0] is not None else one)
        for one in several
    ]
    return iter([one for one, answer in kept if truth(stage, answer)])


def _reversed(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = _entries(stage, given[0])
    return iter(several[::-1]) if several is not None else UNKNOWN


def _sorted(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = _entries(stage, given[0])
    return ordered(stage, several, named) if several is not None else UNKNOWN


def _iter(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = stage.iterate(given[0])
    return several if several is not None else UNKNOWN


def _next(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = given[0]
    if isinstance(several, Instance):
        return stage.call(stage.member(several, "__next__"), (), {}, stage.here, stage.nowhere)
    if not hasattr(several, "__next__"):
        return UNKNOWN
    found = next(cast("Iterator[Thing]", several), given[1] if len(given) > 1 else _END)
    if found is _END:
        raise RaisedError("StopIteration")
    return found


def _isinstance(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    thing, asked = given[0], given[1]
    several = [asked] if not is_tuple(asked) else list(asked)
    answers = [_is_of(thing, one) for one in several]
    return True if True in answers else UNKNOWN if None in answers else False


def _is_of(thing: Thing, asked: Thing) -> bool | None:
    if thing is UNKNOWN:
        return None
    if isinstance(asked, Definition):
        return isinstance(thing, Instance) and isinstance(thing.of, Definition) and asked in thing.of.line
    dotted = asked.dotted if isinstance(asked, External) else ""
    if dotted in _KINDS:
        return isinstance(thing, _KINDS[dotted])
    if dotted == "torch.Tensor":
        return isinstance(thing, Tensor)
    if dotted.endswith("Parameter"):
        return isinstance(thing, Tensor) and thing.parameter
    if dotted == "torch.nn.Module":
        return layers.is_module(thing)
    if dotted.startswith(layers.LIBRARY) and isinstance(thing, Instance):
        line = thing.of.line if isinstance(thing.of, Definition) else [thing.of]
        return any(isinstance(one, External) and one.dotted == dotted for one in line)
    return None if dotted and isinstance(thing, (Instance, External)) else False if dotted else None


def _hasattr(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    thing, name = given[0], given[1]
    if isinstance(thing, Instance) and isinstance(name, str) and isinstance(thing.of, Definition):
        if name in thing.attributes or thing.of.member(name) is not UNKNOWN:
            return True
        return stage.member(thing, name) is not UNKNOWN
    return UNKNOWN


def _getattr(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if not isinstance(given[1], str):
        return UNKNOWN
    found = stage.member(given[0], given[1])
    return given[2] if found is UNKNOWN and len(given) > 2 and isinstance(given[0], Instance) else found


def _setattr(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if isinstance(given[1], str):
        stage.keep(given[0], given[1], given[2])
    return None


def _type(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return given[0].of if len(given) == 1 and isinstance(given[0], Instance) else UNKNOWN


def _callable(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if isinstance(given[0], (Closure, Method, Compiled, Partial, Definition)):
        return True
    return False if is_known(given[0]) else UNKNOWN


def _id(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return id(given[0]) if given[0] is not UNKNOWN else UNKNOWN


def _print(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return None


_END = object()
_BUILTINS: dict[str, Callable[[Stage, Sequence[Thing], dict[str, Thing]], Thing]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "len": _len,
    "dict": _dict,
    "enumerate": _enumerate,
    "zip": _zip,
    "map": _map,
    "filter": _filter,
    "reversed": _reversed,
    "sorted": _sorted,
    "iter": _iter,
    "next": _next,
    "isinstance": _isinstance,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "setattr": _setattr,
    "type": _type,
    "callable": _callable,
    "id": _id,
    "print": _print,
}


def _summed(stage: Stage, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = _entries(stage, given[0]) if len(given) == 1 or name == "sum" else list(given)
    if several is None:
        return UNKNOWN
    if name in ("any", "all"):
        answers = [truth(stage, one) for one in several]
        decides = name == "any"
        return decides if decides in answers else UNKNOWN if None in answers else not decides
    if name == "sum" and any(isinstance(one, Tensor) for one in several):
        return next(one for one in several if isinstance(one, Tensor))
    if not several and "default" in named:
        return named["default"]
    if not is_known(*several):
        return UNKNOWN
    if name == "sum":
        return sum(cast("list[float]", several), cast("float", given[1] if len(given) > 1 else 0))
    chosen = ordered(stage, several, {"key": named.get("key")})
    return chosen[0 if name == "min" else -1]


# -- the library --------------------------------------------------------------------------------------------------

_DRAWS = frozenset(
    {"random", "randint", "randrange", "uniform", "choice", "choices", "sample", "shuffle", "gauss", "seed"}
    | {"normalvariate", "expovariate", "betavariate", "triangular", "getrandbits"}
)


def _random(stage: Stage, generator: random.Random, name: str, given: Sequence[Thing]) -> Thing:
    if name == "Random":
        made = Instance(External("random.Random"))
        made.attributes["generator"] = random.Random(*cast("tuple[int]", given)) if is_known(*given) else UNKNOWN  # noqa: S311
        return made
    return draw(generator, name, given)


def draw(generator: Thing, name: str, given: Sequence[Thing]) -> Thing:
    """What a method of a generator draws, as Python would with the same seed."""
    if name not in _DRAWS or not isinstance(generator, random.Random):
        return UNKNOWN
    if name in ("choice", "choices", "sample", "shuffle") and sequence(given[0]) is None:
        return UNKNOWN
    if name in ("choices", "sample", "getrandbits") and _is_large(given[name != "getrandbits" :]):
        return UNKNOWN
    if not is_known(*given[1:]) or (name not in ("choice", "choices", "sample", "shuffle") and not is_known(*given)):
        return UNKNOWN
    return cast("Callable[..., Thing]", getattr(generator, name))(*given)


def _itertools(stage: Stage, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if name == "count":
        return itertools.count(*cast("tuple[int]", given)) if is_known(*given) else UNKNOWN
    if name == "repeat":
        return itertools.repeat(*cast("tuple[Thing, int]", tuple(given)))
    iterated = given if name in ("chain", "product") else given[:1]
    several = [stage.iterate(one) for one in iterated]
    known = [one for one in several if one is not None]
    if len(known) != len(several) or name not in _ITERATES:
        return UNKNOWN
    return cast("Callable[..., Thing]", getattr(itertools, name))(*known, *given[len(iterated) :], **named)


_ITERATES = frozenset(
    {"chain", "product", "cycle", "islice", "combinations", "permutations", "pairwise", "accumulate", "batched"}
)


def _other(stage: Stage, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if dotted == FIELD:
        return Partial(External(FIELD), (), dict(named))
    if dotted == "functools.partial" and given:
        return Partial(given[0], tuple(given[1:]), dict(named))
    if dotted in ("copy.deepcopy", "copy.copy") and given:
        return copied(given[0], depth=12 if dotted == "copy.deepcopy" else 1)
    if dotted == "collections.deque":
        several = _entries(stage, given[0]) if given else []
        most = named.get("maxlen", given[1] if len(given) > 1 else None)
        return deque(several, most) if several is not None and (most is None or isinstance(most, int)) else UNKNOWN
    if dotted == "collections.defaultdict":
        factory = given[0] if given else None
        return defaultdict(
            lambda: stage.call(factory, (), {}, stage.here, stage.nowhere),
            plain_dict(given[1]) or {} if len(given) > 1 else {},
        )
    if dotted == "collections.OrderedDict":
        return OrderedDict(cast("dict[Thing, Thing]", _dict(stage, given, named)))
    if dotted == "collections.Counter":
        several = _entries(stage, given[0]) if given else []
        return Counter(several) if several is not None and is_known(*several) else UNKNOWN
    if dotted.startswith("operator.") and len(given) == 2 and is_known(*given):
        import operator as signs

        function = getattr(signs, dotted.rpartition(".")[2], None)
        return function(*given) if callable(function) else UNKNOWN
    return UNKNOWN
