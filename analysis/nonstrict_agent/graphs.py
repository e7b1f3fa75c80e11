"""Collects the graphs and the code that torch makes of a program, and writes graphs as text for people."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict_agent.code_lines import Origin, kernel_places, origins_of
from nonstrict_agent.observe.failed_guards import in_names
from nonstrict_agent.origins import NAME, PLACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FORWARD = "forward"
BACKWARD = "backward"
_SHORT_DTYPES = {
    "float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c",
}  # fmt: skip
_MAX_WIDTH = 76
_MAX_TEXT = 60
_IN_FILE = re.compile(r'File "([^"]+)", line (\d+), in [^\n]*\n\s*([^\n]*)')


class Shown(NamedTuple):
    """A graph or its code as text.

    `part` is `forward` or `backward` (empty for graphs of `make_fx` and `export`), `key` torch's id of the compilation
    (frame/attempt), `region` the name of what was compiled, `places` the user's lines that it came from, `origins`
    those of single lines of the text. `break_` says why the graph ends before its function does.
    """

    part: str
    key: str
    region: str
    text: str
    places: frozenset[tuple[str, int]]
    break_: str = ""
    origins: tuple[Origin, ...] = ()


class Collector:
    """What was compiled so far; `backend` is given to `torch.compile`."""

    def __init__(self, is_user: Callable[[str], bool], root: str, inner: str = "") -> None:
        """Tell the user's files by `is_user`, and name them from `root`.

        `inner` is the backend to run with; without one, AOTAutograd's graphs are kept and run as they are.
        """
        self._is_user = is_user
        self._root = root
        self._inner = inner
        #: Names of the parameters of a region that takes whatever it is given.
        self.parameters: tuple[str, ...] = ()
        self.region = ""
        self._break = ""
        self._sources: list[str] = []
        self._notes = _Notes({}, {})
        self.shown: list[Shown] = []

    def backend(self, graph: Any, inputs: list[Any]) -> Any:
        """Compile a graph of Dynamo, and keep what comes of it."""
        self._sources = sources = [self._source(node) for node in graph.graph.nodes if node.op == "placeholder"]
        key = _key()
        self._break = _break_of(graph)
        if self._inner:
            import torch

            return torch._dynamo.lookup_backend(self._inner)(graph, inputs)
        from torch._dynamo.backends.common import aot_autograd

        notes = _Notes({}, {})

        def keep(part: str) -> Callable[..., Any]:
            def compiler(traced: Any, _: Any) -> Any:
                from functorch.compile import make_boxed_func  # pyright: ignore[reportMissingTypeStubs]

                if part == FORWARD:
                    notes.take(traced, sources)
                self.add(traced, part, key, notes)
                return make_boxed_func(traced.forward)

            return compiler

        return aot_autograd(fw_compiler=keep(FORWARD), bw_compiler=keep(BACKWARD))(graph, inputs)

    def add(self, graph: Any, part: str, key: str, notes: _Notes | None = None) -> None:
        """Keep the text of a graph."""
        writer = _Writer(graph, (notes or _Notes({}, {})).of(part), self._is_user, self._root)
        text = writer.text()
        places, origins = frozenset(writer.places), tuple(writer.origins)
        self.shown.append(Shown(part, key, self.region, text, places, self._break, origins))

    def add_code(self, code: str) -> None:
        """Keep the code of a graph, with a list of what it was made from; called by Inductor."""
        from torch._inductor.virtualized import V

        try:
            graph, part = V.graph.module, BACKWARD if V.graph.is_backward else FORWARD
        except AttributeError:
            graph, part = None, FORWARD
        places: set[tuple[str, int]] = set()
        origins = origins_of(code, kernel_places(self._is_user))
        if graph is not None:
            if part == FORWARD:
                self._notes = _Notes({}, {})
                self._notes.take(graph, self._sources)
            writer = _Writer(graph, self._notes.of(part), self._is_user, self._root)
            legend = writer.legend()
            code, places = legend + code, writer.places
            shift = legend.count("\n")
            origins = [(line + shift, path, row) for line, path, row in origins]
            # The list above the code stands for what no kernel is known for.
            known = {origin[1:] for origin in origins}
            origins = [origin for origin in writer.origins if origin[1:] not in known] + origins
        self.shown.append(Shown(part, _key(), self.region, code, frozenset(places), self._break, tuple(origins)))

    def _source(self, node: Any) -> str:
        """What the user calls an input of a graph of Dynamo."""
        source = getattr(node.meta.get("grapharg"), "source", None) or getattr(node, "_dynamo_source", None)
        if source is None:
            return ""
        name: Any = source.name
        return user_name(str(name() if callable(name) else name), self.parameters)


class _Notes(NamedTuple):
    """What a forward graph tells of its backward one: names of inputs, and places by autograd's sequence number."""

    names: dict[str, str]
    places: dict[int, Any]

    def of(self, part: str) -> _Notes:
        """What holds for a graph: only in a backward one is a sequence number that of another node."""
        return self if part == BACKWARD else _Notes(self.names, {})

    def take(self, graph: Any, sources: list[str]) -> None:
        self.names.update(_input_names(graph, sources))
        for node in graph.graph.nodes:
            if PLACE in node.meta and "seq_nr" in node.meta:
                self.places.setdefault(node.meta["seq_nr"], node.meta[PLACE])


