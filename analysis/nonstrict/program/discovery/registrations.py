"""Where else in a project a fake may be registered for an operator: all that the text of its files tells.

Asked only for operators whose own code shows no fake. Any mention of the operator in a registration counts, unless the
text tells that it means another one of the same name: of another file, or of another namespace.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.facts.words import places
from nonstrict.program.domain.modules import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from nonstrict.program.domain.definitions import Operator
    from nonstrict.program.domain.modules import Binding, Module
    from nonstrict.program.linking.project import Project
    from nonstrict.program.linking.searches import Bytes
    from nonstrict.program.state.machine import Machine

_LIBRARY_CALLS = frozenset({"impl", "impl_"})
_LAYERS = 2
#: How many imports a name may come through.
_IMPORTS = 4
_DECLARING = frozenset({"custom_op", "triton_op", "leaf_function"})
_LIBRARIES = frozenset({"Library", "_scoped_library"})


class Sought(NamedTuple):
    """What is looked for: functions that register it, keys of a `Library` that do, texts that hint at it."""

    words: frozenset[str]
    keys: frozenset[str]
    texts: tuple[str, ...]

    def is_in(self, code: str) -> bool:
        """Whether a text hints at it."""
        return any(text in code for text in self.texts)


FAKES = Sought(
    frozenset(
        {
            "register_fake",
            "_register_fake",
            "impl_abstract",
            "register_meta",
            "impl_meta",
            "meta_impl",
            "register_torch_dispatch",
            "register_shape",
        }
    ),
    frozenset({"Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "default"}),
    (
        *("register_fake", "impl_abstract", "register_meta", "impl_meta", "meta_impl"),
        *("'Meta'", '"Meta"', "Composite", "_dispatch"),
    ),
)
#: Formulas for autograd. Source: `torch/library.py` of torch 2.13.
FORMULAS = Sought(
    frozenset({"register_autograd", "impl_backward", "register_torch_dispatch", "register_autograd_kernel"}),
    frozenset({"Autograd", "AutogradCPU", "AutogradCUDA", "AutogradXPU", "AutogradMPS", "CompositeImplicitAutograd"}),
    ("register_autograd", "impl_backward", "'Autograd", '"Autograd', "CompositeImplicit", "_dispatch"),
)


class Word(NamedTuple):
    """An identifier or string in a registration; in which file and namespace what it means is, "" if not known."""

    text: str
    path: str = ""
    namespace: str = ""


class Mentions(NamedTuple):
    """What registrations in a project mention: identifiers and strings, prefixes of computed names, files."""

    words: dict[str, set[Word]]
    prefixes: set[str]
    open_files: set[str]


@dataclass(eq=False)
class Registered:
    """What registrations mention, by what they register, once it was asked for."""

    mentions: dict[Sought, Mentions] = field(default_factory=dict)


def elsewhere(
    machine: Machine, operator: Operator, names: AbstractSet[str], paths: AbstractSet[str], sought: Sought = FAKES
) -> bool:
    """Whether a fake, or what else is sought, may be registered for an operator anywhere in the files of the run.

    `names` are its variables, `paths` the files in which it is made.
    """
    searches = machine.elsewhere.found
    known = searches.part(Registered).mentions
    if sought not in known:
        # Texts alone tell. The modules that are read for it do not become known to one of several machines only.
        known[sought] = _mentioned(machine.project.anew(), machine.files, searches, sought)
    found = known[sought]
    wanted = {*names, operator.name, operator.bare, f"{operator.bare}.default"} - {""}
    if operator.path in found.open_files:
        return True
    namespace = operator.name.rpartition("::")[0]
    for word in (word for text in wanted for word in found.words.get(text, ())):
        if (not word.path or word.path in paths) and word.namespace in ("", namespace):
            return True
    return any(operator.name.startswith(prefix) for prefix in found.prefixes)


def _mentioned(project: Project, run: Sequence[str], searches: Bytes, sought: Sought) -> Mentions:
    found = Mentions({}, set(), set())
    files = [path for path in run if sought.is_in(_text(searches, path))]
    modules = [module for path in files if (module := project.module(path)) is not None]
    registrars: set[str] = set()
    for module in modules:
        for statement in _top_level(module, sought.is_in):
            registrars |= _read(Registering(project, module, statement), sought.words, found, sought.keys)
    for _ in range(_LAYERS):
        if not registrars:
            break
        named = partial(_names_one, sorted(registrars))
        following: set[str] = set()
        for path in run:
            module = project.module(path) if named(_text(searches, path)) else None
            if module is not None:
                for statement in _top_level(module, named):
                    following |= _read(Registering(project, module, statement), registrars, found, sought.keys)
        registrars = following - registrars
    return found


def _text(searches: Bytes, path: str) -> str:
    return searches.data(path).decode("utf-8", "replace")


def _names_one(names: Sequence[str], code: str) -> bool:
    return any(True for _ in places(code, names))


def _top_level(module: Module, hints: Callable[[str], bool]) -> Iterator[ast.AST]:
    yield from module.outline.shell.body
    for chunk in module.outline.chunks:
        if hints(chunk.text):
            node = module.outline.node(chunk)
            if node is not None:
                yield node


def _read(place: Registering, words: AbstractSet[str], found: Mentions, keys: AbstractSet[str]) -> set[str]:
    """Collect what registrations in a statement mention; the functions that register what they are given."""
    registrars: set[str] = set()
    statement, path = place.statement, place.module.path
    calls = list(_registrations(statement, words, keys))
    if not calls:
        return registrars
    parameters, loop_variables, literal = _parameters(statement), _loop_variables(statement), _literal_loops(statement)
    for call in calls:
        namespace = place.namespace_of(call)
        for part in _parts(call):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                _add(found, Word(part.value, "", "" if "::" in part.value else namespace))
            elif isinstance(part, ast.JoinedStr) and (spelled := _spelled(part, literal)):
                _add(found, *(Word(text, "", "" if "::" in text else namespace) for text in spelled))
            elif isinstance(part, ast.JoinedStr):
                first = part.values[0] if part.values else None
                prefix = first.value if isinstance(first, ast.Constant) else ""
                if isinstance(prefix, str) and prefix:
                    found.prefixes.add(prefix)
                else:
                    found.open_files.add(path)
            elif isinstance(part, ast.Name):
                _add(found, place.word(part), *(Word(text) for text in literal.get(part.id, ())))
                if part.id in parameters:
                    registrars.add(getattr(statement, "name", ""))
                elif part.id in loop_variables and part.id not in literal:
                    found.open_files.add(path)
            elif isinstance(part, ast.Attribute):
                _add(found, place.word(part))
    return registrars - {""}


def _add(found: Mentions, *words: Word) -> None:
    for word in words:
        found.words.setdefault(word.text, set()).add(word)


def _registrations(statement: ast.AST, words: AbstractSet[str], keys: AbstractSet[str]) -> Iterator[ast.AST]:
    """Calls and decorators that register what is sought."""
    for inner in walk(statement):
        if isinstance(inner, ast.Call):
            if last_name(inner.func) in words or (
                last_name(inner.func) in _LIBRARY_CALLS and any(_is_key(argument, keys) for argument in _given(inner))
            ):
                yield inner
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            registering = [decorator for decorator in inner.decorator_list if last_name(decorator) in words]
            yield from registering
            if registering:
                # A decorator of the project may register a fake for the function below it.
                yield ast.Name(inner.name, ast.Load())


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_key(node: ast.expr, keys: AbstractSet[str]) -> bool:
    return isinstance(node, ast.Constant) and node.value in keys


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The names and strings of a registration, not those in the body of a function that it is given."""
    pending: list[ast.AST] = [node]
    while pending:
        current = pending.pop()
        yield current
        if not isinstance(current, (ast.Lambda, ast.JoinedStr)):
            pending.extend(ast.iter_child_nodes(current))


