"""Further judges of findings about custom operators: `torch.library.opcheck`, and where nothing is called, schemas."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.confirm import evidence
from nonstrict.confirm.judging import Judgement
from nonstrict.confirm.programs import fields_of, kept_for_target
from nonstrict.confirm.reaching import functions_at
from nonstrict.findings import Status
from nonstrict.rules.base import CUSTOM_OPERATORS
from nonstrict.rules.expectation import Channel, Trait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect

#: The reason of a verdict on which `opcheck` and the compilers do not agree.
DISAGREE = "opcheck"


def is_asked(suspect: Suspect) -> bool:
    """Whether `opcheck` can tell of a finding: it is about a custom operator, and one of its tests answers it."""
    return bool(suspect.expectation.opcheck) and suspect.marker in CUSTOM_OPERATORS


def called_on(suspect: Suspect, trace: Mapping[str, Any]) -> frozenset[tuple[str, int]]:
    """The lines on which regions call the operator of a finding, as an arm tells that checked the operators."""
    own = (one for one in trace.get("operators", ()) if _is_of(suspect, one))
    return frozenset((str(path), int(line)) for one in own for path, line in one["called"])


def seconded(suspect: Suspect, judgement: Judgement, trace: Mapping[str, Any]) -> Judgement:
    """The judgement by compiled code, where `opcheck` says the same; inconclusive where it does not.

    `trace` is that of the eager arm that checked the operators. It is none about an operator that no region calls, and
    none by an error of another one. Where no region shows what an operator does wrong, that `opcheck` fails is enough.
    """
    if not is_asked(suspect) or "operators" not in trace:
        return judgement
    own = [one for one in trace["operators"] if _is_of(suspect, one)]
    if judgement.status is Status.INCONCLUSIVE:
        told = next((one["failed"][suspect.expectation.opcheck] for one in own if _fails(suspect, one)), "")
        return _by_check(suspect, judgement, told) if told and judgement.reason == "insensitive" else judgement
    if not own:
        refused = judgement.status is Status.CONFIRMED and not judgement.proofs
        return judgement if refused else _open(judgement, "not-compiled", "")
    called = called_on(suspect, trace)
    strange = [one for _, one in judgement.proofs if one.channel is Channel.ERROR and called.isdisjoint(one.lines)]
    if strange and strange[0].lines:
        return _open(judgement, "blocked", evidence.blocked(strange[0]))
    test = suspect.expectation.opcheck
    failed = next((one["failed"][test] for one in own if test in one["failed"]), "")
    if not failed and not any(one["checked"] for one in own):
        return judgement
    told = f"torch.library.opcheck, {test}: {failed or 'passes'}"
    if bool(failed) is (judgement.status is Status.CONFIRMED):
        return judgement._replace(evidence=f"{judgement.evidence}; {told}")
    return _open(judgement, DISAGREE, f"{judgement.evidence}; but {told}")


def schema_job(program: Program, suspect: Suspect, device: str) -> dict[str, Any] | None:
    """The job that asks schemas what a fake does not take; None for findings that say nothing of its parameters."""
    if not is_asked(suspect) or not suspect.has(Trait.IN_FAKES) or suspect.path != program.path:
        return None
    return {**fields_of(program, kept_for_target(program, suspect)), "kind": "fakes", "device": device}


def by_schema(program: Program, suspect: Suspect, answer: Mapping[str, Any]) -> Judgement | None:
    """The judgement by what the fake of a finding takes of the calls that its schema allows.

    None if the finding is about something else than the parameters of a fake that the program registers.
    """
    for told in answer.get("operators", ()):
        path, line = told["fake"]
        heads = [_start(node) for node in functions_at(program.tree, int(line)) if _returns(node)]
        if path != suspect.path or suspect.span is None or suspect.span.start not in heads:
            continue
        asked = f"the schema of `{told['name']}` was asked, no call was made"
        if told["refused"]:
            text = f"{asked}: the fake does not take {told['refused']}"
            return Judgement(Status.CONFIRMED, "", text, ())
        return Judgement(Status.REFUTED, "", f"{asked}: the fake takes every call that it allows", ())
    return None


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", -1)


def _returns(node: ast.AST) -> bool:
    """Whether a function returns something: of one that does not, a finding stands at its head for that too."""
    return any(isinstance(part, ast.Return) and part.value is not None for part in ast.walk(node))


def _fails(suspect: Suspect, operator: Mapping[str, Any]) -> bool:
    return suspect.expectation.opcheck in operator["failed"]


def _by_check(suspect: Suspect, judgement: Judgement, told: str) -> Judgement:
    told = f"torch.library.opcheck, {suspect.expectation.opcheck}: {told}"
    return judgement._replace(status=Status.CONFIRMED, reason="", evidence=told)


def _is_of(suspect: Suspect, operator: Mapping[str, Any]) -> bool:
    """Whether an operator is registered where a finding says."""
    places = {(str(path), int(line)) for path, line in operator["places"]}
    return not places.isdisjoint(suspect.places | {(suspect.file, suspect.marked_line)})


def _open(judgement: Judgement, reason: str, told: str) -> Judgement:
    return judgement._replace(status=Status.INCONCLUSIVE, reason=reason, evidence=told, proofs=())
