"""Reads one model: the text of a stub becomes the entries of the names that it describes.

A model holds what a stub may: imports, functions and classes without bodies, annotated names, and assignments that give
something that is described another name. Names mean what the imports of the file say.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from nonstrict.models import does, terms
from nonstrict.models.does import Effect
from nonstrict.models.entries import ANY, CallEffect, Entry, Form, Parameter, Type
from nonstrict.models.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The names that models are written in, by the modules that have them.
_VOCABULARY = {
    does.__name__: frozenset(name for name, word in vars(does).items() if isinstance(word, Effect)),
    terms.__name__: frozenset(terms.__all__),
}
_CHANGED, _GIVEN = f"{terms.__name__}.Changed", f"{terms.__name__}.T"
_MODULE, _SURROUNDS = f"{terms.__name__}.submodule", f"{terms.__name__}.surrounds"
_OVERLOAD = "typing.overload"
_UNBOUND = frozenset({"builtins.staticmethod"})
#: Decorators that say how a function is reached, and nothing of what it does.
_REACHED = frozenset({"builtins.classmethod", "builtins.property", *_UNBOUND, _OVERLOAD})
_UNION = "typing.Union"

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Described:
    """The names that one file describes. Its definitions are read when they are asked for: most never are."""

    def __init__(self, entries: dict[str, Entry], reader: _Reader | None = None) -> None:
        self._entries = entries
        self._reader = reader

    def get(self, name: str) -> Entry | None:
        """The entry of a name inside the file (`Logger.info`); None if it is not described.

        Raises:
            ModelError: its definition says something that a model cannot say.
        """
        if self._reader is not None:
            self._reader.define(name.partition(".")[0])
        return self._entries.get(name)

    def members(self, owner: str) -> list[str]:
        """The names that stand in a class of the file, without those of classes in it."""
        self.get(owner)
        inner = (name.removeprefix(f"{owner}.") for name in self._entries if name.startswith(f"{owner}."))
        return [name for name in inner if "." not in name]

    def all(self) -> dict[str, Entry]:
        """All entries by name.

        Raises:
            ModelError: as `get`.
        """
        if self._reader is not None:
            self._reader.define_all()
        return self._entries


def read(path: str, text: str, module: str) -> dict[str, Entry]:
    """The entries of a file that describes `module`, by their names inside it: `Logger.info`.

    Raises:
        ModelError: it is no Python, or says something that a model cannot say.
    """
    return described(path, text, module).all()


def described(path: str, text: str, module: str) -> Described:
    """What a file describes of `module`, as far as that is asked for.

    Raises:
        ModelError: it is no Python, or imports what models do not know.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        row, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        told = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ModelError(path, row, column, f"The model is not valid Python: {told}", "mend the line") from None
    reader = _Reader(path, module, tree.body)
    return Described(reader.entries, reader)


