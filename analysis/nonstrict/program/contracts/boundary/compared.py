"""Which fields the `__eq__` of a class compares: by itself, through helpers and by their names, along its bases."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import fields
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.machine import Machine

#: Methods that call one another are followed so far.
_FOLLOWED_CALLS = 4
_ASKS = frozenset({"isinstance", "issubclass", "type", "id"})
_PLAIN_BASES = frozenset({"builtins.object", "object", "abc.ABC", "typing.Generic", "typing.Protocol"})


def ignored(machine: Machine, cls: Class) -> frozenset[str]:
    """The fields that `__init__` takes from its arguments and that the `__eq__` of a class leaves out."""
    line = [base for base in classes.lineage(cls) if base not in _PLAIN_BASES]
    known = [base for base in line if not isinstance(base, str)]
    for index, base in enumerate(line):
        if isinstance(base, str):
            return frozenset()
        compares = fields.method(base.node, "__eq__")
        if compares is not None:
            compared = _Comparison(machine, known).reads(compares, known.index(base))
            if compared is None:
                return frozenset()
            stored = stored_fields(known) | {name for one in known[: index + 1] for name in _taken(one)}
            return frozenset(name for name in stored - compared if not _follows(known, name, compared))
        if _is_generated(base):
            return _left_out(base) if index == 0 else frozenset()
        if any(_binds(statement, "__eq__") for statement in base.node.body):
            return frozenset()
    return frozenset()


def _is_generated(cls: Class) -> bool:
    """Whether the `__eq__` of a class is that of dataclasses, or may be."""
    return any(
        fields.option(decorator, "eq") is not False or last_name(decorator) != "dataclass"
        for decorator in cls.node.decorator_list
    )


def _left_out(cls: Class) -> frozenset[str]:
    given = fields.annotated(cls.node)
    return frozenset(name for name in _taken(cls) if fields.option(given[name], "compare") is False)


def _taken(cls: Class) -> Iterator[str]:
    """The annotated fields that the constructor takes; the others it computes."""
    return (name for name, value in fields.annotated(cls.node).items() if fields.option(value, "init") is not False)


def stored_fields(line: Sequence[Class]) -> frozenset[str]:
    """The fields that the constructor of the first of some classes sets, and those of its bases that it calls."""
    found: set[str] = set()
    for cls in line:
        found |= set(fields.set_by_init(cls.node))
        init = fields.method(cls.node, "__init__")
        if init is not None and not any(
            isinstance(node, ast.Call) and last_name(node) == "__init__" for node in walk(init)
        ):
            break
    return frozenset(found)


def _follows(line: Sequence[Class], name: str, compared: frozenset[str]) -> bool:
    """Whether a constructor computes a field from nothing but what is compared, or sets it to a constant."""
    setting = [cls for cls in line if name in fields.set_by_init(cls.node)]
    return any(fields.follows(cls.node, name, compared) for cls in setting)


def _binds(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(node, ast.Name) and node.id == name for target in targets if target for node in walk(target))


class _Comparison:
    """What a method reads of both of its arguments, or of `self`; None stands for what cannot be told."""

    def __init__(self, machine: Machine, line: Sequence[Class]) -> None:
        self.machine = machine
        self.line = line
        self.fields = frozenset(
            name for cls in line for name in (*fields.set_by_init(cls.node), *fields.annotated(cls.node))
        )

    def reads(self, function: ast.FunctionDef, at: int, depth: int = 0) -> frozenset[str] | None:
        """The fields that a method of the class with the number `at` reads."""
        if depth > _FOLLOWED_CALLS or _is_static(function):
            return None
        given = (*function.args.posonlyargs, *function.args.args)
        parameters = {argument.arg for argument in given[: 2 if function.name == "__eq__" else 1]}
        parents = {child: node for node in walk(function) for child in ast.iter_child_nodes(node)}
        found: set[str] = set()
        for node in walk(function):
            read: frozenset[str] | None = frozenset()
            if isinstance(node, ast.Name) and node.id in parameters:
                read = self._use(function, node, parents, depth)
            elif isinstance(node, ast.Name) and node.id == "super":
                read = self._inherited(node, parents, at, depth)
            if read is None:
                return None
            found |= read
        return frozenset(found)

    def _use(
        self, function: ast.FunctionDef, name: ast.Name, parents: dict[ast.AST, ast.AST], depth: int
    ) -> frozenset[str] | None:
        """What one mention of an object reads of it."""
        parent = parents.get(name)
        if isinstance(parent, ast.Attribute):
            return self._attribute(function, parent.attr, depth)
        if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Is, ast.IsNot)):
            return frozenset()
        if not isinstance(parent, ast.Call) or name not in parent.args:
            return None
        called = last_name(parent)
        if called in _ASKS or (called == "__eq__" and "super" in map(last_name, walk(parent.func))):
            return frozenset()
        if called != "getattr" or len(parent.args) < 2:
            return None
        named = self._names(function, parent.args[1], parents)
        return None if named is None else self._attributes(function, named, depth)

    def _attributes(self, function: ast.FunctionDef, names: frozenset[str], depth: int) -> frozenset[str] | None:
        found: set[str] = set()
        for name in names:
            read = self._attribute(function, name, depth)
            if read is None:
                return None
            found |= read
        return frozenset(found)

    def _attribute(self, function: ast.FunctionDef, name: str, depth: int) -> frozenset[str] | None:
        if name in self.fields:
            return frozenset({name})
        if name == "__class__":
            return frozenset()
        for index, cls in enumerate(self.line):
            method = fields.method(cls.node, name)
            if method is not None:
                return None if method is function else self.reads(method, index, depth + 1)
        return frozenset() if self._strings(name) is not None else None

    def _inherited(self, name: ast.Name, parents: dict[ast.AST, ast.AST], at: int, depth: int) -> frozenset[str] | None:
        """What the method of a base that is called by `super()` reads."""
        call = parents.get(name)
        member = parents.get(call) if isinstance(call, ast.Call) and not call.args else None
        if not isinstance(member, ast.Attribute):
            return None
        for index in range(at + 1, len(self.line)):
            method = fields.method(self.line[index].node, member.attr)
            if method is not None:
                return self.reads(method, index, depth + 1)
            if self.line[index].node.decorator_list:
                return None
        return None

    def _names(
        self, function: ast.FunctionDef, node: ast.expr, parents: dict[ast.AST, ast.AST]
    ) -> frozenset[str] | None:
        """The attributes that the second argument of `getattr` may name."""
        if isinstance(node, ast.Constant):
            return frozenset({str(node.value)})
        loops = [loop for loop in _loops(function) if isinstance(node, ast.Name) and _names(loop.target, node.id)]
        if len(loops) != 1 or not isinstance(loops[0].target, ast.Name):
            return None
        return self._elements(function, loops[0].iter)

    def _elements(self, function: ast.FunctionDef, node: ast.expr) -> frozenset[str] | None:
        if isinstance(node, ast.Attribute):
            holders = {receiver_of(function), "__class__", "type", *(cls.name for cls in self.line)}
            return self._strings(node.attr) if last_name(node.value) in holders else None
        if isinstance(node, ast.Name):
            return self._held(self.machine.global_value(self.line[0].module, node.id).alternatives())
        return _literal(node)

    def _strings(self, name: str) -> frozenset[str] | None:
        """The strings that an attribute of the class holds."""
        for cls in self.line:
            for statement in cls.node.body:
                if _binds(statement, name):
                    value = getattr(statement, "value", None)
                    return _literal(value) if isinstance(value, ast.expr) else None
        return None

    def _held(self, values: Sequence[object]) -> frozenset[str] | None:
        value = values[0] if len(values) == 1 else None
        kind, heap = getattr(value, "kind", None), getattr(value, "heap", None)
        if kind is not Kind.TUPLE or heap is None or heap.loose is not None or heap.open or heap.unsure:
            return None
        strings = [item.const for item in heap.items.values()]
        return frozenset(strings) if strings and all(isinstance(one, str) for one in strings) else None


def _is_static(function: ast.FunctionDef) -> bool:
    return any(last_name(decorator) in ("staticmethod", "classmethod") for decorator in function.decorator_list)


def _loops(function: ast.FunctionDef) -> Iterator[ast.For | ast.comprehension]:
    return (node for node in walk(function) if isinstance(node, (ast.For, ast.comprehension)))


def _names(target: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in walk(target))


def _literal(node: ast.expr) -> frozenset[str] | None:
    """The strings of a tuple or list that is written out."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else None
    if parts is None:
        return frozenset({node.value}) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    strings = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return frozenset(strings) if len(strings) == len(parts) else None
