"""Work of a function is done by its callers: a statement that needs only what they have, or stores what they get.

A caller that the compiler traces as well hands the work on to its own callers, unless `Work.stores` says that it can be
done there: Dynamo repeats plain stores of a region at every call. What changes a value it reads, such as a counter or
the length of a list, is guarded and compiled anew for each value, up to a limit.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.laziness import is_docstring
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Edit
from nonstrict.fixes.code.edits import after, at_top_of_body, before, inserted, replaced
from nonstrict.fixes.code.names import bound
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.uses.sites import Regions, Site, comes_first, is_unconditional, rebinds, sites
from nonstrict.fixes.uses.terms import enclosed, free_name, is_simple, names_in, own_name, substituted
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.references import Uses

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_LEVELS = 4


def nowhere(site: Site, text: str) -> bool:
    """No caller can do the work, or none uses what it changes."""
    return False


class Work(NamedTuple):
    """What the callers have to do, in the terms of a function.

    `text` is a statement, `value` the name in it that stands for a further result of the function ("" if there is
    none), `type` the annotation of that result. `declares` are the outer variables that the statement binds. `behind`
    says that it has to be done after the call, as work on a further result is. `stores` says of a call in a region, and
    the statement as it would be there, whether the region can do it; `uses`, whether it uses what the statement
    changes.
    """

    text: str
    value: str = ""
    type: str = ""
    declares: tuple[str, ...] = ()
    behind: bool = False
    stores: Callable[[Site, str], bool] = nowhere
    uses: Callable[[Site, str], bool] = nowhere


class Named(NamedTuple):
    """An argument that gets a name in front of the call, and what parameter it is for."""

    parameter: str
    term: ast.expr
    name: str


class Lift:
    """The edits by which all callers of a function do some work; `edits` is None where they cannot."""

    def __init__(self, context: Context, uses: Uses) -> None:
        self._uses = uses
        self._regions = Regions(context, uses)
        self._edits: list[Edit] = []
        self._visited: set[ast.AST] = set()
        body = context.body
        self._is_compiled = body.marker == "compiled" or any(site.compiled for site in body.sites)

    def edits(self, document: Document, function: _Definition, statement: ast.stmt, work: Work) -> list[Edit] | None:
        """The edits outside of the statement that did the work."""
        if work.value and not self._returns(document, function, statement, work.value, work.type):
            return None
        done = self._lift(document, function, statement, work, 0)
        return _merged(self._edits) if done else None

    # -- levels ---------------------------------------------------------------------------------------------------

    def _lift(self, document: Document, function: _Definition, statement: ast.stmt, work: Work, level: int) -> bool:
        if level > _MAX_LEVELS or function in self._visited or not is_unconditional(function, statement):
            return False
        self._visited.add(function)
        known = sites(self._uses, document, function)
        if known is None:
            return False
        for site in known:
            outer = self._in_terms_of(document, function, statement, site, work)
            if outer is None or not self._at(site, outer, level):
                return False
        return True

    def _at(self, site: Site, outer: tuple[Work, list[Named]], level: int) -> bool:
        work, named = outer
        if not level and site.function is not None and not self._is_compiled:
            return False  # who calls it may be compiled somewhere that was not seen
        caller = site.function
        inside = self._regions.in_body(site.document, caller)
        if inside and work.uses(site, work.text):
            return False
        if not inside and not self._regions.compiled(site.document, caller):
            return self._do(site, work, named)
        if not inside and not named and work.stores(site, work.text):
            return self._do(site, work, named)
        if named or caller is None or isinstance(caller, ast.Lambda):
            return False
        if work.value and not self._hand_on(site, caller, work):
            return False
        return self._lift(site.document, caller, site.statement, work, level + 1)

    def _in_terms_of(
        self, document: Document, function: _Definition, statement: ast.stmt, site: Site, work: Work
    ) -> tuple[Work, list[Named]] | None:
        """The work as a caller writes it, and the arguments that need a name first."""
        arguments = function.args
        parameters = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        names = sorted(names_in(tree_of(work.text)))
        needed = [name for name in names if name in parameters and name != work.value]
        if any(name not in site.terms or rebinds(function, name) for name in needed):
            return None
        named = self._named(site, needed)
        given = {parameter: name for parameter, _, name in named}
        texts = {name: given.get(name, site.document.text(site.terms[name])) for name in needed}
        value = self._free_name(site, work.value) if work.value else ""
        for name in names:
            if name == work.value:
                texts[name] = value
            elif name not in parameters and not self._is_same(document, statement, site, name):
                return None
        text = substituted(work.text, texts)
        return None if text is None else (work._replace(text=text, value=value), named)

    def _named(self, site: Site, needed: list[str]) -> list[Named]:
        """The arguments that need a name first: what is evaluated up to the last one that cannot be written twice."""
        last = max((site.order(name) for name in needed if not is_simple(site.terms[name])), default=-1)
        found: list[Named] = []
        for parameter in sorted(site.terms, key=site.order, reverse=True):
            term = site.terms[parameter]
            changed = isinstance(term, ast.Attribute) and any(not is_pure(site.document, one.term) for one in found)
            if site.order(parameter) <= last and (changed or not is_simple(term)):
                taken = frozenset(one.name for one in found)
                found.insert(0, Named(parameter, term, self._free_name(site, parameter, taken)))
        return found

    def _is_same(self, document: Document, statement: ast.stmt, site: Site, name: str) -> bool:
        """Whether a name that is not a parameter means the same at a call."""
        here, there = self._uses.scopes(document).text, self._uses.scopes(site.document).text
        scope = here.binder(statement, name)
        if scope is document.tree and not any(True for _ in here.bindings(scope, name)) and hasattr(builtins, name):
            outer = there.binder(site.statement, name)
            return outer is site.document.tree and not any(True for _ in there.bindings(outer, name))
        return document is site.document and there.binder(site.statement, name) is scope

    # -- one caller -----------------------------------------------------------------------------------------------

    def _do(self, site: Site, work: Work, named: list[Named]) -> bool:
        """The work at a call of a function that is not traced, or may do it."""
        document, statement = site.document, site.statement
        if named and not (comes_first(site) and _can_stand_alone(document, site, named)):
            return False
        if not self._declare(site, work.declares):
            return False
        naming = [f"{one.name} = {document.text(one.term)}" for one in named]
        if any("\n" in line for line in naming):
            return False
        lines = work.text.split("\n")
        if not work.value and not work.behind:
            self._edits += (replaced(document, one.term, one.name) for one in named)
            return self._add(before(document, statement, [*naming, *lines]))
        if named:
            return False
        return self._receive(site, work.value, lines)

    def _receive(self, site: Site, value: str, lines: list[str]) -> bool:
        """The result of a call gets a name where it has none, a further one too, and the work is done behind it."""
        document, statement = site.document, site.statement
        further = f", {value}" if value else ""
        if isinstance(statement, ast.Assign) and statement.value is site.call:
            if len(statement.targets) != 1 or names_in(statement.targets[0]) & names_in(tree_of("\n".join(lines))):
                return False
            target = statement.targets[0]
            if value:
                self._edits.append(replaced(document, target, f"{enclosed(document.text(target))}{further}"))
            return not lines or self._add(after(document, statement, lines))
        if isinstance(statement, ast.Expr) and statement.value is site.call:
            if value:
                self._edits.append(replaced(document, site.call, f"_{further} = {document.text(site.call)}"))
            return not lines or self._add(after(document, statement, lines))
        if isinstance(statement, ast.AnnAssign) or not comes_first(site):
            return False
        call = document.text(site.call)
        result = self._free_name(site, "result")
        if "\n" in call:
            return False
        self._edits.append(replaced(document, site.call, result))
        return self._add(before(document, statement, [f"{result}{further} = {call}", *lines]))

    def _hand_on(self, site: Site, caller: _Definition, work: Work) -> bool:
        """A traced caller returns the further result to its own callers."""
        if isinstance(site.statement, ast.Return) and site.statement.value is site.call:
            return _annotation(self._edits, site.document, caller, work.type)
        if isinstance(site.statement, ast.Return):
            return False
        return self._receive(site, work.value, []) and self._returns(
            site.document, caller, site.statement, work.value, work.type
        )

    def _declare(self, site: Site, names: tuple[str, ...]) -> bool:
        """`global` or `nonlocal` for the outer variables that are bound at a call."""
        function = site.function
        if not names or function is None:
            return True
        if isinstance(function, ast.Lambda):
            return False
        known = scope_of(function)
        lines: list[str] = []
        for name in names:
            scope = self._uses.scopes(site.document).text.binder(site.statement, name)
            if scope is function:
                return False
            if name in known.global_names or name in known.nonlocal_names:
                continue
            kind = ast.Global if isinstance(scope, ast.Module) else ast.Nonlocal
            there = next((one for one in _declarations(function) if type(one) is kind), None)
            if there is not None:
                self._edits.append(inserted(site.document, site.document.bounds(there)[1], f", {name}"))
            else:
                lines.append(f"{kind.__name__.lower()} {name}")
        return not lines or self._add(at_top_of_body(site.document, function, lines))

    def _free_name(self, site: Site, wanted: str, taken: frozenset[str] = frozenset()) -> str:
        """A name for a variable at a call: what is local to other functions does not matter."""
        if site.function is not None:
            return free_name(site.function, wanted, taken)
        scopes, tree = self._uses.scopes(site.document), site.document.tree
        wanted = own_name(wanted)
        number, name = 1, wanted
        while (
            name in taken
            or any(True for _ in scopes.text.bindings(tree, name))
            or any(True for _ in scopes.text.reads(tree, name))
        ):
            number += 1
            name = f"{wanted}_{number}"
        return name

    # -- results --------------------------------------------------------------------------------------------------

    def _returns(self, document: Document, function: _Definition, statement: ast.stmt, value: str, kind: str) -> bool:
        """Every `return` behind a statement returns a value as well."""
        if not isinstance(function.body[-1], (ast.Return, ast.Raise)):
            return False
        for node in own_scope(function):
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                return False
            if isinstance(node, ast.Return) and document.bounds(node) > document.bounds(statement):
                if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
                    return False
                text = document.text(node.value)
                if isinstance(node.value, ast.Tuple) and enclosed(text) != text:
                    self._edits.append(replaced(document, node.value, f"({text}), {value}"))
                else:
                    end = document.bounds(node.value)[1]
                    self._edits.append(Edit(document.range(end, end), f", {value}"))
        return _annotation(self._edits, document, function, kind)

    def _add(self, edit: Edit | None) -> bool:
        if edit is not None:
            self._edits.append(edit)
        return edit is not None


def _declarations(function: _Definition) -> Iterator[ast.Global | ast.Nonlocal]:
    """What a function declares before it does anything."""
    for statement in function.body:
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            yield statement
        elif not is_docstring(statement):
            return


def _can_stand_alone(document: Document, site: Site, named: list[Named]) -> bool:
    """Whether arguments can be evaluated in statements in front of the call, what is called after them."""
    binds = any(isinstance(part, ast.NamedExpr) for one in named for part in ast.walk(one.term))
    receiver = site.call.func.value if isinstance(site.call.func, ast.Attribute) else site.call.func
    moved = any(one.term is receiver for one in named)
    return not binds and (moved or is_pure(document, receiver))


def _annotation(edits: list[Edit], document: Document, function: _Definition, kind: str) -> bool:
    """The annotation of what a function returns, with that of its further result; False if it cannot be written."""
    if function.returns is None:
        return True
    if not kind or isinstance(function.returns, ast.Constant) or not _is_bound(document, kind):
        return False
    edits.append(replaced(document, function.returns, f"tuple[{document.text(function.returns)}, {kind}]"))
    return True


def _is_bound(document: Document, kind: str) -> bool:
    """Whether a file has what an annotation begins with."""
    first = kind.partition(".")[0]
    return hasattr(builtins, first) or first in bound(document)


def _merged(edits: list[Edit]) -> list[Edit]:
    """Insertions at one place as one edit, in the order in which they were made."""
    found: dict[object, Edit] = {}
    for edit in edits:
        known = found.get(edit.span)
        found[edit.span] = edit if known is None else Edit(edit.span, known.text + edit.text)
    return list(found.values())
