"""What the rules on effects (NST2xx, NST4xx) share: which writes count as whose, and how messages name them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change
from nonstrict.findings import Severity
from nonstrict.program.domain.access_paths import Root

if TYPE_CHECKING:
    from nonstrict.program.domain.effects import Effect
    from nonstrict.rules.base import Body, Rule

_DEEDS = {
    Change.ITEM: "item assignment to",
    Change.ATTRIBUTE: "assignment to",
    Change.NAME: "assignment to",
    Change.DELETION: "`del` of",
    Change.OPERATOR: "in-place operator on",
}
#: The longest name of a callee that a message repeats.
_MAX_NAME = 36


def code(text: str) -> str:
    """Text between backticks, unless it already reads as prose or has its own; a call is code whatever it holds."""
    prose = " " in text.removesuffix(" =") and not text.endswith(")")
    return text if not text or "`" in text or prose else f"`{text}`"


def clause(effect: Effect, verb: str) -> str:
    """A subject and its verb: "`manual_seed` seeds ..." for what reads as a verb, else "`data_ptr()` takes ...".

    The engine names an operation either by itself (`data_ptr()`, "the truth value of a tensor") or by what it does, in
    the words of the tables of effects ("seeds torch's random generator").
    """
    what = effect.what
    first = what.partition(" ")[0]
    if first.isalpha() and first.endswith("s"):
        return f"{doer(effect)} {what}"
    return f"{code(what) if what else 'this'} {verb}"


def doer(effect: Effect) -> str:
    """Who has an effect, as the subject of a message: the function that is called, as the call spells it, or "this"."""
    node = effect.node.func if isinstance(effect.node, ast.Call) else None
    name = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    return f"`{name}`" if name and len(name) <= _MAX_NAME and "\n" not in name else "this"


def deed(effect: Effect, subject: str) -> str:
    """A write as the subject of a message: "`append` on `seen`", "item assignment to `cache`"."""
    known = _DEEDS.get(effect.how) if isinstance(effect.how, Change) else None
    return f"{known or f'{code(effect.what)} on'} {subject}"


def target(effect: Effect, fallback: str) -> str:
    """The written place as the subject of a message; `fallback` where the engine kept no name for it."""
    text = effect.place.text
    return f"`{text}`" if effect.place.name else fallback


def outlives(effect: Effect) -> bool:
    """Whether a tensor that is stored stays there when tracing ends: not in the copy of an argument."""
    place = effect.place
    return place.captured or (place.root is Root.ARGUMENT and not changes_copy(effect))


def captured(effect: Effect) -> str:
    """The written captured place as the object of a message: "global `SEEN`", "enclosing variable `count`"."""
    place = effect.place
    subject = target(effect, "state")
    if place.seen_as is Root.CELL:
        return f"enclosing variable {subject}" if place.name else "a variable of the enclosing function"
    if place.root is Root.DEFAULT:
        return f"shared default {subject}"
    if place.root is Root.RECEIVER:
        return f"{subject} of the bound object"
    return f"global {subject}"


def changes_copy(effect: Effect) -> bool:
    """Whether a store goes into a list, dict or set given as an argument.

    Such an argument is taken apart and rebuilt for the traced function, so what is stored is lost with the copy and
    nothing stays behind. Objects and modules are reached through an attribute, or are assigned one.
    """
    place = effect.place
    direct = effect.how not in (Change.ATTRIBUTE, Change.CACHE) and not any(step.startswith(".") for step in place.path)
    return place.root is Root.ARGUMENT and direct


def when(body: Body) -> str:
    """The phrase that says when an effect of a body happens."""
    return "once per compilation" if body.marker == "constant-result" else "at trace time only"


def repetition(body: Body) -> str:
    """How often an effect of a body happens, as the note of a finding.

    Measured on torch 2.13.0: a body runs three times per compilation with aot_eager and inductor, not at all when the
    compiled code runs; `make_fx` and `torch.export` run it once; a frozen function runs once per compilation.
    """
    if body.marker == "constant-result":
        return f"it happens when `{body.api}` freezes the result of `{body.function}`, and never again"
    if body.marker == "make-fx":
        return f"it happens while `{body.api}` traces `{body.function}`; the resulting graph does not contain it"
    return (
        f"it happens while `{body.api}` traces `{body.function}`, up to three times per compilation, and never when "
        "the compiled code runs"
    )


def effect_severity(rule: Rule, body: Body) -> Severity:
    """The rule's own severity; a note for a function that is meant to run once.

    Its result is frozen, or it was made for this one trace and tells the code around it what tracing found.
    """
    return Severity.NOTE if body.marker == "constant-result" or body.private else rule.severity
