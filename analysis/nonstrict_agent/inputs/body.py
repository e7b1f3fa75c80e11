"""How the body of a function uses its parameters, read from its source without running it.

Each parameter gets a `Usage`, a tree: attributes, string keys and elements of it have a `Usage` of their own, so that
`config.hidden_size` and `batch["image"]` are read as parameters are. Names that are bound to a parameter, or to
something of the same rank computed from it, stand for it; calls of functions whose source can be had are followed.
"""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING

from nonstrict_agent.inputs import words
from nonstrict_agent.inputs.source import tree_of
from nonstrict_agent.inputs.usage import Usage, compared, indexed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Methods whose result has the rank of the receiver: it still stands for it.
_SAME_RANK = frozenset(
    [
        "float",
        "half",
        "double",
        "bfloat16",
        "to",
        "type_as",
        "clone",
        "detach",
        "contiguous",
        "cuda",
        "cpu",
        "long",
        "int",
        "bool",
        "type",
        "softmax",
        "sigmoid",
        "relu",
        "tanh",
        "exp",
        "log",
        "abs",
        "clamp",
        "masked_fill",
        "requires_grad_",
        "pow",
        "sqrt",
        "rsqrt",
        "add",
        "mul",
        "sub",
        "div",
        "transpose",
        "roll",
        "flip",
    ]
)
_DIM_METHODS = frozenset(
    [
        "size",
        "sum",
        "mean",
        "softmax",
        "log_softmax",
        "chunk",
        "split",
        "max",
        "min",
        "argmax",
        "cumsum",
        "transpose",
        "flatten",
    ]
)


def read(function: Callable[..., object], usages: dict[str, Usage], depth: int = 2) -> None:
    """Adds what the body of `function` does to `usages`, by name of parameter; follows calls `depth` deep."""
    tree = tree_of(function)
    if tree is not None:
        names: Mapping[str, object] = getattr(function, "__globals__", {})
        _Reader(dict(usages), names, depth).run(tree)


