"""What draws of random numbers and questions to the system give, and what may be computed from them elsewhere."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.knowledge.arrays import drawn
from nonstrict.models.library import SHIPPED
from nonstrict.program.domain.values import NUMBER, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.references import Uses

_GENERATORS = ("random.Random", "numpy.random.Generator", "numpy.random.RandomState")
#: Methods of the generators of Python that give a number, by how many arguments they take.
_OF_PYTHON = {"gauss": 2, "randrange": 3}
_NAMES = {
    "time": "now",
    "time_ns": "now",
    "perf_counter": "now",
    "perf_counter_ns": "now",
    "monotonic": "now",
    "monotonic_ns": "now",
    "now": "now",
    "getpid": "process_id",
    "get_ident": "thread_id",
    "uuid4": "unique_id",
    "next": "following",
}
_CLOCKS = frozenset({"time", "datetime", "os"})
#: What may be computed from a draw where it is drawn: it has no effect, and no name that is looked up elsewhere.
_CONVERSIONS = frozenset(f"builtins.{name}" for name in ("int", "float", "bool", "str", "abs", "round", "min", "max"))
_TENSORS = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.scalar_tensor"})


def value_of(uses: Uses, document: Document, node: ast.expr) -> Value:
    """What an expression gives; an environment variable that is not set is None, and nothing torch takes."""
    if isinstance(node, ast.Call):
        name = _callee(uses, document, node)
        if name in ("os.getenv", "os.environ.get") and len(node.args) + len(node.keywords) < 2:
            return UNKNOWN
        if _draws_number(uses, document, node):
            return NUMBER
        if name == "builtins.next" and len(node.args) == 1:
            return _following(uses, document, node.args[0])
    return uses.value(document, node)._replace(taint=frozenset())


def is_generator(value: Value) -> bool:
    """Whether a value is an object that draws random numbers."""
    return value.kind is Kind.INSTANCE and SHIPPED.is_a(value.dotted, *_GENERATORS)


def is_number(name: str) -> bool:
    """Whether methods of this name of generators, of NumPy or of Python, draw numbers."""
    return drawn(name) is not None or name in _OF_PYTHON


def _draws_number(uses: Uses, document: Document, node: ast.Call) -> bool:
    """Whether a call draws one number from a generator of Python or NumPy."""
    function = node.func
    name = last_name(function)
    told = drawn(name)
    most = told.before if told is not None else _OF_PYTHON.get(name, 0)
    if not isinstance(function, ast.Attribute) or not is_number(name) or node.keywords or len(node.args) > most:
        return False
    holder = uses.value(document, function.value)
    return is_generator(holder) or _callee(uses, document, node) == f"numpy.random.{name}"


def conversion(uses: Uses, document: Document, node: ast.expr) -> str:
    """What makes a plain number of a draw by NumPy, which is one, but not known to be one where it is passed."""
    if not isinstance(node, ast.Call) or uses.value(document, node).kind is not Kind.NUMPY:
        return ""
    if value_of(uses, document, node).kind is not Kind.NUMBER:
        return ""
    told = drawn(last_name(node))
    return told.kind if told is not None else ""


def _following(uses: Uses, document: Document, node: ast.expr) -> Value:
    """What an iterator that a top-level name holds gives next."""
    iterator = uses.value(document, node)
    bound = uses.scopes(document).text.bindings(document.tree, node.id) if isinstance(node, ast.Name) else ()
    statements = [document.parent(one) for one in bound]
    made = statements[0].value if len(statements) == 1 and isinstance(statements[0], ast.Assign) else None
    if isinstance(made, ast.Call) and _callee(uses, document, made) == "itertools.count":
        return NUMBER
    element = iterator.heap.element if iterator.heap is not None else None
    return element if element is not None else UNKNOWN


def _callee(uses: Uses, document: Document, node: ast.Call) -> str:
    """The dotted name of what is called."""
    value = uses.value(document, node.func)
    if value.kind is Kind.EXTERNAL:
        return value.dotted
    return uses.scopes(document).dotted(node.func)


def is_computed(uses: Uses, document: Document, node: ast.AST) -> bool:
    """Whether a node computes something of its parts, without an effect: a conversion, an operator, a comparison."""
    if isinstance(node, ast.Call):
        name = _callee(uses, document, node)
        return name in _CONVERSIONS or name in _TENSORS or name.startswith("math.")
    return isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare))


def is_clock(uses: Uses, document: Document, node: ast.expr) -> bool:
    """Whether an expression asks the system for something that is not drawn by chance."""
    name = _callee(uses, document, node) if isinstance(node, ast.Call) else ""
    return name.partition(".")[0] in _CLOCKS and name != "os.urandom"


def measures(uses: Uses, document: Document, node: ast.expr) -> bool:
    """Whether a number that the clock gives is one of several in a function: callers cannot tell how long it takes."""
    if value_of(uses, document, node).kind is Kind.BOOL:
        return False
    function = document.function(node)
    inner = set(ast.walk(node))
    asked = (part for part in (ast.walk(function) if function is not None else ()) if isinstance(part, ast.Call))
    clocks = [part for part in asked if is_clock(uses, document, part)]
    return any(part in inner for part in clocks) and any(part not in inner for part in clocks)


def is_builtin(uses: Uses, document: Document, name: ast.Name) -> bool:
    """Whether a name is a builtin, and nothing of the file."""
    bound = any(True for _ in uses.scopes(document).text.bindings(document.tree, name.id))
    return hasattr(builtins, name.id) and not bound


def name_of(uses: Uses, document: Document, node: ast.expr) -> str:
    """A name for a parameter that takes what an expression gives."""
    if value_of(uses, document, node).kind is Kind.BOOL:
        return "flag"
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and (found := _NAMES.get(last_name(part))):
            return found
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
            return part.value.lower()
    return "drawn"


def in_torch(uses: Uses, document: Document, node: ast.expr) -> tuple[ast.Call, str] | None:
    """A tensor made of an array that NumPy draws, and the draw by torch that gives one of the same size and type."""
    outer = document.parent(node)
    made = outer if isinstance(outer, ast.Call) and outer.args == [node] and not outer.keywords else None
    if made is None or not isinstance(node, ast.Call) or node.keywords or not node.args:
        return None
    drawn = {"numpy.random.rand": "rand", "numpy.random.randn": "randn"}.get(_callee(uses, document, node))
    if drawn is None or any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    if _callee(uses, document, made) not in ("torch.from_numpy", "torch.tensor", "torch.as_tensor"):
        return None
    module = made.func.value if isinstance(made.func, ast.Attribute) else None
    if module is None or uses.scopes(document).dotted(module) != "torch":
        return None
    torch = document.text(module)
    sizes = ", ".join(document.text(argument) for argument in node.args)
    return made, f"{torch}.{drawn}({sizes}, dtype={torch}.float64)"
