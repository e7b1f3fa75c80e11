"""What Dynamo makes of a call: the graphs that are compiled, the breaks between them, and what it leaves to Python."""

from __future__ import annotations

import inspect
import os
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from nonstrict_agent.observe.definitions import calling, region_called
from nonstrict_agent.observe.failed_guards import entries_of, failed_guard

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from nonstrict_agent.observe.definitions import Where

_MAX_BREAKS = 100
_MAX_AGAIN = 100
_MAX_TEXT = 160
_MAX_ADVICE = 400
#: What Dynamo calls the function that goes on after a break: `torch_dynamo_resume_in_NAME_at_LINE`.
_RESUMED = "torch_dynamo_resume_in_"


class Break(TypedDict):
    """One place where torch leaves a graph for plain Python.

    `type` and `id` are torch's names for what it could not trace (`Failed to trace builtin operator`, `GB0059`), `told`
    and `hint` its explanation and first advice. `lines` are those of the user's that lead there, the innermost last,
    as `[path, line, column, end column]`; columns are UTF-8 bytes, or -1. `inner` is the line in a library, which the
    last of them calls, `[path, line]`, where it stands in one. `raises` says that it is an error.
    """

    type: str
    id: str
    told: str
    hint: str
    lines: list[list[Any]]
    inner: list[Any]
    raises: bool


class Eager(TypedDict):
    """A function of the user's that is left to plain Python; only what comes after a break, if it is only the `rest`.

    `line` and `last` are the lines that it spans, `at` the user's line of the break that was the reason (0 if there was
    none), `type` and `id` torch's names for why it did not go on after it.
    """

    function: str
    path: str
    line: int
    last: int
    rest: bool
    at: int
    type: str
    id: str


class Again(TypedDict):
    """A function of which no compiled code was valid any more: one more compilation, unless Dynamo is at its `limit`.

    `had` counts what it was compiled to before, `seconds` is how long it took where that is told by region; the rest is
    that of `failed_guards.FailedGuard`.
    """

    function: str
    path: str
    line: int
    had: int
    limit: bool
    guard: str
    sources: list[list[str]]
    lines: list[list[Any]]
    seconds: float


class _Graphs(TypedDict):
    graphs: list[int]
    breaks: list[Break]
    eager: list[Eager]
    skipped: str


class Compiled(_Graphs, total=False):
    """What was compiled in a call: the operators of each graph, and why its first function was passed over.

    `again` is missing where this torch does not report what it compiles anew.
    """

    again: list[Again]


class Heard(_Graphs):
    """The same of one region, and how long it took."""

    again: list[Again]
    seconds: float


class Called(TypedDict):
    """What was compiled for a region for the first time, or again, then with what it was compiled again for.

    `era` counts how often torch had been made to forget all that it compiled.
    """

    function: str
    path: str
    line: int
    era: int
    compiled: Heard


class _Key(NamedTuple):
    """For which region something is compiled, None where they are not told apart; whether again, and in which era."""

    where: Where | None = None
    again: bool = False
    era: int = 0


class _Frame(NamedTuple):
    """A function that is being compiled; `partly` gets the line of the break after which nothing of it is.

    `handled` is the exception that the program was handling when it called the function.
    """

    code: CodeType
    partly: list[int]
    handled: BaseException | None


