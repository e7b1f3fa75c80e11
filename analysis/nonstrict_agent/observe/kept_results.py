"""Whether what a call of a region returned is another thing after a later call, as long as the program keeps it.

Results are held weakly: what a program drops or copies is not looked at, and memory is freed when the program frees it.
They are read before and after each call, so that what the program writes into them itself in between is no matter.
What a call has changed counts where the program still holds it when the next one begins: in `y = step(x)` the result of
the call before lives until the name is bound again. In `step(a) + step(b)` it counts at once, as an operand that waits.

torch returns the same tensor object from each replay of a CUDA graph (`reconstruct_outputs` in
`torch/_inductor/cudagraph_trees.py`, 2.13), and holds it. Each call therefore gives the program a tensor of its own,
`result.data`, which shares the storage: that is what torch goes by when it asks what is alive, and what it invalidates.
It is no view, so that in-place operations and their gradients are those of the result, and does not keep torch's tensor
alive. A result that has a gradient, or lies in a container of another class, stays what it is. Where torch holds it
too, nobody knows whether the program does: what becomes of it is `unclear`.
"""

from __future__ import annotations

import dis
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from nonstrict_agent.observe.lines import untraced
from nonstrict_agent.observe.values import encode_leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType

    from nonstrict_agent.observe.cuda_graphs import CudaGraphs

_MOST = 64
#: Bytes of numbers, as `encode_leaf` writes them, that are told of changes; further ones have none.
_MOST_BYTES = 4 << 20
_MAX_TEXT = 600
#: How instructions begin that take what lies on the stack of a frame, and end a statement or a round of a loop.
_TAKES = ("STORE_", "POP_TOP", "RETURN_", "YIELD_", "FOR_ITER", "JUMP_BACKWARD")


class Overwritten(TypedDict, total=False):
    """A result of the call number `of`, as it was before a later call and as it is now; or why it cannot be read.

    It is `changed` if any bit of it is another, and `shared` if it has the memory of a result of the later call,
    whatever numbers are there. What is `unclear` may be held by torch alone.
    """

    of: int
    changed: bool
    shared: bool
    unclear: bool
    was: dict[str, Any]
    now: dict[str, Any]
    error: str


class _Kept(NamedTuple):
    of: int
    held: Any  # a `TensorWeakRef`
    is_own: bool
    memory: int


class _Place(NamedTuple):
    """Where a frame of the program stands: which frame, its code, and its last instruction."""

    frame: int
    code: CodeType
    at: int
    line: int


class _Change(NamedTuple):
    kept: _Kept
    told: Overwritten
    waits: bool


