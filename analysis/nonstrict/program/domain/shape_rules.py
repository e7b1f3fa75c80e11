"""Which shapes the results of torch's operators have, told from the shapes of what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard, cast

from nonstrict.program.domain.shape_terms import ImpossibleError, Size, Symbol, Term, World, product, term

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.knowledge.operators import Operator


class Tensor(NamedTuple):
    """A tensor; a size that is not known is None, as are `dims` where their number is not."""

    dims: tuple[Size | None, ...] | None


#: A tensor, a size, a sequence of values; None for what is not known.
Value: TypeAlias = "Tensor | Size | list[Any] | str | None"
UNKNOWN = Tensor(None)


class Given(NamedTuple):
    """What an operator is given: its operand first."""

    world: World
    values: Sequence[Value]
    named: dict[str, Value]

    def at(self, index: int, *names: str, default: Value = None) -> Value:
        """An argument by position or by one of its names."""
        for name in names:
            if name in self.named:
                return self.named[name]
        return self.values[index] if index < len(self.values) else default

    def has(self, index: int, *names: str) -> bool:
        """Whether an argument is given."""
        return index < len(self.values) or any(name in self.named for name in names)

    @property
    def first(self) -> tuple[Size | None, ...] | None:
        """The shape of the operand."""
        return self.shape(0)

    def shape(self, index: int, *names: str) -> tuple[Size | None, ...] | None:
        """The shape of an argument."""
        value = self.at(index, *names)
        return value.dims if isinstance(value, Tensor) else None

    def rest(self, index: int, *names: str) -> list[Any] | None:
        """Several arguments, or one that holds them: `view(2, 3)`, `view((2, 3))`, `permute(dims=…)`."""
        value = self.at(index, *names)
        if isinstance(value, list):
            return value
        return list(self.values[index:]) if value is not None else None


def is_size(value: Any) -> TypeGuard[Size]:
    """Whether a value is a size."""
    return isinstance(value, (int, Symbol, Term))


def items(value: Any) -> list[Any] | None:
    """The values of a sequence; None for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def broadcast(world: World, shapes: Sequence[tuple[Size | None, ...] | None]) -> Tensor:
    """The shape to which several are broadcast."""
    known = [shape for shape in shapes if shape is not None]
    if not known or len(known) != len(shapes):
        return UNKNOWN
    result: list[Size | None] = []
    for back in range(1, max(map(len, known)) + 1):
        sizes = [shape[-back] for shape in known if len(shape) >= back]
        result.append(_common(world, sizes))
    return Tensor(tuple(reversed(result)))


def _common(world: World, sizes: list[Size | None]) -> Size | None:
    wide = [size for size in sizes if size != 1]
    if None in wide:
        return None
    for size in wide[1:]:
        world.equate(wide[0], size)
    return wide[0] if wide else 1


def dimension(value: Value, rank: int) -> int | None:
    """The dimension that a number means; raises `ImpossibleError` where there is none."""
    if not isinstance(value, int):
        return None
    if not -rank <= value < rank:
        raise ImpossibleError
    return value % rank


def _dimensions(value: Value, rank: int) -> list[int] | None:
    found = [dimension(one, rank) for one in (value if isinstance(value, list) else [value])]
    return [one for one in found if one is not None] if None not in found else None


def reduced(given: Given, operator: Operator) -> Tensor:
    """What is left of a tensor along whose dimensions something is computed."""
    shape, along = given.first, given.at(operator.dim, "dim", "axis")
    if not given.has(operator.dim, "dim", "axis"):
        return Tensor(())
    keep = operator.keeping(given.values, given.named, default=0)
    if shape is None or along is None or isinstance(along, bool) or not isinstance(keep, int):
        return UNKNOWN  # `x.std(False)` says nothing of a dimension
    if not shape:
        raise ImpossibleError
    gone = _dimensions(along, len(shape))
    if gone is None:
        return UNKNOWN
    return Tensor(tuple(1 if at in gone else one for at, one in enumerate(shape) if keep or at not in gone))


def matmul(given: Given) -> Tensor:
    """The product of two matrices, vectors, or batches of them."""
    left, right = given.first, given.shape(1, "other", "mat2", "vec")
    if left is None or right is None:
        return UNKNOWN
    if not left or not right:
        raise ImpossibleError
    given.world.equate(left[-1], (right[-2:-1] or right)[-1])
    batch = broadcast(given.world, [left[:-2], right[:-2]]).dims
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    return UNKNOWN if batch is None else Tensor((*batch, *rows, *columns))


