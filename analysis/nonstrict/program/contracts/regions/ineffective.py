"""Applications of `torch.compile` after which nothing is compiled: what it returns is dropped, or gone past.

Measured on torch 2.13: only calls of what `torch.compile` returned, and of its `forward`, run compiled code; every
other method is that of the module inside, whose own calls of `self(...)` are not compiled either. After
`module.compile()` only calls of the module are, those that its methods make among them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.discarded import EXPECTING
from nonstrict.facts.fates import Fate, Use, fates, names_bound, reads_of, uses_of_name
from nonstrict.facts.hooks import OF_MODULES
from nonstrict.facts.scopes import FunctionNode, parameter_names
from nonstrict.facts.targets import last_name
from nonstrict.facts.texts import Root, Text, text_of
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.contracts.marks import marking, unattached
from nonstrict.program.contracts.regions import layers, sites
from nonstrict.program.contracts.regions.assigned import is_named
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.contracts.regions.members import BENIGN, CALLING, TELLING
from nonstrict.program.discovery import aliases, roots
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.misapplied import INEFFECTIVE, Wasted
from nonstrict.program.domain.values import UNKNOWN, Kind, Value
from nonstrict.program.objects import classes
from nonstrict.program.objects.naming import names_below

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.facts.library_calls import Names
    from nonstrict.findings import Span
    from nonstrict.program.contracts.marks.unattached import Part
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_COMPILE = "torch.compile"
_APPLY = "apply"
#: What is done with nothing but the look of an object.
_LOOKS = frozenset(
    f"builtins.{name}"
    for name in ("print", "isinstance", "hasattr", "callable", "type", "id", "repr", "str", "bool", "len")
)


class _Site(NamedTuple):
    """An application in the text around it; `call` is what the value of is looked for."""

    part: Part
    text: Text
    call: ast.Call
    given: ast.expr
    names: Names


def bodies(machine: Machine, module: Module) -> Iterator[MarkedBody]:
    """The applications of `torch.compile` in a module that compile nothing."""
    if "compile" not in module.source.code and "optimize" not in module.source.code:
        return
    words = roots.REGION_WORDS | aliases.renamed(machine, module, roots.REGION_WORDS)
    for part in unattached.parts(machine, module, set(words)):
        names = names_below(machine, module, part.root)
        for site in _sites(machine, part, names, words):
            wasted = _wasted(machine, module, site)
            if wasted is not None:
                yield MarkedBody(machine, _mark(machine, module, site, wasted), machine.torch)
        yield from _in_place(machine, module, part, names)


def _mark(machine: Machine, module: Module, site: _Site, wasted: Wasted) -> Mark:
    target = _target(machine, site)
    function = marking.function_of(machine, target)
    described = target if function is not None else Value(Kind.EXTERNAL, FRESH, wasted.given)
    return Mark(INEFFECTIVE, _COMPILE, described, module.path, site.part.offset, site.call, function, wasted=wasted)


def _target(machine: Machine, site: _Site) -> Value:
    """What is compiled, as far as that was seen."""
    known = machine.part(Compilations).at.get(site.call)
    target = known.target if known is not None else None
    return target if target is not None and target.kind is not Kind.UNION else UNKNOWN


# -- where it is applied ------------------------------------------------------------------------------------------


def _sites(machine: Machine, part: Part, names: Names, words: AbstractSet[str]) -> Iterator[_Site]:
    whole = text_of(part.root)
    for call, given in (*_applied(part, names, words), *_mapped(whole, names)):
        known = machine.part(Compilations).at.get(call)
        if known is None or known.given is None or known.given.kind is not Kind.NONE:
            yield _Site(part, text_of(_around(whole, call)), call, given, names)


def _applied(part: Part, names: Names, words: AbstractSet[str]) -> Iterator[tuple[ast.Call, ast.expr]]:
    for one in sites.written(part.root, names, words):
        if isinstance(one.node, ast.Call) and not isinstance(one.given, (ast.Constant, ast.Starred, type(None))):
            yield one.node, one.given


def _mapped(whole: Text, names: Names) -> Iterator[tuple[ast.Call, ast.expr]]:
    """`model.apply(torch.compile)`, as a statement."""
    for call in walk(whole.root):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == _APPLY:
            is_given = len(call.args) == 1 and names(call.args[0]) == _COMPILE
            if is_given and isinstance(whole.parents.get(call), ast.Expr):
                yield call, call.func.value


def _around(whole: Text, node: ast.AST) -> Root:
    """The function whose variables an expression sees; the whole text if there is none, or a class in between."""
    inner, outer = node, whole.parents.get(node)
    while outer is not None:
        if isinstance(outer, FunctionNode):
            body = outer.body if isinstance(outer.body, list) else [outer.body]
            if inner in body:
                return outer
        inner, outer = outer, whole.parents.get(outer)
    return whole.root


# -- what becomes of it -------------------------------------------------------------------------------------------


def _wasted(machine: Machine, module: Module, site: _Site) -> Wasted | None:
    given = ast.unparse(site.given)
    if _is_expected_to_fail(site.text, site.call):
        return None
    if last_name(site.call.func) == _APPLY:
        return Wasted("dropped", given)
    seen = fates(site.text, site.call, lambda call: site.names(call.func) in _LOOKS)
    bound = names_bound(seen)
    outside = _seen_outside(module, site, bound)
    if outside is None or any(one.use in (Use.CALLED, Use.ESCAPED, Use.ITERATED) for one in (*seen, *outside)):
        return None
    members = [one.node for one in (*seen, *outside) if one.use is Use.MEMBER and isinstance(one.node, ast.Attribute)]
    if any(one.attr in CALLING or one.attr in TELLING for one in members):
        return None
    if any(one.use is Use.SET and _is_method_put(one, members) for one in seen):
        return None
    name = bound[0].id if bound else ""
    past = _past(machine, module.path, site, members)
    if past is None or (not bound and not members and _is_tried(site.text, site.call)):
        return None
    found = _named(machine, module, site, name, past)
    return found._replace(given=given) if found is not None else None


def _named(
    machine: Machine, module: Module, site: _Site, name: str, past: tuple[tuple[str, Span], ...]
) -> Wasted | None:
    """What is wrong where a name holds what was returned, or nothing does."""
    known = _target(machine, site).kind is Kind.MODULE
    root = site.text.root
    if name in ("", "_"):
        return Wasted("member" if past else "dropped", "", "", past, known)
    if isinstance(root, FunctionNode):
        if name in parameter_names(root.args):
            return Wasted("rebound", "", name, past, known)
        if past:
            return Wasted("member", "", name, past, known)
        rebinds = name == ast.unparse(site.given)
        return None if _is_tried(site.text, site.call) and not rebinds else Wasted("unused", "", name, (), known)
    if not _is_own(machine, module, name):
        return None
    if past:
        return Wasted("member", "", name, past, known)
    called = any(isinstance(one, ast.Call) and ast.unparse(one.func) == ast.unparse(site.given) for one in walk(root))
    return Wasted("unused", "", name, (), known) if called else None


def _is_own(machine: Machine, module: Module, name: str) -> bool:
    """Whether no other file may mean a top-level name."""
    listed = any(isinstance(one, ast.Constant) and one.value == name for one in walk(module.outline.shell))
    return not listed and not machine.elsewhere.users(module, name)


def _seen_outside(module: Module, site: _Site, bound: list[ast.Name]) -> list[Fate] | None:
    """What the functions of a module do with its variables; None if a class does something."""
    if isinstance(site.text.root, FunctionNode) or not bound:
        return []
    if site.part.root is not module.outline.shell:
        return None  # a name of a class
    found: list[Fate] = []
    for name in {one.id for one in bound}:
        for chunk in module.chunks_with({name}):
            node = module.outline.node(chunk)
            if node is None:
                return None
            found += reads_of(text_of(node), name, lambda call: site.names(call.func) in _LOOKS)
    return found


def _is_method_put(one: Fate, members: list[ast.Attribute]) -> bool:
    """Whether something is put in the place of a method that is called, or of what is called."""
    name = getattr(one.node, "attr", "")
    return name in CALLING or any(member.attr == name for member in members)


def _past(
    machine: Machine, path: str, site: _Site, members: list[ast.Attribute]
) -> tuple[tuple[str, Span], ...] | None:
    """The calls of methods that run uncompiled; None if one is compiled by itself, or nobody knows what has it."""
    target = _target(machine, site)
    if members and (target.kind not in (Kind.MODULE, Kind.UNKNOWN)):
        return None
    found: list[tuple[str, Span]] = []
    for member in members:
        if member.attr in BENIGN:
            continue
        if _is_compiled(machine, target, member.attr):
            return None
        call = site.text.parents.get(member)
        if isinstance(call, ast.Call) and call.func is member:
            found.append((member.attr, span_of(path, site.part.offset, call)))
    return tuple(found)


def _is_compiled(machine: Machine, target: Value, name: str) -> bool:
    """Whether a method of a module is compiled by itself, or runs something else than a function of the program."""
    if target.kind is not Kind.MODULE or target.of_class is None:
        return False
    found = classes.member(machine, target.of_class, name)
    return found is not None and (found[0].function is None or found[0].function.node in machine.regions)


def _is_expected_to_fail(text: Text, node: ast.AST) -> bool:
    return any(
        isinstance(one, (ast.With, ast.AsyncWith))
        and any(last_name(item.context_expr) in EXPECTING for item in one.items)
        for one in _outwards(text, node)
    )


def _is_tried(text: Text, node: ast.AST) -> bool:
    """Whether a handler catches what the application raises: it may be a question whether torch can compile."""
    return any(isinstance(one, ast.Try) and one.handlers for one in _outwards(text, node))


def _outwards(text: Text, node: ast.AST) -> Iterator[ast.AST]:
    current = text.parents.get(node)
    while current is not None:
        yield current
        current = text.parents.get(current)


# -- modules that are compiled in place ---------------------------------------------------------------------------


def _in_place(machine: Machine, module: Module, part: Part, names: Names) -> Iterator[MarkedBody]:
    for call in walk(part.root):
        known = machine.part(Compilations).at.get(call)
        if known is None or not known.in_place or known.target is None or not isinstance(call, ast.Call):
            continue
        if not isinstance(call.func, ast.Attribute) or known.target.kind is not Kind.MODULE:
            continue
        text = text_of(_around(text_of(part.root), call))
        site = _Site(part, text, call, call.func.value, names)
        wasted = _of_torch(machine, known.target, module.path, site) or _wasted_in_place(machine, module, site)
        if wasted is not None and not _is_expected_to_fail(text, call):
            yield MarkedBody(machine, _mark(machine, module, site, wasted), machine.torch)


def _of_torch(machine: Machine, target: Value, path: str, site: _Site) -> Wasted | None:
    """`module.compile()` of a module of torch: Dynamo traces no frame that begins in torch's own files.

    Measured on torch 2.13, counting the graphs that reach a backend: none for twelve classes, `Sequential` and
    `TransformerEncoder` among them, and an error under `fullgraph=True`. It traces the hooks and the modules of a
    program that they call. A wrapper begins in a frame of its own (`OptimizedModule._initialize`,
    `torch/_dynamo/eval_frame.py`).
    """
    may_hook = any(is_named(machine, one, path) for one in OF_MODULES)
    if may_hook or not layers.is_of_torch(target):
        return None
    return Wasted("of-torch", ast.unparse(site.given))


def _wasted_in_place(machine: Machine, module: Module, site: _Site) -> Wasted | None:
    """`module.compile()` of a module made here, of which only `forward` is called."""
    if not isinstance(site.given, ast.Name):
        return None
    name = site.given.id
    made = [
        one
        for one in walk(site.text.root)
        if isinstance(one, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in one.targets)
    ]
    if len(made) != 1 or not isinstance(made[0].value, ast.Call):
        return None
    if not isinstance(site.text.root, FunctionNode) and not _is_own(machine, module, name):
        return None

    def looks(call: ast.Call) -> bool:
        return site.names(call.func) in _LOOKS

    seen = fates(site.text, made[0].value, looks)
    outside = _seen_outside(module, site, names_bound(seen))
    if outside is None or any(one.use in (Use.CALLED, Use.ESCAPED, Use.ITERATED, Use.SET) for one in (*seen, *outside)):
        return None
    after = uses_of_name(site.text, name, site.call, looks)
    members = [one.node for one in (*after, *outside) if isinstance(one.node, ast.Attribute)]
    if any(one.attr not in BENIGN and one.attr not in ("forward", "compile") for one in members):
        return None
    past = tuple(
        (one.attr, span_of(module.path, site.part.offset, call))
        for one in members
        if one.attr == "forward" and isinstance(call := site.text.parents.get(one), ast.Call) and call.func is one
    )
    return Wasted("in-place", name, name, past, known=True) if past else None
