"""Records each outermost call of a compiled region: inputs, results, streams, state, errors."""

from __future__ import annotations

import contextlib
import inspect
import random
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict_agent.changing import CannotChangeError, change_state, copied
from nonstrict_agent.observe.ambient import ambient_state
from nonstrict_agent.observe.applied import Applications
from nonstrict_agent.observe.definitions import definition, first_line
from nonstrict_agent.observe.errors import describe_error
from nonstrict_agent.observe.lines import untraced
from nonstrict_agent.observe.numbers import Numbers
from nonstrict_agent.observe.state import closure_roots, module_roots, snapshot
from nonstrict_agent.observe.streams import Streams
from nonstrict_agent.observe.values import encode
from nonstrict_agent.stand_ins import compared

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import FunctionType, ModuleType

    from nonstrict_agent.observe.compiling import Compilations
    from nonstrict_agent.observe.events import Events
    from nonstrict_agent.observe.kept_results import Captures
    from nonstrict_agent.observe.records import LogRecords
    from nonstrict_agent.observe.state import Snapshot


#: Calls that may go on unfollowed before an experiment ends: a program may train for hours.
_MOST_LEFT = 100


class EnoughCalls(BaseException):
    """The program made as many calls of regions as an experiment looks at."""


class Recording(NamedTuple):
    """What a recorder is to do.

    `is_user` tells the user's files, `modules` the modules whose state counts; `calls` are followed at most, and of one
    region `each`: more of its calls are left to eager code, so that what the program calls later has its turn. The
    first call is made `repeat` times, with the same arguments. Each of the `changes` (see `changing`) is made before
    the call number `at`, and undone before the call number `until`, if it has one. With `only`, all regions but those,
    by name and first line, are left to eager code; with `follow`, they are not recorded either.
    """

    is_user: Callable[[str], bool]
    modules: Callable[[], list[ModuleType]]
    calls: int
    each: int
    repeat: int = 1
    changes: Sequence[Mapping[str, Any]] = ()
    only: frozenset[tuple[str, int]] | None = None
    follow: frozenset[tuple[str, int]] | None = None


class Region(NamedTuple):
    """A region's name, and its function as the program has it, also where something traced from it is called.

    `defined` has the code that a region runs: of a module, its `forward`.
    """

    name: str
    written: Callable[..., Any]
    defined: Callable[..., Any]