def ranked(*ranks: int) -> Callable[[Given], Tensor]:
    """A product of tensors of these numbers of dimensions only."""

    def rule(given: Given) -> Tensor:
        shapes = given.first, given.shape(1, "mat2", "vec", "other", "vec2")
        for shape, rank in zip(shapes, ranks, strict=True):
            if shape is not None and len(shape) != rank:
                raise ImpossibleError
        return matmul(given)

    return rule


def linear(given: Given) -> Tensor:
    """`F.linear`."""
    shape, weight = given.first, given.shape(1, "weight")
    if shape is None or weight is None:
        return UNKNOWN
    if not shape or len(weight) not in (1, 2):
        raise ImpossibleError
    given.world.equate(shape[-1], weight[-1])
    return Tensor((*shape[:-1], *weight[:-1]))


def joined(given: Given) -> Tensor:
    """`torch.cat`."""
    parts = given.at(0, "tensors")
    shapes = [part.dims if isinstance(part, Tensor) else None for part in parts] if isinstance(parts, list) else []
    known = [shape for shape in shapes if shape is not None]
    if not shapes or len(known) < len(shapes):
        return UNKNOWN
    if any(len(shape) != len(known[0]) for shape in known) or not known[0]:
        raise ImpossibleError
    along = dimension(given.at(1, "dim", "axis", default=0), len(known[0]))
    if along is None:
        return Tensor((None,) * len(known[0]))
    result: list[Size | None] = []
    for at, sizes in enumerate(zip(*known, strict=True)):
        if at == along:
            result.append(_sum(sizes))
            continue
        for size in sizes[1:]:
            given.world.equate(sizes[0], size)
        result.append(sizes[0])
    return Tensor(tuple(result))


def _sum(sizes: Sequence[Size | None]) -> Size | None:
    total: Size | None = 0
    for size in sizes:
        total = term("Add", total, size)
    return total


def stacked(given: Given) -> Tensor:
    """`torch.stack`."""
    parts = given.at(0, "tensors")
    shapes = [part.dims if isinstance(part, Tensor) else None for part in parts] if isinstance(parts, list) else []
    known = [shape for shape in shapes if shape is not None]
    if not shapes or len(known) < len(shapes):
        return UNKNOWN
    for shape in known[1:]:
        if len(shape) != len(known[0]):
            raise ImpossibleError
        for left, right in zip(known[0], shape, strict=True):
            given.world.equate(left, right)
    at = dimension(given.at(1, "dim", default=0), len(known[0]) + 1)
    return UNKNOWN if at is None else Tensor((*known[0][:at], len(known), *known[0][at:]))


def reshaped(given: Given) -> Tensor:
    """`view` and `reshape`."""
    sizes = given.rest(1, "shape", "size")
    if sizes is None:
        return UNKNOWN
    if len(sizes) == 1 and isinstance(sizes[0], str):
        return Tensor(given.first)
    total = product(given.first) if given.first is not None else None
    if sizes.count(-1) > 1:
        raise ImpossibleError
    others = product(_size(size) for size in sizes if size != -1)
    if -1 not in sizes:
        given.world.equate(total, others)
    else:
        given.world.equate(term("Mod", total, others), 0)
    rest = term("FloorDiv", total, others)
    return Tensor(tuple(rest if size == -1 else _size(size) for size in sizes))


def _size(value: Any) -> Size | None:
    return value if is_size(value) else None


def flattened(given: Given) -> Tensor:
    """`flatten` and `ravel`."""
    shape = given.first
    if shape is None:
        return UNKNOWN
    if not shape:
        return Tensor((1,))
    start = dimension(given.at(1, "start_dim", default=0), len(shape))
    end = dimension(given.at(2, "end_dim", default=-1), len(shape))
    if start is None or end is None:
        return UNKNOWN
    if end < start:
        raise ImpossibleError
    return Tensor((*shape[:start], product(shape[start : end + 1]), *shape[end + 1 :]))


def unsqueezed(given: Given) -> Tensor:
    """`unsqueeze`."""
    shape = given.first
    at = dimension(given.at(1, "dim"), len(shape) + 1) if shape is not None else None
    return UNKNOWN if shape is None or at is None else Tensor((*shape[:at], 1, *shape[at:]))


def transposed(given: Given) -> Tensor:
    """`transpose`, `t` and `mT`."""
    shape = given.first
    if shape is None:
        return UNKNOWN
    one = dimension(given.at(1, "dim0"), len(shape))
    other = dimension(given.at(2, "dim1"), len(shape))
    if one is None or other is None:
        return Tensor((None,) * len(shape))
    order = list(shape)
    order[one], order[other] = order[other], order[one]
    return Tensor(tuple(order))


