"""What the rules on effects (NST2xx, NST4xx) share: which writes count as whose, and how messages name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.places import Origin

if TYPE_CHECKING:
    from nonstrict.program.effects import Effect
    from nonstrict.rules.base import Body, Rule

_DEEDS = {
    "item": "item assignment",
    "attribute": "attribute assignment",
    "rebind": "assignment",
    "del": "`del`",
    "in-place operator": "an in-place operator",
    "cache": "a cache",
}


def code(text: str) -> str:
    """Text between backticks, unless it already reads as prose or has its own."""
    return text if not text or "`" in text or " " in text.removesuffix(" =") else f"`{text}`"


def clause(what: str, verb: str) -> str:
    """A subject and its verb: "this seeds ..." for what reads as a verb, else "`data_ptr()` takes ...".

    The engine names an operation either by itself (`data_ptr()`, "the truth value of a tensor") or by what it does, in
    the words of the tables of effects ("seeds torch's random generator").
    """
    first = what.partition(" ")[0]
    if first.isalpha() and first.endswith("s"):
        return f"this {what}"
    return f"{code(what) if what else 'this'} {verb}"


def deed(effect: Effect) -> str:
    """How a write happens, as a user would say it: "`append`", "item assignment"."""
    return _DEEDS.get(effect.what) or code(effect.what)


def target(effect: Effect, fallback: str) -> str:
    """The written place as the subject of a message; `fallback` where the engine kept no name for it."""
    text = effect.place.text
    return f"`{text}`" if effect.place.name else fallback


def outlives(effect: Effect) -> bool:
    """Whether a tensor that is stored stays there when tracing ends: not in the copy of an argument."""
    place = effect.place
    return place.captured or (place.origin is Origin.ARGUMENT and not changes_copy(effect))


def owner(effect: Effect) -> str:
    """What kind of state a captured place is: "global", "variable of the enclosing function", ..."""
    place = effect.place
    if place.seen_as is Origin.CELL:
        return "a variable of the enclosing function"
    if place.origin is Origin.DEFAULT:
        return "a default argument that all calls share"
    if place.origin is Origin.RECEIVER:
        return "the object that the marked method is bound to"
    return "global state"


def changes_copy(effect: Effect) -> bool:
    """Whether a store goes into a list, dict or set given as an argument.

    Such an argument is taken apart and rebuilt for the traced function, so what is stored is lost with the copy and
    nothing stays behind. Objects and modules are reached through an attribute, or are assigned one.
    """
    place = effect.place
    through_attribute = effect.what in ("attribute", "cache") or any(step.startswith(".") for step in place.path)
    return place.origin is Origin.ARGUMENT and not through_attribute


def trace_time_only(body: Body) -> str:
    """The clause that says when an effect happens.

    Measured on torch 2.13.0: a body runs three times per compilation with aot_eager and inductor, not at all when the
    compiled code runs; `make_fx` and `torch.export` run it once; a frozen function runs once per compilation.
    """
    traced = f"while `{body.api}` traces `{body.function}`"
    if body.marker == "constant-result":
        return f"once per compilation, when `{body.api}` freezes the result of `{body.function}`"
    if body.marker == "make-fx":
        return f"only {traced}; the resulting graph does not contain it"
    return f"only {traced} (up to three times per compilation), never when the compiled code runs"


def effect_severity(rule: Rule, body: Body) -> Severity:
    """The rule's own severity; a note for a function that is meant to run once.

    Its result is frozen, or it was made for this one trace and tells the code around it what tracing found.
    """
    return Severity.NOTE if body.marker == "constant-result" or body.private else rule.severity