class _Reader:
    def __init__(self, scope: dict[str, Usage], names: Mapping[str, object], depth: int) -> None:
        self._scope = scope
        self._names = names
        self._depth = depth

    def run(self, tree: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        if isinstance(tree, ast.Lambda):
            self._read(tree.body)
        else:
            for statement in tree.body:
                self._read(statement)

    def _read(self, node: ast.AST) -> Usage | None:
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is not None:
            return reader(node)
        for child in ast.iter_child_nodes(node):
            self._read(child)
        return None

    def _name(self, node: ast.Name) -> Usage | None:
        return self._scope.get(node.id)

    def _attribute(self, node: ast.Attribute) -> Usage | None:
        base = self._read(node.value)
        if base is None:
            return None
        if node.attr == "shape":
            base.tensor += 1
            return Usage(shape_of=base)
        if node.attr == "ndim":
            base.tensor += 1
            return Usage(rank_of=base)
        return base.attributes.setdefault(node.attr, Usage())

    def _subscript(self, node: ast.Subscript) -> Usage | None:
        base = self._read(node.value)
        for each in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            index = self._read(each)
            if index is not None:
                index.index = True
        if base is None:
            return None
        constant = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(constant, str):
            return base.keys.setdefault(constant, Usage())
        if base.shape_of is not None:
            if isinstance(constant, int):
                base.shape_of.least_rank = max(base.shape_of.least_rank, constant + 1)
            return None
        if isinstance(node.slice, ast.Tuple):
            indexed(base, node.slice.elts)
        elif isinstance(constant, int):
            base.length = max(base.length, constant + 1)
            base.number -= 1
            return base.items()
        return None

    def _call(self, node: ast.Call) -> Usage | None:
        args = [self._read(each) for each in node.args]
        keywords = {each.arg: self._read(each.value) for each in node.keywords}
        if isinstance(node.func, ast.Attribute):
            base = self._read(node.func.value)
            if base is not None:
                return self._method(base, node.func.attr, node, args)
            self._function(node.func.attr, node, args, keywords)
            return None
        called = self._read(node.func)
        if called is not None:
            called.called = max(called.called, len(args))
            return None
        if isinstance(node.func, ast.Name):
            return self._builtin(node.func.id, node, args) or self._function(node.func.id, node, args, keywords)
        return None

    def _method(self, base: Usage, name: str, node: ast.Call, args: list[Usage | None]) -> Usage | None:
        method = base.attributes.setdefault(name, Usage())
        method.called = max(method.called, len(args))
        constants = [each.value for each in node.args if isinstance(each, ast.Constant) and type(each.value) is int]
        if name == "size" and not args:
            return Usage(shape_of=base)
        if name == "dim" and not args:
            return Usage(rank_of=base)
        if name in _DIM_METHODS and constants:
            base.least_rank = max(base.least_rank, max(constants) + 1)
        if name == "permute" and len(args) > 1:
            base.ranks.append(len(args))
        if name == "get" and node.args and isinstance(node.args[0], ast.Constant):
            return base.keys.setdefault(str(node.args[0].value), Usage())
        if name in {"items", "keys", "values"}:
            base.tensor -= 1
        for table, kind in ((words.INDICES, "index"), (words.MASKS, "mask")):
            at = table.get(name, 0) - 1
            if 0 <= at < len(args) and (usage := args[at]) is not None:
                setattr(usage, kind, True)
        for usage in args:
            if usage is not None:
                usage.number += 0.3
        return base if name in _SAME_RANK else None

    def _builtin(self, name: str, node: ast.Call, args: list[Usage | None]) -> Usage | None:
        first = args[0] if args else None
        if first is None or name in self._scope:
            return None
        if name == "len":
            return Usage(rank_of=first.shape_of) if first.shape_of else None
        if name == "range":
            for usage in args:
                if usage is not None:
                    usage.integer += 2
        elif name == "isinstance" and len(node.args) == 2:
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            first.classes.extend(ast.unparse(each).rpartition(".")[2] for each in kinds)
        elif name == "callable":
            first.none = True
        elif name in {"getattr", "hasattr"} and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            return first.attributes.setdefault(str(node.args[1].value), Usage())
        return None

    def _function(
        self, name: str, node: ast.Call, args: list[Usage | None], keywords: Mapping[str | None, Usage | None]
    ) -> None:
        """A call of something that is not a parameter: known of torch, or followed into its source."""
        target = self._target(node.func)
        if target is not None and self._depth > 0:
            self._follow(target, args, keywords)
            return
        root = ast.unparse(node.func).partition(".")[0]
        of_torch = root in {"torch", "F", "nn"} or name in words.RANKS
        for position, usage in enumerate(args):
            if usage is None:
                continue
            if of_torch:
                usage.tensor += 1.0 if position == 0 or (name in words.RANKS and position < 2) else 0.4
                ranks = words.RANKS.get(name, ())
                if position < len(ranks):
                    usage.ranks.append(ranks[position])
            at = 1 if name == "embedding" and root == "torch" else words.INDICES.get(name)
            if at == position:
                usage.index = True
            if words.MASKS.get(name) == position:
                usage.mask = True
        if of_torch and node.args and isinstance(node.args[0], (ast.List, ast.Tuple)):
            for each in node.args[0].elts:
                usage = self._read(each)
                if usage is not None:
                    usage.tensor += 1
        if of_torch and name in {"cat", "stack", "concat"} and args and args[0] is not None:
            args[0].tensor -= 2
            args[0].items().tensor += 2

    def _target(self, called: ast.expr) -> Callable[..., object] | None:
        """The Python function of the same project that is called, if its source can be read."""
        if not isinstance(called, ast.Name):
            return None
        found = self._names.get(called.id)
        found = inspect.unwrap(found) if callable(found) else None
        return found if inspect.isfunction(found) else None

    def _follow(
        self, target: Callable[..., object], args: list[Usage | None], keywords: Mapping[str | None, Usage | None]
    ) -> None:
        try:
            names = list(inspect.signature(target).parameters)
        except (TypeError, ValueError):
            return
        passed = {name: usage for name, usage in zip(names, args, strict=False) if usage is not None}
        passed.update({name: usage for name, usage in keywords.items() if name in names and usage is not None})  # type: ignore[misc]
        if passed:
            read(target, passed, self._depth - 1)

    def _binop(self, node: ast.BinOp) -> Usage | None:
        left, right = self._read(node.left), self._read(node.right)
        for usage in (left, right):
            if usage is None:
                continue
            usage.number += 1
            if isinstance(node.op, ast.MatMult):
                usage.tensor += 2
                usage.least_rank = max(usage.least_rank, 1)
        both = [usage for usage in (left, right) if usage is not None and not usage.shape_of and not usage.rank_of]
        return both[0] if len(both) == 1 else None

    def _compare(self, node: ast.Compare) -> None:
        usage = self._read(node.left)
        for operator, other in zip(node.ops, node.comparators, strict=True):
            reverse = self._read(other)
            for value, literal in ((usage, other), (reverse, node.left)):
                if value is not None:
                    compared(value, operator, literal)

    def _if(self, node: ast.If | ast.IfExp | ast.While) -> None:
        test = node.test
        plain = test.operand if isinstance(test, ast.UnaryOp) else test
        for each in plain.values if isinstance(plain, ast.BoolOp) else [plain]:
            usage = self._read(each)
            if usage is not None and isinstance(each, (ast.Name, ast.Attribute)):
                usage.truth = True
        for child in ast.iter_child_nodes(node):
            if child is not test:
                self._read(child)

    _ifexp = _if
    _while = _if

    def _assign(self, node: ast.Assign) -> None:
        value = self._read(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _bind(self, target: ast.expr, value: Usage | None) -> None:
        if isinstance(target, ast.Name):
            if value is None:
                self._scope.pop(target.id, None)
            else:
                self._scope[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = any(isinstance(each, ast.Starred) for each in target.elts)
            if value is not None and value.shape_of is not None:
                if starred:
                    value.shape_of.least_rank = max(value.shape_of.least_rank, len(target.elts) - 1)
                else:
                    value.shape_of.ranks.insert(0, len(target.elts))
                value = None
            if value is not None:
                value.length = max(value.length, len(target.elts))
            for each in target.elts:
                self._bind(each, value.items() if value is not None else None)
        else:
            self._read(target)

    def _for(self, node: ast.For | ast.comprehension) -> None:
        self._iterate(node.target, node.iter)
        rest = [*node.body, *node.orelse] if isinstance(node, ast.For) else node.ifs
        for each in rest:
            self._read(each)

    _comprehension = _for

    def _iterate(self, target: ast.expr, source: ast.expr) -> None:
        name = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else ""
        if isinstance(source, ast.Call) and name in {"enumerate", "zip", "reversed"}:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            parts = parts[1:] if name == "enumerate" else parts
            for part, each in zip(parts, source.args, strict=False):
                self._iterate(part, each)
            return
        usage = self._read(source)
        self._bind(target, usage.items() if usage is not None and usage.shape_of is None else None)

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> None:
        for generator in node.generators:
            self._read(generator)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.comprehension):
                self._read(child)

    _generatorexp = _listcomp
    _setcomp = _listcomp
    _dictcomp = _listcomp