def matrix_transposed(given: Given) -> Tensor:
    """`t()`, of at most two dimensions."""
    if given.first is not None and len(given.first) > 2:
        raise ImpossibleError
    return Tensor(given.first[::-1] if given.first is not None else None)


def permuted(given: Given) -> Tensor:
    """`permute`."""
    shape, order = given.first, given.rest(1, "dims")
    if shape is None or order is None:
        return UNKNOWN
    if len(order) != len(shape):
        raise ImpossibleError
    places = _dimensions(order, len(shape))
    return UNKNOWN if places is None else Tensor(tuple(shape[place] for place in places))


def repeated(given: Given) -> Tensor:
    """`repeat`."""
    shape, times = given.first, given.rest(1, "repeats", "repeat_times")
    if shape is None or times is None:
        return UNKNOWN
    if len(times) < len(shape):
        raise ImpossibleError
    padded = (1,) * (len(times) - len(shape)) + shape
    return Tensor(tuple(term("Mult", size, _size(count)) for size, count in zip(padded, times, strict=True)))


def expanded(given: Given) -> Tensor:
    """`expand`."""
    shape, sizes = given.first, given.rest(1, "size")
    if shape is None or sizes is None:
        return UNKNOWN
    if len(sizes) < len(shape):
        raise ImpossibleError
    padded = (1,) * (len(sizes) - len(shape)) + shape
    return Tensor(tuple(old if new == -1 else _size(new) for old, new in zip(padded, sizes, strict=True)))


def repeated_each(given: Given) -> Tensor:
    """`repeat_interleave` by a number."""
    shape, times = given.first, given.at(1, "repeats")
    if shape is None or isinstance(times, Tensor):
        return UNKNOWN
    along = given.at(2, "dim")
    if not given.has(2, "dim"):
        return Tensor((term("Mult", product(shape), _size(times)),))
    at = dimension(along, len(shape))
    return UNKNOWN if at is None else Tensor(_with(shape, at, term("Mult", shape[at], _size(times))))


def _with(shape: tuple[Size | None, ...], at: int, size: Size | None) -> tuple[Size | None, ...]:
    return (*shape[:at], size, *shape[at + 1 :])


def one_size(places: tuple[int, int], *names: str) -> Callable[[Given], Tensor]:
    """An operator that gives one dimension the size it is told; `places` are those of the dimension and the size."""

    def rule(given: Given) -> Tensor:
        shape = given.first
        at = dimension(given.at(places[0], "dim", default=-1), len(shape)) if shape is not None else None
        if shape is None or at is None:
            return UNKNOWN if shape is None else Tensor((None,) * len(shape))
        return Tensor(_with(shape, at, _size(given.at(places[1], *names))))

    return rule


def selected(given: Given) -> Tensor:
    """`select`."""
    shape = given.first
    at = dimension(given.at(1, "dim"), len(shape)) if shape is not None else None
    return UNKNOWN if shape is None or at is None else Tensor((*shape[:at], *shape[at + 1 :]))


def indexed(given: Given) -> Tensor:
    """`index_select`."""
    shape, index = given.first, given.shape(2, "index")
    at = dimension(given.at(1, "dim"), len(shape)) if shape is not None else None
    if shape is None or at is None or index is None or len(index) > 1:
        return UNKNOWN
    return Tensor(_with(shape, at, index[0] if index else 1))


def windows(given: Given) -> Tensor:
    """`Tensor.unfold`."""
    shape, size, step = given.first, _size(given.at(2, "size")), _size(given.at(3, "step"))
    at = dimension(given.at(1, "dimension"), len(shape)) if shape is not None else None
    if shape is None or at is None:
        return UNKNOWN
    count = term("Add", term("FloorDiv", term("Sub", shape[at], size), step), 1)
    return Tensor((*_with(shape, at, count), size))


def distances(given: Given) -> Tensor:
    """`torch.cdist`."""
    left, right = given.first, given.shape(1, "x2")
    if left is None or right is None:
        return UNKNOWN
    if min(len(left), len(right)) < 2:
        raise ImpossibleError
    given.world.equate(left[-1], right[-1])
    batch = broadcast(given.world, [left[:-2], right[:-2]]).dims
    return UNKNOWN if batch is None else Tensor((*batch, left[-2], right[-2]))


def outer(given: Given) -> Tensor:
    """`torch.outer`."""
    left, right = given.first, given.shape(1, "vec2")
    if left is None or right is None:
        return UNKNOWN
    if len(left) != 1 or len(right) != 1:
        raise ImpossibleError
    return Tensor((*left, *right))