def user_name(source: str, parameters: tuple[str, ...] = ()) -> str:
    """A source of Dynamo's as a user would write it: `L['self']._modules['lin']._parameters['weight']`.

    >>> user_name("L['self']._modules['lin']._parameters['weight']")
    'self.lin.weight'
    """
    packed = re.match(r"^L\['arguments'\]\[(\d+)\]", source)
    if packed is not None and int(packed.group(1)) < len(parameters):
        source = f"L['{parameters[int(packed.group(1))]}']{source[packed.end() :]}"
    source = re.sub(r"^L\['keywords'\]\['(\w+)'\]", r"L['\1']", source)
    return in_names(source)


def _input_names(graph: Any, sources: list[str]) -> dict[str, str]:
    """The user's names of the inputs of a graph of AOTAutograd, by the names of its placeholders.

    AOTAutograd says of an input which one of Dynamo's it is (`desc.idx`, torch 2.9 and later); otherwise they
    correspond where there are as many.
    """
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
    found: dict[str, str] = {}
    for position, node in enumerate(inputs):
        index = getattr(node.meta.get("desc"), "idx", None)
        if index is None and len(inputs) == len(sources):
            index = position
        if isinstance(index, int) and index < len(sources) and sources[index] and sources[index] not in found.values():
            found[node.name] = sources[index]
    return found


def _break_of(graph: Any) -> str:
    """Why Dynamo ended a graph before the end of its function, empty if it did not."""
    reason = getattr(graph, "compile_subgraph_reason", None)
    if not getattr(reason, "graph_break", False):
        return ""
    told = str(getattr(reason, "reason", "")).strip().split("\n")
    return told[0]


def _key() -> str:
    """The id that torch has of the compilation that is going on, such as 0/1: the second for the first function."""
    from torch import _guards

    current = _guards.CompileContext.current_compile_id()
    return str(current) if current is not None else ""


