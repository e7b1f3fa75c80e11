"""Which rule tells the shape of what each operator of torch gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.program.domain import shape_rules as rules
from nonstrict.program.domain.shape_rules import UNKNOWN, Given, Tensor, Value
from nonstrict.program.domain.shape_terms import term

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.knowledge.operators import Operator

#: Those of which the columns do not say that they keep the shape: they are told a dtype, or a shape.
_SAME = frozenset({"type", "layer_norm", "rms_norm"})
_RULES: dict[str, Callable[[Given], Tensor]] = {
    **dict.fromkeys(_SAME, rules.like(0)),
    "matmul": rules.matmul,
    "mm": rules.ranked(2, 2),
    "mv": rules.ranked(2, 1),
    "dot": rules.ranked(1, 1),
    "bmm": rules.ranked(3, 3),
    "linear": rules.linear,
    "cdist": rules.distances,
    "outer": rules.outer,
    **dict.fromkeys(("cat", "concat", "concatenate"), rules.joined),
    "stack": rules.stacked,
    **dict.fromkeys(("view", "reshape"), rules.reshaped),
    **dict.fromkeys(("flatten", "ravel"), rules.flattened),
    "unsqueeze": rules.unsqueezed,
    "t": rules.matrix_transposed,
    "permute": rules.permuted,
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), rules.transposed),
    "repeat": rules.repeated,
    "expand": rules.expanded,
    "repeat_interleave": rules.repeated_each,
    "expand_as": rules.like(1, "other"),
    "view_as": rules.like(1, "other"),
    "reshape_as": rules.like(1, "other"),
    "narrow": rules.one_size((1, 3), "length"),
    "select": rules.selected,
    "index_select": rules.indexed,
    "gather": rules.like(2, "index"),
    "unfold": rules.windows,
    "pad": rules.padded,
    **{f"conv{count}d": rules.convolved(count) for count in (1, 2, 3)},
    **{f"{kind}_pool{count}d": rules.pooled(count) for kind in ("max", "avg") for count in (1, 2, 3)},
    **{f"adaptive_{kind}_pool{count}d": rules.adaptive(count) for kind in ("max", "avg") for count in (1, 2, 3)},
    "embedding": rules.looked_up,
    "scaled_dot_product_attention": rules.attended,
    **dict.fromkeys(("cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"), rules.reduced_loss),
    **dict.fromkeys(("nll_loss", "kl_div", "binary_cross_entropy"), rules.reduced_loss),
    "binary_cross_entropy_with_logits": rules.reduced_loss,
    "one_hot": rules.encoded,
    "bucketize": rules.like(0, "input"),
    "searchsorted": rules.like(1, "input"),
}


def result(name: str, operator: Operator | None, given: Given) -> Value:
    """What an operator gives; None where nothing is known."""
    if "**" in given.named:
        return None
    if "out" in given.named:
        given = given._replace(named={key: value for key, value in given.named.items() if key != "out"})
    rule = _RULES.get(name)
    if rule is not None:
        return rule(given)
    if name == "where":
        return _broadcast(given) if len(given.values) == len(("condition", "input", "other")) else None
    if operator is None or operator.mutates:
        return None
    if operator.pairs:
        return _pair(name, operator, given)
    return _pieces(name, given) if operator.cuts else _one(operator, given)


def _one(operator: Operator, given: Given) -> Value:
    """The only tensor that an operator gives, by what torch says of it."""
    if operator.returns != "tensor":
        return None
    if operator.keeps_shape:
        return Tensor(given.first)
    if operator.dim:
        return rules.reduced(given, operator)
    if operator.reduces and len(given.values) + len(given.named) == 1:
        return Tensor(())
    return _broadcast(given) if operator.pointwise else None


def _pair(name: str, operator: Operator, given: Given) -> Value:
    """Values and their indices, or one tensor without dimensions where no dimension is told."""
    if operator.dim_returns:
        if len(given.values) + len(given.named) == 1:
            return Tensor(())
        reduced = rules.reduced(given, operator)
        return [reduced, reduced] if not isinstance(given.at(1, "other"), Tensor) else _broadcast(given)
    if operator.dim:
        told = given if given.has(operator.dim, "dim") else given._replace(named={**given.named, "dim": -1})
        reduced = rules.reduced(told, operator)
        return [reduced, reduced]
    found = rules.one_size((2, 1), "k")(given) if name == "topk" else Tensor(given.first)
    return [found, found]


def _broadcast(given: Given) -> Tensor:
    values = [*given.values, *given.named.values()]
    if any(value is None for value in values):
        return UNKNOWN
    return rules.broadcast(given.world, [value.dims for value in values if isinstance(value, Tensor)])


def _pieces(name: str, given: Given) -> Any:
    """The pieces that a tensor is cut into, where their number is told."""
    shape = given.first
    along = given.at(1 if name == "unbind" else 2, "dim", default=0)
    at = rules.dimension(along, len(shape)) if shape is not None else None
    if shape is None or at is None:
        return None
    if name == "unbind":
        count = shape[at]
        return [Tensor((*shape[:at], *shape[at + 1 :]))] * count if isinstance(count, int) else None
    number = given.at(1, "chunks", "split_size", "split_size_or_sections", "indices_or_sections")
    if name == "chunk" and isinstance(number, int) and number > 0:
        # Where the dimension cannot be divided, the last piece is smaller.
        given.world.equate(term("Mod", shape[at], number), 0)
        piece = Tensor((*shape[:at], term("FloorDiv", shape[at], number), *shape[at + 1 :]))
        return [piece] * number
    if name == "split" and isinstance(number, list):
        sizes = [one if rules.is_size(one) else None for one in number]
        return [Tensor((*shape[:at], size, *shape[at + 1 :])) for size in sizes]
    return None
