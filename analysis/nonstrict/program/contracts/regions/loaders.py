"""The last batch of a `DataLoader`, which is smaller where the size of batches does not divide what there is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.facts.shapes import shape
from nonstrict.program.discovery import callers
from nonstrict.program.interpret.loop_targets import loops_giving
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.state.frames import Frame

_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
_TENSORS = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})
#: What else says what a batch is.
_OTHERWISE = frozenset({"batch_sampler", "sampler", "collate_fn"})
#: How many callers up a loader is looked for.
_HOPS = 3


def has_smaller_last(frame: Frame, call: ast.AST, expression: ast.expr) -> bool:
    """Whether a call passes what a loop over a loader gives it, of which the last one is known to be smaller."""
    return any(_leaves_rest(frame, loop.iterable) for loop in loops_giving(frame, call, expression))


def _leaves_rest(frame: Frame, iterable: ast.expr, hops: int = _HOPS) -> bool:
    frame, loader, _ = made_by(frame, iterable)
    around, names = naming.text_of(frame), naming.names_at(frame)
    if isinstance(loader, ast.Name) and frame.function is not None and hops:
        passed = callers.passings(frame.machine, frame.function, loader.id)
        return any(one.expression is not None and _leaves_rest(one.frame, one.expression, hops - 1) for one in passed)
    if not isinstance(loader, ast.Call) or names(loader.func) not in _LOADERS:
        return False
    told = {keyword.arg: keyword.value for keyword in loader.keywords}
    if None in told or not _OTHERWISE.isdisjoint(told):
        return False
    told |= dict(zip(("dataset", "batch_size"), loader.args, strict=False))
    batch, drops = told.get("batch_size"), told.get("drop_last")
    if drops is not None and not (isinstance(drops, ast.Constant) and drops.value is False):
        return False
    number = _length(frame, around, told["dataset"]) if "dataset" in told else None
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