class _Reader:
    """The entries found so far, and what names mean to what follows."""

    def __init__(self, path: str, module: str, body: list[ast.stmt]) -> None:
        self.entries: dict[str, Entry] = {}
        self._path = path
        self._module = module
        self._imported: dict[str, str] = {}
        self._effects: dict[str, Effect] = {}
        self._defined = frozenset(_defined(body, ""))
        self._waiting: dict[str, list[ast.stmt]] = {}
        self._begin(body)

    def _begin(self, body: list[ast.stmt]) -> None:
        """Reads what other statements are understood by; definitions wait for their names."""
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._waiting.setdefault(statement.name, []).append(statement)
            else:
                self._block([statement], "")

    def define(self, name: str) -> None:
        """Read the definitions of a name, once."""
        if name in self._waiting:
            self._block(self._waiting.pop(name), "")

    def define_all(self) -> None:
        """Read all definitions."""
        while self._waiting:
            self.define(next(iter(self._waiting)))

    def _block(self, body: list[ast.stmt], within: str) -> None:
        """Statements of the file, or of the class `within` (which ends with a dot)."""
        for statement in body:
            match statement:
                case ast.Import() | ast.ImportFrom() if not within:
                    self._import(statement)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(statement, within)
                case ast.ClassDef():
                    self._class(statement, within)
                case ast.AnnAssign(target=target, annotation=annotation):
                    self._add(_chain(target), Form.VARIABLE, within, target, returns=self._type(annotation, within))
                case ast.Assign(targets=targets, value=value):
                    self._assign(targets, value, within)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case _:
                    raise self._wrong(
                        statement, "A model only describes names", "write functions, classes or `NAME: TYPE` here"
                    )

    def _add(
        self, name: str, form: Form, within: str, node: ast.AST, effect: Effect | None = None, *, returns: Type = ANY
    ) -> str:
        """An entry; its key."""
        if not name:
            raise self._wrong(node, "Only names can be described", "write `NAME: TYPE` or `NAME = OTHER_NAME`")
        key = f"{within}{name}"
        told = CallEffect(effect.doing, effect.what) if effect is not None else None
        self.entries[key] = Entry(f"{self._module}.{key}", form, told, returns)
        return key

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                self._imported[alias.asname or name] = name
            return
        if statement.level or statement.module is None:
            raise self._wrong(statement, "A model imports by whole names only", "write the name of the module out")
        for alias in statement.names:
            target = f"{statement.module}.{alias.name}"
            self._imported[alias.asname or alias.name] = target
            if alias.asname == alias.name:  # as in any stub, this is a name of the module itself
                key = self._add(alias.name, Form.ALIAS, "", statement)
                self.entries[key] = self.entries[key]._replace(target=target)
            self._check(target, statement)

    def _check(self, meant: str, node: ast.AST) -> None:
        """A name of the vocabulary is one that it has."""
        module, _, name = meant.rpartition(".")
        if module in _VOCABULARY and name not in _VOCABULARY[module]:
            names = ", ".join(f"`{one}`" for one in sorted(_VOCABULARY[module]))
            raise self._wrong(node, f"`{module}` has no `{name}`", f"write one of {names}")

    def _assign(self, targets: list[ast.expr], value: ast.expr, within: str) -> None:
        """Another name for something that is described, or for an effect."""
        effect = self._effect(value)
        if effect is not None:
            self._effects.update((_chain(target), effect) for target in targets)
            return
        meant = self._meant(value, within)
        for target in targets:
            key = self._add(_chain(target), Form.ALIAS, within, target)
            self.entries[key] = self.entries[key]._replace(target=meant)

    # -- definitions ----------------------------------------------------------------------------------------------

    def _class(self, node: ast.ClassDef, within: str) -> None:
        effect, others = self._decorators(node, within)
        form = Form.MODULE if _MODULE in others else Form.CLASS
        key = self._add(node.name, form, within, node, effect)
        bases = tuple(self._meant(base, within) for base in node.bases)
        self.entries[key] = self.entries[key]._replace(bases=bases, surrounds=_SURROUNDS in others)
        self._block(node.body, f"{key}.")

    def _function(self, node: _Function, within: str) -> None:
        if not all(isinstance(part, ast.Pass) or _is_constant(part) for part in node.body):
            raise self._wrong(node.body[0], "Functions of a model have no body", "write `...` in its place")
        effect, others = self._decorators(node, within)
        earlier = self.entries.get(f"{within}{node.name}") if _OVERLOAD in others else None
        is_method = self.entries[within[:-1]].form is Form.CLASS if within else False
        returns = self._type(node.returns, within)
        form = Form.VARIABLE if "builtins.property" in others else Form.FUNCTION
        key = self._add(node.name, form, within, node, effect, returns=returns)
        parameters = list(self._parameters(node, bound=is_method and not others & _UNBOUND))
        given = [(one, self._annotation(annotation)) for one, annotation in parameters]
        own = self._own(node) if is_method else ""
        self.entries[key] = self.entries[key]._replace(
            changes=tuple(one for one, told in given if told == _CHANGED),
            changes_self=own == _CHANGED,
            gives=next((one.position for one, told in given if told == _GIVEN), -1) if returns.name == _GIVEN else -1,
            surrounds=_SURROUNDS in others,
        )
        if earlier is not None:
            self.entries[key] = _overloaded(earlier, self.entries[key], node)

    def _own(self, node: _Function) -> str:
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        return self._annotation(first.annotation) if first is not None else ""

    def _parameters(self, node: _Function, *, bound: bool) -> Iterator[tuple[Parameter, ast.expr | None]]:
        positional = [*node.args.posonlyargs, *node.args.args]
        for position, one in enumerate(positional[1:] if bound else positional):
            yield Parameter(position, one.arg), one.annotation
        for one in node.args.kwonlyargs:
            yield Parameter(-1, one.arg), one.annotation

    def _decorators(self, node: _Function | ast.ClassDef, within: str) -> tuple[Effect | None, frozenset[str]]:
        """The effect that stands above a definition, and the names of other decorators."""
        found: Effect | None = None
        others: set[str] = set()
        for decorator in node.decorator_list:
            effect = self._effect(decorator)
            if effect is not None:
                found = effect
                continue
            meant = self._meant(decorator, within) if _chain(decorator) else ""
            if meant not in _REACHED and meant not in (_MODULE, _SURROUNDS):
                told = f"`{ast.unparse(decorator)}` says nothing that models know"
                raise self._wrong(decorator, told, f"use those of {' and '.join(f'`{one}`' for one in _VOCABULARY)}")
            others.add(meant)
        return found, frozenset(others)

    def _effect(self, node: ast.expr) -> Effect | None:
        """The effect that a decorator says, in words of its own if it has some."""
        call = node if isinstance(node, ast.Call) else None
        name = _chain(call.func if call is not None else node)
        effect = self._effects.get(name) or self._word(name)
        if effect is None or call is None:
            return effect
        phrase = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if isinstance(phrase, ast.Constant) and isinstance(phrase.value, str) and phrase.value.strip():
            return effect(phrase.value)
        raise self._wrong(call, f"`{name}` takes one phrase", 'write for instance `@io("reads a file")`')

    def _word(self, name: str) -> Effect | None:
        module, _, word = self._outside(name).rpartition(".")
        effect = vars(does).get(word) if module == does.__name__ else None
        return effect if isinstance(effect, Effect) else None

    def _outside(self, chain: str) -> str:
        """The dotted name of something imported; "" for all else."""
        first, _, rest = chain.partition(".")
        meant = self._imported.get(first, "")
        return f"{meant}.{rest}" if meant and rest else meant

    # -- names and types ------------------------------------------------------------------------------------------

    def _meant(self, node: ast.expr, within: str) -> str:
        """The dotted name that a name of the file stands for."""
        node = node.value if isinstance(node, ast.Subscript) else node
        chain = _chain(node)
        if not chain:
            raise self._wrong(node, f"`{ast.unparse(node)}` is not a name", "write a name, or one behind dots")
        first = chain.partition(".")[0]
        for scope in _scopes(within):
            if f"{scope}{first}" in self._defined:
                return f"{self._module}.{scope}{chain}"
        imported = self._outside(chain)
        if imported:
            self._check(imported, node)
            return imported
        if hasattr(builtins, first):
            return f"builtins.{chain}"
        raise self._wrong(node, f"`{chain}` is not defined", "describe it in this file, or import it")

    def _annotation(self, node: ast.expr | None) -> str:
        """The word that an annotation of a parameter is; other types of parameters are for people."""
        node = node.value if isinstance(node, ast.Subscript) else node
        return self._outside(_chain(node)) if node is not None else ""

    def _type(self, node: ast.expr | None, within: str) -> Type:
        match node:
            case None:
                return ANY
            case ast.Constant(value=None):
                return Type("builtins.None")
            case ast.Constant(value=str(text)):
                return self._type(ast.copy_location(self._parsed(node, text), node), within)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return Type(_UNION, (self._type(left, within), self._type(right, within)))
            case ast.Subscript(value=value, slice=index):
                parts = index.elts if isinstance(index, ast.Tuple) else [index]
                kept = [part for part in parts if not isinstance(part, (ast.List, ast.Constant))]
                return Type(self._meant(value, within), tuple(self._type(part, within) for part in kept))
            case _:
                return Type(self._meant(node, within))

    def _parsed(self, node: ast.AST, text: str) -> ast.expr:
        try:
            return ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._wrong(node, f"`{text}` is not a type", "write the name of a class") from None

    def _wrong(self, node: ast.AST, message: str, advice: str) -> ModelError:
        row, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
        return ModelError(self._path, row, column, message, advice)


