"""Graph breaks: constructs of a compiled region that Dynamo cannot trace, looked up in the measured table.

Frames of a region (`Frame.region`) ask here at every call of something outside the program, at context managers and at
a few statements. A construct is an effect only if torch was measured to break on it: what people believe to break, and
what nobody measured, stays silent.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.events import Construct, Event, Taken
from nonstrict.facts.fallthrough import only_raises
from nonstrict.facts.guards import is_switched
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.graph_breaks import graph_break, is_measured, may_break
from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.contracts.regions import arguments, branches, contexts, messages, unbacked
from nonstrict.program.contracts.regions import options as dynamo_options
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.effects import Effect
from nonstrict.program.domain.values import (
    NO_CONSTANT,
    NUMBER,
    TENSOR_METADATA,
    TENSORS,
    Flag,
    Kind,
    Value,
    became_tensor,
    is_array,
)
from nonstrict.program.externals import differentiation
from nonstrict.program.objects import classes, naming
from nonstrict.program.state import checked_symbols
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame

#: Key of the construct "a function that `torch.compiler.disable` keeps out of compiled code is called".
DISABLED = "disabled-call"
DISABLED_MODULE = "disabled-call:module"
#: What `disable(recursive=False)` keeps out: what it calls is compiled.
DISABLED_ALONE = "disabled-call:non-recursive"
#: Key of what is traced, and yields something else than in plain Python: `3 in lengths.tolist()`.
NEVER_FOUND = "wrong:membership-tolist"

_RECEIVERS = {
    Kind.TENSOR: "Tensor",
    Kind.PARAMETER: "Parameter",
    Kind.MODULE: "Module",
    Kind.GENERATOR: "Generator",
    Kind.STORAGE: "Storage",
    Kind.NUMPY: "numpy.ndarray",
    Kind.STRING: "str",
    Kind.LIST: "list",
    Kind.TUPLE: "tuple",
    Kind.DICT: "dict",
    Kind.SET: "set",
    Kind.DEQUE: "deque",
}
#: Decorators whose functions warn of being called.
_DEPRECATING = frozenset({"warnings.deprecated", "typing_extensions.deprecated"})
#: Made of an input they are traced, made of a tensor of the region they are not.
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
#: What the table calls files.
_FILES = ("file", "builtins.open")
_SELECTED = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.DEQUE, Kind.MODULE})
_CONTEXT_VARIABLE = {"get": "context-variable-read", "set": "context-variable-write"}
_KNOWN_NATIVE = ("torch.", "numpy.", "triton.")
#: Options as torch's texts name them; other names of three words are none, and nothing sets them.
_OPTION = re.compile(r"(?<=\btorch\._dynamo\.config\.)[a-z_]+|\b[a-z]+(?:_[a-z]+){2,}\b")
_LOGGING = re.compile(r"(?:call|arg):(?:builtins\.print|warnings\.|logging\.)|method:logging\.")
#: Options that let Dynamo trace past logging, or past it and away.
_LOGGING_OPTIONS = {"reorderable_logging_functions", "ignore_logger_methods", "ignore_logging_functions"}


def called(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> None:
    """A function or class outside the program is called in a region."""
    if name in _PARAMETERS:
        if any(value.place.root is Root.FRESH for value in positional[:1]):
            emit(frame, node, f"call:{name}")
        return
    if name.startswith("torch._check"):
        _check(frame, node, positional, keywords)
    if name == "builtins.eval" and positional and _names_something(positional[0]):
        emit(frame, node, f"arg:{name}:global-name")
        return
    if name == "builtins.range" and positional and unbacked.is_size(frame, node, positional[0]):
        statement(frame, node, "range-data-size")
        return
    if name == "builtins.range" and any(arguments.is_drawn(frame, value) for value in positional):
        statement(frame, node, "for-range-random")
        return
    if (changed := branches.changed(frame, node, name, positional, keywords)) is not None:
        _changing(frame, node, changed)
        return
    if not (name.startswith("torch.") and arguments.counts_plainly(name, positional[1:], keywords)):
        _look_up(frame, node, name, positional, keywords)


def _look_up(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> None:
    torch = frame.machine.torch
    for condition in arguments.conditions(frame, node, name, positional, keywords):
        key = f"arg:{name}:{condition}"
        if is_measured(key, torch):
            if may_break(key, torch):
                emit(frame, node, key)
            return
    if may_break(f"call:{name}", torch):
        emit(frame, node, f"call:{name}")


def _check(frame: Frame, node: ast.AST, positional: Sequence[Value], keywords: dict[str, Value]) -> None:
    """A check of torch is called, maybe with a message."""
    checked(frame, positional)
    if unconvertible := messages.construct(frame, (*positional, *keywords.values())):
        statement(frame, node, unconvertible)


def _names_something(code: Value) -> bool:
    """Whether a text that is evaluated reads a name."""
    try:
        parsed = tree_of(code.const, "eval") if isinstance(code.const, str) else None
    except (SyntaxError, ValueError):
        return False
    return parsed is not None and any(isinstance(node, ast.Name) for node in ast.walk(parsed))


def needs_gradient(frame: Frame, node: ast.AST, tensor: Value) -> Value:
    """`requires_grad_()` of a tensor made in a region: the graph breaks where the region returns what follows of it."""
    key = "stmt:requires-grad-returned"
    switched_off = isinstance(node, ast.Call) and any(getattr(one, "value", None) is False for one in node.args)
    if switched_off or _turns_gradients_off(frame):
        return tensor
    argument = tensor.place.root is Root.ARGUMENT and not tensor.place.is_view
    if argument or tensor.place.captured or not may_break(key, frame.machine.torch):
        return tensor
    effect = Effect(Event.BREAK, frame.module.path, frame.offset, node, tensor.place, what=key, how=Construct.LISTED)
    carrying = tensor.with_taint(tensor.taint | {effect})
    holder = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if isinstance(holder, ast.Name) and holder.id in frame.env:
        frame.env[holder.id] = carrying
    return carrying


def _turns_gradients_off(frame: Frame) -> bool:
    """Whether the function computes without gradients somewhere: what it returns may be made there."""
    if frame.function is None:
        return False
    names = naming.names_at(frame)
    known = (names(node).split(".") for node in walk(frame.function.node) if naming.is_chain(node))
    return any(parts[0] == "torch" and parts[-1] in differentiation.SWITCHES for parts in known)


def method(
    frame: Frame,
    node: ast.AST,
    receiver: Value,
    name: str,
    positional: Sequence[Value],
    keywords: Mapping[str, Value],
) -> None:
    """A method of a value outside the program is called in a region."""
    if receiver.dotted == "contextvars.ContextVar" and name in _CONTEXT_VARIABLE:
        statement(frame, node, _CONTEXT_VARIABLE[name])
        return
    if stacked := contexts.stacked(frame, node, receiver, name, positional):
        emit(frame, node, stacked)
        return
    if name == "as_subclass" and receiver.kind is Kind.TENSOR and positional and positional[0].dotted == "torch.Tensor":
        statement(frame, node, "as-subclass-tensor")
        return
    torch = frame.machine.torch
    if unbacked.taken_apart(frame, node, receiver, name):
        if may_break(key := f"method:Tensor.{name}:data-size", torch):
            emit(frame, node, key)
        return
    if not (receiver.is_tensor and arguments.counts_plainly(name, positional, keywords)):
        told = [repr(first.const) for first in positional[:1] if first.const is not NO_CONSTANT]
        _look_up_method(frame, node, receiver, name, [*told, *arguments.of_method(keywords)])


def _look_up_method(frame: Frame, node: ast.AST, receiver: Value, name: str, told: Sequence[str]) -> None:
    torch = frame.machine.torch
    given = receiver.place.root is Root.ARGUMENT and not receiver.place.is_view
    for kind in _receivers(frame, receiver):
        key = f"method:{kind}.{name}"
        variants = [f"{key}:argument"] if given else []
        for variant in (*variants, *(f"{key}:{one}" for one in told)):
            if may_break(variant, torch):
                emit(frame, node, variant)
                return
        if not is_measured(key, torch):
            continue
        of_integers = is_measured(f"{key}:int", torch) and graph_break(f"{key}:int", torch) is None
        key = f"{key}:int" if of_integers and not receiver.flags & Flag.FLOATING else key
        if may_break(key, torch):
            emit(frame, node, key)
        return


def entered(frame: Frame, node: ast.AST, manager: Value) -> None:
    """A context manager is entered in a region."""
    if manager.kind is Kind.OBJECT and (manager.place.captured or manager.place.root is Root.ARGUMENT):
        statement(frame, node, "object-with" if manager.place.captured else "object-with-argument")
        return
    if manager.kind is Kind.OBJECT and manager.of_class is not None:
        for name in classes.external_bases(manager.of_class):
            if may_break(f"with:{name}", frame.machine.torch):
                emit(frame, node, f"with:{name}")
                return
    if manager.kind is not Kind.INSTANCE or not manager.dotted:
        return
    for name in _class_names(frame, manager.dotted):
        if may_break(f"with:{name}", frame.machine.torch):
            emit(frame, node, f"with:{name}")
            return


def decided(frame: Frame, node: ast.AST, value: Value) -> None:
    """The truth of a value is asked for in a region: of what follows from data it is not known there.

    Dynamo does not look into tensors made of literals either, and takes arrays of NumPy for tensors.
    """
    alternatives = value.alternatives()
    if checked_symbols.depends_on_data(frame, value):
        statement(frame, node, "if-tensor-item")
    if arguments.is_drawn(frame, value):
        statement(frame, node, "if-random")
    kinds = {member.kind for member in alternatives} - {Kind.NONE}
    if kinds and kinds <= TENSORS:
        literal = all(member.flags & Flag.LITERAL for member in alternatives if member.kind in TENSORS)
        statement(frame, node, "if-tensor-literal" if literal else "if-tensor")
    elif all(member.kind is Kind.NONE or is_array(member) for member in alternatives) and kinds:
        statement(frame, node, "numpy-branch")
    elif became_tensor(value):
        frame.branches += 1  # on another path it is none
        statement(frame, node, "if-tensor")
        frame.branches -= 1


def never_found(frame: Frame, node: ast.AST, sought: Value, numbers: Value) -> bool:
    """Whether a constant is sought among the numbers of a tensor: Dynamo finds it in no list of theirs, and goes on."""
    listed = numbers.kind is Kind.LIST and any(effect.how is Taken.LIST for effect in numbers.taint)
    if not listed or sought.const is NO_CONSTANT:
        return False
    emit(frame, node, NEVER_FOUND)
    return True


def yielded(frame: Frame, node: ast.AST) -> None:
    """The compiled function itself is a generator: Dynamo refuses it, whether it gets to the `yield` or not."""
    if frame.caller is None and frame.function is not None and not frame.function.context_manager:
        conditions, frame.branches = frame.branches, 0
        statement(frame, node, "generator-region")
        frame.branches = conditions


def decorated(frame: Frame, node: ast.AST, function: Function) -> None:
    """A function of the program is called in a region: a decorator may have it do what Dynamo does not trace."""
    for decorator in getattr(function.node, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and last_name(decorator) == "deprecated":
            made = frame.machine.evaluate(frame.machine.module_frame(function.module), decorator.func)
            if made.kind is Kind.EXTERNAL and made.dotted in _DEPRECATING:
                statement(frame, node, "deprecated-call")


def statement(frame: Frame, node: ast.AST, name: str, place: AccessPath = FRESH) -> None:
    """A statement or expression of its own kind is executed in a region; `place` is of what Dynamo refuses to touch."""
    if may_break(f"stmt:{name}", frame.machine.torch):
        emit(frame, node, f"stmt:{name}", place)


def _changing(frame: Frame, node: ast.AST, changed: branches.Changed) -> None:
    """A function that becomes a graph of its own changes what lives outside: told where it does so."""
    key = f"stmt:{changed.construct}"
    if changed.inside is None:
        statement(frame, node, changed.construct)
    elif may_break(key, frame.machine.torch) and not _switched_on(frame, key):
        frame.summary.add_observed(branches.told(changed.inside, key), conditional=frame.branches > 0)


def selected(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> None:
    """An entry of a container is asked for: Dynamo has to know which one."""
    if base.kind not in _SELECTED:
        return
    mapping = base.kind is Kind.DICT
    if checked_symbols.depends_on_data(frame, index):
        statement(frame, node, "dict-subscript-item" if mapping else "list-subscript-item")
    elif arguments.is_drawn(frame, index) and not mapping:
        statement(frame, node, "list-subscript-random")
    elif index.is_tensor and not mapping and not index.flags & Flag.LITERAL:
        # What is converted may be an integer before, and then it is the same tensor.
        source = frame.machine.evaluate(frame, _unconverted(node.slice))
        guarded = arguments.guards_item(source)
        statement(frame, node, "list-subscript-tensor-argument" if guarded else "list-subscript-tensor")


def _unconverted(expression: ast.expr) -> ast.expr:
    """What an expression like `index.long()` converts."""
    while isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        method = tensor_method(expression.func.attr)
        if method is None or not method.itself_or_copy:
            break
        expression = expression.func.value
    return expression


def operated(frame: Frame, node: ast.BinOp | ast.UnaryOp, *operands: Value) -> Value | None:
    """An operator has its operands: a number that Python drew stays one, which torch does not compute with."""
    binary = isinstance(node, ast.BinOp)
    if binary and any(operand.flags & Flag.POINTER for operand in operands):
        statement(frame, node, "data-ptr-arithmetic")
    negates = isinstance(node.op, ast.USub)
    if not (binary or negates) or not arguments.computes_with_drawn(frame, *operands):
        return None
    statement(frame, node, "random-negative" if negates else "random-number-arithmetic")
    return NUMBER


def attribute_stored(frame: Frame, node: ast.AST, tensor: Value, name: str) -> None:
    """An attribute of a tensor is set; the table may tell tensors of the region apart."""
    if name in TENSOR_METADATA:
        made_here = f"tensor-{name}-assign-intermediate"
        apart = tensor.place.root is Root.FRESH and is_measured(f"stmt:{made_here}", frame.machine.torch)
        statement(frame, node, made_here if apart else f"tensor-{name}-assign")


def raised(frame: Frame, node: ast.Raise) -> None:
    """The compiled function itself always raises.

    A helper that does stands for one that nobody calls, and a method that does nothing else for those of subclasses.
    """
    function = frame.function
    is_placeholder = function is not None and function.owner is not None and only_raises(function.node)
    if frame.caller is None and not frame.branches and not is_placeholder:
        statement(frame, node, "raise")


def native(frame: Frame, node: ast.AST, callee: str) -> None:
    """Compiled code is called in a region: Dynamo knows torch's own, NumPy and Triton kernels."""
    if not callee.startswith(_KNOWN_NATIVE):
        frame.emit(Event.BREAK, node, what=callee, how=Construct.NATIVE)