class KeptResults:
    """The results of one run; `is_user` says whether a file is the user's."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._kept: list[_Kept] = []
        #: Where the program stood in each call, the outermost frame first.
        self._stood: list[tuple[_Place, ...]] = []
        self._before: dict[int, dict[str, Any]] = {}
        self._left = _MOST_BYTES
        self._pending: tuple[dict[str, Any], list[_Change]] | None = None

    def before(self) -> None:
        """A call begins, or the program has ended: count what the last one changed, and read what is kept."""
        if self._pending is not None:
            record, changes = self._pending
            record["overwritten"] = [one.told for one in changes if one.waits or one.kept.held() is not None]
            self._pending = None
        self._kept = [kept for kept in self._kept if kept.held() is not None][-_MOST:]
        self._before = {number: _read(kept) for number, kept in enumerate(self._kept)}

    def after(self, record: dict[str, Any], arguments: Any) -> None:
        """A call has ended, with its record: note what is another thing now."""
        from torch.utils import _pytree

        stood = (*reversed([*self._standing(sys._getframe())]),)
        self._stood.append(stood)
        record["stood"] = [[os.path.abspath(one.code.co_filename), one.line] for one in stood]
        passed = {id(leaf) for leaf in _pytree.tree_leaves(arguments)}
        changes: list[_Change] = []
        for number, kept in enumerate(self._kept):
            was = self._before.get(number, {})
            if kept.held() is None or "opaque" in was:
                continue
            now = _read(kept)
            if "opaque" not in now and now.get("hash") == was.get("hash"):
                continue
            if _is_torchs(kept):
                told = Overwritten(of=kept.of, unclear=True)
            elif "opaque" in now:
                told = Overwritten(of=kept.of, error=str(now["opaque"])[:_MAX_TEXT])
            else:
                told = self._change(kept.of, was, now)
            changes.append(self._changed(kept, told, passed))
        self._before = {}
        self._pending = (record, changes)

    def _changed(self, kept: _Kept, told: Overwritten, passed: set[int]) -> _Change:
        # What a call is given, it has read.
        return _Change(kept, told, id(kept.held()) not in passed and self._waits(kept.of))

    def _change(self, of: int, was: dict[str, Any], now: dict[str, Any]) -> Overwritten:
        """A change with its numbers, unless there were too many of them before."""
        self._left -= len(was.get("data", "")) + len(now.get("data", ""))
        told = Overwritten(of=of, changed=True)
        return {**told, "was": was, "now": now} if self._left >= 0 else told

    def _standing(self, frame: FrameType | None) -> Iterator[_Place]:
        """Where the frames of the program stand, the innermost first."""
        while frame is not None:
            if self._is_user(frame.f_code.co_filename):
                yield _Place(id(frame), frame.f_code, frame.f_lasti, frame.f_lineno)
            frame = frame.f_back

    def _waits(self, of: int) -> bool:
        """Whether a result was left for an expression in which the last call is too: nothing took it in between."""
        then, now = self._stood[of], self._stood[-1]
        if then in self._stood[of + 1 :]:
            return False  # that expression was begun again
        split = next((pair for pair in zip(then, now, strict=False) if pair[0] != pair[1]), None)
        if split is None or split[0][:2] != split[1][:2]:
            return False
        code, first, last = split[0].code, split[0].at, split[1].at
        between = (one.opname for one in dis.get_instructions(code) if first < one.offset < last)
        return first < last and not any(name.startswith(_TAKES) for name in between)

    def given(self, number: int, result: Any, arguments: Any) -> Any:
        """The result of a call as the program gets it."""
        from torch.utils import _pytree

        passed = {id(leaf) for leaf in _pytree.tree_leaves(arguments)}
        with untraced():
            result = self._own(number, result, passed | {id(part) for part in _containers(arguments)}, {})
        for leaf in _tensors(_pytree.tree_leaves(result)):
            if id(leaf) not in passed and not any(one.held() is leaf for one in self._of(number)):
                self._keep(number, leaf, is_own=False)
        self._share(number, arguments)
        return result

    def _of(self, number: int) -> Iterator[_Kept]:
        return (one for one in self._kept if one.of == number)

    def _share(self, number: int, arguments: Any) -> None:
        """Note which results of earlier calls have the memory of one of this call, whether that changed them or not."""
        from torch.utils import _pytree

        if self._pending is None:
            return
        changes = self._pending[1]
        known = {id(change.kept): change.told for change in changes}
        leaves = _pytree.tree_leaves(arguments)
        passed = {id(leaf) for leaf in leaves}
        # What is a part of an argument overwrites nothing.
        taken = {one.memory for one in self._of(number)} - {0, *map(_memory, _tensors(leaves))}
        for kept in self._kept:
            if kept.of == number or kept.memory not in taken or kept.held() is None:
                continue
            if id(kept) in known:
                known[id(kept)]["shared"] = True
            else:
                told = Overwritten(of=kept.of, shared=True)
                changes.append(self._changed(kept, {**told, "unclear": True} if _is_torchs(kept) else told, passed))

    def _own(self, number: int, result: Any, passed: set[int], made: dict[int, Any]) -> Any:
        """The result with tensors of its own, also in plain containers; the same one for the same, by `made`."""
        import torch

        if id(result) in passed:
            return result
        if id(result) in made:
            return made[id(result)]
        if type(result) is torch.Tensor:
            own = result if result.requires_grad else self._alias(number, result)
        else:
            own = _rebuilt(result, lambda part: self._own(number, part, passed, made))
        made[id(result)] = own
        return own

    def _alias(self, number: int, result: Any) -> Any:
        """Another tensor with the storage of a result."""
        import torch

        # That of an inference tensor could be changed where it cannot be itself; it has no gradients to be wrong.
        own = torch.ops.aten.alias(result) if result.is_inference() else result.data
        self._keep(number, own, is_own=True)
        return own

    def _keep(self, number: int, tensor: Any, *, is_own: bool) -> None:
        from torch.utils.weak import TensorWeakRef

        if not is_own:
            self._kept = [one for one in self._kept if one.held() is not tensor]
        self._kept.append(_Kept(number, TensorWeakRef(tensor), is_own, _memory(tensor)))


class Captures(NamedTuple):
    """What is observed where an experiment is about CUDA graphs; in eager code there are only results."""

    results: KeptResults
    graphs: CudaGraphs | None = None

    def begin(self, record: dict[str, Any]) -> None:
        """A call begins, with its record."""
        self.results.before()
        if self.graphs is not None and self.graphs.listening:
            self.graphs.begin(record)

    def end(self) -> None:
        """The program has ended, or makes more calls than are followed."""
        self.results.before()
        if self.graphs is not None:
            self.graphs.settle()


def _tensors(leaves: Iterable[Any]) -> Iterator[Any]:
    import torch

    return (leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


def _read(kept: _Kept) -> dict[str, Any]:
    tensor = kept.held()
    with untraced():
        return encode_leaf(tensor) if tensor is not None else {}


def _rebuilt(container: Any, own: Callable[[Any], Any]) -> Any:
    """A container with its parts replaced, if it is a plain one."""
    kind = type(container)
    if kind is list or kind is tuple:
        return kind(own(part) for part in container)
    if kind is dict:
        return {key: own(part) for key, part in container.items()}
    if isinstance(container, tuple) and kind.__bases__ == (tuple,) and hasattr(kind, "_make"):
        return kind._make(own(part) for part in container)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
    return container


def _containers(value: Any) -> Iterator[Any]:
    """The lists and dicts of a value, with what it is itself."""
    if isinstance(value, (list, tuple)):
        yield value
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _containers(part)
    elif isinstance(value, dict):
        yield value
        for part in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _containers(part)


def _is_torchs(kept: _Kept) -> bool:
    """Whether torch returns the same tensor from each replay, and keeps it alive."""
    import torch

    is_cached = getattr(torch._C, "_is_cached_tensor", None)
    return not kept.is_own and is_cached is not None and bool(is_cached(kept.held()))


def _memory(tensor: Any) -> int:
    """Where the memory of a tensor lies; 0 if it has none that can be told."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except Exception:  # noqa: BLE001 - subclasses of tensors may raise anything
        return 0