def _overloaded(earlier: Entry, later: Entry, node: _Function) -> Entry:
    """One entry for two overloads: that without the effect tells how many arguments spare it."""
    if (earlier.effect is None) == (later.effect is None):
        return earlier
    effective, pure = (earlier, later) if later.effect is None else (later, earlier)
    if effective.effect is None or pure is not later:
        return effective
    count = len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
    return effective._replace(effect=effective.effect._replace(pure_with=count))


def _defined(body: list[ast.stmt], within: str) -> Iterator[str]:
    """The names that statements describe, and the first parts of dotted ones; in stubs, their order does not matter."""
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield f"{within}{name}"
            case ast.ClassDef(name=name, body=inner):
                yield f"{within}{name}"
                yield from _defined(inner, f"{within}{name}.")
            case ast.AnnAssign(target=target):
                yield f"{within}{_chain(target).partition('.')[0]}"
            case ast.Assign(targets=targets):
                yield from (f"{within}{_chain(target).partition('.')[0]}" for target in targets)
            case _:
                pass


def _scopes(within: str) -> Iterator[str]:
    """The prefixes under which a name may be described, the innermost first."""
    parts = within.split(".")[:-1]
    for count in range(len(parts), -1, -1):
        yield "".join(f"{part}." for part in parts[:count])


def _chain(node: ast.expr) -> str:
    """The text of a dotted name; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _chain(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