def _is_logging(key: str) -> bool:
    """Whether a construct writes a line for people to read."""
    return _LOGGING.match(key) is not None


def emit(frame: Frame, node: ast.AST, key: str, place: AccessPath = FRESH) -> None:
    """Record a construct of a region that breaks the graph."""
    if not _switched_on(frame, key):
        telling = _is_logging(key) and frame.function is not None and is_switched(frame.function.node, node)
        frame.emit(Event.BREAK, node, place, what=key, how=Construct.LISTED, telling=telling)


def _switched_on(frame: Frame, key: str) -> bool:
    """Whether the program sets an option of Dynamo by which a construct is traced."""
    told = (graph_break(key, frame.machine.torch, whole=whole) for whole in (True, False))
    texts = [text for known in told if known is not None for text in (known.type, known.explanation, *known.hints)]
    options = {option for text in texts for option in _OPTION.findall(text)}
    if _is_logging(key):
        options |= _LOGGING_OPTIONS
    return any(dynamo_options.is_set(frame.machine, option, frame.module.path) for option in sorted(options))


def checked(frame: Frame, values: Sequence[Value]) -> None:
    """`torch._check` tells something of numbers that follow from data."""
    frame.summary.settled.update(
        effect.key for value in values for effect in value.taint if effect.event is Event.ESCAPE
    )


def _receivers(frame: Frame, receiver: Value) -> Iterator[str]:
    known = _RECEIVERS.get(receiver.kind)
    if receiver.kind is Kind.DICT and receiver.dotted:
        yield receiver.dotted
    if receiver.kind is Kind.PARAMETER:
        yield "Parameter"
        yield "Tensor"
    elif known is not None:
        yield known
    elif receiver.kind is Kind.INSTANCE and receiver.dotted:
        for name in _class_names(frame, receiver.dotted):
            yield name
            yield name.rpartition(".")[2]
        if receiver.dotted.startswith("torch.optim."):
            yield "LRScheduler" if ".lr_scheduler." in receiver.dotted else "Optimizer"


def _class_names(frame: Frame, name: str) -> Iterator[str]:
    """By which names the table may know objects of a class: its own, and those of its bases."""
    for one in frame.machine.models.ancestors(name):
        yield one
        if one == "io.IOBase":
            yield from _FILES