def padded(given: Given) -> Tensor:
    """`F.pad`."""
    shape, amounts = given.first, given.at(1, "pad")
    if shape is None or not isinstance(amounts, list):
        return UNKNOWN
    if len(amounts) > 2 * len(shape) or len(amounts) % 2:
        raise ImpossibleError
    result = list(shape)
    for at in range(len(amounts) // 2):
        more = term("Add", _size(amounts[2 * at]), _size(amounts[2 * at + 1]))
        result[-1 - at] = term("Add", result[-1 - at], more)
    return Tensor(tuple(result))


def convolved(count: int) -> Callable[[Given], Tensor]:
    """`F.conv1d`, `F.conv2d`, `F.conv3d`."""

    def rule(given: Given) -> Tensor:
        shape, weight = given.first, given.shape(1, "weight")
        if shape is None or weight is None:
            return UNKNOWN
        if len(weight) != count + 2 or len(shape) not in (count + 1, count + 2):
            raise ImpossibleError
        settings = [given.at(3, "stride", default=1), given.at(4, "padding", default=0)]
        settings.append(given.at(5, "dilation", default=1))
        lengths = _slid(shape[-count:], weight[2:], settings)
        return Tensor((*shape[: -count - 1], weight[0], *lengths))

    return rule


def pooled(count: int) -> Callable[[Given], Tensor]:
    """`F.max_pool1d`, `F.avg_pool2d` and their like."""

    def rule(given: Given) -> Tensor:
        shape, kernel = given.first, given.at(1, "kernel_size")
        if shape is None or given.at(5, "ceil_mode", default=0) != 0 or given.has(4, "dilation"):
            return UNKNOWN
        if len(shape) not in (count + 1, count + 2):
            raise ImpossibleError
        settings = [given.at(2, "stride", default=kernel), given.at(3, "padding", default=0), 1]
        each = kernel if isinstance(kernel, list) else [kernel] * count
        return Tensor((*shape[:-count], *_slid(shape[-count:], [_size(one) for one in each], settings)))

    return rule


def _slid(
    lengths: Sequence[Size | None], kernel: Sequence[Size | None], settings: Sequence[Value]
) -> list[Size | None]:
    """How often a kernel fits, dimension by dimension; `settings` are stride, padding and dilation."""
    each = [one if isinstance(one, list) else [one] * len(lengths) for one in settings]
    if any(len(one) != len(lengths) for one in (*each, kernel)):
        return [None] * len(lengths)
    found: list[Size | None] = []
    for length, size, stride, padding, dilation in zip(lengths, kernel, *each, strict=True):
        reach = term("Add", term("Mult", _size(dilation), term("Sub", size, 1)), 1)
        room = term("Sub", term("Add", length, term("Mult", 2, _size(padding))), reach)
        found.append(term("Add", term("FloorDiv", room, _size(stride)), 1))
    return found


def adaptive(count: int) -> Callable[[Given], Tensor]:
    """`F.adaptive_avg_pool2d` and their like."""

    def rule(given: Given) -> Tensor:
        shape, size = given.first, given.at(1, "output_size")
        if shape is None:
            return UNKNOWN
        if len(shape) not in (count + 1, count + 2):
            raise ImpossibleError
        sizes = size if isinstance(size, list) else [size] * count
        kept = zip(shape[-count:], sizes, strict=True) if len(sizes) == count else ()
        return Tensor((*shape[:-count], *(_size(one) for _, one in kept))) if len(sizes) == count else UNKNOWN

    return rule


def looked_up(given: Given) -> Tensor:
    """`F.embedding`."""
    shape, weight = given.first, given.shape(1, "weight")
    if shape is None or weight is None:
        return UNKNOWN
    if len(weight) != 2:
        raise ImpossibleError
    return Tensor((*shape, weight[1]))


def attended(given: Given) -> Tensor:
    """`F.scaled_dot_product_attention`: as long as the query, as wide as the value."""
    query, value = given.first, given.shape(2, "value")
    return UNKNOWN if not query or not value else Tensor((*query[:-1], value[-1]))


def reduced_loss(given: Given) -> Tensor:
    """`F.mse_loss` and its like: one number, unless they are told not to reduce."""
    return Tensor(()) if given.at(len(given.values), "reduction", default="mean") in ("mean", "sum") else UNKNOWN


def encoded(given: Given) -> Tensor:
    """`F.one_hot` with a number of classes."""
    count = _size(given.at(1, "num_classes"))
    return UNKNOWN if given.first is None or count == -1 else Tensor((*given.first, count))


def like(at: int, *names: str) -> Callable[[Given], Tensor]:
    """An operator whose result has the shape of one argument."""
    return lambda given: Tensor(given.shape(at, *names))
