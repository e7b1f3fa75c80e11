"""Loading subscripts: entries of containers, parts of tensors, members of enumerations."""

from __future__ import annotations

import ast
import functools
import itertools
from typing import TYPE_CHECKING, Any

from nonstrict.events import Event, Taken
from nonstrict.facts.steps import member_of
from nonstrict.program.domain import symbols
from nonstrict.program.domain.access_paths import FRESH, VIEW, Root
from nonstrict.program.domain.effects import Sight
from nonstrict.program.domain.values import (
    GLOBALS,
    NO_CONSTANT,
    STRING,
    TENSORS,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    join,
    placed,
    relocated,
)
from nonstrict.program.objects import (
    attributes,
    classes,
    known_tensors,
    namespaces,
    releases,
    symbolic_sizes,
    symbolic_slices,
)

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

_SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE})
_LAYERS = frozenset({"ModuleList", "Sequential"})


def subscript(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    """The value of `base[index]`."""
    if base.kind is Kind.UNION:
        found: Value | None = None
        for alternative in base.alternatives():
            if alternative.kind is not Kind.NONE:
                found = join(found, subscript(frame, node, alternative, index))
        return found or UNKNOWN
    if base.kind in TENSORS:
        return _indexed_tensor(frame, node, base, index)
    if base.kind in (Kind.SIZE, Kind.NUMPY):
        return _indexed_plainly(frame, node, base, index)
    special = classes.special(frame, node, base, "__getitem__", [index])
    if special is not None:
        return special
    if (member := member_of(node)) is not None:
        made = ast.copy_location(ast.Attribute(member[0], member[1], ast.Load()), node)
        return attributes.load(frame, made, frame.machine.evaluate(frame, member[0]), member[1])
    if base.kind in (Kind.CLASS, Kind.EXTERNAL):
        return _of_type(frame, node, base, index)
    if base.function is not None and "triton" in base.function.traits:
        return base._replace(flags=base.flags | Flag.NATIVE)
    if base.dotted == GLOBALS and isinstance(index.const, str):
        return frame.machine.global_value(frame.module, index.const)
    if base.heap is not None:
        return releases.entry(node, base, index) or _element_at(frame, node, base, index)
    return _of_something(frame, node, base, index)


def _of_something(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    """An entry of what is not a container that is known, but may be the dict that holds the attributes of an object."""
    owner = namespaces.holder(base) if base.dotted != GLOBALS else None
    if owner is not None:
        return attributes.entry_of(frame, node, owner, index)
    return UNKNOWN.at(base.place.step("[]")).with_taint(base.taint | index.taint)


def _indexed_plainly(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    """An entry of a size or of a NumPy array."""
    if base.kind is Kind.NUMPY:
        return Value(Kind.NUMPY, base.place.step("[]"), taint=base.taint | index.taint)
    kind = Kind.SIZE if isinstance(node.slice, ast.Slice) else Kind.NUMBER
    bound = node.slice.lower if isinstance(node.slice, ast.Slice) else None
    first = index if bound is None else frame.machine.evaluate(frame, bound)
    if frame.region:
        taint = frozenset[object]() if later_dimension(frame, first) else base.taint
    else:
        taint = base.taint if kind is Kind.SIZE else symbolic_sizes.dimension(base.taint, index)
    part = Value(kind, flags=(base.flags & Flag.SHAPE) | Flag.WHOLE, taint=taint)
    dimension = index.const if isinstance(index.const, int) else None
    return part if kind is Kind.SIZE else frame.observer.size_taken(frame, base, part, dimension)


def _of_type(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    """A member of an enumeration, a generic type with its argument, an environment variable."""
    if base.kind is Kind.EXTERNAL and base.dotted == "os.environ":
        frame.emit(Event.AMBIENT, node, value=index, what="reads the environment")
        return STRING
    if base.kind is Kind.EXTERNAL and base.dotted == "sys.modules":
        return _imported(frame, node, index)
    of_enum = base.kind is Kind.CLASS and base.of_class is not None and classes.is_enum(base.of_class)
    return Value(Kind.SETTING, FRESH, base.ref) if of_enum else base


def _imported(frame: Frame, node: ast.Subscript, index: Value) -> Value:
    """An entry of `sys.modules`: the module itself under `__name__`, one of the project under its name."""
    own = isinstance(node.slice, ast.Name) and node.slice.id == "__name__" and "__name__" not in frame.module.bindings
    name = frame.module.name if own else index.const
    known = isinstance(name, str) and name and frame.machine.project.find(name, frame.module) is not None
    return Value(Kind.PYTHON_MODULE, FRESH, name) if known else UNKNOWN


def later_dimension(frame: Frame, index: Value) -> bool:
    """Whether a dimension is not the first: of what selects elements, only the size of that one depends on data.

    In a region, where such a size accuses who decides on it, one that is counted from the end is taken for another.
    """
    return isinstance(index.const, int) and (index.const > 0 or (frame.region and index.const < 0))


def _element_at(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    heap = base.heap
    if heap is None:
        return UNKNOWN
    index = frame.observer.selected(frame, node, base, index)
    if isinstance(node.slice, ast.Slice) and (base.kind in _SEQUENCES or _is_layers(base)):
        return sliced(base, node.slice)
    if index.kind is Kind.SETTING and base.kind in _SEQUENCES:
        return copied(base)
    if index.is_tensor and base.kind in _SEQUENCES and not index.flags & Flag.LITERAL and not frame.region:
        frame.emit(Event.ESCAPE, node, index.place, index, "using a tensor as a Python integer")
    found = heap.load(index.const)
    step = f"[{index.const!r}]" if index.const is not NO_CONSTANT else "[]"
    if base.place.root is Root.GLOBAL and not base.place.path and (found is None or found.kind is Kind.MARKED):
        stored = frame.machine.mutations.stored_in(base.place, step)
        found = found if stored is None else join(found, stored)
    found = heap.missing if found is None else found
    return UNKNOWN.at(base.place.step(step)) if found is None else entry(frame, base, index.const, found)


def entry(frame: Frame, base: Value, key: object, found: Value) -> Value:
    """What a container holds under a key, as it is reached through the container."""
    if base.place.root in (Root.FRESH, Root.UNKNOWN):
        found = found.with_taint(found.taint | base.taint)
        return found if frame.region else found.with_taint(symbols.entry(found, base, key))
    place = base.place.step(f"[{key!r}]" if key is not NO_CONSTANT else "[]")
    outside = any(one.kind in (Kind.EXTERNAL, Kind.CLASS) for one in found.alternatives())
    if outside and place.root is Root.GLOBAL and frame.machine.mutations.is_replaced(place):
        return placed(found, place)
    return attributes.held(base, relocated(found, place))


def copied(base: Value) -> Value:
    """A new container with the elements of another."""
    made = AbstractObject()
    if base.heap is not None:
        made.items, made.loose = dict(base.heap.items), base.heap.loose
        made.element, made.unsure, made.missing = base.heap.element, base.heap.unsure, base.heap.missing
        if made.element is not None and base.place.root is not Root.FRESH:
            made.element = relocated(made.element, base.place.step("[]"))
            made.items = {key: relocated(item, base.place.step(f"[{key!r}]")) for key, item in made.items.items()}
    return Value(base.kind, FRESH, heap=made, taint=base.taint)


def sliced(base: Value, bounds: ast.Slice) -> Value:
    """A part of a sequence: with its entries where they are known one by one, else any of them anywhere."""
    part = copied(base) if base.kind in _SEQUENCES else base._replace(heap=_same(base.heap))
    if part.heap is None:
        return part
    entries = part.heap.items
    known = part.heap.loose is None and not part.heap.unsure and list(entries) == list(range(len(entries)))
    limits = [_number(bound) for bound in (bounds.lower, bounds.upper, bounds.step)]
    part.heap.items = {}
    if known and entries and NO_CONSTANT not in limits and limits[2] != 0:
        part.heap.items = dict(enumerate(list(entries.values())[slice(*limits)]))
        part.heap.element = functools.reduce(join, part.heap.items.values(), None)
    return part


def _same(heap: AbstractObject | None) -> AbstractObject | None:
    """What holds the same entries."""
    if heap is None:
        return None
    made = AbstractObject()
    made.items, made.loose, made.element, made.unsure = dict(heap.items), heap.loose, heap.element, heap.unsure
    return made


def _is_layers(base: Value) -> bool:
    """Whether a value is a sequence of layers, parts of which are such sequences."""
    return base.kind is Kind.MODULE and isinstance(base.ref, str) and base.ref.rpartition(".")[2] in _LAYERS


def _number(bound: ast.expr | None) -> Any:
    """The number that bounds a slice, or None where none is written; `NO_CONSTANT` where it is not known."""
    sign = 1
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        bound, sign = bound.operand, -1
    if bound is None or (isinstance(bound, ast.Constant) and bound.value is None):
        return None
    return sign * bound.value if isinstance(bound, ast.Constant) and isinstance(bound.value, int) else NO_CONSTANT


def _index_at(node: ast.Subscript, position: int) -> ast.expr:
    """The expression of one index of a subscript."""
    return node.slice.elts[position] if isinstance(node.slice, ast.Tuple) else node.slice


def _indexed_tensor(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
    frame.sink(index)
    frame.observer.indexed(frame, node, index)
    taint = base.taint
    parts = [index]
    if index.kind is Kind.TUPLE and index.heap is not None:
        parts = list(index.heap.items.values())
    advanced = False
    known = known_tensors.is_known(base) and not frame.region and _known_indices(node.slice, parts)
    if not frame.region:
        taint = symbolic_slices.selected(frame, node.slice, base, parts)
    for position, part in enumerate(parts):
        along = symbolic_slices.mask_dimension(node.slice, position)
        if part.kind is Kind.NUMBER:
            frame.needed(part, exactly=True)
        if part.kind in TENSORS:
            advanced = True
            frame.sink(part)
            if part.flags & Flag.BOOLEAN and not known:
                made = frame.unbacked(
                    node,
                    base,
                    "boolean-mask indexing",
                    Taken.MASK,
                    of=_index_at(node, position),
                    sight=Sight(along=along),
                )
                taint |= made.taint
            else:
                taint |= part.taint if frame.region else symbolic_slices.by_positions(part, along)
        elif part.kind in (Kind.LIST, Kind.NUMPY, Kind.UNKNOWN, Kind.UNION):
            advanced = True
            frame.sink(part)
    place = FRESH if advanced else base.place.step(VIEW)
    if advanced:
        frame.consume(node.value, base)
    flags = base.flags & Flag.OF_PARTS | (Flag.LITERAL if known else Flag.NONE)
    return Value(Kind.TENSOR, place, flags=flags, taint=taint)


def _known_indices(node: ast.expr, parts: list[Value]) -> bool:
    """Whether torch knows all indices of a subscript, none of which is a list: it makes a tensor of that."""
    written = node.elts if isinstance(node, ast.Tuple) else [node]
    for index, part in itertools.zip_longest(written, parts):
        if isinstance(index, ast.Slice):
            if NO_CONSTANT in (_number(index.lower), _number(index.upper), _number(index.step)):
                return False
        elif (
            part is None
            or part.heap is not None
            or not (known_tensors.is_known(part) or symbolic_slices.is_ellipsis(index))
        ):
            return False
    return True