class Compilations:
    """Collects all of it; `is_user` says whether a file is the user's.

    What is compiled `by_region` is told of each region by itself, which nobody has to follow the calls of for it.
    """

    def __init__(self, is_user: Callable[[str], bool], *, by_region: bool = False) -> None:
        self._is_user = is_user
        self._by_region = by_region
        self._frames: list[_Frame] = []
        self._last: Any = None
        #: Whether this torch can be listened to.
        self.listening = False
        #: All graphs since then, in calls of regions and outside of them.
        self.made = 0
        #: Whether this torch tells what it compiles anew.
        self.hears_guards = False
        self._key = _Key()
        self._found: dict[_Key, Heard] = {}
        self._era, self._counted_frames = 0, 0

    @property
    def _now(self) -> Heard:
        """What was compiled where something is compiled now."""
        return self._found.setdefault(self._key, Heard(graphs=[], breaks=[], eager=[], skipped="", again=[], seconds=0))

    def taken(self) -> Compiled:
        """What was compiled since the last call."""
        now, self._found = self._now, {}
        taken = Compiled(graphs=now["graphs"], breaks=now["breaks"], eager=now["eager"], skipped=now["skipped"])
        if self.hears_guards:
            taken["again"] = now["again"]
        return taken

    def taken_by_region(self) -> list[Called]:
        """The same, region by region; what is compiled in no call of one, to be exported for instance, is left out."""
        found, self._found = self._found, {}
        regions = ((key.where, key.era, one) for key, one in found.items() if key.where is not None and _tells(one))
        return [Called(**where._asdict(), era=era, compiled=compiled) for where, era, compiled in regions]

    def install(self) -> None:
        """Begin to listen, for the rest of the process.

        The places, of torch 2.13 and 2.15: every function passes `ConvertFrameAssert.__call__`, which raises where
        Dynamo gives it up; every break after which it goes on passes `log_graph_break`, and `step_graph_break` where it
        goes on only with what it had before; every graph passes `call_user_compiler`.
        """
        from torch._dynamo import convert_frame, output_graph, symbolic_convert

        places: list[tuple[Any, str, Callable[..., Any]]] = [
            (symbolic_convert.InstructionTranslatorBase, "log_graph_break", self._broken),
            (symbolic_convert.InstructionTranslatorBase, "step_graph_break", self._stopped),
            (output_graph.OutputGraph, "call_user_compiler", self._compiled),
            (convert_frame.ConvertFrameAssert, "__call__", self._converted),
        ]
        known = [(owner, name, hear) for owner, name, hear in places if hasattr(owner, name)]
        self.listening = len(known) == len(places)
        for owner, name, hear in known:
            setattr(owner, name, _around(getattr(owner, name), hear))
        self._listen_to_guards(convert_frame)

    def _listen_to_guards(self, convert_frame: Any) -> None:
        """Hear of each further compilation of a function.

        Of torch 2.13: `_compile` asks for the reasons of each, then whether it is one too many.
        """
        places = {
            "get_and_maybe_log_recompilation_reasons": self._failed,
            "exceeds_recompile_limit": self._counted,
        }
        if all(hasattr(convert_frame, name) for name in places):
            self.hears_guards = True
            for name, hear in places.items():
                setattr(convert_frame, name, _around(getattr(convert_frame, name), hear))

    def _failed(self, original: Callable[..., Any], entries: Any, frame: Any, *more: Any, **named: Any) -> Any:
        if self.hears_guards:
            self._key = self._key._replace(again=self._by_region)
            try:
                if len(self._now["again"]) < _MAX_AGAIN:
                    self._now["again"].append(self._compiled_again(list(entries_of(entries)), frame))
            except Exception:  # noqa: BLE001 - a torch that works otherwise is not listened to, and works on
                self.hears_guards = False
        return original(entries, frame, *more, **named)

    def _compiled_again(self, entries: list[Any], frame: Any) -> Again:
        code, guard = frame.f_code, failed_guard(entries, frame, self._is_user)
        return Again(
            function=_named(code),
            path=os.path.abspath(code.co_filename),
            line=code.co_firstlineno,
            had=len(entries),
            limit=False,
            guard=guard.text,
            sources=guard.sources,
            lines=guard.lines,
            seconds=0.0,
        )

    def _counted(self, original: Callable[..., Any], size: Any, *more: Any, **named: Any) -> Any:
        exceeded = original(size, *more, **named)
        if exceeded[0] and self.hears_guards and self._now["again"]:
            self._now["again"][-1]["limit"] = True
        return exceeded

    def _broken(self, original: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        self._last = named.get("exc", arguments[-1])
        self._take(self._last, raises=False)
        return original(*arguments, **named)

    def _stopped(self, original: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if self._frames:
            self._frames[-1].partly.append(self._line_of(self._last))
        return original(*arguments, **named)

    def _compiled(self, original: Callable[..., Any], output: Any, graph: Any, *arguments: Any, **named: Any) -> Any:
        made = sum(node.op.startswith("call_") for node in graph.graph.nodes)
        result = original(output, graph, *arguments, **named)
        self._now["graphs"].append(made)
        self.made += 1
        return result

    def _converted(self, original: Callable[..., Any], converter: Any, frame: Any, *more: Any, **named: Any) -> Any:
        self._frames.append(_Frame(frame.f_code, [], sys.exc_info()[1]))
        around, started = self._key, time.perf_counter()
        if self._by_region:
            self._key = _Key(region_called(frame.f_code, self._is_user), era=self._era_now())
        first = not self._now["graphs"] and not self._now["eager"] and len(self._frames) == 1
        try:
            result = original(converter, frame, *more, **named)
        except Exception as error:
            # A generator that a function enters is a function by itself, which Dynamo never compiles.
            if first or not frame.f_code.co_flags & inspect.CO_GENERATOR:
                self._raised(converter, frame.f_code, error)
            raise
        else:
            partly = self._frames[-1].partly
            if result.guarded_code is not None and partly:
                self._leave(frame.f_code, self._last, rest=True, at=partly[-1])
            elif first and result.guarded_code is None and self._is_user(frame.f_code.co_filename):
                reason = str(result.skip_reason or "").partition("\n")[0]
                self._now["skipped"] = self._now["skipped"] or reason[:_MAX_ADVICE]
            return result
        finally:
            self._frames.pop()
            if self._by_region:
                self._took(time.perf_counter() - started)
            self._key = around

    def _took(self, seconds: float) -> None:
        """Note how long a compilation took."""
        if not self._frames:
            self._now["seconds"] += seconds
        if self._key.again and self._now["again"]:
            self._now["again"][-1]["seconds"] = seconds
        self._counted_frames = _frames_counted()

    def _era_now(self) -> int:
        """How often torch was made to forget what it compiled: its count of functions begins anew then."""
        if _frames_counted() < self._counted_frames:
            self._era += 1
        return self._era

    def _raised(self, converter: Any, code: CodeType, error: Exception) -> None:
        """What could not be compiled: an error where the graph must not break, else it is left to Python."""
        from torch._dynamo import exc

        if not isinstance(error, (exc.Unsupported, exc.UserError)):
            return
        box = getattr(converter, "_box", None)
        raises = bool(getattr(converter, "_one_graph", False) or getattr(box, "error_on_graph_break", False))
        if not getattr(error, "logged", False) and getattr(error, "real_stack", None):
            self._take(error, raises=raises)
        if not raises:
            self._leave(code, error, rest=False, at=self._line_of(error))

    def _leave(self, code: CodeType, error: Any, *, rest: bool, at: int) -> None:
        if not self._is_user(code.co_filename):
            return
        kind = _type_of(error)
        lines = [line for _, _, line in code.co_lines() if line is not None]
        left = Eager(
            function=_named(code),
            path=os.path.abspath(code.co_filename),
            line=code.co_firstlineno,
            last=max(lines, default=code.co_firstlineno),
            rest=rest or _RESUMED in code.co_name,
            at=at,
            type=kind,
            id=_ids().get(kind, ""),
        )
        if left not in self._now["eager"]:
            self._now["eager"].append(left)

    def _take(self, error: Any, *, raises: bool) -> None:
        lines = self._lines(error) or calling(self._is_user)
        root = _root(error)
        kind = _type_of(root)
        known = {(one["type"], tuple(one["lines"][-1])) for one in self._now["breaks"]}
        if not lines or (kind, tuple(lines[-1])) in known or len(known) >= _MAX_BREAKS:
            return
        told, hint = _told(root)
        inner, number = self._inner(error), _ids().get(kind, "")
        self._now["breaks"].append(
            Break(type=kind, id=number, told=told, hint=hint, lines=lines, inner=inner, raises=raises)
        )

    def _inner(self, error: Any) -> list[Any]:
        """The line of a library that breaks."""
        stack = getattr(error, "real_stack", None)
        return _place(stack[-1])[:2] if stack and not self._is_user(stack[-1].filename) else []

    def _lines(self, error: Any) -> list[list[Any]]:
        stack = [*(getattr(error, "real_stack", None) or ()), *self._executed(error)]
        return [_place(frame) for frame in stack if self._is_user(frame.filename)]

    def _executed(self, error: BaseException) -> list[traceback.FrameSummary]:
        """What was executed, not traced, when an error was raised: Dynamo runs marked functions with fake tensors."""
        known = [frame.handled for frame in self._frames]
        while (cause := error.__cause__ or error.__context__) is not None and cause not in known:
            error = cause
            known.append(error)
        return traceback.extract_tb(error.__traceback__)

    def _line_of(self, error: Any) -> int:
        """The line of a break in the function that is being compiled."""
        stack = getattr(error, "real_stack", None) or ()
        return stack[0].lineno if stack else 0


def _around(original: Callable[..., Any], hear: Callable[..., Any]) -> Callable[..., Any]:
    def heard(*arguments: Any, **named: Any) -> Any:
        return hear(original, *arguments, **named)

    return heard


def _frames_counted() -> int:
    """How many functions Dynamo compiled since it was reset (torch 2.13)."""
    from torch._dynamo import convert_frame

    return int(getattr(convert_frame, "FRAME_COUNTER", 0))


def _tells(one: Heard) -> bool:
    return any((one["graphs"], one["breaks"], one["eager"], one["skipped"], one["again"]))


def _place(frame: Any) -> list[Any]:
    columns = [getattr(frame, name, None) for name in ("colno", "end_colno")]
    return [os.path.abspath(frame.filename), frame.lineno, *(-1 if one is None else one for one in columns)]


def _named(code: CodeType) -> str:
    name = getattr(code, "co_qualname", code.co_name)
    around, resumed, rest = name.rpartition(_RESUMED)
    return around + rest.rpartition("_at_")[0] if resumed else name


def _root(error: Any) -> Any:
    """What torch could not trace: a loop around it is why it gave up, not what broke."""
    # It raises while it handles the break (torch 2.13, `exc.py`, `unimplemented`).
    while getattr(error.__cause__ or error.__context__, "gb_type", None):
        error = error.__cause__ or error.__context__
    return error


def _type_of(error: Any) -> str:
    return str(getattr(error, "gb_type", None) or str(error).partition("\n")[0])[:_MAX_TEXT]


def _told(error: Any) -> tuple[str, str]:
    """Torch's explanation of a break and its first advice (torch 2.13, `exc.py`, `format_graph_break_message`)."""
    found = {"Explanation": "", "Hint": ""}
    for line in str(getattr(error, "msg", "") or "").splitlines():
        word, _, text = line.strip().partition(": ")
        if word in found and not found[word]:
            found[word] = " ".join(text.split())[:_MAX_ADVICE]
    return found["Explanation"], found["Hint"]


def _ids() -> dict[str, str]:
    """Torch's ids of graph breaks by type, where it has them."""
    from torch._dynamo import exc

    read: Any = getattr(exc, "_load_gb_type_to_gb_id_map", dict)
    return read()
