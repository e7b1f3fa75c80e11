"""The batches of a `DataLoader` that differ in size.

The last one is smaller where the size of batches does not divide what there is; each is as long as its longest sample
where samples are padded.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.reaching import source
from nonstrict.facts.shapes import shape
from nonstrict.facts.walk import own_scope
from nonstrict.program.discovery import callers
from nonstrict.program.domain.definitions import Function
from nonstrict.program.interpret.loop_targets import loops_giving, position_of
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.state.frames import Frame

_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
_TENSORS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
_PADDING, _LONGEST = frozenset({"torch.nn.utils.rnn.pad_sequence"}), "builtins.max"
#: What else says what a batch is.
_OTHERWISE = frozenset({"batch_sampler", "sampler", "collate_fn"})
#: How many callers up a loader is looked for.
_HOPS = 3


def has_smaller_last(frame: Frame, call: ast.AST, expression: ast.expr) -> bool:
    """Whether a call passes what a loop over a loader gives it, of which the last one is known to be smaller."""
    return any(_leaves_rest(frame, loop.iterable) for loop in loops_giving(frame, call, expression))


def is_padded(frame: Frame, call: ast.AST, expression: ast.expr) -> bool:
    """Whether a call passes what a loop over a loader gives it, which pads each batch to the longest in it."""
    if not isinstance(expression, ast.Name):
        return False
    for loop in loops_giving(frame, call, expression):
        position = position_of(loop, expression)
        found = _loader(frame, loop.iterable)
        collating = found.told.get("collate_fn") if found is not None else None
        function = found.frame.machine.evaluate(found.frame, collating).function if found and collating else None
        if found is not None and isinstance(function, Function) and _pads(found.frame, function, position):
            return True
    return False


def _pads(frame: Frame, function: Function, position: tuple[int, int] | None) -> bool:
    """Whether what a function returns, or a part of it, is as long as the longest of what it is given."""
    given = [one.value for one in own_scope(function.node) if isinstance(one, ast.Return)]
    whole = source(function.node, given[0]) if len(given) == 1 and given[0] is not None else None
    if position is not None:
        parts = whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else []
        whole = source(function.node, parts[position[0]]) if len(parts) == position[1] else None
    names = naming.names_in(frame.machine, function)
    if isinstance(whole, ast.Call) and names(whole.func) in _PADDING:
        return True
    sizes = shape(names, function.node, whole) if whole is not None else None
    longest = [source(function.node, one) for one in sizes or ()]
    return any(isinstance(one, ast.Call) and names(one.func) == _LONGEST for one in longest)


class _Loader(NamedTuple):
    """A loader as a text makes it, and what it is told."""

    frame: Frame
    told: dict[str, ast.expr]


def _loader(frame: Frame, iterable: ast.expr, hops: int = _HOPS) -> _Loader | None:
    """The loader that a loop goes through; None for all else."""
    frame, loader, _ = made_by(frame, iterable)
    if isinstance(loader, ast.Name) and frame.function is not None and hops:
        passed = callers.passings(frame.machine, frame.function, loader.id)
        given = (_loader(one.frame, one.expression, hops - 1) for one in passed if one.expression is not None)
        return next((one for one in given if one is not None), None)
    if not isinstance(loader, ast.Call) or naming.names_at(frame)(loader.func) not in _LOADERS:
        return None
    told = {keyword.arg: keyword.value for keyword in loader.keywords if keyword.arg is not None}
    plain = len(told) == len(loader.keywords)
    return _Loader(frame, told | dict(zip(("dataset", "batch_size"), loader.args, strict=False))) if plain else None


def _leaves_rest(frame: Frame, iterable: ast.expr) -> bool:
    loader = _loader(frame, iterable)
    if loader is None or not _OTHERWISE.isdisjoint(loader.told):
        return False
    frame, told = loader
    batch, drops = told.get("batch_size"), told.get("drop_last")
    if drops is not None and not (isinstance(drops, ast.Constant) and drops.value is False):
        return False
    number = _length(frame, naming.text_of(frame), told["dataset"]) if "dataset" in told else None
    size = frame.machine.evaluate(frame, batch).const if batch is not None else 1
    return number is not None and isinstance(size, int) and 1 < size < number and number % size != 0


def _length(frame: Frame, around: FunctionNode | ast.Module, dataset: ast.expr) -> int | None:
    """How many samples a dataset has that is made of tensors, or is a literal."""
    made, names = source(around, dataset), naming.names_at(frame)
    if isinstance(made, (ast.List, ast.Tuple)):
        return None if any(isinstance(one, ast.Starred) for one in made.elts) else len(made.elts)
    of_tensors = isinstance(made, ast.Call) and names(made.func) in _TENSORS and bool(made.args)
    sizes = shape(names, around, made.args[0] if of_tensors and isinstance(made, ast.Call) else made)
    first = frame.machine.evaluate(frame, sizes[0]).const if sizes else None
    return first if isinstance(first, int) else None
