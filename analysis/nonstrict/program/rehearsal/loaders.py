"""Batches as `torch.utils.data` makes them: how many there are, and of which sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.rehearsal.containers import number_of
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Definition,
    External,
    Instance,
    Tensor,
    is_list,
    is_tuple,
    plain_dict,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

LOADER = "torch.utils.data.DataLoader"
TENSORS = "torch.utils.data.TensorDataset"
_PARAMETERS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn")
#: More entries are not gone through.
_MOST = 4096


def made(dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> Instance:
    """A loader, or a dataset of tensors."""
    if dotted == TENSORS:
        return Instance(External(TENSORS), {"tensors": tuple(given)})
    held = dict(zip(_PARAMETERS, given, strict=False)) | named
    return Instance(External(LOADER), held)


def is_loader(thing: Thing) -> bool:
    """Whether a thing is one of the two."""
    return isinstance(thing, Instance) and isinstance(thing.of, External) and thing.of.dotted in (LOADER, TENSORS)


def length(stage: Stage, dataset: Thing) -> int | None:
    """How many entries a dataset has."""
    if isinstance(dataset, Instance) and isinstance(dataset.of, External) and dataset.of.dotted == TENSORS:
        first = next(iter(sequence(dataset.attributes.get("tensors")) or ()), None)
        return first.shape[0] if isinstance(first, Tensor) and first.shape else None
    if isinstance(dataset, Instance) and isinstance(dataset.of, Definition):
        found = stage.call(stage.member(dataset, "__len__"), (), {}, stage.here, stage.nowhere)
    else:
        found = number_of(dataset)
    return found if isinstance(found, int) else None


def entry(stage: Stage, dataset: Thing, at: int) -> Thing:
    """One entry of a dataset."""
    if isinstance(dataset, Instance) and isinstance(dataset.of, External):
        tensors = sequence(dataset.attributes.get("tensors")) or []
        return tuple(
            Tensor(one.shape[1:], one.dtype) if isinstance(one, Tensor) and one.shape else UNKNOWN for one in tensors
        )
    if isinstance(dataset, Instance):
        return stage.call(stage.member(dataset, "__getitem__"), (at,), {}, stage.here, stage.nowhere)
    several = sequence(dataset)
    return several[at] if several is not None and at < len(several) else UNKNOWN


def batches(stage: Stage, loader: Instance) -> Iterator[Thing] | None:
    """The batches of a loader; None where they are not known."""
    held = loader.attributes
    dataset, size = held.get("dataset"), held.get("batch_size", 1)
    number = length(stage, dataset)
    special = [held.get(name) for name in ("sampler", "batch_sampler")]
    if (
        number is None
        or not isinstance(size, int)
        or size < 1
        or number > _MOST
        or any(one is not None for one in special)
    ):
        return None
    ends = [min(size, number - start) for start in range(0, number, size)]
    if held.get("drop_last") is True:
        ends = [one for one in ends if one == size]
    return _batches(stage, dataset, ends, held.get("collate_fn"))


def _batches(stage: Stage, dataset: Thing, sizes: list[int], collate: Thing) -> Iterator[Thing]:
    start = 0
    for size in sizes:
        if collate is not None:
            several: list[Thing] = [entry(stage, dataset, at) for at in range(start, start + size)]
            yield stage.call(collate, (several,), {}, stage.here, stage.nowhere)
        else:
            yield stacked(entry(stage, dataset, start), size)
        start += size


def stacked(thing: Thing, number: int) -> Thing:
    """So many entries in one, as the loader puts them together."""
    if isinstance(thing, Tensor):
        return Tensor((number, *thing.shape) if thing.shape is not None else None, thing.dtype)
    if isinstance(thing, (bool, int)):
        return Tensor((number,), "int64")
    if isinstance(thing, float):
        return Tensor((number,), "float64")
    if is_tuple(thing) or is_list(thing):
        return [stacked(one, number) for one in sequence(thing) or ()]
    if (table := plain_dict(thing)) is not None:
        return {key: stacked(one, number) for key, one in table.items()}
    return [thing] * number if isinstance(thing, str) else UNKNOWN