class Recorder:
    """The calls of one arm."""

    def __init__(
        self,
        recording: Recording,
        events: Events,
        records: LogRecords,
        compilations: Compilations | None = None,
        around: Sequence[Callable[[], AbstractContextManager[None]]] = (),
        captures: Captures | None = None,
    ) -> None:
        """Remember who listens; each call of a region is made inside all that `around` makes.

        With `captures`, nothing that a call is given or returns is kept here: it would live longer than in the program.
        """
        self._recording = recording
        self._around = around
        self._captures = captures
        self._compilations = compilations
        self._events = events
        self._records = records
        self._inside = False
        #: Whether something is traced ahead of time, by `make_fx` or `export`.
        self.is_ahead = False
        self.calls: list[dict[str, Any]] = []
        #: What a call could not do without, a sentence each: a program is followed up to that call.
        self.needs: list[str] = []
        self.kept: list[tuple[Any, Any, Any]] = []
        self.numbers = Numbers()
        self.watched: dict[str, object] = {}
        #: Functions that are compiled; what their closures hold may be rebound.
        self.functions: list[FunctionType] = []
        self.applications = Applications(recording.is_user, compilations)
        self._undo: dict[int, Callable[[], object]] = {}
        self._left = _MOST_LEFT
        self._last: dict[str, str] = {}

    def compiles(self, region: Region) -> bool:
        """Whether a region is one of those that this arm compiles."""
        only = self._recording.only
        return self.follows(region) and (only is None or (region.name, first_line(region.defined)) in only)

    def follows(self, region: Region) -> bool:
        """Whether calls of a region are recorded."""
        follow = self._recording.follow
        return follow is None or (region.name, first_line(region.defined)) in follow

    def call(
        self, region: Region, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Call a region, and record the call unless it happens inside another one."""
        if self._inside:
            return function(*arguments, **keywords)
        if len(self.calls) >= self._recording.calls:
            self.end()
            raise EnoughCalls
        if not self.follows(region) or self._is_followed_enough(region):
            return self._leave(function, arguments, keywords)
        self._inside = True
        try:
            again = [copied((arguments, keywords)) for _ in range(self._recording.repeat - 1)] if not self.calls else []
            result = self._recorded(region, function, arguments, keywords)
            for more_arguments, more_keywords in again:
                self._recorded(region, function, more_arguments, more_keywords)
            return result
        finally:
            self._inside = False

    def _is_followed_enough(self, region: Region) -> bool:
        key = region.name, first_line(region.defined)
        followed = sum((call["region"], call.get("line")) == key for call in self.calls)
        return followed >= max(self._recording.each, self._recording.repeat)

    def _leave(self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a region of which enough is known."""
        import torch

        self._left -= 1
        if self._left < 0:
            raise EnoughCalls
        seed(self._left)
        with torch.compiler.set_stance("force_eager"):
            return function(*arguments, **keywords)

    def _recorded(
        self, region: Region, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        import torch

        # Every arm draws the same numbers in a call, whatever tracing drew before it.
        seed(len(self.calls))
        changed = self._change(arguments, keywords) if self._recording.changes else ""
        given = named(region.written, arguments, keywords)
        inputs = snapshot(given)
        record: dict[str, Any] = {"region": region.name, "line": first_line(region.defined), "inputs": inputs.prints}
        record |= definition(region.defined)
        if changed:
            record["changed"] = changed
        if self._captures is not None:
            self._captures.begin(record)
        before = self.state()
        record["between"] = _changed(self._last, before.prints) if self._last else {}
        self._keep_numbers(inputs, before)
        self.calls.append(record)
        self._events.taken()
        self._records.taken()
        if self._compilations is not None:
            self._compilations.taken()
        started = time.perf_counter()
        with Streams() as streams:
            result, error = self._result(function, arguments, keywords)
        record["seconds"] = round(time.perf_counter() - started, 4)
        record |= {"out": streams.out, "err": streams.err, "bytes": streams.size, "events": self._events.taken()}
        record["log"] = self._records.taken()
        if self._compilations is not None and self._compilations.listening and self.compiles(region):
            record["compiled"] = self._compilations.taken()
        if self._captures is not None:
            self._captures.results.after(record, (arguments, keywords))
        after, left = self.state(), snapshot(given)
        self._keep_numbers(left, after)
        self._last = after.prints
        record["state"] = _changed(before.prints, after.prints)
        # What the region keeps has to be told from what the tracer left in it.
        record["leaks"] = [*after.leaks, *left.leaks]
        record["arguments"] = left.prints
        if error is not None:
            record["error"] = describe_error(error, self._recording.is_user)
            if not _is_given_up(error):
                raise error
            # The frame was not run, and what the program does next is no part of this.
            with torch.compiler.set_stance("force_eager"):
                return function(*arguments, **keywords)
        record["result"] = encode(result)
        if self._captures is not None:
            return self._captures.results.given(len(self.calls) - 1, result, (arguments, keywords))
        self.kept.append((arguments, keywords, result))
        return result

    def end(self) -> None:
        """The program makes no more calls that are followed."""
        if self._captures is not None:
            self._captures.end()

    def _result(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[Any, BaseException | None]:
        """What a call returns, or raises.

        Raises:
            EnoughCalls: it is one too many, or needs what is missing.
        """
        result, error, needs = None, None, list[str]()
        self._events.active = self._records.active = True
        try:
            with compared(needs), self._entered():
                result = function(*arguments, **keywords)
        except EnoughCalls:
            raise
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it is the observation
            error = raised
        finally:
            self._events.active = self._records.active = False
        if needs:
            self.calls.pop()
        self._stop_at(needs)
        return result, error

    @contextlib.contextmanager
    def _entered(self) -> Generator[None]:
        with contextlib.ExitStack() as around:
            for enter in self._around:
                around.enter_context(enter())
            yield

    def begin_ahead(self) -> None:
        """Something is traced ahead of time: what changes from now on, its first call does not see."""
        self.is_ahead = True
        if not self.calls:
            self._last = self.state().prints

    def trace(
        self, region: str, tracer: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Trace a function ahead of time (`make_fx`, `export`): only a refusal is recorded, as a call of the region."""
        if self._inside:
            # AOTAutograd traces by it too.
            return tracer(*arguments, **keywords)
        self._inside, needs = True, list[str]()
        try:
            with Streams(), compared(needs):
                made = tracer(*arguments, **keywords)
        except BaseException as error:
            self._stop_at(needs)
            self.calls.append(
                {"region": region, "traced": True, "error": describe_error(error, self._recording.is_user)}
            )
            raise
        finally:
            self._inside = False
        self._stop_at(needs)
        return made

    def _stop_at(self, needs: list[str]) -> None:
        """End a program at a call that needs what is missing.

        What it shows, whether it raised or went on without, is not what the program does.
        """
        if needs:
            self.needs += needs
            raise EnoughCalls

    def _change(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
        """Make and undo the changes that are due before this call; says which was made, if that was possible."""
        told = ""
        for number, change in enumerate(self._recording.changes):
            if change.get("until") == len(self.calls) and number in self._undo:
                self._undo.pop(number)()
            if change["at"] == len(self.calls):
                try:
                    told, self._undo[number] = change_state(change, self._roots(arguments, keywords))
                except CannotChangeError:
                    continue
        return told

    def state(self) -> Snapshot:
        """The fingerprints of all that the program keeps."""
        with untraced():
            found = snapshot(self._roots((), {}))
            ambient = {f"<{name}>": value for name, value in ambient_state().items()}
            return found._replace(prints={**found.prints, **ambient})

    def _keep_numbers(self, *snapshots: Snapshot) -> None:
        """Keep the numbers of tensors, those of arguments before others: not all may fit."""
        with untraced():
            for one in snapshots:
                self.numbers.keep(one.tensors, first=not self.calls)

    def _roots(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, object]:
        """All that the program keeps, and some arguments, by name."""
        given = {f"argument {index + 1}": value for index, value in enumerate((*arguments, *keywords.values()))}
        closures = {name: value for one in self.functions for name, value in closure_roots(one).items()}
        return {**closures, **module_roots(self._recording.modules()), **self.watched, **given}

    def gradients(self) -> dict[str, Any] | None:
        """The gradients that the last result gives to what it was computed from, None where it has none.

        They are taken with respect to leaves among the arguments and in the state of the program, so that a
        captured parameter that gets no gradient shows.
        """
        import torch
        from torch.utils import _pytree

        if not self.kept:
            return None
        arguments, keywords, result = self.kept[-1]
        outputs = [leaf for leaf in _pytree.tree_leaves(result) if _differentiable(leaf)]
        leaves = _leaves(self._roots(arguments, keywords))
        if any(leaf.grad is not None for leaf in leaves.values()):
            # The program went backward itself, and may have freed what that takes.
            return {"of": {name: None if leaf.grad is None else encode(leaf.grad) for name, leaf in leaves.items()}}
        if not outputs and not leaves:
            return None
        if not outputs:
            return {"error": "no result requires a gradient"}
        try:
            total: Any = sum(_total(output) for output in outputs)
            found: Any = torch.autograd.grad(total, list(leaves.values()), allow_unused=True) if leaves else ()
        except Exception as error:  # noqa: BLE001 - the failure is the observation
            if "backward through the graph a second time" in str(error):
                return None
            return {"error": describe_error(error, self._recording.is_user)}
        return {"of": {name: None if part is None else encode(part) for name, part in zip(leaves, found, strict=True)}}


def _is_given_up(error: BaseException) -> bool:
    """Whether a function was compiled as often as it may be, where it must not run as plain Python (torch 2.13)."""
    from torch._dynamo import exc

    kind = getattr(exc, "FailOnRecompileLimitHit", None)
    return kind is not None and isinstance(error, kind)


def named(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, object]:
    """Arguments by the names of their parameters, as far as the function tells them."""
    try:
        bound = inspect.signature(function).bind(*arguments, **keywords).arguments
    except (TypeError, ValueError):
        bound = {f"argument {index + 1}": value for index, value in enumerate(arguments)} | keywords
    found: dict[str, object] = {}
    for name, value in bound.items():
        if name in {"args", "arguments"} and isinstance(value, tuple):
            found |= {f"argument {index + 1}": part for index, part in enumerate(value)}
        else:
            found[name] = value
    return found


def seed(number: int) -> None:
    """Seed every generator that a program may draw from."""
    import torch

    random.seed(number)
    torch.manual_seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed(number)


def _differentiable(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.requires_grad


def _total(tensor: Any) -> Any:
    import torch

    return torch.view_as_real(tensor).sum() if tensor.is_complex() else tensor.sum()


def _leaves(roots: Mapping[str, object]) -> dict[str, Any]:
    """The leaf tensors that require a gradient, by the path that they are reached on."""
    import torch
    from torch.utils import _pytree

    found: dict[str, Any] = {}
    seen: set[int] = set()
    for name, root in roots.items():
        parts = [(name, leaf) for leaf in _pytree.tree_leaves(root)]
        for path, value in parts:
            named = value.named_parameters(path) if isinstance(value, torch.nn.Module) else [(path, value)]
            for inner, tensor in named:
                if (
                    isinstance(tensor, torch.Tensor)
                    and tensor.requires_grad
                    and tensor.is_leaf
                    and id(tensor) not in seen
                ):
                    seen.add(id(tensor))
                    found[inner if inner not in found else f"{inner} {len(found)}"] = tensor
    return found


def _changed(before: dict[str, str], after: dict[str, str]) -> dict[str, list[str | None]]:
    """The paths whose fingerprints differ, with both."""
    paths = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    return {path: [before.get(path), after.get(path)] for path in paths}