def _parameters(statement: ast.AST) -> set[str]:
    found: set[str] = set()
    for inner in walk(statement):
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = inner.args
            found |= {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return found


def _loop_variables(statement: ast.AST) -> set[str]:
    loops = (inner for inner in walk(statement) if isinstance(inner, (ast.For, ast.comprehension)))
    return {name.id for loop in loops for name in walk(loop.target) if isinstance(name, ast.Name)}


def _literal_loops(statement: ast.AST) -> dict[str, list[str]]:
    """The variables of loops over nothing but literal strings, each with these; none that is bound otherwise too."""
    found: dict[str, list[str]] = {}
    bound = Counter(
        node.id for node in walk(statement) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    loops = (node for node in walk(statement) if isinstance(node, (ast.For, ast.comprehension)))
    for target, over in ((loop.target, loop.iter) for loop in loops):
        if isinstance(over, (ast.Tuple, ast.List, ast.Set)) and isinstance(target, ast.Name):
            texts = [one.value for one in over.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if len(texts) == len(over.elts) and bound[target.id] == 1:
                found[target.id] = texts
    return found


def _spelled(node: ast.JoinedStr, literal: dict[str, list[str]]) -> list[str]:
    """The strings that an f-string gives, if it holds nothing but variables of loops over literals."""
    found = [""]
    for part in node.values:
        texts: list[str] = []
        if isinstance(part, ast.FormattedValue):
            plain = isinstance(part.value, ast.Name) and part.format_spec is None and part.conversion == -1
            texts = literal.get(part.value.id, []) if isinstance(part.value, ast.Name) and plain else []
        else:
            texts = [part.value] if isinstance(part, ast.Constant) and isinstance(part.value, str) else []
        found = [start + text for start in found for text in texts]
    return found


# -- which operator is meant --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Registering:
    """A top-level statement that registers fakes: what its names mean, as far as the text surely tells."""

    project: Project
    module: Module
    statement: ast.AST

    def word(self, node: ast.Name | ast.Attribute) -> Word:
        """A name or attribute, with the file or the namespace of what it means."""
        if isinstance(node, ast.Name):
            known = None if node.id in self._own else self._resolved(self.module, node.id)
            return Word(known[1], known[0].path) if known and _is_operator(known[2]) else Word(node.id)
        around = _dotted(node.value)
        meant = [*self._outside(around[0]).split("."), *around[1:]] if around else []
        if meant[:2] == ["torch", "ops"] and len(meant) == 3:
            return Word(node.attr, "", meant[2])
        owner = self._module_named(around[0]) if len(around) == 1 and around[0] not in self._own else None
        known = self._resolved(owner, node.attr) if owner is not None else None
        return Word(known[1], known[0].path) if known and _is_operator(known[2]) else Word(node.attr)

    def namespace_of(self, call: ast.AST) -> str:
        """The namespace of the `Library` that a call is a method of, or is given first; "" if none is known."""
        if not isinstance(call, ast.Call):
            return ""
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        for node in (receiver, *call.args[:1]):
            if isinstance(node, ast.Name) and node.id not in self._own:
                known = self._resolved(self.module, node.id)
                namespace = _library(known[2]) if known else ""
                if namespace:
                    return namespace
        return ""

    @cached_property
    def _own(self) -> set[str]:
        """The names that functions in the statement bind for themselves: they may hold anything."""
        return self._rebound | {name for name, _ in self._imports}

    @cached_property
    def _imports(self) -> list[tuple[str, Binding]]:
        """What functions in the statement import."""
        if not isinstance(self.statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return []
        imports = (node for node in walk(self.statement) if isinstance(node, (ast.Import, ast.ImportFrom)))
        return [(name, binding) for node in imports for _, name, binding in imported(node)]

    @cached_property
    def _rebound(self) -> set[str]:
        """The names that functions in the statement bind otherwise than by imports."""
        if not isinstance(self.statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = [node for node in walk(self.statement) if isinstance(node, ast.Lambda)]
            return {name for node in inner for name in _parameters(node)}
        bound = {node.id for node in walk(self.statement) if isinstance(node, ast.Name) and _is_stored(node)}
        inside = {
            node.name
            for node in walk(self.statement)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node is not self.statement
        }
        return bound | inside | _parameters(self.statement)

    def _outside(self, name: str) -> str:
        """The dotted name of what a name stands for outside the project; "" where it is not known."""
        if name not in self._own:
            return self._held(self.module, name)
        found = {self._bound(self.module, binding) for own, binding in self._imports if own == name}
        return found.pop() if len(found) == 1 and name not in self._rebound else ""

    def _held(self, module: Module, name: str, depth: int = 0) -> str:
        """The same of a name at the top level of a module: all of its bindings have to agree."""
        if depth > _IMPORTS or name in module.declared_global:
            return ""
        found = {self._bound(module, binding, depth) for binding in module.bindings.get(name, [])}
        return found.pop() if len(found) == 1 else ""

    def _bound(self, module: Module, binding: Binding, depth: int = 0) -> str:
        """The dotted name of what an import, or an assignment of a name or attribute, binds."""
        if binding.kind == "assign":
            parts = _dotted(binding.node) if binding.node is not None else []
            root = self._held(module, parts[0], depth + 1) if parts else ""
            return ".".join((root, *parts[1:])) if root else ""
        if binding.kind != "import":
            return ""
        source = self._imported(module, binding)
        if source is not None:
            return self._held(source, binding.attribute, depth + 1) if binding.attribute else ""
        package = self.project.absolute(binding.module, binding.level, module)
        return f"{package}.{binding.attribute}" if binding.attribute else package

    def _resolved(self, module: Module, name: str, depth: int = 0) -> tuple[Module, str, Binding] | None:
        """The one binding of a top-level name, through imports; None if there may be others."""
        bindings = module.bindings.get(name, [])
        if len(bindings) != 1 or name in module.declared_global or depth > _IMPORTS:
            return None
        binding = bindings[0]
        if binding.kind != "import":
            return module, name, binding
        source = self._imported(module, binding) if binding.attribute else None
        return self._resolved(source, binding.attribute, depth + 1) if source is not None else None

    def _imported(self, module: Module, binding: Binding, attribute: str = "") -> Module | None:
        package = self.project.absolute(binding.module, binding.level, module)
        dotted = ".".join(part for part in (package, attribute) if part)
        path = self.project.find(dotted, module) if dotted else None
        return self.project.module(path) if path is not None else None

    def _module_named(self, name: str) -> Module | None:
        """The module of the project that a name at the top level stands for."""
        bindings = self.module.bindings.get(name, [])
        if len(bindings) != 1 or bindings[0].kind != "import":
            return None
        return self._imported(self.module, bindings[0], bindings[0].attribute)


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_operator(binding: Binding) -> bool:
    """Whether a binding makes what it binds, as a definition and a declaration do, and hands on nothing."""
    return binding.kind == "def" or (
        binding.kind == "assign" and isinstance(binding.node, ast.Call) and last_name(binding.node) in _DECLARING
    )


def _library(binding: Binding) -> str:
    """The namespace of `Library("namespace", "DEF")`."""
    made = binding.node
    if binding.kind not in ("assign", "enter") or not isinstance(made, ast.Call) or last_name(made) not in _LIBRARIES:
        return ""
    first = made.args[0] if made.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def _dotted(node: ast.AST) -> list[str]:
    """The parts of `a.b.c`; none of anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else []