class _Writer:
    """Writes one graph, one node a line."""

    def __init__(self, graph: Any, notes: _Notes, is_user: Callable[[str], bool], root: str) -> None:
        self._graph = graph
        self._names = dict(notes.names)
        self._notes = notes
        self._is_user = is_user
        self._root = os.path.join(root, "")
        self.places: set[tuple[str, int]] = set()
        self.origins: list[Origin] = []

    def text(self) -> str:
        self._name_constants()
        nodes = list(self._graph.graph.nodes)
        rows = [self._row(node) for node in nodes]
        self.origins = [(line, *place) for line, node in enumerate(nodes) if (place := self._line_of(node))]
        width = min(max((len(left) for left, right in rows if right), default=0), _MAX_WIDTH)
        return "".join(f"    {left:<{width}}  {right}".rstrip() + "\n" for left, right in rows)

    def legend(self) -> str:
        """What the inputs are, and which operators each line gave, as comments."""
        lines = [f"#   {inner}: input `{name}`\n" for inner, name in self._names.items()]
        made: dict[str, list[Any]] = {}
        for node in self._graph.graph.nodes:
            place = self._place(node) if node.op in {"call_function", "get_attr"} else ""
            if place:
                made.setdefault(place, []).append(node)
        self.origins = [
            (line, *place) for line, nodes in enumerate(made.values(), len(lines)) if (place := self._line_of(nodes[0]))
        ]
        lines += [f"#   {', '.join(node.name for node in nodes)}: {place[2:]}\n" for place, nodes in made.items()]
        return "".join(lines)

    def _name_constants(self) -> None:
        for node in self._graph.graph.nodes:
            name = node.meta.get(NAME)
            if node.op == "get_attr" and name and name not in self._names.values():
                self._names[node.name] = name

    def _row(self, node: Any) -> tuple[str, str]:
        name = str(self._names.get(node.name, node.name))
        kind = _kind(node.meta.get("val"))
        typed = f"{name}: {kind}" if kind else name
        if node.op == "placeholder":
            return typed, f"# {self._origin(node.name)}"
        if node.op == "get_attr":
            value = kind or _kind(getattr(self._graph, str(node.target), None))
            place = self._place(node)
            return f"{name}: {value}" if value else name, f"# captured constant{', ' + place[2:] if place else ''}"
        if node.op == "output":
            return f"return {self._told(node.args[0])}", ""
        arguments = [self._told(part) for part in node.args]
        arguments += [f"{key}={self._told(part)}" for key, part in node.kwargs.items()]
        return f"{typed} = {_target(node)}({', '.join(arguments)})", self._place(node)

    def _origin(self, placeholder: str) -> str:
        """What an input is; one of a backward graph may be what the forward graph saved for it."""
        if placeholder.startswith("tangents"):
            return "gradient of a result"
        if placeholder in self._notes.names or placeholder.startswith(("primals", "arg")) or not self._notes.names:
            return "input"
        return "saved by the forward graph"

    def _place(self, node: Any) -> str:
        for path, line, text in self._found(node):
            self.places.add((path, line))
            shown = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]} ..."
            return f"# {path.removeprefix(self._root)}:{line}  {shown}"
        return ""

    def _line_of(self, node: Any) -> tuple[str, int] | None:
        """The user's line of a node; inputs and results have none."""
        found = next(self._found(node), None) if node.op not in {"placeholder", "output"} else None
        return found[:2] if found is not None else None

    def _found(self, node: Any) -> Iterator[tuple[str, int, str]]:
        """The user's line of a node: as noted for it or its forward node, or the innermost of its stack trace."""
        noted = node.meta.get(PLACE) or self._notes.places.get(node.meta.get("seq_nr", -1))
        if noted is not None:
            yield tuple(noted)
        for key in ("stack_trace", "fwd_node_stack_trace"):
            for path, line, text in reversed(_IN_FILE.findall(node.meta.get(key) or "")):
                if self._is_user(path):
                    yield path, int(line), text

    def _told(self, value: Any) -> str:
        """An argument as text, nodes by their names."""
        import torch

        if isinstance(value, torch.fx.Node):
            return self._names.get(value.name, value.name)
        if isinstance(value, (list, tuple)):
            inner = ", ".join(map(self._told, value))
            closing = "," if isinstance(value, tuple) and len(value) == 1 else ""
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{closing})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self._told(part)}" for key, part in value.items()) + "}"
        return str(value) if isinstance(value, (torch.dtype, torch.device, torch.layout)) else repr(value)


def _target(node: Any) -> str:
    if not callable(node.target):
        return str(node.target)
    text = str(node.target)
    if " " in text:
        return getattr(node.target, "__name__", text)
    return text


def _kind(value: Any) -> str:
    """The dtype and shape of what a node computes: `f32[2, 3]`."""
    import torch

    if isinstance(value, torch.Tensor):
        return f"{_short(value.dtype)}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return f"Sym({value})"
    if isinstance(value, (list, tuple)):
        return f"({', '.join(_kind(part) or type(part).__name__ for part in value)})"
    return ""


def _short(dtype: Any) -> str:
    """A dtype in few letters: f32, bf16, bool."""
    name = str(dtype).removeprefix("torch.")
    letters = name.rstrip("0123456789")
    short = _SHORT_DTYPES.get(letters)
    return name if short is None else short + name.removeprefix(letters)
